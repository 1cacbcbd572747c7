import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { SharedClaims, TakenUsers } from '../../store/claims.ts';
import { claimedRows, type ClaimingRoster, type RosterClaims } from './claim-roster.ts';
import { userKey } from './claim-users.ts';

export interface SharingRoster extends ClaimingRoster {
  readonly claims: ReadonlyMap<number, SharedClaims>;
  /** When the list began that shows no license for the rows. */
  readonly listedAt: Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
}

/** The rows that are claimed at once. */
const portion = 200;
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
  const { claims, listedAt, now } = sharing;
  const places = new Map(rows.map((row, index) => [userKey(row), index]));
  const outcomes = new Map<string, 'claimed' | 'held'>();
  const posts = new Map<string, Milliseconds>();
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
    const posted = now() - listedAt > oldestList ? now() : taken.posted.get(row.remote_user);
    if (posted !== undefined) posts.set(key, posted);
  };

  const takePortion = async (first: LicenseFields): Promise<void> => {
    if (outcomes.has(userKey(first))) return;
    const start = places.get(userKey(first)) ?? 0;
    const next = rows.slice(start, start + portion).filter((row) => !outcomes.has(userKey(row)));
    await take(next);
  };

  return {
    ...claimed,
    lastPost: (row) => posts.get(userKey(row)),
    posting: async (row) => claims.get(row.app_code)?.posting(row.remote_user),
    lost: () => [...claims.values()].map((own) => own.lost()).find((failure) => failure !== undefined),
    async claim(row) {
      claiming = claiming.then(() => takePortion(row));
      await claiming;
      return outcomes.get(userKey(row)) ?? 'held';
    },
    async claimHeld() {
      await claimed.releaseAll();
      return claimFreed(held, take, sharing);
    },
  };
}

/** Waits as long as the others go on giving rows back. */
async function claimFreed(
  held: ReadonlyMap<string, LicenseFields>,
  take: (rows: readonly LicenseFields[]) => Promise<string | undefined>,
  { now, sleep, note }: SharingRoster,
): Promise<readonly LicenseFields[]> {
  const end = now() + longestWait;
  for (let round = 0; held.size > 0; round += 1) {
    const wanted = [...held.values()];
    const holder = await take(wanted);
    const free = wanted.filter((row) => !held.has(userKey(row)));
    if (free.length > 0) return free;
    if (round === 0)
      note(`waiting for ${holder ?? 'another run'}, which is creating licenses of ${held.size} of the users`);
    if (now() > end)
      throw new Failure('unavailable', `${holder ?? 'another run'} still holds ${held.size} of the users`, {
        hint: 'Run the command again when it has ended; chatelaine ledger status shows who holds what.',
      });
    await sleep(Math.min(100 * (round + 1), longestPause));
  }
  return [];
}
