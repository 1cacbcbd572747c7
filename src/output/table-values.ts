import { asObject, cellsOf, cellText } from './columns.ts';
import type { Cell } from './grid.ts';
import { plain } from './plain.ts';
import type { Show } from './presentation.ts';
import { displayWidth } from './width.ts';

/** Reads the cells of a row for people: dates in local time, messages as plain text. */
export function cellReader(
  show: Show<unknown>,
  messageText: ((message: Readonly<Record<string, unknown>>) => string) | undefined,
  paintOf?: (status: string) => Cell['paint'],
) {
  const read = (value: unknown, column: string, row: unknown): Cell => {
    const { as: shape, empty = '' } = show.layout?.[column] ?? {};
    if (shape === 'message' && messageText) return cellOf(messageText(asObject(row, show) ?? {}));
    const moment = show.untruncated?.includes(column) ? undefined : momentOf(value, shape);
    if (moment) return cellOf(localText(moment), 'fixed');
    if (paintOf && column === 'status' && typeof value === 'string') return { ...cellOf(value), paint: paintOf(value) };
    const isFixed = ['number', 'bigint', 'boolean'].includes(typeof value);
    return cellOf(value === '' ? empty : cellText(value), isFixed ? 'fixed' : 'flowing');
  };
  return (row: unknown, columns: readonly string[]): readonly Cell[] =>
    cellsOf(row, columns, show).map((value, index) => read(value, columns[index] ?? '', row));
}

/** A text as a cell. Each cell is made here: spreading one object into the next takes longer than all the rest. */
export function cellOf(text: string, kind: 'fixed' | 'flowing' = 'flowing'): Cell {
  const shown = plain(text);
  return { shown, width: displayWidth(shown), fixed: kind === 'fixed' };
}

/** The moment of a text of RFC 3339 with time and offset, or of seconds; undefined for any other value. */
function momentOf(value: unknown, shape: string | undefined): Date | undefined {
  const isTime = typeof value === 'string' && rfc3339.test(value);
  const date = isTime
    ? new Date(value)
    : shape === 'seconds' && typeof value === 'number'
      ? new Date(value * 1000)
      : undefined;
  return date && !Number.isNaN(date.getTime()) ? date : undefined;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** As `2026-03-01 13:05` in the reader's zone, by Date: a formatter takes 10 ms to make. */
function localText(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
