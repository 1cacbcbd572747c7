import { defaultTimeout } from '../api/http/connect.ts';
import { isGuarded } from '../commands/environment.ts';
import { urlOf } from '../schema/profile.ts';
import { originOf } from '../schema/url.ts';
import type { Accounts, Ledgers, Disk } from '../commands/context.ts';
import type { Milliseconds } from '../core/duration.ts';
import { Failure, labelled, orWarn } from '../core/failure.ts';
import { variableWithText } from '../core/system.ts';
import { withTake } from '../store/claims.ts';
import type { OpenAnswer } from '../store/request-history.ts';
import { openQueue, type Queueing } from '../store/queue.ts';
import { jointClaims } from '../store/joint-claims.ts';
import { refuseReadOnly, type LicensingCredential } from '../store/account/credentials.ts';
import { readLedgerUrl } from '../schema/ledger-url.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import { randomBytes } from '../core/outside.ts';
import type { CreationPlace, OpenedCreations } from '../store/record/creations.ts';
import type { AppendHistory, EntryOf, HistoryEntry, HistoryEvents } from '../store/record/history.ts';
import type { Host } from './host.ts';
import type { RunParts } from './values.ts';

const variableName = 'CHATELAINE_LEDGER';
/** A POST is remembered for at least so long. */
const day: Milliseconds = 86_400_000;

/** Keeps claims; loads a ledger's code only where one is configured. `close` ends the sessions, and frees claims. */
export function openLedgers({ host, options, messages, redactor, signal }: RunParts, accounts: Accounts) {
  const opened = new Map<string, Promise<Ledger>>();
  const open = (url: string): Promise<Ledger> => {
    const known = opened.get(url) ?? load(url);
    opened.set(url, known);
    return known;
  };
  const load = async (url: string): Promise<Ledger> => {
    const { openLedger } = await import('../store/ledger/ledger.ts');
    const { system, clock, alarm } = host;
    const read_only = isGuarded(system.env, 'CHATELAINE_READ_ONLY');
    const ledger = openLedger(url, { system, clock, alarm, signal, caFile: options.ca_file, watch: redactor.watch });
    return {
      ...ledger,
      async init() {
        refuseReadOnly({ read_only });
        return await ledger.init();
      },
    };
  };
  let read: { readonly url: string | undefined } | undefined;
  const typed = (): string | undefined => {
    const text = variableWithText(host.system.env, variableName);
    read ??= { url: text === undefined ? undefined : labelled(variableName, () => readLedgerUrl(text), 'config') };
    return read.url;
  };
  const targetOf = (account: LicensingCredential, app_code: number): string =>
    `${accounts.accounts.identityOf(account)} ${app_code}`;
  const urlFor = (account: LicensingCredential): string | undefined =>
    options.sandbox ? undefined : (typed() ?? account.ledger);
  const queues = new Map<string, ReturnType<typeof openRun>>();
  const ledgers: Ledgers['ledgers'] = {
    async claims(account, app_code, settle, width = 1, job) {
      const target = targetOf(account, app_code);
      const url = urlFor(account);
      const requestLimit = options.timeout ?? defaultTimeout;
      const { note, warn } = messages;
      const claiming = { settle, remember: Math.max(settle, day), signal, note, requestLimit, width };
      const { openClaims } = await import('../store/lock/local-claims.ts');
      const origin = accounts.accounts.identityOf(account);
      const ledger = url === undefined ? undefined : await open(url);
      const opening = queues.get(origin) ?? openRun(origin, ledger, { ...claiming, warn }, host);
      queues.set(origin, opening);
      const { by, local: own, queue } = await opening;
      const local = await openClaims(target, host, { ...claiming, by, queue: own, job });
      const shared = await ledger?.claims(target, claiming);
      return { ...withTake(shared ? jointClaims(local, shared) : local, host.clock, claiming), queue };
    },
    async openAnswers(account, app_code, users) {
      const target = targetOf(account, app_code);
      const url = urlFor(account);
      const { recordedOf } = await import('../store/lock/local-claims.ts');
      const local = new Map<string, OpenAnswer>();
      for (const [user, { history }] of await recordedOf(target, users, host))
        if (history.answer) local.set(user, history.answer);
      if (url === undefined) return local;
      try {
        return new Map([...local, ...(await (await open(url)).openAnswers(target, users))]);
      } catch (cause) {
        if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
        messages.warn(`${cause.message}; cannot see what other machines requested`);
        return local;
      }
    },
    async ofJob(account, app_code, users, job) {
      const { historiesOfJob } = await import('../store/lock/local-claims.ts');
      return historiesOfJob(targetOf(account, app_code), users, job, host);
    },
    creations(accountOf, users) {
      return creationsOf(host, users, (app_code) => {
        const account = options.sandbox ? undefined : accountOf(app_code);
        const url = options.dry_run ? undefined : account && urlFor(account);
        const told = async (user: string) =>
          account && url !== undefined ? (await open(url)).told(targetOf(account, app_code), user) : [];
        return account && { app_code, origin: accounts.accounts.identityOf(account), told };
      });
    },
    ...configuredLedgers(accounts, options.profile, typed, open),
  };
  let isUntold = false;
  const orUntold = async (telling: Promise<void>): Promise<void> => {
    const warn = (text: string): void => void (isUntold || messages.warn(text), (isUntold = true));
    await orWarn(telling, warn, 'license history on other machines lacks what this run did');
  };
  const tell = async (account: LicensingCredential, entry: HistoryEntry): Promise<void> => {
    const url = urlFor(account);
    const app_code = entry.app_code ?? account.app_code;
    if (url !== undefined && app_code !== undefined) await (await open(url)).tell(targetOf(account, app_code), entry);
  };
  const close = async (): Promise<void> => {
    for (const ledger of opened.values()) await orUntold((await ledger).close());
  };
  /** A request that is no POST for a license had no answer. */
  const unanswered = async (): Promise<void> => {
    for (const run of queues.values()) (await run).queue.unanswered();
  };
  const telling = (...told: Parameters<typeof tell>): Promise<void> => orUntold(tell(...told));
  return { ledgers, tell: telling, unanswered: () => void unanswered(), close };
}

