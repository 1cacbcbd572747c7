import { batched, paced } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, writeJson } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
import type { BusyUsers, Claims, FreeClaims, TakenUsers } from '../claims.ts';
import { isOpenAnswer, joinHistories, type OpenAnswer, type RequestHistory } from '../request-history.ts';
import type { ToldHistory } from './ledger-history.ts';
import { shortLimit, type LedgerClaimOptions, type LedgerSession } from './ledger-session.ts';

/** The users of one statement: 100,000 took 12 s to claim and 18 s to give back, which is longer than it may take. */
const portion = 5000;
/** Of users with a recorded POST that is not sent yet. */
const fewRecorded = 25;
/** How long users are given back for after Ctrl-C or the deadline. */
export const releaseGrace: Milliseconds = 1000;

interface ClaimsPlace {
  readonly target: string;
  readonly clock: Clock;
  readonly told: ToldHistory;
  /** Hears which users are claimed together, with their names in the ledger. */
  readonly creations: { claim(target: string, users: readonly string[], names: readonly Buffer[]): Promise<void> };
}

/** Claims on the users of one application, held by a session (docs/exactly-once.md, The shared ledger). */
export function sharedClaims(
  session: LedgerSession,
  { target, clock, told, creations }: ClaimsPlace,
  options: LedgerClaimOptions,
): FreeClaims {
  const { signal } = options;
  const limits = { signal, grace: releaseGrace, limit: shortLimit };
  const namesOf = (users: readonly string[]): Buffer[] => users.map((user) => session.whoIs(target, user));
  const posts = recordedPosts(session, clock, options, namesOf);

  const takeFree = async (wanted: readonly string[]): Promise<TakenUsers> => {
    const takeSome = async (some: readonly string[]): Promise<TakenUsers> => {
      const names = namesOf(some);
      const users = new Map(names.map((name, index) => [name.toString('base64'), some[index] ?? '']));
      const taken = takenFrom(await session.call('take', [target, names], { signal }), users, session.askedUntil);
      await creations.claim(target, some, names);
      return taken;
    };
    // Once where there are no users, since a statement tells the time.
    let last = await takeSome(wanted.slice(0, portion));
    const parts = [last];
    for (let at = portion; at < wanted.length; at += portion)
      parts.push((last = await takeSome(wanted.slice(at, at + portion))));
    return {
      now: last.now,
      histories: new Map(parts.flatMap(({ histories }) => [...histories])),
      held: parts.flatMap(({ held }) => held),
      holder: parts.find(({ holder }) => holder !== undefined)?.holder,
    };
  };

  /** Users for whom a POST was sent since they were claimed. */
  const sent = new Set<string>();
  const release: Claims['release'] = async (users, shown) => {
    for (const user of users) posts.forget(user);
    for (let at = 0; at < users.length; at += portion) {
      const some = users.slice(at, at + portion);
      const names = namesOf(some);
      const only = (isOne: (user: string) => boolean) => names.filter((_name, index) => isOne(some[index] ?? ''));
      const lists = [names, only((user) => sent.delete(user)), only((user) => shown?.has(user) === true)];
      await told.write((rowsFor) => session.call('release', [...lists, rowsFor(session.whoIs)], limits));
    }
  };

  const recordAnswer = batched<readonly [user: string, answer: OpenAnswer]>(
    async (all) => {
      const answers = new Map(all);
      const texts = [...answers.values()].map((answer) => writeJson(answer));
      await session.call('answered', [namesOf([...answers.keys()]), texts], limits);
    },
    paced(clock, 100),
  );

  return {
    isShared: true,
    takeFree,
    release,
    lost: () => session.lost(),
    busy: async (users) => busyIn(await session.call('busy', [namesOf(users)], { signal })),
    async ended(user, end) {
      sent.add(user);
      if (end.event !== 'answered') return;
      const { status, time, key_end } = end;
      await recordAnswer([user, { status, time, key_end }]);
    },
    posting: posts.posting,
  };
}

