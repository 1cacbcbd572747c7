import Table from 'cli-table3';

/** A cell that fits its column: what is shown, and the columns of the terminal that it takes. */
export interface Cell {
  readonly shown: string;
  readonly width: number;
  /** Colours it, where colour is on. */
  readonly paint?: (text: string) => string;
}

const gap = '  ';

/** More lines than that are drawn one by one: cli-table3 is superlinear, and takes a quarter of a millisecond for each of 200 lines. */
const mostLines = 200;

/** Lines of plain columns, drawn by cli-table3 unless they are many. The build lets it measure as we do (rolldown.config.js). */
export function drawGrid(lines: readonly (readonly Cell[])[], widths: readonly number[]): string {
  if (lines.length > mostLines) return lines.map((cells) => drawLine(cells, widths)).join('');
  const table = new Table({
    chars: { ...noBorders, middle: gap },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colWidths: [...widths],
  });
  table.push(...lines.map((cells) => cells.map(paintedText)));
  const drawn = table.toString().split('\n');
  return lines.map((cells, index) => `${withoutPadding(drawn[index] ?? '', cells, widths)}\n`).join('');
}

/** A line up to the end of its last cell, whose own blanks stay. */
function withoutPadding(line: string, cells: readonly Cell[], widths: readonly number[]): string {
  const last = cells.findLastIndex(({ width }) => width > 0);
  const end = last < 0 ? 0 : (cells[last]?.width ?? 0) + lineWidth(widths.slice(0, last)) + (last > 0 ? gap.length : 0);
  return line.slice(0, line.length - (lineWidth(widths) - end));
}

/** The same look line by line, for tables of any length; a cell wider than its column moves the rest of its line. */
export function drawLine(cells: readonly Cell[], widths: readonly number[]): string {
  let line = '';
  let space = '';
  cells.forEach((cell, index) => {
    if (cell.width > 0) {
      line += space + paintedText(cell);
      space = '';
    }
    space += ' '.repeat(Math.max(0, (widths[index] ?? 0) - cell.width)) + gap;
  });
  return `${line}\n`;
}

/** Columns of a line of such columns, the gaps included. */
export function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * Math.max(0, widths.length - 1));
}

/**
 * Widths that fit into `room` columns of a terminal: the widest give way first, so that short columns stay whole, and none gives way
 * below its `least`. With more columns than room each keeps one.
 */
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

function paintedText({ shown, width, paint }: Cell): string {
  if (width === 0) return '';
  return paint ? paint(shown) : shown;
}

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
  const priorityOf = (index: number): number => columns[index]?.priority ?? 0;
  const order = [...columns.keys()].sort((one, other) => priorityOf(one) - priorityOf(other) || other - one);
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

function sizes(columns: readonly ColumnSize[], indexes: readonly number[]): ColumnSize[] {
  return indexes.flatMap((index) => columns[index] ?? []);
}

function leastOf({ untruncated, wanted, minWidth }: ColumnSize): number {
  return untruncated ? wanted : Math.min(wanted, minWidth);
}
