import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../src/core/world.ts';

/** One time for client and sandbox, so that a late commit comes while the client sleeps, and no real time passes. */
export interface SharedTime {
  readonly client: Clock;
  readonly sandbox: Clock;
  /** Every span that the client slept. */
  readonly slept: number[];
}

export function sharedTime(): SharedTime {
  let time = Date.UTC(2026, 2, 1, 12);
  let state = 1;
  const waiting = new Map<() => void, number>();
  const slept: number[] = [];
  const earliest = (until: number) =>
    [...waiting].filter(([, due]) => due <= until).sort(([, one], [, other]) => one - other)[0];
  return {
    slept,
    client: {
      now: () => time,
      random: () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647,
      async sleep(span, signal) {
        const end = time + span;
        await setImmediate();
        if (signal?.aborted) throw signal.reason as Error;
        slept.push(span);
        for (let next = earliest(end); next; next = earliest(end)) {
          const [wake, due] = next;
          waiting.delete(wake);
          time = Math.max(time, due);
          wake();
          for (let turns = 0; turns < 3; turns += 1) await setImmediate();
        }
        time = Math.max(time, end);
      },
    },
    sandbox: {
      now: () => time,
      random: () => 0.5,
      sleep: (span, signal) =>
        new Promise((resolve) => {
          waiting.set(resolve, time + span);
          signal?.addEventListener('abort', () => resolve(), { once: true });
        }),
    },
  };
}
