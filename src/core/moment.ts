import { parseDuration, type Milliseconds } from './duration.ts';
import { Failure, unless, usage } from './failure.ts';
import { variable, type Clock, type Environment } from './system.ts';

export interface Calendar extends Pick<Clock, 'now'> {
  /** @throws Failure usage where the variable TZ names no time zone: the platform takes UTC for it */
  checkZone(): void;
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const momentPattern =
  /^(?:(\d{4}-\d\d-\d\d|[a-z]+)(?:[t ](?=\d)|$))?(?:(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(z|[+-]\d\d:\d\d)?)?$/;

const months = 'january february march april may june july august september october november december'.split(' ');

/** Milliseconds since 1970 of every spelling of man/chapters.md, Times. @throws Failure usage */
export function parseMoment(text: string, calendar: Calendar): Milliseconds {
  const written = withClock(withDate(withSaying(text.toLowerCase(), calendar.now()), calendar.now()));
  const [, seconds] = /^@(\d{1,11})$/.exec(written) ?? [];
  if (seconds !== undefined) return Number(seconds) * 1000;
  if (/^(?:\d{1,9}[smhd]){2,}$/.test(written)) return calendar.now() - durationOf(text, written);
  const [, count, unit = ''] = /^(\d{1,9})([a-z]+)$/.exec(written) ?? [];
  if (count !== undefined) return ago(text, Number(count), unit, calendar);
  const [all, day = 'today', time = '00:00', zone = ''] = momentPattern.exec(written) ?? [];
  if (all === undefined || all === '') throw notMoment(text);
  const isDate = /^\d/.test(day);
  if (zone === '') calendar.checkZone();
  else if (!isDate) throw notMoment(text);
  const date = isDate ? day : dayNamed(day, calendar.now());
  const moment = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  // A 30th of February is read as the 2nd of March otherwise.
  if (Number.isNaN(moment) || new Date(`${date}T00:00:00Z`).toISOString().slice(0, 10) !== date) throw notMoment(text);
  return moment;
}

const spanUnits = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'];

/** Rewrites spans (`2 weeks ago`), months, years, and dates with the month first or in digits for the other rules. */
function withSaying(text: string, now: Milliseconds): string {
  return text
    .replace(/^(an?|\d+) ?([a-z]+?)s? ago$/, (all, count: string, unit: string) => {
      if (!spanUnits.includes(unit)) return all.replace(' ago', '');
      return `${Number(count) || 1}${unit === 'month' ? 'mo' : unit.charAt(0)}`;
    })
    .replace(/^(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$| )/, (_all, day: string, month: string, year: string) =>
      [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-'),
    )
    .replace(/^\d{4}-\d\d$/, '$&-01')
    .replace(/^([a-z]{3,}) (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?=$| )/, (all, month: string, day, year = '') =>
      placeIn(months, month) < 0 ? all : [day, month, year].join(' ').trim(),
    )
    .replace(/^(this|last) ([a-z]+)/, (all, which: string, what: string) => periodNamed(which, what, now) ?? all);
}

/** The first day of this or the last week, month, quarter or year; of a weekday the latest before today. */
function periodNamed(which: string, what: string, now: Milliseconds): string | undefined {
  const period = (['week', 'month', 'quarter', 'year'] as const).find((name) => name === what);
  if (period) {
    const start = startOf(now, period);
    return momentText(which === 'last' ? startOf(start - 1, period) : start).slice(0, 10);
  }
  return which === 'last' && what !== 'today' ? dayNamed(what, startOf(now, 'day') - 1) : undefined;
}

/** Writes `thursday 12 march 2026` as 2026-03-12, if its weekday is right; without a year, the latest begun. */
function withDate(text: string, now: Milliseconds): string {
  const [all, weekday, day = '', word = '', year] =
    /^(?:([a-z]+),? )?(\d{1,2})\.? ([a-z]{3,})(?: (\d{4}))?(?=$| )/.exec(text) ?? [];
  const month = placeIn(months, word);
  if (all === undefined || month < 0) return text;
  const inYear = (number: number | string): string =>
    `${number}-${String(month + 1).padStart(2, '0')}-${day.padStart(2, '0')}`;
  const present = new Date(now).getFullYear();
  const date = inYear(year ?? (inYear(present) > momentText(now).slice(0, 10) ? present - 1 : present));
  const isOther = weekday !== undefined && placeIn(weekdays, weekday) !== new Date(`${date}T00:00:00Z`).getUTCDay();
  return isOther ? text : date + text.slice(all.length);
}

/** The index of a name that is written whole, or by its first three letters. */
function placeIn(names: readonly string[], word: string): number {
  return names.findIndex((name) => name === word || name.slice(0, 3) === word);
}

/** Writes `9:30`, `9 am`, `noon` and `midnight` as a time of two digits each. */
function withClock(text: string): string {
  return text
    .replace(/(?:^| )at (?=\S)/, ' ')
    .replace(/(^| )noon$/, '$112:00')
    .replace(/(^| )midnight$/, '$100:00')
    .replace(
      /(^| )(0?[1-9]|1[0-2])(:\d\d)? ?([ap])m$/,
      (_all, lead: string, hour: string, minutes = ':00', half = '') => {
        const hours = (Number(hour) % 12) + (half === 'p' ? 12 : 0);
        return `${lead}${hours}${String(minutes)}`;
      },
    )
    .replace(/(^| )(\d:\d\d)/, '$10$2')
    .trim();
}

/** Months and years keep the local time and end with their month; all other spans are of one length. */
function ago(text: string, count: number, unit: string, calendar: Calendar): Milliseconds {
  const now = calendar.now();
  const span = unit === 'mo' ? count : unit === 'y' ? count * 12 : undefined;
  if (span === undefined) return now - durationOf(text, unit === 'w' ? `${count * 7}d` : `${count}${unit}`);
  if (span > 12_000) throw notMoment(text);
  calendar.checkZone();
  const date = new Date(now);
  const [year, month] = [date.getFullYear(), date.getMonth() - span];
  const day = Math.min(date.getDate(), new Date(year, month + 1, 0).getDate());
  return date.setFullYear(year, month, day);
}

function durationOf(text: string, duration: string): Milliseconds {
  const span = unless(Failure, () => parseDuration(duration));
  if (span === undefined) throw notMoment(text);
  return span;
}

/** The date of a day that has begun: the latest of a weekday. Undefined for any other word. */
function dayNamed(word: string, now: Milliseconds): string | undefined {
  const weekday = placeIn(weekdays, word);
  let day = startOf(now, 'day');
  if (weekday < 0 && word !== 'today' && word !== 'yesterday') return undefined;
  // Day by day, since a zone that crosses the date line has none of some date.
  if (word === 'yesterday') day = startOf(day - 1, 'day');
  while (weekday >= 0 && new Date(day).getDay() !== weekday) day = startOf(day - 1, 'day');
  return momentText(day).slice(0, 10);
}

export const periods = ['day', 'week', 'month', 'year'] as const;

export type Period = (typeof periods)[number];

/** The first moment of a local period, not midnight where clocks go forward then; a week begins on Monday. */
export function startOf(moment: Milliseconds, period: Period | 'quarter'): Milliseconds {
  const date = new Date(moment);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  if (period === 'week') return new Date(year, month, day - ((date.getDay() + 6) % 7)).getTime();
  if (period === 'quarter') return new Date(year, month - (month % 3), 1).getTime();
  return new Date(year, period === 'year' ? 0 : month, period === 'day' ? day : 1).getTime();
}

/** The start of the next period: half a period behind the end of this one, whatever its length, is inside it. */
export function startOfNext(start: Milliseconds, period: Period): Milliseconds {
  return startOf(start + { day: 1.5, week: 10.5, month: 45, year: 548 }[period] * 86_400_000, period);
}

/** A moment as RFC 3339 in local time. */
export function momentText(moment: Milliseconds): string {
  const minutes = -new Date(moment).getTimezoneOffset();
  const offset = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return `${new Date(moment + minutes * 60_000).toISOString().slice(0, 19)}${minutes < 0 ? '-' : '+'}${offset}`;
}

export function dayAndMoment(moment: Milliseconds): string {
  const weekday = weekdays[new Date(moment).getDay()] ?? '';
  return `${weekday.charAt(0).toUpperCase()}${weekday.slice(1)} ${momentText(moment)}`;
}

/** The same as people say it: `Monday 23 November, 00:00 (+01:00)`, with the year where it is another one. */
export function dayInWords(moment: Milliseconds, now: Milliseconds): string {
  const [weekday = '', written = ''] = dayAndMoment(moment).split(' ');
  const date = new Date(moment);
  const month = months[date.getMonth()] ?? '';
  const year = date.getFullYear() === new Date(now).getFullYear() ? '' : ` ${date.getFullYear()}`;
  const day = `${date.getDate()} ${month.charAt(0).toUpperCase()}${month.slice(1)}${year}`;
  return `${weekday} ${day}, ${written.slice(11, 16)} (${written.slice(19)})`;
}

/** UTC seconds of a server as RFC 3339; null for what is no number, and for what is beyond all calendars. */
export function utcText(seconds: unknown): string | null {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('.000Z', 'Z');
}

/** @throws Failure usage where TZ names no time zone: the platform takes UTC for it */
export function checkZone(env: Environment): void {
  const zone = variable(env, 'TZ')?.replace(/^:?(?:\/.*\/zoneinfo\/|posix\/)?/, '');
  if (zone === undefined || unless(RangeError, () => new Intl.DateTimeFormat('en', { timeZone: zone }))) return;
  throw usage(
    `TZ names no time zone: '${zone}'`,
    'Set it to a name such as Europe/Berlin or UTC, or write the zone: 2026-03-01T08:00:00Z.',
  );
}

function notMoment(text: string): Failure {
  return usage(
    `'${text}' is not a time`,
    "Write a day (yesterday, last monday, this month, 2026-03-01, 20.11.2026), a time (9:30, '9 am', '2026-03-01 08:00', 2026-03-01T08:00:00Z), or how long ago (12h, 1h30m, 7d, 2w ago, 3mo, 1y).",
  );
}
