import { defaultTimeout } from '../../api/http/connect.ts';
import { once } from '../../core/batch.ts';
import { randomBytes } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, labelled, orWarn, warnOnce } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { variableWithText, type Alarm } from '../../core/system.ts';
import { readLedgerUrl } from '../../schema/ledger-url.ts';
import { refuseReadOnly, type ChatCredential, type LicensingCredential } from '../../store/account/credentials.ts';
import type { StoredProfiles } from '../../store/account/profiles.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Surroundings } from '../../store/lock/lock.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import { LicenseWrites } from '../../store/record/joined-writes.ts';
import type { WorkMessages } from '../work/work-messages.ts';

/** The run whose ledgers and history are opened. */
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
  readonly messages: Pick<WorkMessages, 'note' | 'warn'>;
  readonly watch: (secret: Secret) => Secret;
  readonly profiles: () => StoredProfiles;
  readonly identityOf: (account: LicensingCredential | ChatCredential) => string;
}

export type RunLedgers = ReturnType<typeof openLedgers>['ledgers'];

const variableName = 'CHATELAINE_LEDGER';

/**
 * What runs know of one another's writes: on this machine, and in a ledger that several machines share, whose code is
 * loaded where one is configured. `close` ends the sessions, and frees locks.
 */
export function openLedgers(run: RunHost) {
  const { host, options, messages, identityOf } = run;
  const { opened, ledgerFor, configured } = ledgerPlaces(run);
  const stores = new Map<string, Promise<LicenseWrites>>();
  const ledgers = {
    /** The locks and the record of that server. @throws Failure of a ledger that cannot be reached */
    async writes(account: LicensingCredential, settle: Milliseconds): Promise<LicenseWrites> {
      const origin = identityOf(account);
      const opening = stores.get(origin) ?? openWrites(run, origin, await ledgerFor(account), settle);
      stores.set(origin, opening);
      return opening;
    },
    /** Licenses that runs created for users of the credential of an application; of the sandbox nothing is known. */
    creations(accountOf: (app_code: number) => LicensingCredential | undefined, users: readonly string[]) {
      const placeOf = (app_code: number) => {
        const account = options.sandbox ? undefined : accountOf(app_code);
        const told = async (user: string) => {
          const ledger = account && !options.dry_run ? await ledgerFor(account) : undefined;
          return account && ledger ? ledger.history.told(user) : [];
        };
        return account && { app_code, origin: identityOf(account), told };
      };
      const opened = once(async () => {
        const { openCreations } = await import('../../store/record/creations.ts');
        return openCreations(host.system, users, placeOf);
      });
      return { of: async (app_code: number, user: string) => (await opened()).of(app_code, user) };
    },
    ...configured,
  };
  const untold = 'license history on other machines lacks what this run did';
  const warn = warnOnce(messages.warn);
  return {
    ledgers,
    /** Tells a ledger what was done, where there is one. */
    async tell(account: LicensingCredential, entry: HistoryEntry): Promise<void> {
      const telling = async () => (await ledgerFor(account))?.history.tell(entry);
      await orWarn(telling(), warn, untold);
    },
    /** A request that is no POST for a license had no answer. */
    unanswered(): void {
      for (const opening of stores.values()) void opening.then((store) => store.unanswered());
    },
    async close(): Promise<void> {
      for (const store of stores.values()) await orWarn((await store).close(), warn, untold);
      for (const ledger of opened.values()) await orWarn((await ledger).close(), warn, untold);
    },
  };
}

/** Which ledger there is: that of the variable, else of a profile. */
function ledgerPlaces({ host, options, signal, profiles, watch, isReadOnly }: RunHost) {
  const opened = new Map<string, Promise<Ledger>>();
  const open = (url: string): Promise<Ledger> => {
    const known = opened.get(url) ?? load(url);
    opened.set(url, known);
    return known;
  };
  const openIf = async (url: string | undefined) => (url === undefined ? undefined : open(url));
  const load = async (url: string): Promise<Ledger> => {
    const { Ledger: LedgerCode } = await import('../../store/ledger/ledger.ts');
    return new LedgerCode(url, { ...host, signal, caFile: options.ca_file, watch });
  };
  const explicit = (): string | undefined => {
    const text = variableWithText(host.system.env, variableName);
    return text === undefined ? undefined : labelled(variableName, () => readLedgerUrl(text), 'config');
  };
  const ledgerFor = async (account: LicensingCredential): Promise<Ledger | undefined> =>
    options.sandbox ? undefined : openIf(explicit() ?? account.ledger);
  const any = async (): Promise<Ledger | undefined> => {
    const name = options.profile ?? (await profiles().defaults()).licensing;
    const profile = name === undefined ? undefined : await profiles().find(name);
    return openIf(explicit() ?? (profile?.kind === 'licensing' ? profile.ledger : undefined));
  };
  const configured = {
    /** Creates the tables of that ledger. @throws Failure config for a read-only run */
    async init(ledger: Ledger) {
      refuseReadOnly({ read_only: isReadOnly });
      return ledger.init();
    },
    /** The one in use; undefined where none is configured. */
    any,
    /** @throws Failure config where none is configured */
    async configured(): Promise<Ledger> {
      const ledger = await any();
      if (ledger) return ledger;
      throw new Failure('config', 'no ledger is configured', {
        hint: `Set ${variableName}=postgres://ROLE@HOST/DATABASE, or store it: chatelaine auth login licensing --ledger URL`,
      });
    },
    /** `source`: CHATELAINE_LEDGER, or the name of a profile. */
    async all() {
      const kept = (await profiles().all()).filter((profile) => profile.kind === 'licensing');
      const stored = kept.flatMap(({ ledger, name }) => (ledger === undefined ? [] : [[ledger, name] as const]));
      const url = explicit();
      const own = url === undefined ? [] : [[url, variableName] as const];
      // The variable comes first, and names a ledger that a profile has too.
      const sources = new Map([...own, ...stored, ...own]);
      return Promise.all([...sources].map(async ([one, source]) => ({ source, ledger: await open(one) })));
    },
  };
  return { opened, ledgerFor, configured };
}

/** The writes of a run at one server, as all runs see them. */
async function openWrites(
  { host, options, signal, messages, command, runName }: RunHost,
  origin: string,
  ledger: Ledger | undefined,
  settle: Milliseconds,
): Promise<LicenseWrites> {
  const { localWrites } = await import('../../store/record/local-writes.ts');
  const token = randomBytes(8).toString('hex');
  const named = { run: runName(), command };
  const isDry = options.dry_run === true;
  const local = await localWrites(origin, { ...named, token, isDry, warn: messages.warn }, host);
  const requestLimit = options.timeout ?? defaultTimeout;
  const shared =
    ledger && !isDry
      ? [await ledger.writes(origin, { token, ...named, settle, requestLimit, note: messages.note })]
      : [];
  const { elapsed, random, sleep } = host.clock;
  return new LicenseWrites([local, ...shared], {
    ...messages,
    token,
    settle,
    elapsed,
    random,
    sleep: (span) => sleep(span, signal),
    isDry,
  });
}