function configuredLedgers(
  accounts: Accounts,
  named: string | undefined,
  typed: () => string | undefined,
  open: (url: string) => Promise<Ledger>,
): Pick<Ledgers['ledgers'], 'any' | 'configured' | 'all'> {
  const profiles = accounts.accounts.profiles();
  const any = async (): Promise<Ledger | undefined> => {
    const name = named ?? (await profiles.defaults()).licensing;
    const profile = name === undefined ? undefined : await profiles.find(name);
    const url = typed() ?? (profile?.kind === 'licensing' ? profile.ledger : undefined);
    return url === undefined ? undefined : open(url);
  };
  return {
    any,
    async configured() {
      const configured = await any();
      if (configured) return configured;
      throw new Failure('config', 'no ledger is configured', {
        hint: `Set ${variableName}=postgres://ROLE@HOST/DATABASE, or store it: chatelaine auth login licensing --ledger URL`,
      });
    },
    async all() {
      const url = typed();
      const kept = (await profiles.all()).filter((profile) => profile.kind === 'licensing');
      const urls = new Map(kept.flatMap(({ ledger, name }) => (ledger === undefined ? [] : [[ledger, name]])));
      const found = url === undefined ? [] : [{ source: variableName, ledger: await open(url) }];
      for (const [ledger, source] of urls) if (ledger !== url) found.push({ source, ledger: await open(ledger) });
      return found;
    },
  };
}

/** Licenses that the history has; its code is loaded when it is asked. */
function creationsOf(
  { system }: Host,
  users: readonly string[],
  placeOf: (app_code: number) => CreationPlace | undefined,
): ReturnType<Ledgers['ledgers']['creations']> {
  let opened: Promise<OpenedCreations> | undefined;
  const load = async () => (await import('../store/record/creations.ts')).openCreations(system, users);
  return {
    isReset: new Map(),
    async of(app_code, user) {
      const place = placeOf(app_code);
      return place && (await (opened ??= load())).of(place, user);
    },
    async nameWith(app_code, text) {
      const place = placeOf(app_code);
      return place && (await (opened ??= load())).nameWith(place, text);
    },
    async others(app_code, user) {
      const place = placeOf(app_code);
      return place ? (await (opened ??= load())).others(place, user) : [];
    },
  };
}

/** The part of a run that others see who send requests to that server. */
async function openRun(
  origin: string,
  ledger: Ledger | undefined,
  claiming: Parameters<Ledger['queue']>[1] & Pick<Queueing, 'warn'>,
  host: Host,
) {
  const { localQueue } = await import('../store/lock/local-queue.ts');
  const { runName } = await import('../store/lock/request-record.ts');
  const [by, local] = [runName(origin, claiming.width), await localQueue(origin, host)];
  const shared = ledger ? [await ledger.queue(origin, claiming)] : [];
  const { elapsed, random, sleep } = host.clock;
  const drawn = (span: Milliseconds) => sleep(span * (0.5 + random()), claiming.signal);
  return { by, local, queue: openQueue([local, ...shared], { ...claiming, by, elapsed, sleep: drawn }) };
}

/** The history, to read and to add to; its code is loaded when it is used. */
export function historyOf(
  command: string,
  { accounts: { identityOf } }: Accounts,
  { host, options, messages }: RunParts,
  tell: ReturnType<typeof openLedgers>['tell'],
): Pick<Disk['record'], 'past' | 'recorder'> {
  let name: string | undefined;
  // Drawn where it is used: node:crypto is no part of a plain list.
  const run = (): string => (name ??= drawRun());
  const warned = new Set<string>();
  const warnOnce = (text: string): void => {
    if (!warned.has(text)) messages.warn(text);
    warned.add(text);
  };
  let opened: Promise<AppendHistory> | undefined;
  const open = async (): Promise<AppendHistory> =>
    (await import('../store/record/history.ts')).openHistory({ run: run(), command }, host);
  const past = async <K extends keyof HistoryEvents>(kind: K, holding?: string): Promise<EntryOf<K>[]> => {
    const { eachEntry } = await import('../store/record/history.ts');
    const entries: EntryOf<K>[] = [];
    for await (const entry of eachEntry(host.system, kind, holding)) entries.push(entry);
    return entries;
  };
  return {
    past,
    recorder: (credential) => ({
      run: run(),
      async record(event) {
        if (options.dry_run) return;
        const append = await (opened ??= open());
        const [origin, given] = [identityOf(credential), originOf(urlOf(credential))];
        const url = origin === 'sandbox' || origin === given ? undefined : given;
        const place = { origin, url, profile: credential.profile };
        const telling = append(place, event, async (entry) => {
          if (credential.kind === 'licensing' && 'remote_user' in entry) await tell(credential, entry);
        });
        await orWarn(telling, warnOnce, 'the history lacks what this run does');
      },
    }),
  };
}

/** Four signs that nobody mistakes for one another when they are read out. */
function drawRun(): string {
  const signs = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return [...randomBytes(4)].map((byte) => signs[byte % signs.length] ?? '').join('');
}
