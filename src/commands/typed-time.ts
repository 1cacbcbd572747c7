import type { Milliseconds } from '../core/duration.ts';
import { labelled, usage } from '../core/failure.ts';
import { dayAndMoment, dayInWords, parseMoment } from '../core/moment.ts';
import { textField, type Fields } from '../schema/field.ts';
import type { Terminal, Time } from './context.ts';

export type TimeParts = Time & Terminal;

/** The moment of an option's text, also shown: `thursday` depends on day and time zone. @throws Failure usage */
export function readTime(flag: string, text: string, context: TimeParts): Milliseconds {
  const moment = labelled(flag, () => parseMoment(text, context.clock));
  const said = context.interactive()
    ? `${flag.slice(2).replace('-', ' ')} ${dayInWords(moment, context.clock.now())}`
    : undefined;
  context.note(said ?? `${flag} ${text}: ${dayAndMoment(moment)}`);
  return moment;
}

/** Options of every list of times. */
export const spanOptions = {
  since: textField('TIME', 'Only from this time on: 7d, monday, 2026-03-01'),
  until: textField('TIME', 'Only before this time'),
} as const satisfies Fields;

/** @throws Failure usage for a time that cannot be read, and for a span that is empty */
export function spanOf({ since, until }: Partial<Record<'since' | 'until', string | undefined>>, context: TimeParts) {
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

/** The moment of --older-than. @throws Failure usage also for two readings: whoever types 3m means months */
export function readAge(text: string | undefined, context: TimeParts): Milliseconds | undefined {
  const minutes = /^(\d+)m$/.exec(text ?? '')?.[1];
  if (minutes !== undefined)
    throw usage(
      `--older-than ${minutes}m: minutes or months?`,
      `Write ${minutes}mo for months, ${Number(minutes) * 60}s for minutes.`,
    );
  return text === undefined ? undefined : readTime('--older-than', text, context);
}
