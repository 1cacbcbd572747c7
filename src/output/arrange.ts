import { fitWidths, lineWidth } from './grid.ts';

/** A column before it is known whether it is shown; widths are columns of the terminal. */
export interface ColumnSize {
  /** Its widest cell, the header included. */
  readonly wanted: number;
  /** Fewer are not worth reading: it goes before it gets narrower. */
  readonly minWidth: number;
  /** Never cut, and goes last: a key, a user, a name, an address. */
  readonly untruncated: boolean;
  /** All its cells are alike. */
  readonly constant: boolean;
  /** Of two columns the one with the lower number goes first, of two equal ones the later. */
  readonly priority: number;
}

/** Which columns are shown, by their index, and how wide each of them is. */
export interface Arrangement {
  readonly shown: readonly number[];
  readonly widths: readonly number[];
}

/**
 * Fits columns into `room` columns of a terminal: constant ones go first, then cells are shortened, then the columns of least
 * priority go. Undefined where not even the untruncated columns fit: then each row is a record.
 */
export function arrange(columns: readonly ColumnSize[], room: number): Arrangement | undefined {
  const order = columns.map((_column, index) => index).sort((one, other) => goesFirst(columns, one, other));
  let shown = columns.map((_column, index) => index);
  const width = (span: (column: ColumnSize) => number): number => lineWidth(sizes(columns, shown).map(span));
  const drop = (among: (column: ColumnSize) => boolean, span: (column: ColumnSize) => number): void => {
    for (const index of order) {
      if (shown.length === 1 || width(span) <= room) return;
      if (sizes(columns, [index]).some(among)) shown = shown.filter((other) => other !== index);
    }
  };
  drop(
    ({ constant, untruncated }) => constant && !untruncated,
    ({ wanted }) => wanted,
  );
  drop(({ untruncated }) => !untruncated, leastOf);
  drop(({ constant }) => constant, leastOf);
  if (width(leastOf) > room) return undefined;
  const left = sizes(columns, shown);
  return {
    shown,
    widths: fitWidths(
      left.map(({ wanted }) => wanted),
      room,
      left.map(leastOf),
    ),
  };
}

function goesFirst(columns: readonly ColumnSize[], one: number, other: number): number {
  return (columns[one]?.priority ?? 0) - (columns[other]?.priority ?? 0) || other - one;
}

function sizes(columns: readonly ColumnSize[], indexes: readonly number[]): ColumnSize[] {
  return indexes.flatMap((index) => columns[index] ?? []);
}

function leastOf({ untruncated, wanted, minWidth }: ColumnSize): number {
  return untruncated ? wanted : Math.min(wanted, minWidth);
}
