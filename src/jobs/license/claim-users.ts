import type { Milliseconds } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Claims, ReleasedUser } from '../../store/lock/claims.ts';

/** One user of one application. */
export type LicenseUser = Pick<LicenseFields, 'app_code' | 'remote_user'>;

/** One text for one user of one application. */
export function userKey({ app_code, remote_user }: LicenseUser): string {
  return `${app_code} ${remote_user}`;
}

export interface ClaimingUser {
  readonly claims: Claims;
  readonly now: () => Milliseconds;
  readonly warn: (text: string) => void;
}

/** One claimed user. */
export interface ClaimedUser {
  /** When this machine last asked for a license of the user; undefined where that is long ago. */
  readonly lastPost: Milliseconds | undefined;
  /** Does work that sends a POST, which later runs are to know of. */
  post<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Does work for one user while no other process of this machine creates a license of that user.
 * @throws Failure unavailable when another process holds the user for too long; config where claims cannot be written
 */
export async function whileClaimed<T>(
  remote_user: string,
  { claims, now, warn }: ClaimingUser,
  work: (user: ClaimedUser) => Promise<T>,
): Promise<T> {
  const lastPost = (await claims.take([remote_user])).get(remote_user);
  let posted: Milliseconds | undefined;
  try {
    return await work({
      lastPost,
      async post(send) {
        try {
          const result = await send();
          posted = now();
          return result;
        } catch (cause) {
          if (!(cause instanceof Failure && refusals.has(cause.kind))) posted = now();
          throw cause;
        }
      },
    });
  } finally {
    await releaseOrWarn(claims, [{ remote_user, posted }], warn);
  }
}

/** After these the server certainly created nothing. */
const refusals: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'rejected', 'usage', 'not_found']);

/** The users of a roster, kept from other processes until their outcome is known. */
export interface RosterClaims {
  /** When this machine last asked for a license of that user; undefined where that is long ago. */
  lastPost(row: LicenseUser): Milliseconds | undefined;
  /** A POST for that user has ended. */
  posted(row: LicenseUser, time: Milliseconds): void;
  /** Gives a row back, at once or with others a little later. */
  release(row: LicenseUser): Promise<void>;
  /** Gives back all rows that are still held. */
  releaseAll(): Promise<void>;
}

export interface ClaimingRoster extends Omit<ClaimingUser, 'claims'> {
  /** The claims on the users of each application. */
  readonly claims: ReadonlyMap<number, Claims>;
}

/** Claims are given back in groups, since each time their file is written whole. */
const releaseEvery: Milliseconds = 2000;

/**
 * Claims all users of a roster; waits while another process of this machine holds one of them.
 * @throws Failure unavailable, config
 */
export async function claimRoster(rows: readonly LicenseUser[], claiming: ClaimingRoster): Promise<RosterClaims> {
  const { claims, now, warn } = claiming;
  const posts = new Map<string, Milliseconds>();
  const held = new Map(rows.map((row) => [userKey(row), row]));
  for (const [app_code, own] of claims) {
    const earlier = await own.take(rows.filter((row) => row.app_code === app_code).map((row) => row.remote_user));
    for (const [remote_user, time] of earlier) posts.set(userKey({ remote_user, app_code }), time);
  }
  const fresh = new Map<string, Milliseconds>();
  let done: LicenseUser[] = [];
  let last = now();
  const giveBack = async (users: readonly LicenseUser[]): Promise<void> => {
    for (const [app_code, own] of claims) {
      const released = users
        .filter((user) => user.app_code === app_code)
        .map((user) => ({ remote_user: user.remote_user, posted: fresh.get(userKey(user)) }));
      if (released.length > 0) await releaseOrWarn(own, released, warn);
    }
  };
  return {
    lastPost: (row) => posts.get(userKey(row)),
    posted: (row, time) => void fresh.set(userKey(row), time),
    async release(row) {
      held.delete(userKey(row));
      done.push(row);
      if (now() - last <= releaseEvery) return;
      last = now();
      await giveBack(done.splice(0));
    },
    async releaseAll() {
      const rest = [...done, ...held.values()];
      done = [];
      held.clear();
      await giveBack(rest);
    },
  };
}

/** A claim that cannot be given back, on a full disk for example, only makes later runs wait; the result is not lost for it. */
async function releaseOrWarn(
  claims: Claims,
  users: readonly ReleasedUser[],
  warn: (text: string) => void,
): Promise<void> {
  try {
    await claims.release(users);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    warn(`${cause.message}; later runs for the same users will wait a little`);
  }
}

/** The claims of a dry run, which writes nothing. */
export const noClaims: Claims = { take: () => Promise.resolve(new Map()), release: () => Promise.resolve() };
