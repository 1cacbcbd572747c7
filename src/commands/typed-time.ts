import type { Milliseconds } from '../core/duration.ts';
import { labelled, usage } from '../core/failure.ts';
import { dayAndMoment, parseMoment } from '../core/moment.ts';
import { textField, type Fields } from '../schema/field.ts';
import type { Terminal, Time } from './context.ts';

export type TimeReading = Pick<Time, 'now' | 'checkZone'> & Pick<Terminal, 'note'>;

/**
 * The moment that the text of an option means, which is shown too: a word such as `thursday` depends on the day and the time zone.
 * @throws Failure usage
 */
export function readTime(flag: string, text: string, context: TimeReading): Milliseconds {
  const moment = labelled(flag, () => parseMoment(text, context));
  context.note(`${flag} ${text}: ${dayAndMoment(moment)}`);
  return moment;
}

/** Topics by their age, in the commands that list and delete them. */
export const ageOption = {
  older_than: textField(
    'TIME',
    'Only topics without a message since then: 90d, 3mo, 1y, a date; with topic delete it needs --match',
  ),
} as const satisfies Fields;

/**
 * The moment of --older-than.
 * @throws Failure usage, also for minutes, since whoever types 3m means months
 */
export function readAge(text: string | undefined, context: TimeReading): Milliseconds | undefined {
  const minutes = /^(\d+)m$/.exec(text ?? '')?.[1];
  if (minutes !== undefined)
    throw usage(
      `--older-than ${minutes}m: minutes or months?`,
      `Write ${minutes}mo for months, ${Number(minutes) * 60}s for minutes.`,
    );
  return text === undefined ? undefined : readTime('--older-than', text, context);
}
