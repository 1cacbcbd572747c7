import { parseDuration, type Milliseconds } from './duration.ts';
import { Failure, usage } from './failure.ts';

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const momentPattern = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)([Zz]|[+-]\d\d:\d\d)$/;

/**
 * Reads a moment: RFC 3339, a date (its first moment in UTC), or a duration before `now` such as `7d`.
 * Returns milliseconds since 1970-01-01 UTC.
 * @throws Failure usage
 */
export function parseMoment(text: string, now: Milliseconds): Milliseconds {
  if (/^\d+[a-z]+$/.test(text)) return now - durationOf(text);
  const [, day = text, time = '00:00', zone = 'Z'] = momentPattern.exec(text) ?? [];
  if (!dayPattern.test(day)) throw notMoment(text);
  const midnight = new Date(`${day}T00:00:00Z`);
  const moment = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  // A 30th of February is read as the 2nd of March otherwise.
  if (Number.isNaN(moment) || midnight.toISOString().slice(0, 10) !== day) throw notMoment(text);
  return moment;
}

function durationOf(text: string): Milliseconds {
  try {
    return parseDuration(text);
  } catch (cause) {
    throw cause instanceof Failure ? notMoment(text) : cause;
  }
}

function notMoment(text: string): Failure {
  return usage(
    `'${text}' is not a time`,
    'Write a time with its zone (2026-03-01T08:00:00+01:00), a date in UTC (2026-03-01), or how long ago (12h, 7d).',
  );
}
