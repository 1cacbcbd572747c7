import type { Milliseconds } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Claims, ReleasedUser } from '../../store/claims.ts';

/** One user of one application. */
export type LicenseUser = Pick<LicenseFields, 'app_code' | 'remote_user'>;

/** One text for one user of one application. */
export function userKey({ app_code, remote_user }: LicenseUser): string {
  return `${app_code} ${remote_user}`;
}

export interface ClaimingUser {
  readonly claims: Claims;
  readonly now: () => Milliseconds;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  readonly warn: (text: string) => void;
}

/** One claimed user. */
export interface ClaimedUser {
  /** When a license of the user was last asked for, on the clock `elapsed`; undefined where that is long ago. */
  readonly lastPost: Milliseconds | undefined;
  /** Does work that sends a POST, which later runs are to know of; it calls `posting` right before each. */
  post<T>(work: (posting: () => Promise<void>) => Promise<T>): Promise<T>;
}

/**
 * Does work for one user while nobody else who shares the claims creates a license of that user.
 * @throws Failure unavailable when another process holds the user for too long; config where claims cannot be written
 */
export async function whileClaimed<T>(
  remote_user: string,
  { claims, now, warn }: Omit<ClaimingUser, 'elapsed'>,
  work: (user: ClaimedUser) => Promise<T>,
): Promise<T> {
  const lastPost = (await claims.take([remote_user])).posted.get(remote_user);
  let posted: Milliseconds | undefined;
  try {
    return await work({
      lastPost,
      async post(send) {
        try {
          const result = await send(() => claims.posting(remote_user));
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

/** Gives users back. A claim that cannot be given back, on a full disk for example, only makes later runs wait; the result is not lost for it. */
export async function releaseOrWarn(
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
export const noClaims: Claims = {
  take: () => Promise.resolve({ posted: new Map(), answers: new Map() }),
  answered: () => Promise.resolve(),
  posting: () => Promise.resolve(),
  release: () => Promise.resolve(),
};
