import type { Format } from '../output/formats.ts';
import type { Values } from '../schema/field.ts';
import type { ChatApi } from '../api/chat/chat.ts';
import type { Send } from '../api/http/call.ts';
import type { LicensingApi } from '../api/licensing/licensing.ts';
import type { Service } from '../api/raw.ts';
import type { ChatCredential, LicensingChoice, LicensingCredential, StoredApp } from '../store/account/credentials.ts';
import type { Secrets } from '../store/account/secrets.ts';
import type { ChatProfile, Kind } from '../schema/profile.ts';
import type { Profiles } from '../store/account/profiles.ts';
import type { Secret } from '../core/secret.ts';
import type { OpenArchive } from '../store/archive/open-archive.ts';
import type { Milliseconds } from '../core/duration.ts';
import type { Calendar } from '../core/moment.ts';
import type { Clock } from '../core/system.ts';
import type { RunHistory, RunLedgers } from '../jobs/license/run-ledgers.ts';
import type { Patience } from '../store/lock/lock.ts';
import type { Sandbox } from '../sandbox/server.ts';
import type { serveOptions } from '../sandbox/serve-options.ts';
import type { WorkMessages } from '../jobs/work/work-messages.ts';
import type { globalOptions, unknownVariables } from './environment.ts';
import type { CommandSurface } from './surface.ts';

/**
 * All that a command's `run` may use. A function that `run` calls takes the parts it uses, never the whole.
 * A member builds what it needs at its first call: `--help` touches no disk, key or network.
 */
export interface Context extends Invocation, Services, Accounts, Keys, Terminal, Disk, Ledgers, Time {}

export interface GlobalValues extends Omit<Values<typeof globalOptions>, 'output'> {
  /** A format that every command has, or one that only this command offers. */
  readonly output?: Format | undefined;
  /** The names of the options that were given on the command line, not only in the environment. */
  readonly typed: ReadonlySet<string>;
}

/** The run itself: the options of every command, and what ends it early. */
export interface Invocation {
  readonly options: GlobalValues;
  /** Ctrl-C, SIGTERM and the deadline, each with its Failure as reason. */
  readonly signal: AbortSignal;
  /** The command line for a hint: as typed, with these options replaced (undefined: removed) and these words. */
  again(options?: Readonly<Record<string, string | number | true | undefined>>, words?: readonly string[]): string;
  /** Checks `--fields` and `--sort` against the command's fields and those of its file. @throws Failure usage */
  checkFields(fromFile: readonly string[]): void;
  readonly program: {
    /** Makes V8 collect garbage earlier: it lets the heap grow fourfold while its collector gets no core. */
    saveMemory(): void;
    surface(): Promise<{ nouns: Readonly<Record<string, string>>; commands: readonly CommandSurface[] }>;
  };
}

/** Both services, whose credentials are looked up at the first request, and the sandbox that serves both. */
export interface Services {
  licensing(choice?: AppChoice): LicensingApi;
  chat(): ChatApi;
  sandbox(): SandboxControl;
  readonly servers: {
    /** Calls with a credential that is not stored (yet). */
    licensingAs(credential: LicensingCredential): LicensingApi;
    chatAs(credential: ChatCredential): ChatApi;
    /** Sends the requests that a user writes by hand with `chatelaine api`. */
    send(service: Service): Promise<Send>;
    /** Sets the limits of all further requests, where no option gives them. */
    presume(limits: Required<Pick<GlobalValues, 'retries' | 'timeout'>>): void;
  };
}

/** Selects a stored application: `app_code` is that of an option, `row_app_code` that of a row of a roster. */
type AppChoice = Pick<LicensingChoice, 'app_code' | 'row_app_code'>;

