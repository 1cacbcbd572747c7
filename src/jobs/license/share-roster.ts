import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { SharedClaims, TakenUsers } from '../../store/claims.ts';
import {
  claimedRows,
  userKey,
  type ClaimingRoster,
  type LicenseUser,
  type RosterClaims,
  type UserPast,
} from './claim-users.ts';

export interface SharingRoster extends ClaimingRoster {
  readonly claims: ReadonlyMap<number, SharedClaims>;
  /** When the list began that shows no license for the rows, on the clock `elapsed`. */
  readonly listedAt: Milliseconds;
  /** A moment before that list for each application, by the clock of its ledger. */
  readonly before: ReadonlyMap<number, Milliseconds>;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
}

/** The rows that are claimed at once. */
const portion = 200;
/** The rows whose POSTs are recorded at once. */
const group = 50;
const longestWait: Milliseconds = 300_000;
const longestPause: Milliseconds = 2000;
/** Half of the time for which a POST is remembered at least: an older list is not trusted beside what the ledger remembers. */
const oldestList: Milliseconds = 43_200_000;

/**
 * Claims the rows whose licenses are to be created in portions, each when its first row is reached, so that several machines share the
 * work of one roster (docs/exactly-once.md, The shared ledger).
 * @param rows those that the list shows without a license, in the order in which they are begun
 */
export function shareRoster(rows: readonly LicenseFields[], sharing: SharingRoster): RosterClaims {
  const { claims } = sharing;
  const ahead = rowsAhead(rows);
  const outcomes = new Map<string, 'claimed' | 'held'>();
  const past = new Map<string, UserPast>();
  const held = new Map<string, LicenseFields>();
  const claimed = claimedRows(sharing);
  let claiming: Promise<void> = Promise.resolve();

  /** Claims those that are free; who holds one of the others. */
  const take = async (wanted: readonly LicenseFields[]): Promise<string | undefined> => {
    let holder: string | undefined;
    for (const [app_code, own] of claims) {
      const users = wanted.filter((row) => row.app_code === app_code);
      if (users.length === 0) continue;
      const taken = await own.takeFree(users.map((row) => row.remote_user));
      holder ??= taken.holder;
      const others = new Set(taken.held);
      for (const row of users) note(row, others.has(row.remote_user) ? undefined : taken);
    }
    return holder;
  };

  /** `taken`: undefined where somebody else holds the row. */
  const note = (row: LicenseFields, taken: TakenUsers | undefined): void => {
    const key = userKey(row);
    outcomes.set(key, taken ? 'claimed' : 'held');
    if (!taken) {
      held.set(key, row);
      return;
    }
    held.delete(key);
    claimed.add(row);
    ahead.add(row);
    past.set(key, { posted: lastPost(row, taken, sharing), answer: taken.answers.get(row.remote_user) });
  };

  const takePortion = async (first: LicenseFields): Promise<void> => {
    if (outcomes.has(userKey(first))) return;
    await take(ahead.from(first, portion).filter((row) => !outcomes.has(userKey(row))));
  };

  return {
    ...claimed,
    past: (row) => past.get(userKey(row)) ?? {},
    async posting(row) {
      ahead.delete(row);
      await claims.get(row.app_code)?.posting(row.remote_user, () => ahead.users(row));
    },
    release(row) {
      ahead.delete(row);
      return claimed.release(row);
    },
    lost: () => [...claims.values()].map((own) => own.lost()).find((failure) => failure !== undefined),
    async claim(row) {
      claiming = claiming.then(() => takePortion(row));
      await claiming;
      return outcomes.get(userKey(row)) ?? 'held';
    },
    async claimHeld() {
      ahead.clear();
      await claimed.releaseAll();
      return claimFreed(held, take, sharing);
    },
  };
}

/**
 * When the last POST of a row ended, by the ledger. Its clock can be set too, so the POST counts as late as it is both from the moment of
 * the claim and from the beginning of the list.
 */
function lastPost(row: LicenseUser, { now, posted }: TakenUsers, sharing: SharingRoster): Milliseconds | undefined {
  const { before, elapsed, listedAt } = sharing;
  const listed = before.get(row.app_code) ?? now;
  const time = now - listed > oldestList ? now : posted.get(row.remote_user);
  return time === undefined ? undefined : Math.max(elapsed() - (now - time), listedAt + (time - listed));
}

/** Claims rows that other runs release, and waits while there are none. */
async function claimFreed(
  held: ReadonlyMap<string, LicenseFields>,
  take: (rows: readonly LicenseFields[]) => Promise<string | undefined>,
  { elapsed, sleep, note }: SharingRoster,
): Promise<readonly LicenseFields[]> {
  const end = elapsed() + longestWait;
  for (let round = 0; held.size > 0; round += 1) {
    const wanted = [...held.values()];
    const holder = await take(wanted);
    const free = wanted.filter((row) => !held.has(userKey(row)));
    if (free.length > 0) return free;
    if (round === 0)
      note(`waiting for ${holder ?? 'another run'}, which is creating licenses of ${held.size} of the users`);
    if (elapsed() > end)
      throw new Failure('unavailable', `${holder ?? 'another run'} still holds ${held.size} of the users`, {
        hint: 'Run the command again when it has ended; chatelaine ledger status shows who holds what.',
      });
    await sleep(Math.min(100 * (round + 1), longestPause));
  }
  return [];
}

/** The rows in their order, with those that are claimed and not begun yet. */
interface RowsAhead {
  add(row: LicenseUser): void;
  delete(row: LicenseUser): void;
  clear(): void;
  /** So many rows from that one on. */
  from(row: LicenseUser, count: number): readonly LicenseFields[];
  /** The users of the rows after that one, in the same application, that are about to be begun. */
  users(row: LicenseUser): string[];
}

function rowsAhead(rows: readonly LicenseFields[]): RowsAhead {
  const places = new Map(rows.map((row, index) => [userKey(row), index]));
  const waiting = new Set<string>();
  const from: RowsAhead['from'] = (row, count) => {
    const start = places.get(userKey(row)) ?? 0;
    return rows.slice(start, start + count);
  };
  return {
    add: (row) => void waiting.add(userKey(row)),
    delete: (row) => void waiting.delete(userKey(row)),
    clear: () => waiting.clear(),
    from,
    users: (row) =>
      from(row, group)
        .filter((one) => one.app_code === row.app_code && waiting.has(userKey(one)))
        .map((one) => one.remote_user),
  };
}
