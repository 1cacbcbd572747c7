import type { Milliseconds } from '../core/duration.ts';
import type { Alarm, Clock } from '../core/system.ts';
import { abortReason } from '../core/failure.ts';

/** The longest span that a timer of Node takes, 24.8 days; it fires at once on a longer one. */
const longestTimer: Milliseconds = 2 ** 31 - 1;

/** An alarm of real time; a span that is too long for one timer is waited for in steps. */
export const realAlarm: Alarm = (span, ring) => {
  let timer: NodeJS.Timeout;
  const arm = (rest: Milliseconds): void => {
    const step = Math.min(rest, longestTimer);
    timer = setTimeout(() => (rest > step ? arm(rest - step) : ring()), step);
  };
  arm(span);
  return () => clearTimeout(timer);
};

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed() {
    // Not `performance.now`, whose module takes 1.6 ms to load.
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  random: () => Math.random(),
  sleep: (span, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel();
        reject(abortReason(signal));
      };
      const cancel = realAlarm(span, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) stop();
    }),
};
