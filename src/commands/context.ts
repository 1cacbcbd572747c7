import type { ChatApi } from '../api/chat/chat.ts';
import type { LicensingApi } from '../api/licensing/licensing.ts';
import type { Service } from '../api/raw-path.ts';
import type { RawAnswer, RawRequest } from '../api/raw.ts';
import type { Reach } from '../api/http/reach.ts';
import type { Milliseconds } from '../core/duration.ts';
import type { Secret } from '../core/secret.ts';
import type { Format } from '../output/show.ts';
import type { Values } from '../schema/field.ts';
import type { globalOptions } from '../schema/environment.ts';
import type { licensingOptions } from '../sandbox/licensing/options.ts';
import type { ChatCredential, LicensingCredential, StoredApp } from '../store/account/credentials.ts';
import type { OpenArchive } from '../store/archive/archive.ts';
import type { Claims } from '../store/lock/claims.ts';
import type { Journal, JournalHeader } from '../store/journal.ts';
import type { Profiles } from '../store/account/profiles.ts';

export interface GlobalValues extends Omit<Values<typeof globalOptions>, 'output'> {
  /** A format of every command, or one that this command offers. */
  readonly output?: Format | undefined;
}

export interface AppChoice {
  /** Picks the stored application of that code. */
  readonly app_code?: number | undefined;
}

/** All that a command may touch. A part is built when it is first called: `--help` touches no disk, key or network. */
export interface Context {
  readonly options: GlobalValues;
  /** Ctrl-C, SIGTERM and the deadline, each with its Failure as reason. */
  readonly signal: AbortSignal;

  licensing(choice?: AppChoice): LicensingApi;
  licensingAccount(choice?: AppChoice): Promise<LicensingCredential>;
  /** The licensing API with a credential that is not stored (yet). */
  licensingAs(credential: LicensingCredential): LicensingApi;
  chat(): ChatApi;
  chatAccount(): Promise<ChatCredential>;
  chatAs(credential: ChatCredential): ChatApi;
  /** Either service as it is, for requests that a person spells out. */
  raw(service: Service): RawApi;
  /** Which complete credentials the environment holds. */
  environmentKinds(): readonly ('licensing' | 'chat')[];
  /** Every stored licensing application. */
  licensingApps(): Promise<readonly StoredApp[]>;
  profiles(): Profiles;
  /** The credential of a stored profile. */
  credentialOf(profile: string): Promise<LicensingCredential | ChatCredential>;
  /** The key in the first line of a file that nobody else can read. */
  keyFromFile(file: string): Promise<Secret>;
  /** The key in the first line of standard input; what follows is not read. */
  keyFromInput(): Promise<Secret>;
  /** Whether other users can read that file; false where there is none. */
  othersCanRead(file: string): Promise<boolean>;
  /** Runs a stored or a new key command. */
  runKeyCommand(command: string): Promise<Secret>;

  /** Whether there is a person to ask. */
  interactive(): boolean;
  /** A question whose answer is yes or no. @throws Failure cancelled on no; usage where nobody can be asked */
  confirm(question: string): Promise<void>;
  /** A line of text from the terminal. @throws Failure usage where nobody can be asked */
  ask(question: string): Promise<string>;
  /** A text that is not shown while it is typed. @throws Failure usage where nobody can be asked */
  secret(question: string): Promise<Secret>;
  /** A text that came as a secret from a file: hidden from here on. */
  hide(text: string): Secret;
  /** Words of a server on their way to stdout, every secret that this run knows removed. */
  clean(text: string): string;
  /** The text of a file; `-` is standard input. @throws Failure usage */
  read(file: string): Promise<string>;
  /** The bytes of a file; `-` is standard input. @throws Failure usage */
  readBytes(file: string): Promise<Buffer>;

  /** One line to stderr that `--quiet` drops. */
  note(text: string): void;
  /** One line to stderr that is never dropped. */
  warn(text: string): void;
  /** The journal of a job, held by this process alone; without a file it is named by the job's header. */
  journal(header: JournalHeader, file?: string): Promise<Journal>;
  /** The archive in that folder, or a new one, held by this process alone. */
  archive(folder: string): Promise<OpenArchive>;
  /** What tells one server from another in journals and claims: an origin; the embedded sandbox is one, whatever its port. */
  identityOf(credential: LicensingCredential): string;
  /** The claims on the users of one application; `settle`: how long a POST is remembered at least. */
  claims(identity: string, app_code: number, settle: Milliseconds): Promise<Claims>;
  /** Shows how far a job of so many steps is; nothing with `--quiet`. */
  progress(label: string, total: number): Progress;
  /** Asks a server for anything, without a credential. @throws Failure unavailable naming the obstacle */
  reach(url: string): Promise<Reach>;
  /** Where configuration and state stand. */
  files(): { readonly config: string; readonly state: string };
  sandbox(): SandboxControl;
  now(): Milliseconds;
  sleep(span: Milliseconds): Promise<void>;
}

/** One answer, or those of every page of a list, as they come. */
export interface RawApi {
  one(request: RawRequest): AsyncIterable<RawAnswer>;
  pages(request: RawRequest): AsyncIterable<RawAnswer>;
}

export interface Progress {
  /** One step more is done. */
  step(): void;
  /** Takes the line away. */
  end(): void;
}

/** The sandbox as its own commands see it. */
export interface SandboxControl {
  /** Yields the address once it listens, and serves until the signal aborts. */
  serve(options: ServeOptions): AsyncGenerator<SandboxAddress>;
  /** Forgets everything but the sample data; the file that held it. */
  reset(): Promise<string>;
}

export interface ServeOptions extends Values<typeof licensingOptions> {
  readonly port?: number | undefined;
  readonly data?: string | undefined;
  readonly feature_level?: number | undefined;
  readonly history_limit?: number | undefined;
  readonly extra_messages?: number | undefined;
  readonly latency?: Milliseconds | undefined;
  readonly fault?: string | undefined;
  readonly seed?: number | undefined;
  readonly log?: string | undefined;
  /** A file that is written, whole, once the server listens. */
  readonly ready?: { readonly file: string; readonly text: (address: SandboxAddress) => string } | undefined;
}

/** What a client needs to reach a sandbox: the accounts are its sample data, no secrets. */
export interface SandboxAddress {
  readonly licensing: {
    readonly base_url: string;
    readonly app_code: number;
    readonly api_key: string;
    readonly apps: readonly unknown[];
  };
  readonly chat: {
    readonly site: string;
    readonly email: string;
    readonly api_key: string;
    readonly accounts: readonly unknown[];
  };
}
