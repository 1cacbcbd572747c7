import { formatDuration, type Milliseconds } from '../core/duration.ts';
import { Failure, labelled, usage } from '../core/failure.ts';
import { dayAndMoment, parseMoment } from '../core/moment.ts';
import { textField, type Fields } from '../schema/field.ts';
import type { Terminal, Time } from './context.ts';

export type TimeParts = Time & Terminal;

/** Up to here the clocks of two machines are taken to agree. */
const mostSkew: Milliseconds = 300_000;

/** The lead of this machine's clock over the servers'; 0 up to `most`, and where no response told the time. */
export function skewOf({ now, serverNow }: Time['clock'], most = mostSkew): Milliseconds {
  const skew = now() - (serverNow() ?? now());
  return Math.abs(skew) > most ? skew : 0;
}

export function skewText(skew: Milliseconds): string {
  const off = formatDuration(Math.abs(skew));
  return `the clock of this machine is ${off} ${skew > 0 ? 'ahead of' : 'behind'} the server's`;
}

/**
 * The time of an option's text, also shown: `thursday` depends on day and time zone. After the first response of a run
 * it counts from the server's clock if that of this machine is wrong (docs/apis.md, Clocks). @throws Failure usage
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

/** Options of every list of times. */
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

/** The same by the clock of this machine, and nothing is shown: before anything is sent. @throws Failure usage */
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

/** Topics by their age, in the commands that list and delete them. */
export const ageOption = {
  older_than: textField(
    'TIME',
    'Only topics without a message since then: 90d, 3mo, 1y, a date; topic delete also needs --match, or --from with rows of channel and topic',
  ),
} as const satisfies Fields;

/**
 * The time of --older-than, also shown: call it after the first response, if the run sends requests. @throws Failure
 * usage
 */
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
