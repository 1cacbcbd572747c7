import type { Milliseconds } from '../../core/duration.ts';
import { Failure, orWarn, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Creation } from '../../api/licensing/license-writes.ts';
import type { Claims, ReleasedUser } from '../../store/claims.ts';
import { noRequests, type PostEnd, type RequestHistories, type RequestHistory } from '../../store/request-history.ts';

export type LicenseUser = Pick<LicenseFields, 'app_code' | 'remote_user'>;

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
  let isConfirmed = false;
  const ended = (end: PostEnd): Promise<void> => orWarn(claims.ended(remote_user, end), warn, unrecorded);
  const user: ClaimedUser = {
    history,
    unanswered: () => unanswered,
    confirmed: () => void (isConfirmed = true),
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
    await releaseOrWarn(claims, [{ remote_user, isConfirmed }], warn);
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
async function releaseOrWarn(
  claims: Claims,
  users: readonly ReleasedUser[],
  warn: (text: string) => void,
): Promise<void> {
  await orWarn(claims.release(users), warn, 'later runs for the same users will wait a little');
}

/** An answer that cannot be recorded, where the ledger was lost for example, is confirmed all the same. */
const unrecorded = 'what was answered is not recorded there for later runs';

/** The users of a roster, kept from other processes until their outcome is known. */
export interface RosterClaims {
  /** Earlier POSTs for that user, on the clock `elapsed`. */
  history(row: LicenseUser): RequestHistory;
  /** `held`: somebody else holds it; a list decides when that is done. @throws Failure where the claims are lost */
  claim(row: LicenseFields): Promise<'claimed' | 'held'>;
  /**
   * Gives back all rows but those that wait for a list, and waits until nobody else may send a POST for held rows,
   * which it returns. All that wait are answered, or others would wait for them meanwhile.
   * @throws Failure unavailable where nobody ends one for too long
   */
  othersDone(waiting: readonly LicenseUser[]): Promise<readonly LicenseFields[]>;
  /** A list was read for the rows of `othersDone`: those that it does not show are claimed when they are reached. */
  listed(list: { readonly listedAt: Milliseconds; readonly missing: readonly LicenseFields[] }): void;
  /** A POST for that user is about to be sent. @throws Failure where the claim is lost: nothing may be sent */
  posting(row: LicenseUser): Promise<void>;
  /** Records how a POST ended, for all runs that share the claims. */
  ended(row: LicenseUser, end: PostEnd): Promise<void>;
  /** A list shows a license of that user: no answer is open any more. */
  confirmed(row: LicenseUser): void;
  lost(): Failure | undefined;
  /** Gives a row back, with others a little later. */
  release(row: LicenseUser): Promise<void>;
  releaseAll(): Promise<void>;
}

export interface ClaimingRoster extends Pick<ClaimingUser, 'elapsed' | 'warn'> {
  readonly claims: ReadonlyMap<number, Claims>;
}

/** Claims a roster's users, waiting for processes of this machine that hold one. @throws Failure unavailable, config */
export async function claimRoster(rows: readonly LicenseUser[], claiming: ClaimingRoster): Promise<RosterClaims> {
  const histories = new Map<number, RequestHistories>();
  const usersOf = (app_code: number) => rows.flatMap((row) => (row.app_code === app_code ? [row.remote_user] : []));
  for (const [app_code, own] of claiming.claims) histories.set(app_code, await own.take(usersOf(app_code)));
  const claimed = claimedRows(claiming);
  for (const row of rows) claimed.add(row);
  return {
    ...claimed,
    history: ({ app_code, remote_user }) => histories.get(app_code)?.get(remote_user) ?? noRequests,
    claim: () => Promise.resolve('claimed'),
    othersDone: () => Promise.resolve([]),
    listed: () => undefined,
    posting: () => Promise.resolve(),
    lost: () => undefined,
  };
}

/** Rows are given back together: a ledger takes a statement for them, the record of this computer a line. */
const releasedAtOnce = 1000;
const releasedEvery: Milliseconds = 2000;

/** Rows that are claimed, and how they are given back; each is known as the object that was added. */
export function claimedRows({ claims, elapsed, warn }: ClaimingRoster): Omit<
  RosterClaims,
  'history' | 'claim' | 'othersDone' | 'listed' | 'posting' | 'lost'
> & {
  add(row: LicenseUser): void;
  /** Gives all rows back but those, at once. */
  flush(kept: readonly LicenseUser[]): Promise<void>;
} {
  const held = new Set<LicenseUser>();
  const confirmed = new Set<LicenseUser>();
  const done: LicenseUser[] = [];
  const recording = new Set<Promise<void>>();
  let last = elapsed();
  const warned = new Set<string>();
  const warnOnce = (text: string): void => void (warned.has(text) || warn(text), warned.add(text));
  /** What was answered goes first: who is given back is free for other runs. */
  const flush = async (): Promise<void> => {
    const rows = done.splice(0);
    last = elapsed();
    await Promise.all(recording);
    for (const [code, own] of claims) {
      const users = rows.flatMap((row) =>
        row.app_code === code ? [{ remote_user: row.remote_user, isConfirmed: confirmed.has(row) }] : [],
      );
      if (users.length > 0) await releaseOrWarn(own, users, warn);
    }
  };
  const giveBack = (kept: readonly LicenseUser[]): Promise<void> => {
    const staying = new Set(kept);
    for (const row of held) if (!staying.has(row) && held.delete(row)) done.push(row);
    return flush();
  };
  return {
    add: (row) => void held.add(row),
    confirmed: (row) => void confirmed.add(row),
    async ended(row, end) {
      const own = claims.get(row.app_code);
      if (!own) return;
      const writing = orWarn(own.ended(row.remote_user, end), warnOnce, unrecorded);
      recording.add(writing);
      await writing.finally(() => recording.delete(writing));
    },
    async release(row) {
      if (held.delete(row)) done.push(row);
      if (done.length >= releasedAtOnce || elapsed() - last > releasedEvery) await flush();
    },
    flush: giveBack,
    releaseAll: () => giveBack([]),
  };
}
