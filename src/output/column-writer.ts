import { type Arrangement, type ColumnSize, drawGrid, drawLine, lineWidth, type Cell } from './grid.ts';
import type { Presentation } from './presentation.ts';
import { cellOf, type TableParts, type TableValue, type TableWriter } from './table-values.ts';
import { displayWidth, shorten } from './width.ts';

/** Minimum width of a column of text, in terminal columns. */
const minTextWidth = 10;

type Rows = readonly (readonly TableValue[])[];

/** The sizes of columns, from the first rows of a table. */
export function columnSizes(
  names: readonly string[],
  rows: Rows,
  { show, header }: Presentation,
): readonly ColumnSize[] {
  return Array.from({ length: Math.max(1, names.length) }, (_, index) => {
    const name = names[index] ?? '';
    const values = rows.flatMap((row) => row[index] ?? []);
    const widest = values.reduce((most, { width }) => Math.max(most, width), 1);
    const fixed = values.reduce((most, value) => (value.fixed ? Math.max(most, value.width) : most), 0);
    const wanted = header ? Math.max(widest, cellOf(name).width) : widest;
    const { minWidth = minTextWidth, priority = 0 } = show.layout?.[name] ?? {};
    return {
      wanted,
      minWidth: Math.max(fixed, Math.min(wanted, minWidth)),
      untruncated: show.untruncated?.includes(name) ?? false,
      constant: values.length > 1 && values.every(({ shown }) => shown === values[0]?.shown),
      priority,
    };
  });
}

export interface Columns {
  readonly names: readonly string[];
  readonly sizes: readonly ColumnSize[];
  readonly arrangement: Arrangement;
}

/** Rows as lines of columns, of which some may be left out. */
export function columnWriter(
  columns: Columns,
  { header, terminal, width }: Presentation,
  { bold, fold }: TableParts,
): TableWriter {
  const { names, sizes, arrangement } = columns;
  const { shown, widths } = arrangement;
  const leftOut = leftOutColumns(columns, (text) => fold?.(text, Math.max(20, width - 2)) ?? [text]);
  const untruncated = shown.map((index) => sizes[index]?.untruncated ?? false);
  const fit = (cells: readonly Cell[]): readonly Cell[] => {
    const chosen = shown.length === sizes.length ? cells : shown.flatMap((index) => cells[index] ?? []);
    return terminal && width > 0 ? fitted(chosen, arrangement, untruncated, width) : chosen;
  };
  return {
    first(rows) {
      rows.forEach(leftOut.look);
      const head = header && names.length > 0 ? [fit(names.map((name) => cellOf(name, bold)))] : [];
      return drawGrid([...head, ...rows.map(fit)], widths);
    },
    next(row) {
      leftOut.look(row);
      return drawLine(fit(row), widths);
    },
    remark: leftOut.remark,
  };
}

/** Shortens cells until their line fits into `room`; not those of untruncated columns, and none where the line fits already. */
function fitted(
  cells: readonly Cell[],
  { widths }: Arrangement,
  untruncated: readonly boolean[],
  room: number,
): readonly Cell[] {
  const needed = cells.map(({ width }, index) => Math.max(width, widths[index] ?? 0));
  if (lineWidth(needed) <= room) return cells;
  return cells.map((cell, index) => {
    if (untruncated[index]) return cell;
    const shown = shorten(cell.shown, widths[index] ?? cell.width);
    return { ...cell, shown, width: displayWidth(shown) };
  });
}

/** Collects what stderr says of the columns that are left out: their names, and their value where it is the same in every row. */
function leftOutColumns({ names, arrangement: { shown } }: Columns, linesOf: (text: string) => readonly string[]) {
  let count = 0;
  const values = new Map<number, Set<string>>();
  for (const index of names.keys()) if (!shown.includes(index)) values.set(index, new Set());
  return {
    look(row: readonly TableValue[]): void {
      count += 1;
      for (const [index, seen] of values) if (seen.size < 2) seen.add(row[index]?.shown ?? '');
    },
    remark(): string | undefined {
      const words = [...values].map(([index, seen]) => {
        const [first = ''] = seen;
        return seen.size === 1
          ? `${names[index]} (${first || 'empty'}${count > 1 ? ' in every row' : ''})`
          : (names[index] ?? '');
      });
      if (words.length === 0) return undefined;
      // Further lines are indented.
      return linesOf(`left out to fit the width: ${words.join(', ')}`).join('\n');
    },
  };
}
