/** The locks of users in all places of an origin, which a worker holds while it works on their licenses. */
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import { hashesOf, type LockHolder, type WritePlace } from './run-record.ts';
import type { UserLock, LicenseUser } from './writes.ts';

export interface LockWorld {
  readonly clock: Clock;
  /** Ends the wait for a lock. */
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** How long to wait for a lock whose holder writes no line. */
const longestWait: Milliseconds = 120_000;
const quietWait: Milliseconds = 10_000;
const longestPause: Milliseconds = 400;

/** Waits while the holder writes lines. @throws Failure unavailable naming the holder; as `tryLock` */
export async function untilLocked(
  users: readonly LicenseUser[],
  { clock: { elapsed, random, sleep }, signal, say }: LockWorld,
  tryLock: () => Promise<UserLock | LockHolder>,
): Promise<UserLock> {
  let [progress, end, sayAt] = ['', elapsed() + longestWait, elapsed() + quietWait];
  for (let round = 1; ; round += 1) {
    const lock = await tryLock();
    if ('release' in lock) return lock;
    const held = `the license of '${users[0]?.remote_user ?? ''}' is in use by ${lock.holder}`;
    if (lock.remedy !== undefined) throw new Failure('unavailable', held, { hint: lock.remedy });
    if (lock.progress !== progress) end = elapsed() + longestWait;
    progress = lock.progress;
    if (elapsed() > end)
      throw new Failure('unavailable', `${held}, which has done nothing for two minutes`, {
        hint: 'Continue or end that process, then run the command again.',
      });
    if (elapsed() > sayAt) {
      say(`waiting: ${held}`);
      sayAt = elapsed() + quietWait;
    }
    await sleep(Math.min(20 * round, longestPause) * (0.5 + random()), signal);
  }
}

/** Locks users in all places, in the order of places and hashes; all of them or none. @throws Failure of a place */
export async function lockInAll(
  places: readonly WritePlace[],
  users: readonly LicenseUser[],
): Promise<UserLock | LockHolder> {
  const taken: UserLock[] = [];
  const release = async (): Promise<void> => {
    for (const lock of taken.splice(0).reverse()) await lock.release();
  };
  for (const place of places) {
    const byHash = new Map(users.map((user) => [hashesOf(place.salt, user).folded, user]));
    for (const [folded, user] of [...byHash].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const lock = await place.tryLock(user, folded).catch(async (cause: unknown) => {
        await release();
        throw cause;
      });
      if ('release' in lock) taken.push(lock);
      else return release().then(() => lock);
    }
  }
  return { release };
}
