import { formatDuration, type Milliseconds } from '../core/duration.ts';
import { Failure, labelled, usage } from '../core/failure.ts';
import { dayAndMoment, parseMoment } from '../core/moment.ts';
import { textField, type Fields } from '../schema/field.ts';
import type { Terminal, Time } from './context.ts';

export type TimeParts = Time & Terminal;

/** Clocks that differ by no more than this count as equal. */
const mostSkew: Milliseconds = 300_000;

/** How far this machine's clock is ahead of the servers'; 0 up to `most`, and before a response showed the time. */
export function skewOf({ now, serverNow }: Time['clock'], most = mostSkew): Milliseconds {
  const skew = now() - (serverNow() ?? now());
  return Math.abs(skew) > most ? skew : 0;
}

export function skewText(skew: Milliseconds): string {
  const off = formatDuration(Math.abs(skew));
  return `the clock of this machine is ${off} ${skew > 0 ? 'ahead of' : 'behind'} the server's`;
}

/**
 * Reads the time of an option and shows it, since `thursday` depends on day and time zone. After the first response it
 * counts from the server's clock if this machine's is wrong (docs/apis.md, Clocks). @throws Failure usage
 */
export function readTime(flag: string, text: string, context: TimeParts): Milliseconds {
  const { clock } = context;
  const [now, skew] = [clock.now(), skewOf(clock)];
  const momentAt = (at: Milliseconds): Milliseconds =>
    labelled(flag, () => parseMoment(text, { now: () => at, checkZone: clock.checkZone }));
  const moment = momentAt(now - skew);
  if (moment !== momentAt(now)) context.warn(`${skewText(skew)}: ${flag} ${text} counts from the server's time`);
  context.note(`${flag} ${text}: ${dayAndMoment(moment)}`);
  return moment;
}

/** @throws Failure unavailable where the clock of this machine is wrong: what is deleted must not depend on it */
export function refuseWrongClock(flag: string, { clock }: Time): void {
  const skew = skewOf(clock);
  if (skew === 0) return;
  throw new Failure('unavailable', `${skewText(skew)}, and ${flag} depends on it: nothing was deleted`, {
    hint: 'Set the clock of this machine.',
  });
}

/** Options of lists whose rows have a time. */
export const spanOptions = {
  since: textField('TIME', 'Only from this time on: 7d, monday, 2026-03-01'),
  until: textField('TIME', 'Only before this time'),
} as const satisfies Fields;

type TypedSpan = Partial<Record<'since' | 'until', string | undefined>>;

/**
 * Call it after the first response, if the run sends requests. @throws Failure usage for a time that cannot be read,
 * and for a span that is empty, or begins in the server's future
 */
export function spanOf(typed: TypedSpan, context: TimeParts) {
  return checkedSpan(typed, context, (flag, text) => readTime(flag, text, context));
}

/** Checks the same by this machine's clock and shows nothing, before anything is sent. @throws Failure usage */
export function checkSpan(typed: TypedSpan, { clock }: Time) {
  return checkedSpan(typed, { clock }, (flag, text) => labelled(flag, () => parseMoment(text, clock)));
}

function checkedSpan({ since, until }: TypedSpan, { clock }: Time, read: (flag: string, text: string) => Milliseconds) {
  const from = since === undefined ? undefined : read('--since', since);
  const to = until === undefined ? undefined : read('--until', until);
  if (from !== undefined && to !== undefined && from >= to)
    throw usage(`--since ${since ?? ''} is not before --until ${until ?? ''}`);
  if (from !== undefined && from > (clock.serverNow() ?? Infinity) + mostSkew)
    throw usage(`--since ${since ?? ''} is in the future: nothing can be selected`);
  return { since: from, until: to };
}

/** Selects topics by age, in the commands that list and delete them. */
export const ageOption = {
  older_than: textField(
    'TIME',
    'Only topics without a message since then: 90d, 3mo, 1y, a date; topic delete also needs --match, or --from with rows of channel and topic',
  ),
} as const satisfies Fields;

/**
 * Reads the time of --older-than, and shows it. Call it after the first response, if the run sends requests. @throws
 * Failure usage
 */
export function readAge(text: string | undefined, context: TimeParts): Milliseconds | undefined {
  checkAge(text, context);
  return text === undefined ? undefined : readTime('--older-than', text, context);
}

/** @throws Failure usage for what is no time, and for 3m, which most people type for months */
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