/** Which credentials there are, and which one is in use. */
export interface Accounts {
  licensingAccount(choice?: AppChoice): Promise<LicensingCredential>;
  chatAccount(): Promise<ChatCredential>;
  readonly accounts: {
    /** Host and profile of each account in use, if several of its kind are stored; questions and results name them. */
    places(): readonly string[];
    environmentKinds(): readonly Kind[];
    unknownVariables(): ReturnType<typeof unknownVariables>;
    licensingApps(): Promise<readonly StoredApp[]>;
    profiles(): Profiles;
    credentialOf(profile: string): Promise<LicensingCredential | ChatCredential>;
    /** The server's name in records and locks: its origin, or one name for the embedded sandbox, whatever its port. */
    identityOf(account: Pick<LicensingCredential, 'base_url'> | Pick<ChatCredential, 'site'>): string;
  };
}

/** The sources of a new key, and functions that remove known secrets from texts. */
export interface Keys {
  readonly keys: {
    /** The key in the first line of a file that nobody else can read. */
    fromFile(file: string): Promise<Secret>;
    /** The key in the first line of standard input; what follows is not read. */
    fromInput(): Promise<Secret>;
    fromCommand(command: string): Promise<Secret>;
    othersCanRead(file: string): Promise<boolean>;
    /** The key of a chat account by its password: one attempt. @throws Failure auth */
    fromPassword(profile: ChatProfile, password: Secret, headers: Secrets['headers']): Promise<Secret>;
    /** The lines of a file that nobody else can read; `-` is standard input. @throws Failure usage */
    headers(file: string): Promise<Secrets['headers']>;
  };
  readonly secrets: {
    /** Turns a text into a secret, which from now on is removed from everything that is shown. */
    hide(text: string): Secret;
    /** Removes every secret that this run knows from a server's text, for stdout. */
    clean(text: string): string;
  };
}

/** The person at the terminal: questions, and lines to stderr. */
export interface Terminal extends WorkMessages {
  /** Asks a question of yes or no. @throws Failure cancelled on no, usage where nobody can be asked */
  confirm(question: string): Promise<void>;
  readonly terminal: {
    canAsk(): boolean;
    /** Reads a line of text from the terminal. @throws Failure usage where nobody can be asked */
    ask(question: string): Promise<string>;
    /** Reads a text that is not shown while it is typed. @throws Failure usage where nobody can be asked */
    secret(question: string): Promise<Secret>;
  };
}

/** The user's files, and the files that jobs leave behind. */
export interface Disk {
  readonly disk: {
    /** The text of a file, or its bytes; `-` is standard input. @throws Failure usage */
    read(file: string): Promise<string>;
    readBytes(file: string): Promise<Buffer>;
    /** Opens the archive in that folder, or a new one, and locks it for this process. */
    archive(folder: string, patience?: Pick<Patience, 'wait' | 'waiting'>): Promise<OpenArchive>;
    /** `hold`: the file of CHATELAINE_HOLD. */
    files(): { readonly config: string; readonly state: string; readonly hold: string | undefined };
    /** Creates nothing. @throws Failure config where the state folder can be neither created nor written */
    refuseUnwritableState(): Promise<void>;
  };
  readonly record: RunHistory & {
    /** Has `finish` called once the result is written; if it fails, the run fails. */
    untilWritten(finish: () => Promise<void>): void;
  };
}

/** Who creates licenses for which users: on this machine, or in a ledger that several machines share. */
export interface Ledgers {
  readonly ledgers: RunLedgers;
}

export interface Time {
  readonly clock: Calendar &
    Pick<Clock, 'elapsed' | 'random'> & {
      /** The time at the servers, by their responses; undefined before the first one. */
      serverNow(): Milliseconds | undefined;
      /** Rejects with the reason of the run's signal as soon as that aborts. */
      sleep(span: Milliseconds): Promise<void>;
    };
}

export interface SandboxControl {
  /** Yields the address once it listens, and serves until the signal aborts. */
  serve(options: Values<typeof serveOptions>): AsyncGenerator<SandboxAddress>;
  /** Restores the sample data. */
  reset(): Promise<void>;
  /** The file of the changes. */
  file(): string;
}

/** Addresses and accounts of a sandbox: they are its sample data, no secrets. */
export interface SandboxAddress {
  readonly licensing: Sandbox['licensing'] & Sandbox['licensing']['apps'][number];
  readonly chat: Pick<Sandbox['chat'], 'site' | 'accounts'> & Sandbox['chat']['accounts'][number];
}
