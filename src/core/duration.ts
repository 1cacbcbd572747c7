import { usage } from './failure.ts';

export type Milliseconds = number;

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const spans: ReadonlyMap<string, Milliseconds> = new Map(Object.entries(units));

/** A thousand years: a moment that far away can still be computed and written as a date. */
const longest: Milliseconds = 365_250 * units.d;

/** Reads `400ms`, `30s`, `5m`, `12h`, `7d`. @throws Failure usage for another spelling, and above a thousand years */
export function parseDuration(text: string): Milliseconds {
  const [, count, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const size = spans.get(unit);
  if (size === undefined)
    throw usage(`'${text}' is not a duration`, 'Write a number and a unit: 400ms, 30s, 5m, 12h, 7d.');
  const span = Number(count) * size;
  if (span > longest) throw usage(`the duration '${text}' is longer than 1000 years`);
  return span;
}

/** The shortest exact spelling for people: 1500 is `1.5s`, 120000 is `2m`. */
export function formatDuration(span: Milliseconds): string {
  const unit = (['d', 'h', 'm'] as const).find((name) => span >= units[name] && span % units[name] === 0);
  if (unit) return `${span / units[unit]}${unit}`;
  if (span >= 1000) return `${Math.round(span / 100) / 10}s`;
  return `${Math.round(span)}ms`;
}
