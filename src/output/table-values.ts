import { asObject, cellsOf, cellText } from './columns.ts';
import type { Cell } from './grid.ts';
import { plain } from './plain.ts';
import type { Presentation } from './presentation.ts';
import { displayWidth } from './width.ts';

/** What a table needs of heavier modules; absent where the presentation does not need it. */
export interface TableParts {
  readonly bold?: ((text: string) => string) | undefined;
  /** The text of a message, for a column with the layout `message`. */
  readonly messageText?: ((message: Readonly<Record<string, unknown>>) => string) | undefined;
  /** A line as lines of at most `room` columns, on a terminal. */
  readonly fold?: ((text: string, room: number) => readonly string[]) | undefined;
}

/** A cell of a table. `fixed`: it must not be cut, because a part of a number or a date would be wrong. */
export interface TableValue extends Cell {
  readonly fixed: boolean;
}

/** Reads the cells of a row for people: dates in local time, messages as plain text. */
export function valueReader({ show }: Presentation, { messageText }: TableParts) {
  const read = (value: unknown, column: string, row: unknown): TableValue => {
    const shape = show.layout?.[column]?.as;
    if (shape === 'message' && messageText) return flowing(messageText(asObject(row, show) ?? {}));
    const moment = show.untruncated?.includes(column) ? undefined : momentOf(value, shape);
    if (moment) return fixed(localText(moment));
    const text = value === '' ? (show.layout?.[column]?.empty ?? '') : cellText(value);
    return ['number', 'bigint', 'boolean'].includes(typeof value) ? fixed(text) : flowing(text);
  };
  return (row: unknown, columns: readonly string[]): readonly TableValue[] =>
    cellsOf(row, columns, show).map((value, index) => read(value, columns[index] ?? '', row));
}

/** The moment that a text says as RFC 3339 does, with a time and its offset, or that seconds are; undefined for any other value. */
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

// Each cell of a table is made here: to spread one object into the next takes longer than all the rest.
function fixed(text: string): TableValue {
  const shown = plain(text);
  return { shown, width: displayWidth(shown), fixed: true };
}

function flowing(text: string): TableValue {
  const shown = plain(text);
  return { shown, width: displayWidth(shown), fixed: false };
}

/** A text as a cell that is harmless on a terminal. */
export function cellOf(text: string, paint?: (text: string) => string): Cell {
  const shown = plain(text);
  return { shown, width: displayWidth(shown), ...(paint && { paint }) };
}

/** One way to draw the rows of a table, once its first rows are known. */
export interface TableWriter {
  /** The header, if there is one, and the first rows. */
  first(rows: readonly (readonly TableValue[])[]): string;
  /** One row more. */
  next(row: readonly TableValue[]): string;
  /** Which columns were left out. */
  remark(): string | undefined;
}

/** As `2026-03-01 13:05` in the reader's own zone, which a Date knows: without the 10 ms that a formatter takes to be made. */
function localText(date: Date): string {
  const year = String(date.getFullYear()).padStart(4, '0');
  const day = `${year}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

function twoDigits(part: number): string {
  return part < 10 ? `0${part}` : String(part);
}