/** The records of POSTs that are about to be sent: one statement makes many, each is for one POST. */
function recordedPosts(
  session: LedgerSession,
  clock: Clock,
  { requestLimit, signal }: LedgerClaimOptions,
  namesOf: (users: readonly string[]) => Buffer[],
): Pick<Claims, 'posting'> & { readonly forget: (user: string) => void } {
  const recorded = new Map<string, Recorded>();

  /** Whether a POST may begin, on either clock: one can be set back, the other stops while the machine sleeps. */
  const isFresh = (record: Recorded | undefined): record is Recorded => {
    if (!record) return false;
    const [now, elapsed] = [clock.now() - record.now, clock.elapsed() - record.elapsed];
    return now >= 0 && now < shortLimit && elapsed < shortLimit;
  };

  const sending = batched<() => readonly string[]>(async (all) => {
    // Asked right before the statement: users who were given back meanwhile would make it fail.
    const users = [...new Set(all.flatMap((some) => some()))].filter((user) => !isFresh(recorded.get(user)));
    if (users.length === 0) return;
    const before = { now: clock.now(), elapsed: clock.elapsed() };
    const values = [requestLimit + shortLimit, namesOf(users)];
    const written = session.call('sending', values, { signal, limit: shortLimit });
    for (const user of users) recorded.set(user, { ...before, written });
    await written;
  });

  return {
    forget: (user) => void recorded.delete(user),
    async posting(user, soon = () => []) {
      const failure = session.lost();
      if (failure) throw failure;
      if (!isFresh(recorded.get(user))) await sending(() => [user, ...soon()]);
      await recorded.get(user)?.written;
      recorded.delete(user);
      // The next ones are recorded while these are sent; a failure is that of their own POSTs.
      if (recorded.size < fewRecorded) sending(soon).catch(() => undefined);
    },
  };
}

/** The moment before a statement, on both clocks of the machine; `written` resolves when it has succeeded. */
type Recorded = Readonly<{ now: Milliseconds; elapsed: Milliseconds; written: Promise<unknown> }>;

/** Reads what `chatelaine.take` answers; `users`: the names behind those in base64. @throws Failure unavailable */
function takenFrom(
  answer: unknown,
  users: ReadonlyMap<string, string>,
  askedUntil: Milliseconds | undefined,
): TakenUsers {
  const { now, past, held, holder } = isObject(answer) ? answer : {};
  if (typeof now !== 'number' || !Array.isArray(past) || !Array.isArray(held)) throw notClaims();
  const nameOf = (who: unknown): string => users.get(String(who)) ?? '';
  const known = rowsIn(past).map(([who, posted, answer]): [string, RequestHistory] => {
    if (answer !== null && !isOpenAnswer(answer)) throw notClaims();
    return [nameOf(who), { posted: typeof posted === 'number' ? posted : undefined, answer: answer ?? undefined }];
  });
  const histories = new Map(known);
  const others = new Set(held);
  for (const [who, user] of askedUntil === undefined ? [] : users)
    if (!others.has(who)) histories.set(user, joinHistories({ posted: askedUntil }, histories.get(user)));
  return { now, histories, held: held.map(nameOf), holder: holderIn(holder) };
}

/** Reads users with their open answers; null: there is none. @throws Failure unavailable where it is something else */
export function answersIn(rows: unknown, users: ReadonlyMap<string, string>): Map<string, OpenAnswer> {
  const answers = new Map<string, OpenAnswer>();
  for (const [who, answer] of rowsIn(rows)) {
    if (isOpenAnswer(answer)) answers.set(users.get(String(who)) ?? '', answer);
    else if (answer !== null) throw notClaims();
  }
  return answers;
}

function rowsIn(rows: unknown): (readonly unknown[])[] {
  if (!Array.isArray(rows)) throw notClaims();
  return rows.map((row: unknown): readonly unknown[] => (Array.isArray(row) ? row : []));
}

/** Reads what `chatelaine.busy` answers. @throws Failure unavailable where it is something else */
function busyIn(answer: unknown): BusyUsers {
  const { now, count, holder } = isObject(answer) ? answer : {};
  if (typeof now !== 'number' || typeof count !== 'number') throw notClaims();
  return { now, count, holder: holderIn(holder) };
}

function holderIn(holder: unknown): string | undefined {
  return isObject(holder) ? `process ${String(holder['pid'])} on ${String(holder['host'])}` : undefined;
}

function notClaims(): Failure {
  return new Failure('unavailable', 'the ledger answered with something else than claims');
}
