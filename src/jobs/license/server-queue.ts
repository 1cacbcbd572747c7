import type { Deciding } from '../../api/http/call.ts';
import type { OriginQueue } from '../../store/queue.ts';
import type { Rules } from './step.ts';
import type { Settling } from './license-user.ts';

interface Sending<T> {
  /** Lets as many requests of the run be under way as may be. */
  readonly within: <R>(work: () => Promise<R>) => Promise<R>;
  readonly send: () => Promise<T>;
  /** Looks the user up after a wait; what it returns ends the turn, and nothing is sent. */
  readonly again: () => Promise<T | undefined>;
}

/** Sends at once to a server that answers in time, else in turn (docs/exactly-once.md, A server has a queue). */
export async function sendInTurn<T>(queue: OriginQueue, { within, send, again }: Sending<T>): Promise<T> {
  const sent = await within(async () => ((await queue.look()).isSlow ? undefined : { result: await send() }));
  if (sent) return sent.result;
  return queue.turn(async (hasWaited) => (hasWaited ? await again() : undefined) ?? within(send));
}

const firstPause = 100;

/** What a lookup says of a POST without an answer; `refused`: another lookup would be answered the same. */
export type PostSight = 'shown' | 'not shown' | 'no answer' | 'refused';

/**
 * Looks for a pending POST of this run, until it is shown, or a lookup that was sent late enough does not show it, or
 * too many in a row had no answer: then it is left. The more requests count in n, the less often the run looks, since
 * each lookup without an answer counts too. Returns what the last lookup found.
 */
export async function settleRequest<T>(
  queue: OriginQueue,
  look: (deciding: Deciding) => Promise<T>,
  seenIn: (found: T) => PostSight,
  { settle, retries, elapsed, sleep }: Pick<Rules, 'settle' | 'retries'> & Pick<Settling, 'elapsed' | 'sleep'>,
): Promise<T> {
  for (let [pause, failures] = [firstPause, 0]; ; pause = Math.min(2 * pause, (settle / 2) * queue.own())) {
    await sleep(Math.max(0, Math.min(pause, Math.ceil((await queue.until()) - elapsed()))));
    const until = await queue.until();
    const isLast = elapsed() >= until;
    const found = await look({ since: isLast ? until : -Infinity, until: until + settle });
    const seen = seenIn(found);
    if (seen === 'shown') await queue.decided('shown');
    else if (seen === 'not shown' && isLast) await queue.decided('not carried out');
    else {
      failures = seen === 'no answer' ? failures + 1 : 0;
      if (failures <= retries && seen !== 'refused') continue;
      await queue.left();
    }
    return found;
  }
}
