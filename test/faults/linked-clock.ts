import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/core/world.ts';

/** One time for client and sandbox: what the client sleeps passes for the sandbox too, so that a late commit comes when it is due. */
export interface LinkedClock {
  readonly client: Clock;
  readonly sandbox: Clock;
  /** Every span that the client slept. */
  readonly slept: readonly number[];
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** Spans up to this are latency and trickle: they pass at once, since nobody who waits for them sleeps. */
const atOnce = 200;

export function linkedClock(begin = Date.UTC(2026, 2, 1, 12)): LinkedClock {
  let time = begin;
  let state = 1;
  let sleepers: readonly Sleeper[] = [];
  const slept: number[] = [];
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const wakeUntil = async (target: number): Promise<void> => {
    const due = sleepers.filter((sleeper) => sleeper.due <= target).toSorted((one, other) => one.due - other.due);
    for (const sleeper of due) {
      sleepers = sleepers.filter((other) => other !== sleeper);
      time = Math.max(time, sleeper.due);
      sleeper.wake();
      for (let turns = 0; turns < 3; turns += 1) await setImmediate();
    }
  };
  return {
    slept,
    client: {
      now: () => time,
      random,
      async sleep(span, signal) {
        const target = time + span;
        await setImmediate();
        if (signal?.aborted) throw signal.reason as Error;
        slept.push(span);
        await wakeUntil(target);
        time = Math.max(time, target);
      },
    },
    sandbox: {
      now: () => time,
      random: () => 0.5,
      async sleep(span, signal) {
        if (span <= atOnce) {
          await setImmediate();
          return;
        }
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            signal?.removeEventListener('abort', wake);
            resolve();
          };
          sleepers = [...sleepers, { due: time + span, wake }];
          signal?.addEventListener('abort', wake);
        });
      },
    },
  };
}
