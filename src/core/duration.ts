import { usage } from './failure.ts';

export type Milliseconds = number;

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const spans: ReadonlyMap<string, Milliseconds> = new Map(Object.entries(units));

/** A thousand years: a moment that far away can still be computed and written as a date. */
const longest: Milliseconds = 365_250 * units.d;

/** Reads `400ms`, `30s`, `1h30m`, `7d`. @throws Failure usage for another spelling, and above a thousand years */
export function parseDuration(text: string): Milliseconds {
  if (!/^(\d{1,9}(ms|[smhd]))+$/.test(text))
    throw usage(`'${text}' is not a duration`, 'Write numbers and units: 400ms, 30s, 5m, 1h30m, 7d.');
  const parts = text.matchAll(/(\d+)(ms|[smhd])/g);
  const span = [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (spans.get(unit) ?? 0), 0);
  if (span > longest) throw usage(`the duration '${text}' is longer than 1000 years`);
  return span;
}

/** Words for people: 1500 is `1.5s`, 190000 is `3m10s`. */
export function formatDuration(span: Milliseconds): string {
  const tenths = Math.round(span / 100) * 100;
  const unit = (['d', 'h', 'm'] as const).find((name) => tenths >= units[name]);
  if (!unit) return span >= 1000 ? `${tenths / 1000}s` : `${Math.round(span)}ms`;
  const rest = tenths % units[unit];
  return `${Math.floor(tenths / units[unit])}${unit}${rest > 0 ? formatDuration(rest) : ''}`;
}

/** A number of things in words: `1 message`, `2 messages`. */
export function quantity(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
