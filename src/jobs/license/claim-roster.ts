import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Claims, PastPosts } from '../../store/claims.ts';
import { sequence } from '../work/workers.ts';
import { releaseOrWarn, userKey, type ClaimingUser, type LicenseUser } from './claim-users.ts';

/** The users of a roster, kept from other processes until their outcome is known. */
export interface RosterClaims {
  /** When a license of that user was last asked for, on the clock `elapsed`; undefined where that is long ago. */
  lastPost(row: LicenseUser): Milliseconds | undefined;
  /**
   * Claims a row whose license is to be created. `held`: somebody else holds it; it is looked at in the end.
   * @throws Failure where the claims are lost
   */
  claim(row: LicenseFields): Promise<'claimed' | 'held'>;
  /**
   * Gives back what is claimed, waits until one of the rows that were held is free, and claims those that are. Empty: no row is left.
   * @throws Failure unavailable where nobody gives one back for too long
   */
  claimHeld(): Promise<readonly LicenseFields[]>;
  /** A POST for that user is about to be sent. @throws Failure where the claim is lost: nothing may be sent */
  posting(row: LicenseUser): Promise<void>;
  /** A POST for that user has ended, at `time` by the clock of the machine. */
  posted(row: LicenseUser, time: Milliseconds): void;
  /** Why the claims are lost; undefined while they are not. */
  lost(): Failure | undefined;
  /** Gives a row back, with others a little later. */
  release(row: LicenseUser): Promise<void>;
  /** Gives back all rows that are still claimed. */
  releaseAll(): Promise<void>;
}

export interface ClaimingRoster extends Pick<ClaimingUser, 'elapsed' | 'warn'> {
  /** The claims on the users of each application. */
  readonly claims: ReadonlyMap<number, Claims>;
}

/**
 * Claims all users of a roster; waits while another process of this machine holds one of them.
 * @throws Failure unavailable, config
 */
export async function claimRoster(rows: readonly LicenseUser[], claiming: ClaimingRoster): Promise<RosterClaims> {
  const posts = new Map<number, PastPosts>();
  for (const [app_code, own] of claiming.claims)
    posts.set(app_code, await own.take(rows.filter((row) => row.app_code === app_code).map((row) => row.remote_user)));
  const claimed = claimedRows(claiming);
  for (const row of rows) claimed.add(row);
  return {
    ...claimed,
    lastPost: ({ app_code, remote_user }) => posts.get(app_code)?.posted.get(remote_user),
    claim: () => Promise.resolve('claimed'),
    claimHeld: () => Promise.resolve([]),
    posting: () => Promise.resolve(),
    lost: () => undefined,
  };
}

/** Rows that are claimed, and how they are given back. */
export interface ClaimedRows extends Pick<RosterClaims, 'posted' | 'release' | 'releaseAll'> {
  add(row: LicenseUser): void;
}

/** Claims are given back in groups, since each time their file is read and written whole. */
const releaseEvery: Milliseconds = 2000;
const maxReleases = 10;

export function claimedRows({ claims, elapsed, warn }: ClaimingRoster): ClaimedRows {
  const held = new Map<string, LicenseUser>();
  const fresh = new Map<string, Milliseconds>();
  let done: LicenseUser[] = [];
  let claimed = 0;
  let last: Milliseconds | undefined;
  // One group after another: two at once would wait for each other's lock.
  const inOrder = sequence();
  const giveBack = async (users: readonly LicenseUser[]): Promise<void> => {
    for (const [app_code, own] of claims) {
      const released = users
        .filter((user) => user.app_code === app_code)
        .map((user) => ({ remote_user: user.remote_user, posted: fresh.get(userKey(user)) }));
      if (released.length > 0) await releaseOrWarn(own, released, warn);
    }
    for (const user of users) fresh.delete(userKey(user));
  };
  return {
    add(row) {
      claimed += 1;
      held.set(userKey(row), row);
    },
    posted: (row, time) => void fresh.set(userKey(row), time),
    async release(row) {
      if (!held.delete(userKey(row))) return;
      done.push(row);
      last ??= elapsed();
      if (elapsed() - last <= releaseEvery || done.length * maxReleases < claimed) return;
      last = elapsed();
      const group = done.splice(0);
      await inOrder(() => giveBack(group));
    },
    async releaseAll() {
      const rest = [...done, ...held.values()];
      done = [];
      held.clear();
      await inOrder(() => giveBack(rest));
    },
  };
}
