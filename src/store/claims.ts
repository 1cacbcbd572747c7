import type { Milliseconds } from '../core/duration.ts';
import { Failure } from '../core/failure.ts';
import type { Clock } from '../core/system.ts';
import type { OriginQueue } from './queue.ts';
import { shiftAll, type PostEnd, type RequestHistories } from './request-history.ts';

/**
 * Who is creating licenses of one application, and when one was last asked for: on this machine, or on all that share a
 * ledger (docs/exactly-once.md, Claims). Nothing is created without a lookup after the claim.
 */
export interface Claims {
  /** Whether other machines see the claims: then a roster is claimed in portions, so that they share its work. */
  readonly isShared: boolean;
  /** Claims all once nobody else holds one; moments are by `elapsed`. @throws Failure unavailable; as `takeFree` */
  take(users: readonly string[]): Promise<RequestHistories>;
  /** Claims those that are free; who died holding a user counts as asking now. @throws Failure unavailable, config */
  takeFree(users: readonly string[]): Promise<TakenUsers>;
  /** How many of the users somebody else holds without an answer that is recorded. Claims nothing. */
  busy(users: readonly string[]): Promise<BusyUsers>;
  /**
   * Called before each POST for the user. Claims of one machine need no record: they see that a process has died.
   * @param soon claimed users for whom one is about to be sent too, so that one statement records them all
   * @throws Failure where the claim is lost: then nothing may be sent
   */
  posting(user: string, soon?: () => readonly string[]): Promise<void>;
  /** Its user stays claimed, an answer open until a release confirms it. @throws Failure: the user counts as asked */
  ended(user: string, end: PostEnd): Promise<void>;
  /** Gives users back; those that a list has `shown` have no open answer any more. @throws Failure if not recorded */
  release(users: readonly string[], shown?: ReadonlySet<string>): Promise<void>;
  /** Why the claims are lost, so that nothing more may be created; undefined while they are not. */
  lost(): Failure | undefined;
}

export interface QueuedClaims extends Claims {
  /** The requests that the server may still carry out, of all its applications. */
  readonly queue: OriginQueue;
}

export interface TakenUsers extends Omit<BusyUsers, 'count'> {
  /** Of the users that are claimed; `posted` is later than now where a POST of an ended session may still run. */
  readonly histories: RequestHistories;
  readonly held: readonly string[];
}

export interface BusyUsers {
  readonly count: number;
  readonly holder: string | undefined;
  /** A moment before the claims were read, by the clock of the histories. */
  readonly now: Milliseconds;
}

/** Claims of one place; `withTake` adds the wait. */
export type FreeClaims = Omit<Claims, 'take'>;

/** The job of a run whose users a later run of it knows: `copy` has the lines of the record on another disk too. */
export interface ClaimingJob {
  readonly name: string;
  readonly copy?: ((line: object) => Promise<void>) | undefined;
}

export interface ClaimOptions {
  /** How long a POST is remembered. */
  readonly remember: Milliseconds;
  readonly signal: AbortSignal;
  /** Receives one line when there is something to wait for. */
  readonly note: (text: string) => void;
}

/** Adds `take`. Who waits holds nothing: two that want each other's users would block each other. */
export function withTake(claims: FreeClaims, clock: Clock, { signal, note }: ClaimOptions): Claims {
  const attempt = async (users: readonly string[]) => {
    const taken = await claims.takeFree(users);
    const others = new Set(taken.held);
    if (others.size > 0) await claims.release(users.filter((user) => !others.has(user)));
    return { ...taken, count: others.size };
  };
  // Drawn, so that processes that wait for one user do not try at the same moments.
  const sleep = (span: Milliseconds) => clock.sleep(span * (0.5 + clock.random()), signal);
  return {
    ...claims,
    async take(users) {
      const { histories, now } = await whileHeld(() => attempt(users), { elapsed: clock.elapsed, sleep, note });
      // Whatever the clock of this machine is set to, their age is that of the claims.
      return shiftAll(histories, clock.elapsed() - now);
    },
  };
}

export type Waiting = Pick<ClaimOptions, 'note'> & Pick<Clock, 'elapsed' | 'sleep'>;

const longestWait: Milliseconds = 300_000;
/** Keeps many processes that wait for one user from busy polling. */
const longestPause: Milliseconds = 400;

/** Tries until nobody else holds users. @throws Failure unavailable where nobody has ended one for too long */
export async function whileHeld<T extends Pick<BusyUsers, 'count' | 'holder'>>(
  attempt: () => Promise<T>,
  { elapsed, sleep, note }: Waiting,
): Promise<T> {
  let end = elapsed() + longestWait;
  for (let round = 0, fewest = Infinity; ; round += 1) {
    const seen = await attempt();
    const { count, holder = 'another run' } = seen;
    if (count === 0) return seen;
    const held = `${holder}, which is creating licenses of ${count === 1 ? 'one of the users' : `${count} of the users`}`;
    if (round === 0) note(`waiting for ${held}`);
    if (count < fewest) end = elapsed() + longestWait;
    fewest = Math.min(fewest, count);
    if (elapsed() > end)
      throw new Failure('unavailable', `waited too long for ${held}`, {
        hint: 'Run the command again when it has ended; chatelaine ledger status shows who holds what in a ledger.',
      });
    await sleep(Math.min(40 * (round + 1), longestPause));
  }
}
