import { defaultTimeout } from '../../api/http/connect.ts';
import { once } from '../../core/batch.ts';
import { randomBytes } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, labelled, orWarn, warnOnce } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { variableWithText, type Alarm } from '../../core/system.ts';
import { readLedgerUrl } from '../../schema/ledger-url.ts';
import { urlOf } from '../../schema/profile.ts';
import { originOf } from '../../schema/url.ts';
import { refuseReadOnly, type ChatCredential, type LicensingCredential } from '../../store/account/credentials.ts';
import type { StoredProfiles } from '../../store/account/profiles.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Surroundings } from '../../store/lock/lock.ts';
import type { EntryOf, HistoryEntry, HistoryEvents, RunStamp } from '../../store/record/history.ts';
import type { LicenseWrites } from '../../store/record/joined-writes.ts';
import type { WritePlace } from '../../store/record/run-record.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import type { Creations } from './history.ts';

/** The parts of a run that its ledgers and its history need. */
export interface RunHost {
  readonly command: string;
  /** The name of the run in the history. */
  readonly runName: () => string;
  readonly host: Surroundings & { readonly alarm: Alarm };
  readonly options: Partial<Record<'sandbox' | 'dry_run', boolean> & Record<'profile' | 'ca_file', string>> & {
    readonly timeout?: Milliseconds;
  };
  readonly isReadOnly: boolean;
  readonly signal: AbortSignal;
  readonly messages: Pick<WorkMessages, 'say' | 'note' | 'warn'>;
  readonly watch: (secret: Secret) => Secret;
  readonly profiles: () => StoredProfiles;
  readonly identityOf: (account: LicensingCredential | ChatCredential) => string;
}

const variableName = 'CHATELAINE_LEDGER';
const untold = 'license history on other machines does not show what this run did';

/**
 * What runs know of one another's writes: on this machine, and in a ledger that several machines share, whose code is
 * loaded where one is configured. It lives as long as the run.
 */
export class RunLedgers {
  readonly #run: RunHost;
  readonly #warn: (text: string) => void;
  readonly #opened = new Map<string, Promise<Ledger>>();
  readonly #stores = new Map<string, Promise<LicenseWrites>>();

  constructor(run: RunHost) {
    this.#run = run;
    this.#warn = warnOnce(run.messages.warn);
  }

  /** The locks and the record for the account's server. @throws Failure of a ledger that cannot be reached */
  writes(account: LicensingCredential, settle: Milliseconds): Promise<LicenseWrites> {
    const origin = this.#run.identityOf(account);
    const opening = this.#stores.get(origin) ?? this.#openWrites(origin, account, settle);
    this.#stores.set(origin, opening);
    return opening;
  }

  /** Looks up licenses that runs created for users of an application; nothing is known of the sandbox's. */
  creations(accountOf: (app_code: number) => LicensingCredential | undefined): Creations {
    const { options, host, identityOf } = this.#run;
    const opened = once(async () => {
      const { openCreations } = await import('../../store/record/history.ts');
      return openCreations(host.system);
    });
    return async (app_code, user) => {
      const account = options.sandbox ? undefined : accountOf(app_code);
      if (!account) return undefined;
      const origin = identityOf(account);
      const ledger = options.dry_run ? undefined : await this.#ledgerOf(account);
      return (await opened())(user, { origin, app_code }, (await ledger?.entries(user, origin)) ?? []);
    };
  }

