import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { SharedClaims } from '../../store/claims.ts';
import { noRequests, type RequestHistory } from '../../store/request-history.ts';
import { claimedRows, userKey, type ClaimingRoster, type LicenseUser, type RosterClaims } from './claim-users.ts';

/** The list that shows no license for the rows that are claimed. */
interface ListMoment {
  /** When it began, on the clock `elapsed`. */
  readonly listedAt: Milliseconds;
  /** A moment before it for each application, by the clock of its ledger. */
  readonly before: ReadonlyMap<number, Milliseconds>;
}

export interface SharingRoster extends ClaimingRoster, ListMoment {
  readonly claims: ReadonlyMap<number, SharedClaims>;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
}

/**
 * The rows that are claimed at once, of so many that are left: few at the end, so that machines end together.
 */
const portionOf = (left: number): number => Math.min(Math.max(Math.ceil(left / 8), 100), 1000);
/** The rows whose POSTs are recorded at once. */
const groupOf = (): number => 50;
const longestWait: Milliseconds = 300_000;
const longestPause: Milliseconds = 2000;
/** Half of the time for which a POST is remembered at least: an older list would know less than the ledger. */
const oldestList: Milliseconds = 43_200_000;

/**
 * Claims rows to create in portions, each when its first row is reached, so that machines share the work of a roster
 * (docs/exactly-once.md, The shared ledger). @param rows those without a license, in the order of their begin
 */
export function shareRoster(rows: readonly LicenseFields[], sharing: SharingRoster): RosterClaims {
  const { claims } = sharing;
  const places = new Map(rows.map((row, index) => [userKey(row), index]));
  /** Claimed, and not begun yet. */
  const ahead = new Set<string>();
  const outcomes = new Map<string, 'claimed' | 'held'>();
  const histories = new Map<string, RequestHistory>();
  const held = new Map<string, LicenseFields>();
  const claimed = claimedRows(sharing);
  let claiming: Promise<void> = Promise.resolve();
  let { before } = sharing;
  let list: ListMoment = sharing;

  const from = (row: LicenseUser, count: (left: number) => number): readonly LicenseFields[] => {
    const start = places.get(userKey(row)) ?? 0;
    return rows.slice(start, start + count(rows.length - start));
  };

  const takePortion = async (first: LicenseFields): Promise<void> => {
    if (outcomes.has(userKey(first))) return;
    const wanted = from(first, portionOf).filter((row) => !outcomes.has(userKey(row)));
    for (const [app_code, own] of claims) {
      const users = wanted.filter((row) => row.app_code === app_code);
      if (users.length === 0) continue;
      const taken = await own.takeFree(users.map((row) => row.remote_user));
      const others = new Set(taken.held);
      for (const row of users) {
        const key = userKey(row);
        outcomes.set(key, others.has(row.remote_user) ? 'held' : 'claimed');
        if (others.has(row.remote_user)) held.set(key, row);
        else {
          claimed.add(row);
          ahead.add(key);
          const history = taken.histories.get(row.remote_user) ?? noRequests;
          histories.set(key, { ...history, posted: lastPost(row, history, taken.now, list, sharing.elapsed()) });
        }
      }
    }
  };

  return {
    ...claimed,
    history: (row) => histories.get(userKey(row)) ?? noRequests,
    async posting(row) {
      ahead.delete(userKey(row));
      await claims
        .get(row.app_code)
        ?.posting(row.remote_user, () =>
          from(row, groupOf).flatMap((one) =>
            one.app_code === row.app_code && ahead.has(userKey(one)) ? [one.remote_user] : [],
          ),
        );
    },
    release(row) {
      ahead.delete(userKey(row));
      return claimed.release(row);
    },
    lost: () => [...claims.values()].map((own) => own.lost()).find((failure) => failure !== undefined),
    listed(plan) {
      list = { listedAt: plan.listedAt, before };
      for (const row of plan.missing) if (held.delete(userKey(row))) outcomes.delete(userKey(row));
      held.clear();
    },
    async claim(row) {
      claiming = claiming.then(() => takePortion(row));
      await claiming;
      return outcomes.get(userKey(row)) ?? 'held';
    },
    async othersDone(waiting) {
      ahead.clear();
      await claimed.flush(waiting);
      if (held.size === 0) return [];
      // What others have and no list shows yet: they wait for it, and so does this run.
      if (list !== sharing) await sharing.sleep(longestPause);
      before = await whileBusy([...held.values()], sharing);
      return [...held.values()];
    },
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

/** Waits until nobody may still send a POST for one of the rows; that moment, by the clock of each ledger. */
async function whileBusy(
  rows: readonly LicenseFields[],
  { claims, elapsed, sleep, note }: SharingRoster,
): Promise<ReadonlyMap<number, Milliseconds>> {
  let end = elapsed() + longestWait;
  for (let round = 0, fewest = Infinity; ; round += 1) {
    const before = new Map<number, Milliseconds>();
    let [count, holder]: [number, string | undefined] = [0, undefined];
    for (const [app_code, own] of claims) {
      const busy = await own.busy(rows.flatMap((row) => (row.app_code === app_code ? [row.remote_user] : [])));
      before.set(app_code, busy.now);
      count += busy.count;
      holder ??= busy.holder;
    }
    if (count === 0) return before;
    if (round === 0)
      note(`waiting for ${holder ?? 'another run'}, which is creating licenses of ${count} of the users`);
    if (count < fewest) end = elapsed() + longestWait;
    fewest = Math.min(fewest, count);
    if (elapsed() > end)
      throw new Failure('unavailable', `${holder ?? 'another run'} still holds ${count} of the users`, {
        hint: 'Run the command again when it has ended; chatelaine ledger status shows who holds what.',
      });
    await sleep(Math.min(100 * (round + 1), longestPause));
  }
}
