import { setImmediate, setTimeout } from 'node:timers/promises';
import { abortReason } from '../../src/core/failure.ts';
import type { Clock } from '../../src/core/system.ts';

export interface JumpingClock extends Clock {
  /** Simulated milliseconds since the beginning. */
  readonly passed: () => number;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/**
 * Spans up to this are latency: they pass after a moment without news. A longer one passes only when nobody works any
 * more.
 */
const latency = 500;

/**
 * One time for clients and a sandbox in one process. It stops while one of them works, and jumps to the end of the next
 * sleep when all of them sleep or wait for one another: hours pass in seconds.
 */
export function jumpingClock(begin = Date.UTC(2026, 2, 1, 12)): JumpingClock {
  const sleepers = new Set<Sleeper>();
  let time = begin;
  let news = 0;
  let isPumping = false;

  /** Resolves when nothing has begun or ended to sleep for a while. */
  const quiet = async (millis: number): Promise<void> => {
    for (let before = -1; before !== news;) {
      before = news;
      await setTimeout(millis);
      await setImmediate();
    }
  };
  const pump = async (): Promise<void> => {
    if (isPumping) return;
    isPumping = true;
    while (sleepers.size > 0) {
      await quiet(1);
      if (nextOf(sleepers) - time > latency) await quiet(20);
      time = Math.max(time, nextOf(sleepers));
      for (const sleeper of [...sleepers].filter(({ due }) => due <= time)) sleeper.wake();
    }
    isPumping = false;
  };

  return {
    now: () => time,
    elapsed: () => time - begin,
    passed: () => time - begin,
    random: () => 0.5,
    sleep: (span, signal) =>
      new Promise((resolve, reject) => {
        const done = (end: () => void): void => {
          news += 1;
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', give);
          end();
        };
        const give = (): void => done(() => reject(abortReason(signal)));
        const sleeper = { due: time + span, wake: () => done(resolve) };
        if (signal?.aborted) {
          reject(abortReason(signal));
          return;
        }
        news += 1;
        sleepers.add(sleeper);
        signal?.addEventListener('abort', give);
        void pump();
      }),
  };
}

function nextOf(sleepers: ReadonlySet<Sleeper>): number {
  return Math.min(...[...sleepers].map(({ due }) => due));
}
