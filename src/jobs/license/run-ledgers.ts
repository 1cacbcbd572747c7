import { defaultTimeout } from '../../api/http/connect.ts';
import { once } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, labelled, orWarn, warnOnce } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { variableWithText, type Alarm } from '../../core/system.ts';
import { readLedgerUrl } from '../../schema/ledger-url.ts';
import { refuseReadOnly, type ChatCredential, type LicensingCredential } from '../../store/account/credentials.ts';
import type { StoredProfiles } from '../../store/account/profiles.ts';
import { withTake, type ClaimingJob } from '../../store/claims.ts';
import { jointClaims } from '../../store/joint-claims.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Surroundings } from '../../store/lock/lock.ts';
import { openQueue, type Queueing } from '../../store/queue.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import type { OpenAnswer } from '../../store/request-history.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import type { Creations } from './history.ts';

/** The run whose ledgers and history are opened. */
export interface LedgerRun {
  readonly command: string;
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
/** A POST is remembered for at least so long. */
const day: Milliseconds = 86_400_000;

/**
 * Who creates licenses for which users: on this machine, or in a ledger that several machines share, whose code is
 * loaded where one is configured. `close` ends the sessions, and frees claims.
 */
export function openLedgers(run: LedgerRun) {
  const { host, options, messages, signal, identityOf } = run;
  const { opened, ledgerFor, targetOf, configured } = ledgerPlaces(run);
  const queues = new Map<string, ReturnType<typeof openRun>>();
  const ledgers = {
    /**
     * In the ledger of that credential, else in a file of this machine. @param settle how long a POST is remembered
     * at least @throws Failure unavailable or auth where a ledger cannot be reached; the first claim shows the rest
     */
    async claims(account: LicensingCredential, app_code: number, settle: Milliseconds, width = 1, job?: ClaimingJob) {
      const target = targetOf(account, app_code);
      const requestLimit = options.timeout ?? defaultTimeout;
      const { note, warn } = messages;
      const claiming = { settle, remember: Math.max(settle, day), signal, note, requestLimit, width };
      const { openClaims } = await import('../../store/lock/local-claims.ts');
      const origin = identityOf(account);
      const ledger = await ledgerFor(account);
      const opening = queues.get(origin) ?? openRun(origin, ledger, { ...claiming, warn }, host);
      queues.set(origin, opening);
      const { by, local: own, queue } = await opening;
      const local = await openClaims(target, host, { ...claiming, by, queue: own, job });
      const shared = await ledger?.claims(target, claiming);
      return { ...withTake(shared ? jointClaims(local, shared) : local, host.clock, claiming), queue };
    },
    /**
     * Answered POSTs whose license no list has shown. Claims nothing, and waits for nobody; a ledger that cannot be
     * asked is a warning. @throws Failure config where the record of requests is damaged
     */
    async openAnswers(account: LicensingCredential, app_code: number, users: readonly string[]) {
      const target = targetOf(account, app_code);
      const { recordedOf } = await import('../../store/lock/local-claims.ts');
      const local = new Map<string, OpenAnswer>();
      for (const [user, { history }] of await recordedOf(target, users, host))
        if (history.answer) local.set(user, history.answer);
      try {
        return new Map([...local, ...((await (await ledgerFor(account))?.openAnswers(target, users)) ?? [])]);
      } catch (cause) {
        if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
        messages.warn(`${cause.message}; cannot see what other machines requested`);
        return local;
      }
    },
    /** The requests that this computer recorded for users whom a job, begun then, held last; its runs have ended. */
    async ofJob(
      account: LicensingCredential,
      app_code: number,
      users: readonly string[],
      job: { readonly name: string; readonly begun: Milliseconds },
    ) {
      const { historiesOfJob } = await import('../../store/lock/local-claims.ts');
      return historiesOfJob(targetOf(account, app_code), users, job, host);
    },
    /** Licenses that runs created for users of the credential of an application; of the sandbox nothing is known. */
    creations(accountOf: (app_code: number) => LicensingCredential | undefined, users: readonly string[]) {
      const placeOf = (app_code: number) => {
        const account = options.sandbox ? undefined : accountOf(app_code);
        const told = async (user: string) => {
          const ledger = account && !options.dry_run ? await ledgerFor(account) : undefined;
          return account && ledger ? ledger.told(targetOf(account, app_code), user) : [];
        };
        return account && { app_code, origin: identityOf(account), told };
      };
      const opened = once(async () => {
        const { openCreations } = await import('../../store/record/creations.ts');
        return openCreations(host.system, users, placeOf);
      });
      const isReset: Creations['isReset'] = new Map();
      return {
        isReset,
        of: async (app_code: number, user: string) => (await opened()).of(app_code, user),
        others: async (app_code: number, user: string) => (await opened()).others(app_code, user),
        nameWith: async (app_code: number, text: string) => (await opened()).nameWith(app_code, text),
      };
    },
    ...configured,
  };
  const untold = 'license history on other machines lacks what this run did';
  const warn = warnOnce(messages.warn);
  return {
    ledgers,
    /** Tells a ledger what was done, where there is one. */
    async tell(account: LicensingCredential, entry: HistoryEntry): Promise<void> {
      const { app_code = account.app_code } = entry;
      const telling = async () => {
        const ledger = app_code === undefined ? undefined : await ledgerFor(account);
        if (ledger && app_code !== undefined) await ledger.tell(targetOf(account, app_code), entry);
      };
      await orWarn(telling(), warn, untold);
    },
    /** A request that is no POST for a license had no answer. */
    unanswered(): void {
      for (const opening of queues.values()) void opening.then(({ queue }) => queue.unanswered());
    },
    async close(): Promise<void> {
      for (const ledger of opened.values()) await orWarn((await ledger).close(), warn, untold);
    },
  };
}

/** Which ledger there is: that of the variable, else of a profile. */
function ledgerPlaces({ host, options, signal, profiles, identityOf, watch, isReadOnly }: LedgerRun) {
  const opened = new Map<string, Promise<Ledger>>();
  const open = (url: string): Promise<Ledger> => {
    const known = opened.get(url) ?? load(url);
    opened.set(url, known);
    return known;
  };
  const openIf = async (url: string | undefined) => (url === undefined ? undefined : open(url));
  const load = async (url: string): Promise<Ledger> => {
    const { openLedger } = await import('../../store/ledger/ledger.ts');
    const ledger = openLedger(url, { ...host, signal, caFile: options.ca_file, watch });
    return {
      ...ledger,
      async init() {
        refuseReadOnly({ read_only: isReadOnly });
        return await ledger.init();
      },
    };
  };
  const explicit = (): string | undefined => {
    const text = variableWithText(host.system.env, variableName);
    return text === undefined ? undefined : labelled(variableName, () => readLedgerUrl(text), 'config');
  };
  const ledgerFor = async (account: LicensingCredential): Promise<Ledger | undefined> =>
    options.sandbox ? undefined : openIf(explicit() ?? account.ledger);
  const targetOf = (account: LicensingCredential, app_code: number): string => `${identityOf(account)} ${app_code}`;
  const any = async (): Promise<Ledger | undefined> => {
    const name = options.profile ?? (await profiles().defaults()).licensing;
    const profile = name === undefined ? undefined : await profiles().find(name);
    return openIf(explicit() ?? (profile?.kind === 'licensing' ? profile.ledger : undefined));
  };
  const configured = {
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
  return { opened, ledgerFor, targetOf, configured };
}

/** The part of a run that others see who send requests to that server. */
async function openRun(
  origin: string,
  ledger: Ledger | undefined,
  claiming: Parameters<Ledger['queue']>[1] & Pick<Queueing, 'warn'>,
  host: Surroundings,
) {
  const { localQueue, localUnderWay } = await import('../../store/lock/local-queue.ts');
  const { runName } = await import('../../store/lock/request-record.ts');
  const [by, local] = [runName(origin, claiming.width), await localQueue(origin, host)];
  const shared = ledger ? [await ledger.queue(origin, claiming)] : [];
  const { elapsed, random, sleep } = host.clock;
  const drawn = (span: Milliseconds) => sleep(span * (0.5 + random()), claiming.signal);
  const underWay = await localUnderWay(origin, by, host);
  return { by, local, queue: openQueue([local, ...shared], { ...claiming, by, underWay, elapsed, sleep: drawn }) };
}
