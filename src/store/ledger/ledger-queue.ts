import { isObject, writeJson } from '../../core/json.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import {
  emptyQueue,
  isQueueState,
  queueAfter,
  queueAt,
  type KeptQueue,
  type QueuePlace,
  type QueueState,
} from '../queue.ts';
import { releaseGrace } from './ledger-claims.ts';
import { shortLimit, type LedgerClaimOptions, type LedgerSession } from './ledger-session.ts';

/** How old a look at the queue of a server that answers in time may be: a statement before each POST costs as much. */
const fresh = 250;

/** The queue of a server as all sessions know it; `width`: how many POSTs this one has under way at most. */
export function sharedQueue(
  session: LedgerSession,
  origin: string,
  { signal, settle, width, elapsed }: LedgerClaimOptions & Pick<Clock, 'elapsed'> & { readonly width: number },
): QueuePlace {
  const limits = { signal, grace: releaseGrace, limit: shortLimit };
  let last: (KeptQueue & { readonly at: number }) | undefined;

  const ask = async (known: string | null, next: QueueState | null) => {
    const values = [origin, width, known, next && writeJson(next)];
    const answer = await session.call('queued', values, limits);
    const { now, written, state, dead, known: seen } = isObject(answer) ? answer : {};
    if (typeof now !== 'number' || !Array.isArray(dead) || (state !== null && !isQueueState(state)))
      throw new Failure('unavailable', 'the ledger answered with something else than a queue');
    last = { state: afterDeaths(state ?? emptyQueue, now, dead), now, at: elapsed() };
    return { ...last, written, isNew: dead.length > 0, known: String(seen) };
  };
  const change = async (next: Parameters<QueuePlace['change']>[0]): Promise<KeptQueue> => {
    for (;;) {
      const seen = await ask(null, null);
      const { written, ...kept } = await ask(seen.known, next(seen.state, seen.now));
      if (written === true) return kept;
    }
  };
  const afterDeaths = (state: QueueState, now: number, dead: readonly unknown[]): QueueState =>
    dead.reduce((known: QueueState, one) => {
      const [id, posts, since] = Array.isArray(one) ? one.map(Number) : [];
      const left = queueAfter(known, now, { by: `session ${id}`, posts: posts ?? 1, others: 0, settle }, 'left');
      return { ...left, since: Math.max(left.since, known.since, since ?? now) };
    }, state);

  const readNow = async (): Promise<KeptQueue> => {
    const { isNew, ...kept } = await ask(null, null);
    // Written once: they count from now on.
    return isNew ? change((state) => state) : kept;
  };
  let reading: Promise<KeptQueue> | undefined;

  return {
    change,
    async read() {
      if (last && queueAt(last.state, last.now, settle).isSlow) return readNow();
      const age = elapsed() - (last?.at ?? -Infinity);
      if (last && age < fresh) return { ...last, now: last.now + age };
      return (reading ??= readNow().finally(() => (reading = undefined)));
    },
    async takeTurn() {
      if ((await session.call('turn', [origin, true], limits)) !== true) return undefined;
      return async () => void (await session.call('turn', [origin, false], limits));
    },
    findDead: () => Promise.resolve(),
  };
}
