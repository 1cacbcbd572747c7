import type { Milliseconds } from '../../core/duration.ts';
import { orWarn, warnOnce, type Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { whileHeld, type Claims, type Waiting } from '../../store/claims.ts';
import { noRequests, type PostEnd, type RequestHistory } from '../../store/request-history.ts';
import { unrecorded, unreleased, type LicenseUser } from './license-user.ts';

export type RosterClaims = ReturnType<typeof shareRoster>;

/** The list that shows no license for the rows that are claimed. */
interface ListMoment {
  /** When it began, on the clock `elapsed`. */
  readonly listedAt: Milliseconds;
  /** A moment before it for each application, by the clock of its claims. */
  readonly before: ReadonlyMap<number, Milliseconds>;
}

export interface SharingRoster extends ListMoment, Waiting {
  readonly claims: ReadonlyMap<number, Claims>;
  readonly warn: (text: string) => void;
}

/** The rows that are claimed at once, of so many that are left: few at the end, so that machines end together. */
const portionOf = (left: number): number => Math.min(Math.max(Math.ceil(left / 8), 100), 1000);
/** The rows whose POSTs are recorded at once. */
const groupSize = 100;
/** Rows are given back together: a ledger takes a statement for them, the record of this computer a line. */
const releasedAtOnce = 1000;
const releasedEvery: Milliseconds = 2000;
const pause: Milliseconds = 2000;
/** Half of the time for which a POST is remembered at least: an older list would know less than the claims. */
const oldestList: Milliseconds = 43_200_000;

/**
 * Keeps the rows to create from other processes until their outcome is known. They are claimed when the first of them
 * is reached, in portions where machines share the work of a roster (docs/exactly-once.md, The shared ledger).
 * @param rows those without a license, in the order of their begin; each is known as its object
 */
export function shareRoster(rows: readonly LicenseFields[], sharing: SharingRoster) {
  const { claims, elapsed } = sharing;
  const places = new Map<LicenseUser, number>(rows.map((row, index) => [row, index]));
  /** `begun`: a POST may have been sent. */
  const outcomes = new Map<LicenseUser, 'claimed' | 'begun' | 'held'>();
  const histories = new Map<LicenseUser, RequestHistory>();
  const held = new Set<LicenseFields>();
  const { mine, releaseBut, ...claimed } = claimedRows(sharing);
  let claiming: Promise<void> = Promise.resolve();
  let { before } = sharing;
  let list: ListMoment = sharing;

  const takePortion = async (first: LicenseFields): Promise<void> => {
    if (outcomes.has(first)) return;
    const isShared = [...claims.values()].some((own) => own.isShared);
    const start = places.get(first) ?? 0;
    const end = isShared ? start + portionOf(rows.length - start) : rows.length;
    const wanted = rows.slice(start, end).filter((row) => !outcomes.has(row));
    for (const [app_code, own] of claims) {
      const users = wanted.filter((row) => row.app_code === app_code);
      if (users.length === 0) continue;
      const taken = await own.takeFree(users.map((row) => row.remote_user));
      const others = new Set(taken.held);
      for (const row of users) {
        const isHeld = others.has(row.remote_user);
        outcomes.set(row, isHeld ? 'held' : 'claimed');
        if (isHeld) held.add(row);
        else {
          mine.add(row);
          const history = taken.histories.get(row.remote_user) ?? noRequests;
          const posted = lastPost(row, history, taken.now, list, elapsed());
          if (history !== noRequests || posted !== undefined) histories.set(row, { ...history, posted });
        }
      }
    }
  };

  return {
    ...claimed,
    /** Earlier POSTs for that user, on the clock `elapsed`. */
    history: (row: LicenseUser): RequestHistory => histories.get(row) ?? noRequests,
    /** A POST for that user is about to be sent. @throws Failure where the claim is lost: nothing may be sent */
    async posting(row: LicenseUser): Promise<void> {
      outcomes.set(row, 'begun');
      const isSoon = (one: LicenseFields): boolean =>
        one.app_code === row.app_code && outcomes.get(one) === 'claimed' && mine.has(one);
      const start = places.get(row) ?? 0;
      const next = () => rows.slice(start, start + groupSize).filter(isSoon);
      const soon = () => next().map(({ remote_user }) => remote_user);
      await claims.get(row.app_code)?.posting(row.remote_user, soon);
    },
    lost: (): Failure | undefined => [...claims.values()].map((own) => own.lost()).find(Boolean),
    /** A list was read for the rows of `othersDone`: those that it does not show are claimed when they are reached. */
    listed(plan: { readonly listedAt: Milliseconds; readonly missing: readonly LicenseFields[] }): void {
      list = { listedAt: plan.listedAt, before };
      for (const row of plan.missing) if (held.delete(row)) outcomes.delete(row);
      held.clear();
    },
    /** `held`: somebody else holds it; a list decides when that is done. @throws Failure where the claims are lost */
    async claim(row: LicenseFields): Promise<'claimed' | 'held'> {
      claiming = claiming.then(() => takePortion(row));
      await claiming;
      return (outcomes.get(row) ?? 'held') === 'held' ? 'held' : 'claimed';
    },
    /**
     * Gives back all rows but those that wait for a list, and waits until nobody else may send a POST for held rows,
     * which it returns. All that wait are answered, or others would wait for them meanwhile.
     * @throws Failure unavailable where nobody ends one for too long
     */
    async othersDone(waiting: readonly LicenseUser[]): Promise<readonly LicenseFields[]> {
      await releaseBut(waiting);
      if (held.size === 0) return [];
      // What others have and no list shows yet: they wait for it, and so does this run.
      if (list !== sharing) await sharing.sleep(pause);
      ({ before } = await whileHeld(() => busyRows([...held], claims), sharing));
      return [...held];
    },
  };
}

/** Rows that are claimed, and how they are given back. */
function claimedRows({ claims, elapsed, ...sharing }: SharingRoster) {
  const warn = warnOnce(sharing.warn);
  const claimed = new Set<LicenseUser>();
  const confirmed = new Set<LicenseUser>();
  const done: LicenseUser[] = [];
  const recording = new Set<Promise<void>>();
  let last = elapsed();
  /** What was answered goes first: who is given back is free for other runs. */
  const flush = async (): Promise<void> => {
    const rows = done.splice(0);
    last = elapsed();
    await Promise.all(recording);
    for (const [code, own] of claims) {
      const given = rows.filter(({ app_code }) => app_code === code);
      const users = given.map(({ remote_user }) => remote_user);
      const shown = new Set(given.flatMap((row) => (confirmed.has(row) ? [row.remote_user] : [])));
      if (users.length > 0) await orWarn(own.release(users, shown), warn, unreleased);
    }
  };
  /** Gives all rows back but those, at once. */
  const releaseBut = (kept: readonly LicenseUser[]): Promise<void> => {
    const staying = new Set(kept);
    for (const row of claimed) if (!staying.has(row) && claimed.delete(row)) done.push(row);
    return flush();
  };
  return {
    mine: claimed,
    /** A list shows a license of that user: no answer is open any more. */
    confirmed: (row: LicenseUser): void => void confirmed.add(row),
    /** Records how a POST ended, for all runs that share the claims. */
    async ended(row: LicenseUser, end: PostEnd): Promise<void> {
      const own = claims.get(row.app_code);
      if (!own) return;
      const writing = orWarn(own.ended(row.remote_user, end), warn, unrecorded);
      recording.add(writing);
      await writing.finally(() => recording.delete(writing));
    },
    /** Gives a row back, with others a little later. */
    async release(row: LicenseUser): Promise<void> {
      if (claimed.delete(row)) done.push(row);
      if (done.length >= releasedAtOnce || elapsed() - last > releasedEvery) await flush();
    },
    releaseBut,
    releaseAll: (): Promise<void> => releaseBut([]),
  };
}

/**
 * When the last POST of a row ended, by the ledger: the later of the two moments that count from the claim and from the
 * beginning of the list, since the ledger's clock can be set too.
 */
function lastPost(
  row: LicenseUser,
  { posted }: RequestHistory,
  now: Milliseconds,
  { before, listedAt }: ListMoment,
  elapsed: Milliseconds,
): Milliseconds | undefined {
  const listed = before.get(row.app_code) ?? now;
  const time = now - listed > oldestList ? now : posted;
  return time === undefined ? undefined : Math.max(elapsed - (now - time), listedAt + (time - listed));
}

/** Whether somebody else may still send a POST for one of the rows, and the moment, by the clock of each claims. */
async function busyRows(rows: readonly LicenseFields[], claims: SharingRoster['claims']) {
  const before = new Map<number, Milliseconds>();
  let [count, holder]: [number, string | undefined] = [0, undefined];
  for (const [app_code, own] of claims) {
    const busy = await own.busy(rows.flatMap((row) => (row.app_code === app_code ? [row.remote_user] : [])));
    before.set(app_code, busy.now);
    count += busy.count;
    holder ??= busy.holder;
  }
  return { before, count, holder };
}
