import Table from 'cli-table3';
import { rulesOf } from './columns.ts';
import { plain } from './plain.ts';
import type { Presentation } from './presentation.ts';
import { orderOf } from './sort.ts';
import { displayWidth } from './width.ts';

/** A cell of a table, harmless on a terminal: what is shown, and the columns of the terminal that it takes. */
export interface Cell {
  readonly shown: string;
  readonly width: number;
  /** True if the cell must not be cut, because a part of a number or a date would be wrong. */
  readonly fixed?: boolean;
  readonly isNumber?: boolean;
  readonly paint?: ((text: string) => string) | undefined;
}

const gap = '  ';

/** More lines are drawn one by one: cli-table3 is superlinear, and takes 0.25 ms for each of 200 lines. */
const mostLines = 200;

interface ColumnLook {
  readonly width: number;
  readonly align: 'left' | 'right';
}

/** Lines of plain columns, by cli-table3 unless they are many. The build lets it measure as we do. */
export function drawGrid(lines: readonly (readonly Cell[])[], looks: readonly ColumnLook[]): string {
  if (lines.length > mostLines) return lines.map((cells) => drawLine(cells, looks)).join('');
  const table = new Table({
    chars: { ...noBorders, middle: gap },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colWidths: looks.map(({ width }) => width),
    colAligns: looks.map(({ align }) => align),
  });
  table.push(...lines.map((cells) => cells.map(paintCell)));
  const drawn = table.toString().split('\n');
  return drawn.map((line) => `${line.trimEnd()}\n`).join('');
}

/** The same look line by line, for tables of any length; a cell wider than its column moves the rest of its line. */
export function drawLine(cells: readonly Cell[], looks: readonly ColumnLook[]): string {
  const padded = cells.map((cell, index) => {
    const { width = 0, align } = looks[index] ?? {};
    const blanks = ' '.repeat(Math.max(0, width - cell.width));
    return align === 'right' ? blanks + paintCell(cell) : paintCell(cell) + blanks;
  });
  return `${padded.join(gap).trimEnd()}\n`;
}

export function paintCell({ shown, paint }: Cell): string {
  return paint ? paint(shown) : shown;
}

export function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * Math.max(0, widths.length - 1));
}

/** Widths that fit into `room` columns: the widest shrink first, none below its `least`; at least one column each. */
export function fitWidths(wanted: readonly number[], room: number, least: readonly number[] = []): readonly number[] {
  const cut = (cap: number): number[] =>
    wanted.map((width, index) => Math.min(width, Math.max(cap, least[index] ?? 1)));
  let cap = room;
  while (cap > 1 && lineWidth(cut(cap)) > room) cap -= 1;
  const widths = cut(cap);
  let spare = Math.max(0, room - lineWidth(widths));
  return widths.map((width, index) => {
    if (spare === 0 || width === wanted[index]) return width;
    spare -= 1;
    return width + 1;
  });
}

const borders =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const noBorders = Object.fromEntries(borders.split(' ').map((name) => [name, '']));

/** The size of a column, which decides whether it is shown; widths are columns of the terminal. */
interface ColumnSize {
  readonly index: number;
  /** Its widest cell, the header included. */
  readonly wanted: number;
  /** The column is left out before it gets narrower than this, since that is not worth reading. */
  readonly least: number;
  /** No cell of it is cut. */
  readonly isWhole: boolean;
  /** A cell that is wider than its column takes several lines. */
  readonly folds: boolean;
  readonly isEmpty: boolean;
  /** All cells are numbers: they are aligned on the right. */
  readonly isNumber: boolean;
  /** The turn in which the column is left out where room is small, or `never`. */
  readonly goes: (typeof turns)[number] | 'never';
  /** In one turn the column with the lower number is left out first, and of two equal ones the later. */
  readonly priority: number;
}

/** The order in which columns are left out. The one value of a constant column is said below the table. */
const turns = ['constant', 'text', 'constant whole'] as const;

/** Fits columns into `room` columns of a terminal; undefined where that cannot be, and each row becomes a record. */
export function arrange(columns: readonly ColumnSize[], room: number) {
  let shown = columns;
  const width = (span: 'wanted' | 'least'): number => lineWidth(shown.map((column) => column[span]));
  const going = turns.flatMap((turn) =>
    columns
      .filter(({ goes }) => goes === turn)
      .sort((one, other) => one.priority - other.priority || other.index - one.index),
  );
  for (const column of going) {
    if (shown.length === 1 || width(column.goes === 'constant' ? 'wanted' : 'least') <= room) break;
    shown = shown.filter((other) => other !== column);
  }
  if (width('least') > room) return undefined;
  const [wanted, least] = [shown.map((column) => column.wanted), shown.map((column) => column.least)];
  return { shown, widths: fitWidths(wanted, room, least) };
}

const minTextWidth = 10;

/** A text that is wider takes several lines, and so does a change that is wider than a folded column. */
const longText = 40;
const foldedWidth = 24;

/** These stay in one line: people copy a key with one click, and compare states at a glance. */
const inOneLine: ReadonlySet<string> = new Set(['license_code', 'status']);

/** Decides by the first rows how wide each column is, and which may be left out. */
export function columnSizes(
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  { show, header, sort }: Presentation,
): readonly ColumnSize[] {
  return Array.from({ length: Math.max(1, names.length) }, (_, index) => {
    const name = names[index] ?? '';
    const values = rows.flatMap((row) => row[index] ?? []);
    const headWidth = header ? displayWidth(plain(name)) : 1;
    const wanted = values.reduce((most, { width }) => Math.max(most, width), Math.max(1, headWidth));
    // A name, a number and a date are never cut: a part of them would be wrong.
    const whole = values.reduce((most, { fixed, width }) => (fixed ? Math.max(most, width) : most), headWidth);
    const { width: minWidth = minTextWidth, keep = 0 } = rulesOf(show, name) ?? {};
    // The outcome of a row is shown whole; where it does not fit, rows are records.
    const isAnswer = name === 'status' || name === 'change';
    const isWhole = isAnswer || keep === 'whole';
    const isAsked = sort !== undefined && orderOf(sort).field === name;
    const isLong = wanted > (name === 'change' ? foldedWidth : longText);
    const folds = isWhole && isLong && whole < wanted && !inOneLine.has(name);
    const priority = isAsked ? Infinity : keep === 'whole' ? 0 : keep;
    const isConstant = values.length > 1 && values.every(({ shown }) => shown === values[0]?.shown);
    return {
      index,
      wanted,
      least: leastOf(wanted, { folds, isWhole, narrowest: Math.max(whole, minWidth) }),
      isWhole: isWhole || minWidth === Infinity,
      folds,
      isNumber: values.every((one) => one.isNumber || one.shown === ''),
      isEmpty: !isAsked && values.every(({ shown }) => shown === ''),
      goes:
        isAnswer || (isWhole && !isConstant) ? 'never' : !isConstant ? 'text' : isWhole ? 'constant whole' : 'constant',
      priority: isConstant ? Math.min(0, priority) : priority,
    };
  });
}

function leastOf(
  wanted: number,
  { folds, isWhole, narrowest }: { readonly folds: boolean; readonly isWhole: boolean; readonly narrowest: number },
): number {
  if (folds) return foldedWidth;
  return isWhole ? wanted : Math.min(wanted, narrowest);
}
