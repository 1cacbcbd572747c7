import type { Milliseconds } from '../../core/duration.ts';
import { Failure, orWarn, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Claims, OpenAnswer, PastPosts, ReleasedUser } from '../../store/claims.ts';
import { limiter } from '../work/pool.ts';

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

/** What the claims keep of earlier POSTs for a user. */
export interface UserPast {
  /** When a license of the user was last asked for, on the clock `elapsed`; undefined where that is long ago. */
  readonly posted?: Milliseconds | undefined;
  /** How many POSTs had no answer. */
  readonly unanswered?: number | undefined;
  /** An answered POST whose license no list has shown. */
  readonly answer?: OpenAnswer | undefined;
}

/** One claimed user, and where the POSTs for it are recorded. */
export interface ClaimedUser {
  readonly past: UserPast;
  /** POSTs in a row that had no answer; those of earlier runs count as repeats too. */
  unanswered: number;
  /** Does work that sends a POST, which later runs are to know of. */
  post<T>(work: () => Promise<T>): Promise<T>;
  /** A list shows a license of the user: no answer is open any more. */
  shown(): void;
  /** Called right before each POST is sent, again where it is sent again; its failure ends the work. */
  posting(): Promise<void>;
  /** Records an answer at once: from then on no run sends the POST again. */
  answered(answer: OpenAnswer): Promise<void>;
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
  const taken = await claims.take([remote_user]);
  let posted: Milliseconds | undefined;
  let isShown = false;
  const past = pastIn(taken, remote_user);
  const user: ClaimedUser = {
    past,
    unanswered: past.unanswered ?? 0,
    shown: () => void ((isShown = true), (user.unanswered = 0)),
    posting: () => claims.posting(remote_user),
    answered: (answer) => orWarn(claims.answered(new Map([[remote_user, answer]])), warn, unrecorded),
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
  };
  try {
    return await work(user);
  } finally {
    await releaseOrWarn(claims, [{ remote_user, posted, unanswered: user.unanswered, isShown }], warn);
  }
}

/** After these the server certainly created nothing. */
const refusals: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'rejected', 'usage', 'not_found']);

/** Gives users back. A claim that cannot be given back, on a full disk for example, only makes later runs wait; the result is not lost for it. */
async function releaseOrWarn(
  claims: Claims,
  users: readonly ReleasedUser[],
  warn: (text: string) => void,
): Promise<void> {
  await orWarn(claims.release(users), warn, 'later runs for the same users will wait a little');
}

/** An answer that cannot be recorded, where the ledger was lost for example, is an answer all the same, and is confirmed. */
const unrecorded = 'what was answered is not recorded there for later runs';

/** The users of a roster, kept from other processes until their outcome is known. */
export interface RosterClaims {
  /** What is recorded of earlier POSTs for that user. */
  past(row: LicenseUser): UserPast;
  /**
   * Claims a row whose license is to be created. `held`: somebody else holds it; a list decides when that is done with it.
   * @throws Failure where the claims are lost
   */
  claim(row: LicenseFields): Promise<'claimed' | 'held'>;
  /**
   * Gives back all rows but those that wait for a list, and waits until nobody else may still send a POST for rows
   * that were held: those rows, for a list to decide. All that wait are answered, or others would wait for them meanwhile.
   * @throws Failure unavailable where nobody ends one for too long
   */
  othersDone(waiting: readonly LicenseUser[]): Promise<readonly LicenseFields[]>;
  /** A list was read for the rows of `othersDone`: those that it does not show are claimed when they are reached. */
  listed(list: { readonly listedAt: Milliseconds; readonly missing: readonly LicenseFields[] }): void;
  /** A POST for that user is about to be sent. @throws Failure where the claim is lost: nothing may be sent */
  posting(row: LicenseUser): Promise<void>;
  /** A POST for that user has ended, at `time` by the clock of the machine; so many in a row had no answer. */
  posted(row: LicenseUser, time: Milliseconds, unanswered: number): void;
  /** Records that a POST was answered, for all runs that share the claims. */
  answered(row: LicenseUser, answer: OpenAnswer): Promise<void>;
  /** A list shows a license of that user: no answer is open any more. */
  shown(row: LicenseUser): void;
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
  const usersOf = (app_code: number) => rows.flatMap((row) => (row.app_code === app_code ? [row.remote_user] : []));
  for (const [app_code, own] of claiming.claims) posts.set(app_code, await own.take(usersOf(app_code)));
  const claimed = claimedRows(claiming);
  for (const row of rows) claimed.add(row);
  return {
    ...claimed,
    past: ({ app_code, remote_user }) => pastIn(posts.get(app_code), remote_user),
    claim: () => Promise.resolve('claimed'),
    othersDone: () => Promise.resolve([]),
    listed: () => undefined,
    posting: () => Promise.resolve(),
    lost: () => undefined,
  };
}

