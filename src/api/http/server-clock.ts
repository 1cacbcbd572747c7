import type { Milliseconds } from '../../core/duration.ts';
import type { Clock } from '../../core/system.ts';
import type { Answer } from './answer.ts';

export type ServerClock = ReturnType<typeof openServerClock>;

/** The time at the servers of a run, by the `Date` of their responses (docs/apis.md, Clocks). */
export function openServerClock({ elapsed }: Pick<Clock, 'elapsed'>) {
  let ahead: Milliseconds | undefined;
  return {
    /** A cache repeats an old Date, so only a newer one counts. */
    read({ headers }: Pick<Answer, 'headers'>): void {
      const date = dateOf(headers);
      if (date !== undefined) ahead = Math.max(ahead ?? -Infinity, date - elapsed());
    },
    /** Undefined before the first response that has a Date. */
    now: (): Milliseconds | undefined => (ahead === undefined ? undefined : elapsed() + ahead),
  };
}

/** When a response was made, by itself. */
export function dateOf(headers: Answer['headers']): Milliseconds | undefined {
  const { date } = headers;
  const time = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
