import { formatDuration, type Milliseconds } from '../core/duration.ts';
import { Failure, labelled, usage } from '../core/failure.ts';
import { dayAndMoment, parseMoment } from '../core/moment.ts';
import { textField, type Fields } from '../schema/field.ts';
import type { Terminal, Time } from './context.ts';

export type TimeParts = Time & Terminal;

/** The time of an option's text, also shown: `thursday` depends on day and time zone. @throws Failure usage */
export function readTime(flag: string, text: string, { clock, note }: TimeParts): Milliseconds {
  const moment = labelled(flag, () => parseMoment(text, clock));
  note(`${flag} ${text}: ${dayAndMoment(moment)}`);
  return moment;
}

/** Up to here the clocks of two machines are taken to agree. */
const mostSkew: Milliseconds = 300_000;

/** @throws Failure unavailable where the clock of this machine is wrong: what is deleted must not depend on it */
export function refuseWrongClock(flag: string, { clock }: Time): void {
  const skew = clock.now() - (clock.serverNow() ?? clock.now());
  if (Math.abs(skew) <= mostSkew) return;
  const off = `${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the server's`;
  throw new Failure(
    'unavailable',
    `the clock of this machine is ${off}, and ${flag} depends on it: nothing was deleted`,
    { hint: 'Set the clock of this machine.' },
  );
}

/** Options of every list of times. */
export const spanOptions = {
  since: textField('TIME', 'Only from this time on: 7d, monday, 2026-03-01'),
  until: textField('TIME', 'Only before this time'),
} as const satisfies Fields;

/** Both times of a span, also shown. @throws Failure usage for a time that cannot be read, and for an empty span */
export function spanOf(
  { since, until }: Partial<Record<'since' | 'until', string | undefined>>,
  context: TimeParts,
): { readonly since: Milliseconds | undefined; readonly until: Milliseconds | undefined } {
  const from = since === undefined ? undefined : readTime('--since', since, context);
  const to = until === undefined ? undefined : readTime('--until', until, context);
  if (from !== undefined && to !== undefined && from >= to)
    throw usage(`--since ${since ?? ''} is not before --until ${until ?? ''}`);
  return { since: from, until: to };
}

/** Topics by their age, in the commands that list and delete them. */
export const ageOption = {
  older_than: textField(
    'TIME',
    'Only topics without a message since then: 90d, 3mo, 1y, a date; topic delete also needs --match, or --from with rows of channel and topic',
  ),
} as const satisfies Fields;

/** The time of --older-than, also shown. @throws Failure usage */
export function readAge(text: string | undefined, context: TimeParts): Milliseconds | undefined {
  checkAge(text, context);
  return text === undefined ? undefined : readTime('--older-than', text, context);
}

/** @throws Failure usage for no time, and for two readings: whoever types 3m means months */
export function checkAge(text: string | undefined, { clock }: Time): void {
  if (text === undefined) return;
  const minutes = /^(\d+)m$/.exec(text)?.[1];
  if (minutes !== undefined)
    throw usage(
      `--older-than ${minutes}m: minutes or months?`,
      `Write ${minutes}mo for months, ${Number(minutes) * 60}s for minutes.`,
    );
  labelled('--older-than', () => parseMoment(text, clock));
}
