import { proxyPage } from '../../src/sandbox/answer.ts';
import type { World } from './computer.ts';
import type { Reply } from './network.ts';

/** A server that has no more workers than these, and a gateway in front of it that gives up before it does. */
export interface QueuePlan {
  readonly workers: number;
  readonly order: 'fifo' | 'lifo' | 'random';
  /** Least and most milliseconds that a write takes. */
  readonly cost: readonly [least: number, most: number];
  /** How long a read takes at most in the same queue; without it reads are answered beside the queue. */
  readonly reads?: number;
  /** The gateway answers 504 after so many milliseconds, while the request goes on. */
  readonly limit: number;
  /** Writes that never reach the server, counted from 1. */
  readonly lost?: readonly number[];
  /** Writes whose connection breaks at once; those that are not lost stand in the queue all the same. */
  readonly broken?: readonly number[];
  /** Each so many milliseconds a balancer starts again: the connections of all writes break. */
  readonly restarts?: number;
}

export interface ServerQueue {
  /** Carries the request out when its turn comes; the gateway replies if that is too late. */
  take(method: string, carryOut: () => Reply, reply: (reply: Reply) => void): void;
  /** Carries out what waits, and gives up nothing any more. */
  empty(): void;
}

interface Waiting {
  readonly cost: number;
  readonly carryOut: () => void;
}

export function serverQueue(
  { time, chance }: World,
  { workers, order, cost, reads, limit, lost = [], broken = [], restarts }: QueuePlan,
): ServerQueue {
  const waiting: Waiting[] = [];
  const working = new Set<Waiting>();
  let [free, writes, isEmptied] = [workers, 0, false];

  /** What breaks the connections of writes that have no reply yet. */
  const open = new Set<() => void>();
  const restart = (): void => {
    for (const breakOne of open) breakOne();
    open.clear();
    if (restarts !== undefined && !isEmptied) time.after(restarts, restart);
  };
  if (restarts !== undefined) time.after(restarts, restart);

  const next = (): Waiting | undefined => {
    if (order === 'random') return waiting.splice(chance.below(waiting.length), 1)[0];
    return order === 'fifo' ? waiting.shift() : waiting.pop();
  };
  const work = (): void => {
    while (free > 0 && waiting.length > 0) {
      const one = next();
      if (!one) return;
      free -= 1;
      working.add(one);
      time.after(one.cost, () => {
        free += 1;
        if (working.delete(one)) one.carryOut();
        work();
      });
    }
  };

  return {
    take(method, carryOut, reply) {
      const isRead = method === 'GET';
      if (isEmptied || (isRead && reads === undefined)) {
        reply(carryOut());
        return;
      }
      if (!isRead) writes += 1;
      let hasReplied = false;
      const once = (made: () => Reply): void => {
        if (!hasReplied) reply(made());
        hasReplied = true;
      };
      if (!isRead) {
        const drop = (): void => once(() => ({ kind: 'dropped' }));
        if (broken.includes(writes)) time.after(20, drop);
        open.add(drop);
      }
      time.after(limit, () => once(() => ({ kind: 'answer', answer: proxyPage(504) })));
      if (!isRead && lost.includes(writes)) return;
      const [least, most] = cost;
      waiting.push({
        cost: isRead ? (0.1 + 0.9 * chance.next()) * (reads ?? 0) : least + chance.next() * (most - least),
        carryOut() {
          const made = carryOut();
          once(() => made);
        },
      });
      work();
    },
    empty() {
      isEmptied = true;
      for (const one of [...working, ...waiting.splice(0)]) one.carryOut();
      working.clear();
    },
  };
}