  /** Creates the tables of that ledger. @throws Failure config for a read-only run */
  async init(ledger: Ledger): Promise<'created' | 'unchanged'> {
    refuseReadOnly({ read_only: this.#run.isReadOnly });
    return ledger.init();
  }

  /** The ledger in use: the variable's, else a profile's. */
  async any(): Promise<Ledger | undefined> {
    const { options, profiles } = this.#run;
    const name = options.profile ?? (await profiles().defaults()).licensing;
    const profile = name === undefined ? undefined : await profiles().find(name);
    return this.#open(this.#explicit() ?? (profile?.kind === 'licensing' ? profile.ledger : undefined));
  }

  /** @throws Failure config where none is configured */
  async configured(): Promise<Ledger> {
    const ledger = await this.any();
    if (ledger) return ledger;
    throw new Failure('config', 'no ledger is configured', {
      hint: `Set ${variableName}=postgres://ROLE@HOST/DATABASE, or store it: chatelaine auth login --name NAME --ledger URL`,
    });
  }

  /** Adds an entry to the account's ledger, if there is one. */
  async tell(account: LicensingCredential, entry: HistoryEntry): Promise<void> {
    await orWarn(
      this.#ledgerOf(account).then((ledger) => ledger?.tell(entry)),
      this.#warn,
      untold,
    );
  }

  /** Counts a request without an answer that no caller settles. Whoever opens a store gets its failure. */
  unanswered(): void {
    for (const opening of this.#stores.values())
      void opening.then((store) => store.unanswered()).catch(() => undefined);
  }

  /** Ends the sessions and releases all locks. */
  async close(): Promise<void> {
    for (const store of this.#stores.values()) await orWarn((await store).close(), this.#warn, untold);
    for (const ledger of this.#opened.values()) await orWarn((await ledger).close(), this.#warn, untold);
  }

  #explicit(): string | undefined {
    const text = variableWithText(this.#run.host.system.env, variableName);
    return text === undefined ? undefined : labelled(variableName, () => readLedgerUrl(text), 'config');
  }

  async #ledgerOf(account: LicensingCredential): Promise<Ledger | undefined> {
    return this.#run.options.sandbox ? undefined : this.#open(this.#explicit() ?? account.ledger);
  }

  async #open(url: string | undefined): Promise<Ledger | undefined> {
    if (url === undefined) return undefined;
    const { host, signal, options, watch } = this.#run;
    const load = async (): Promise<Ledger> => {
      const { Ledger: LedgerCode } = await import('../../store/ledger/ledger.ts');
      return new LedgerCode(url, { ...host, signal, caFile: options.ca_file, watch });
    };
    const known = this.#opened.get(url) ?? load();
    this.#opened.set(url, known);
    return known;
  }

  /** Opens locks and record. In a dry run there are no places: nothing is locked, read or recorded. */
  async #openWrites(origin: string, account: LicensingCredential, settle: Milliseconds): Promise<LicenseWrites> {
    const { host, options, signal, messages, command, runName } = this.#run;
    const { LicenseWrites: JoinedWrites } = await import('../../store/record/joined-writes.ts');
    const run = { token: randomBytes(8).toString('hex'), run: runName(), command, settle, ...messages };
    const places: WritePlace[] = [];
    if (options.dry_run !== true) {
      const ledger = await this.#ledgerOf(account);
      const { openRunFiles } = await import('../../store/record/run-files.ts');
      places.push(await openRunFiles(origin, run.token, run, host, messages.warn));
      const requestLimit = options.timeout ?? defaultTimeout;
      if (ledger) places.push(await ledger.writes(origin, { ...run, requestLimit }));
    }
    return new JoinedWrites(places, { ...run, clock: host.clock, alarm: host.alarm, signal });
  }
}

export type RunHistory = ReturnType<typeof openRunHistory>;

/** The history of this computer, for reading and appending; its code is loaded when it is first used. */
export function openRunHistory(
  { command, runName, host, options, messages, identityOf }: RunHost,
  ledgers: RunLedgers,
) {
  const appending = once(async () => {
    const { openHistory } = await import('../../store/record/history.ts');
    return openHistory({ run: runName(), command }, host);
  });
  const warn = warnOnce(messages.warn);
  return {
    /** The entries of one kind, oldest first, whose lines contain `holding`. @throws Failure config */
    async past<K extends keyof HistoryEvents>(kind: K, holding?: string): Promise<readonly EntryOf<K>[]> {
      const { eachEntry } = await import('../../store/record/history.ts');
      const entries: EntryOf<K>[] = [];
      for await (const entry of eachEntry(host.system, kind, holding)) entries.push(entry);
      return entries;
    },
    /** Records what this run does on the server of a credential. */
    recorder: (credential: LicensingCredential | ChatCredential) => ({
      run: runName(),
      /** Appends to the history, in the name of another run if `by` is given; false after a warning if that fails. */
      async record(event: HistoryEvents[keyof HistoryEvents], by?: RunStamp): Promise<boolean> {
        if (options.dry_run) return true;
        const append = await appending();
        const [origin, given] = [identityOf(credential), originOf(urlOf(credential))];
        const url = origin === 'sandbox' || origin === given ? undefined : given;
        const place = { origin, url, profile: credential.profile, ...by };
        const telling = append(place, event, async (entry) => {
          if (credential.kind === 'licensing' && 'remote_user' in entry) await ledgers.tell(credential, entry);
        });
        const isTold = telling.then(() => true);
        return (await orWarn(isTold, warn, 'the history will not contain what this run does')) ?? false;
      },
    }),
  };
}

/** Names the run, of characters that people do not confuse when they read them out. */
export function runNames(): () => string {
  const signs = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  // Drawn at the first use: a plain list need not load node:crypto.
  let drawn: string | undefined;
  return () => (drawn ??= [...randomBytes(4)].map((byte) => signs[byte % signs.length] ?? '').join(''));
}
