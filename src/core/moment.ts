import { parseDuration, type Milliseconds } from './duration.ts';
import { Failure, usage } from './failure.ts';
import { variable, type Environment } from './system.ts';

/** What a local time is read with. */
export interface Calendar {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): Milliseconds;
  /** @throws Failure usage where the variable TZ names no time zone: the platform takes UTC for it */
  checkZone(): void;
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const momentPattern =
  /^(?:(\d{4}-\d\d-\d\d|[a-z]+)(?:[t ](?=\d)|$))?(?:(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(z|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads a moment as people say it: RFC 3339; a local date, `today`, `yesterday` or a weekday, each with or without a time, or a time
 * of today; or how long ago, such as `7d`, `2w`, `3mo`, `1y` (docs/manual/chapters.md, Times).
 * Returns milliseconds since 1970-01-01 UTC.
 * @throws Failure usage
 */
export function parseMoment(text: string, calendar: Calendar): Milliseconds {
  const [, count, unit = ''] = /^(\d{1,9})([a-z]+)$/.exec(text) ?? [];
  if (count !== undefined) return ago(text, Number(count), unit, calendar);
  const [all, day = 'today', time = '00:00', zone = ''] = momentPattern.exec(text.toLowerCase()) ?? [];
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

/** Months and years keep the local time and end with their month; all other spans are of one length. */
function ago(text: string, count: number, unit: string, calendar: Calendar): Milliseconds {
  const now = calendar.now();
  const months = unit === 'mo' ? count : unit === 'y' ? count * 12 : undefined;
  if (months === undefined) return now - durationOf(text, unit === 'w' ? `${count * 7}d` : text);
  if (months > 12_000) throw notMoment(text);
  calendar.checkZone();
  const date = new Date(now);
  const [year, month] = [date.getFullYear(), date.getMonth() - months];
  const day = Math.min(date.getDate(), new Date(year, month + 1, 0).getDate());
  return date.setFullYear(year, month, day);
}

function durationOf(text: string, duration: string): Milliseconds {
  try {
    return parseDuration(duration);
  } catch (cause) {
    throw cause instanceof Failure ? notMoment(text) : cause;
  }
}

/** The date of a day that has begun: the latest of a weekday. Undefined for any other word. */
function dayNamed(word: string, now: Milliseconds): string | undefined {
  const weekday = weekdays.findIndex((name) => name === word || name.slice(0, 3) === word);
  let day = startOfDay(now);
  if (weekday < 0 && word !== 'today' && word !== 'yesterday') return undefined;
  // Day by day, since a zone that crosses the date line has none of some date.
  if (word === 'yesterday') day = startOfDay(day - 1);
  while (weekday >= 0 && new Date(day).getDay() !== weekday) day = startOfDay(day - 1);
  return momentText(day).slice(0, 10);
}

/** The first moment of a local day, which is not midnight where clocks go forward then. */
function startOfDay(moment: Milliseconds): Milliseconds {
  return new Date(moment).setHours(0, 0, 0, 0);
}

/** A moment as RFC 3339 in local time. */
export function momentText(moment: Milliseconds): string {
  const minutes = -new Date(moment).getTimezoneOffset();
  const offset = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return `${new Date(moment + minutes * 60_000).toISOString().slice(0, 19)}${minutes < 0 ? '-' : '+'}${offset}`;
}

/** The same with its weekday, for people. */
export function dayAndMoment(moment: Milliseconds): string {
  const weekday = weekdays[new Date(moment).getDay()] ?? '';
  return `${weekday.charAt(0).toUpperCase()}${weekday.slice(1)} ${momentText(moment)}`;
}

/** UTC seconds of a server as RFC 3339; null for what is no number, and for what is beyond all calendars. */
export function utcText(seconds: unknown): string | null {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('.000Z', 'Z');
}

/** @throws Failure usage where TZ names no time zone: the platform takes UTC for it */
export function checkZone(env: Environment): void {
  const zone = variable(env, 'TZ')?.replace(/^:?(?:\/.*\/zoneinfo\/|posix\/)?/, '');
  try {
    if (zone !== undefined) new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw usage(
      `TZ names no time zone: '${zone}'`,
      'Set it to a name such as Europe/Berlin or UTC, or write the zone: 2026-03-01T08:00:00Z.',
    );
  }
}

function notMoment(text: string): Failure {
  return usage(
    `'${text}' is not a time`,
    "Write a day (yesterday, thursday, 2026-03-01), a time (09:30, '2026-03-01 08:00', 2026-03-01T08:00:00Z), or how long ago (12h, 7d, 2w, 3mo, 1y).",
  );
}
