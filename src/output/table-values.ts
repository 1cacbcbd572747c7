import { asObject, cellsOf, cellText } from './columns.ts';
import type { Cell } from './grid.ts';
import { localMoments, momentIn } from './moments.ts';
import { plain } from './plain.ts';
import type { Look, Show } from './show.ts';
import { displayWidth } from './width.ts';

/** What a table needs of heavier modules; absent where the look or the command does not need it. */
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

export type ReadValues = (row: unknown, columns: readonly string[]) => readonly TableValue[];

/** Reads the cells of a row for people: dates in local time, messages as plain text. */
export function valueReader(show: Show<unknown> | undefined, look: Look, { messageText }: TableParts): ReadValues {
  const writeMoment = localMoments(look.timeZone);
  const read = (value: unknown, column: string, row: unknown): TableValue => {
    const shape = show?.layout?.[column]?.as;
    if (shape === 'message' && messageText) return flowing(messageText(asObject(row, show) ?? {}));
    const moment = show?.whole?.includes(column) ? undefined : momentOf(value, shape);
    if (moment) return fixed(writeMoment(moment));
    const text = value === '' ? (show?.layout?.[column]?.empty ?? '') : cellText(value);
    return isExact(value) ? fixed(text) : flowing(text);
  };
  return (row, columns) => cellsOf(row, columns, show).map((value, index) => read(value, columns[index] ?? '', row));
}

function isExact(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}

function momentOf(value: unknown, shape: string | undefined): Date | undefined {
  if (typeof value === 'string') return momentIn(value);
  const date = shape === 'seconds' && typeof value === 'number' ? new Date(value * 1000) : undefined;
  return date && !Number.isNaN(date.getTime()) ? date : undefined;
}

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
