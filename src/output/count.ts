import { usage } from '../core/failure.ts';
import type { JsonElement } from '../core/json-elements.ts';
import { isObject } from '../core/json.ts';
import { momentText, startOf, startOfNext, type Period } from '../core/moment.ts';
import { asObject, cellsOf, cellText, rulesOf } from './columns.ts';
import { JsonRows } from './json-rows.ts';
import type { CountBy, Presentation, Show } from './presentation.ts';
import { compare } from './sort.ts';

const none = '(none)';

/** Counts a list: a row for each value of a field, with its count. Only the values are held in memory. */
export async function countRows(rows: AsyncIterable<unknown>, presentation: Presentation, { field, unit }: CountBy) {
  const { show, terminal } = presentation;
  const name = field === 'count' ? 'rows' : 'count';
  const counts = new Map<unknown, number>();
  const fieldOf = reader(field, show);
  let other: unknown;
  const add = (value: unknown): void => {
    const isPlain = typeof value !== 'object' || value === null;
    const key = unit ? startIn(value, unit) : isPlain ? (value ?? null) : cellText(value);
    if (key === null) other ??= value;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  const read = async (): Promise<void> => {
    for await (const row of rows)
      if (row instanceof JsonRows) for (const text of row.texts) add(fieldOf(row.open, text));
      else add(cellsOf(row, [field], show)[0]);
  };
  const [reading] = await Promise.allSettled([read()]);
  // If no row has a time, another field was meant.
  if (unit && other !== undefined && counts.size === 1)
    throw usage(
      `--count-by ${field}:${unit}: ${cellText(other)} is not a time`,
      `Leave out :${unit}, or name a field of times.`,
    );
  const all = unit ? inTime(counts, unit) : [...counts].sort(byCount);
  const columns = [
    { name: field, of: (row: unknown) => (terminal && isObject(row) && row[field] === null ? none : undefined) },
    name,
  ];
  const counted = async function* (): AsyncGenerator {
    for (const [value, count] of all) yield { [field]: value, [name]: count };
    // The rows before a failure are counted, and then the failure is thrown.
    if (reading.status === 'rejected') throw reading.reason;
  };
  return { rows: counted(), show: { columns, ...(show.none !== undefined && { none: show.none }) } };
}

/** Reads the field of JSON texts; where no column of ours has that name, nothing else is parsed. */
function reader(field: string, show: Show<unknown>) {
  let isOwn: boolean | undefined;
  return (open: JsonRows['open'], text: JsonElement): unknown => {
    if (isOwn) return text.read(field);
    const row = open(text);
    isOwn ??= rulesOf(show, field)?.of?.(row) === undefined && Object.hasOwn(asObject(row, show) ?? {}, field);
    return cellsOf(row, [field], show)[0];
  };
}

type Counts = readonly (readonly [value: unknown, count: number])[];

function byCount([value, count]: Counts[number], [other, otherCount]: Counts[number]): number {
  return otherCount - count || compare(value, other, 1);
}

/** The start of the local period of a time, or null; a year has four digits. */
function startIn(value: unknown, unit: Period): number | null {
  const start = startOf(timeOf(value), unit);
  return start > -6e13 && start < 2.5e14 ? start : null;
}

/** Reads a time from seconds since 1970, RFC 3339, or a date, which is local. */
function timeOf(value: unknown): number {
  if (typeof value === 'number') return value * 1000;
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/.test(value)) return NaN;
  return Date.parse(value.length === 10 ? `${value}T00:00` : value);
}

/** If there are more periods than this, a time is wrong, and empty periods are left out. */
const maxPeriods = 100_000;

/** The periods in their order, those without a row between them included; rows without a time come last. */
function inTime(counts: ReadonlyMap<unknown, number>, unit: Period): Counts {
  const times = [...counts.keys()].filter((key) => typeof key === 'number').sort((one, other) => one - other);
  const [first = 0, last = -1] = [times[0], times.at(-1)];
  const starts: number[] = [];
  for (let at = first; at <= last && starts.length < maxPeriods; at = startOfNext(at, unit)) starts.push(at);
  const label = (start: number): string => momentText(start).slice(0, { day: 10, week: 10, month: 7, year: 4 }[unit]);
  const periods = starts.length < maxPeriods ? starts : times;
  const rows = periods.map((start): Counts[number] => [label(start), counts.get(start) ?? 0]);
  const without = counts.get(null);
  return without === undefined ? rows : [...rows, [null, without]];
}
