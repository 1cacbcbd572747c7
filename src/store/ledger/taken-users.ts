import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/world.ts';
import type { PastPosts, TakenUsers } from '../claims.ts';

/** What one statement took, and the session that holds it. */
export interface TakenPortion extends TakenUsers {
  readonly session: number;
}

/** The moments as they are on the clock `elapsed`: whatever the clock of this machine is set to, their age is that of the database. */
export function onElapsed(clock: Pick<Clock, 'elapsed'>, { now, posted, answers }: TakenUsers): PastPosts {
  const ahead = clock.elapsed() - now;
  return { posted: new Map([...posted].map(([user, time]) => [user, time + ahead])), answers };
}

/** Reads what `chatelaine.take` answers. @throws Failure unavailable where it is something else */
export function takenFrom(answer: unknown, users: readonly string[]): TakenPortion {
  const { session, now, posted, held, holder } = isObject(answer) ? answer : {};
  if (typeof session !== 'number' || typeof now !== 'number' || !Array.isArray(posted) || !Array.isArray(held))
    throw new Failure('unavailable', 'the ledger answered with something else than claims');
  const nameAt = (place: unknown): string => users[Number(place)] ?? '';
  const moments = posted.filter((one) => Array.isArray(one));
  return {
    session,
    now,
    posted: new Map(moments.map(([place, time]) => [nameAt(place), Number(time)])),
    answers: new Map(),
    held: held.map(nameAt),
    holder: isObject(holder) ? `process ${String(holder['pid'])} on ${String(holder['host'])}` : undefined,
  };
}
