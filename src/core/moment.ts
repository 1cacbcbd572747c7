import { parseDuration, type Milliseconds } from './duration.ts';
import { Failure, unless, usage } from './failure.ts';
import { variable, type Clock, type Environment } from './system.ts';

export interface Calendar extends Pick<Clock, 'now'> {
  /** @throws Failure usage where the variable TZ names no time zone: the platform takes UTC for it */
  checkZone(): void;
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const momentPattern = /^(\d{4}-\d\d-\d\d|[a-z]+)(?:[t ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(z|[+-]\d\d:\d\d)?)?$/;

/** Milliseconds since 1970 of every spelling of man/fetching.md, Times. @throws Failure usage */
export function parseMoment(text: string, calendar: Calendar): Milliseconds {
  const written = text.toLowerCase();
  const [, count, unit = ''] = /^(\d{1,9})([a-z]+)$/.exec(written) ?? [];
  if (count !== undefined) return ago(text, Number(count), unit, calendar);
  const [, day = '', time = '00:00', zone = ''] = momentPattern.exec(written) ?? [];
  const isDate = /^\d/.test(day);
  if (zone === '') calendar.checkZone();
  else if (!isDate) throw notMoment(text);
  const date = isDate ? day : dayNamed(day, calendar.now());
  const moment = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  // A 30th of February is read as the 2nd of March otherwise.
  if (Number.isNaN(moment) || new Date(`${date}T00:00:00Z`).toISOString().slice(0, 10) !== date) throw notMoment(text);
  return moment;
}

/** Months and years keep the local time and end with their month; all other spans are of one length. */
function ago(text: string, count: number, unit: string, calendar: Calendar): Milliseconds {
  const now = calendar.now();
  const span = unit === 'mo' ? count : unit === 'y' ? count * 12 : undefined;
  if (span === undefined) {
    const duration = unless(Failure, () => parseDuration(unit === 'w' ? `${count * 7}d` : `${count}${unit}`));
    if (duration === undefined) throw notMoment(text);
    return now - duration;
  }
  if (span > 12_000) throw notMoment(text);
  calendar.checkZone();
  const date = new Date(now);
  const [year, month] = [date.getFullYear(), date.getMonth() - span];
  const day = Math.min(date.getDate(), new Date(year, month + 1, 0).getDate());
  return date.setFullYear(year, month, day);
}

/** The date of a day that has begun: the latest of a weekday. Undefined for any other word. */
function dayNamed(word: string, now: Milliseconds): string | undefined {
  const weekday = weekdays.findIndex((name) => name === word || name.slice(0, 3) === word);
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
export function startOf(moment: Milliseconds, period: Period): Milliseconds {
  const date = new Date(moment);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  if (period === 'week') return new Date(year, month, day - ((date.getDay() + 6) % 7)).getTime();
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

/** UTC seconds of a server as RFC 3339; null for what is no number, and for what is beyond all calendars. */
export function utcText(seconds: unknown): string | null {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('.000Z', 'Z');
}

/** Whether TZ names a time zone; where it does not, the platform takes UTC for it. */
export function isZoneKnown(env: Environment): boolean {
  const zone = (variable(env, 'TZ') ?? localZone).replace(/^:?(?:\/.*\/zoneinfo\/|posix\/)?/, '');
  if (zone === localZone || /^(?:utc|gmt)[+-]?0$/i.test(zone)) return true;
  return unless(RangeError, () => new Intl.DateTimeFormat('en', { timeZone: zone })) !== undefined;
}

/** The file of the zone that holds without TZ. */
export const localZone = '/etc/localtime';

/** @throws Failure usage where TZ names no time zone: the platform takes UTC for it */
export function checkZone(env: Environment): void {
  if (isZoneKnown(env)) return;
  throw usage(
    `TZ names no time zone: '${variable(env, 'TZ') ?? ''}'`,
    'Set it to a name such as Europe/Berlin or UTC, or write the zone: 2026-03-01T08:00:00Z.',
  );
}

function notMoment(text: string): Failure {
  return usage(
    `'${text}' is not a time`,
    "Write a day (today, yesterday, monday, 2026-03-01), a day with a time ('2026-03-01 08:00', 'today 09:30', 2026-03-01T08:00:00Z), or how long ago (12h, 7d, 2w, 3mo, 1y).",
  );
}
