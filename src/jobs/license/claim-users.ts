import type { Milliseconds } from '../../core/duration.ts';
import { Failure, orWarn, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Creation } from '../../api/licensing/license-writes.ts';
import type { Claims } from '../../store/claims.ts';
import { noRequests, type PostEnd, type RequestHistory } from '../../store/request-history.ts';

export type LicenseUser = Pick<LicenseFields, 'app_code' | 'remote_user'>;

export function userKey({ app_code, remote_user }: LicenseUser): string {
  return `${app_code} ${remote_user}`;
}

export type UserClaims = Pick<Claims, 'take' | 'posting' | 'ended' | 'release'>;

export interface ClaimingUser {
  readonly claims: UserClaims;
  readonly now: () => Milliseconds;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  readonly warn: (text: string) => void;
}

/** One claimed user, and where the POSTs for it are recorded. */
export interface ClaimedUser {
  readonly history: RequestHistory;
  /** POSTs in a row that had no answer; those of earlier runs count as repeats too. */
  readonly unanswered: () => number;
  /** Sends a POST, and records at once how it ended: from then on no run sends one again that was answered. */
  post(send: (posting: () => Promise<void>) => Promise<Creation>): Promise<Creation>;
  /** A list shows a license of the user: no answer is open any more. */
  confirmed(): void;
}

/** Works for a user while nobody else sharing the claims creates that license. @throws Failure unavailable, config */
export async function whileClaimed<T>(
  remote_user: string,
  { claims, now, warn }: Omit<ClaimingUser, 'elapsed'>,
  work: (user: ClaimedUser) => Promise<T>,
): Promise<T> {
  const history = (await claims.take([remote_user])).get(remote_user) ?? noRequests;
  let { unanswered = 0 } = history;
  const shown = new Set<string>();
  const ended = (end: PostEnd): Promise<void> => orWarn(claims.ended(remote_user, end), warn, unrecorded);
  const user: ClaimedUser = {
    history,
    unanswered: () => unanswered,
    confirmed: () => void shown.add(remote_user),
    async post(send) {
      try {
        const creation = await send(() => claims.posting(remote_user));
        unanswered = creation.state === 'answered' ? 0 : unanswered + 1;
        await ended(endOf(creation, now(), unanswered));
        return creation;
      } catch (cause) {
        if (!(cause instanceof Failure && refusals.has(cause.kind)))
          await ended({ event: 'ended', time: now(), unanswered });
        throw cause;
      }
    },
  };
  try {
    return await work(user);
  } finally {
    await releaseOrWarn(claims, [[remote_user], shown], warn);
  }
}

/** How a POST ended, after so many in a row without an answer. */
export function endOf(creation: Creation, time: Milliseconds, unanswered: number): PostEnd {
  if (creation.state !== 'answered') return { event: 'ended', time, unanswered };
  const { http, license } = creation;
  // No license code, but enough to find the license.
  return { event: 'answered', status: http.status, time, key_end: license?.key?.slice(-4) };
}

/** After these the server certainly created or changed nothing. */
export const refusals: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'rejected', 'usage', 'not_found']);

/** A claim that cannot be given back, on a full disk for example, only makes later runs wait. */
export async function releaseOrWarn(
  claims: UserClaims,
  given: Parameters<Claims['release']>,
  warn: (text: string) => void,
): Promise<void> {
  await orWarn(claims.release(...given), warn, 'later runs for the same users will wait a little');
}

/** An answer that cannot be recorded, where the ledger was lost for example, is confirmed all the same. */
export const unrecorded = 'what was answered is not recorded there for later runs';