function pastIn(taken: PastPosts | undefined, user: string): UserPast {
  const { posted, unanswered, answers } = taken ?? {};
  return { posted: posted?.get(user), unanswered: unanswered?.get(user), answer: answers?.get(user) };
}

/** Claims are changed in groups, since each time their file is read and written whole: 110 MB of memory for 100,000 users. */
const groupEvery = (users: number): Milliseconds => 2000 + users / 5;
const maxGroups = 10;

/** Rows that are claimed, and how they are given back; each is known as the object that was added. */
export function claimedRows({ claims, elapsed, warn }: ClaimingRoster): Omit<
  RosterClaims,
  'past' | 'claim' | 'othersDone' | 'listed' | 'posting' | 'lost'
> & {
  add(row: LicenseUser): void;
  /** Gives all rows back but those, at once. */
  flush(kept: readonly LicenseUser[]): Promise<void>;
} {
  const held = new Map<LicenseUser, HeldUser>();
  const answers = new Set<Promise<void>>();
  const done: HeldUser[] = [];
  let claimed = 0;
  let last: Milliseconds | undefined;
  // One group after another: two at once would wait for each other's lock.
  const inOrder = limiter(1);
  const warned = new Set<string>();
  const warnOnce = (text: string): void => void (warned.has(text) || warn(text), warned.add(text));
  /** Answers go first: what is given back is free for other runs. */
  const flush = (): Promise<void> => {
    const users = done.splice(0);
    return inOrder(async () => {
      await Promise.all(answers);
      for (const [code, own] of claims) {
        const released = users.filter(({ app_code }) => app_code === code);
        if (released.length > 0) await releaseOrWarn(own, released, warn);
      }
    });
  };
  const take = (row: LicenseUser): void => {
    const user = held.get(row);
    if (user && held.delete(row)) done.push(user);
  };
  const giveBack = (kept: readonly LicenseUser[]): Promise<void> => {
    const staying = new Set(kept);
    for (const row of held.keys()) if (!staying.has(row)) take(row);
    return flush();
  };
  return {
    add(row) {
      claimed += 1;
      held.set(row, {
        app_code: row.app_code,
        remote_user: row.remote_user,
        posted: undefined,
        unanswered: 0,
        isShown: false,
      });
    },
    posted: (row, posted, unanswered) => void Object.assign(held.get(row) ?? {}, { posted, unanswered }),
    shown: (row) => void Object.assign(held.get(row) ?? {}, { isShown: true, unanswered: 0 }),
    async answered(row, answer) {
      const own = claims.get(row.app_code);
      if (!own) return;
      const recording = orWarn(own.answered(new Map([[row.remote_user, answer]])), warnOnce, unrecorded);
      answers.add(recording);
      await recording.finally(() => answers.delete(recording));
    },
    async release(row) {
      take(row);
      last ??= elapsed();
      if (elapsed() - last <= groupEvery(claimed) || done.length * maxGroups < claimed) return;
      last = elapsed();
      await flush();
    },
    flush: giveBack,
    releaseAll: () => giveBack([]),
  };
}

/** A claimed user, as it is given back. */
type HeldUser = LicenseUser & Required<ReleasedUser>;
