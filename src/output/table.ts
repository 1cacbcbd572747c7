import { asObject, columnsOf, cellsOf, cellText, peopleReader, rulesOf, type MessageText } from './columns.ts';
import { arrange, drawGrid, drawLine, lineWidth, paintCell, watchLeftOut, type Cell, type ColumnSize } from './grid.ts';
import type { Formatter, Presentation, Show } from './presentation.ts';
import { plain } from './plain.ts';
import { orderOf } from './sort.ts';
import { displayWidth, shorten } from './width.ts';

const decidingRows = 200;

/** Parts of heavier modules; absent where the presentation does not need them. */
interface TableParts {
  readonly bold?: ((text: string) => string) | undefined;
  readonly paintOf?: ((status: string) => ((text: string) => string) | undefined) | undefined;
  /** The text of a message, for a column that shows messages. */
  readonly messageText?: MessageText | undefined;
  /** A line as lines of at most `room` columns, on a terminal. */
  readonly fold?: Fold | undefined;
}

type Fold = (text: string, room: number) => readonly string[];

/** One way to draw the rows of a table, once its first rows are known. */
interface TableWriter {
  first(rows: readonly (readonly Cell[])[]): string;
  next(row: readonly Cell[]): string;
  remark?(): string | undefined;
}

/** Columns for people. In a terminal the first rows decide what is left out; elsewhere nothing is. */
export function table(
  presentation: Presentation,
  { messageText, bold, paintOf, fold = (text) => [text] }: TableParts,
): Formatter {
  const { show, terminal, header } = presentation;
  const read = cellReader(show, messageText, paintOf);
  const headOf = (columns: readonly string[]): readonly Cell[] =>
    header ? columns.map((name) => ({ ...cellOf(name), ...(bold && { paint: bold }) })) : [];
  let columns: readonly string[] | undefined;
  let first: (readonly Cell[])[] = [];
  let writer: TableWriter | undefined;

  const writeFirst = (names: readonly string[]): string => {
    writer = writerOf(names, headOf(names), first, presentation, fold);
    const text = writer.first(first);
    first = [];
    return text;
  };
  const row = (value: unknown): string => {
    columns ??= columnsOf(value, presentation);
    const before = !writer && first.length === decidingRows ? writeFirst(columns) : '';
    const cells = read(value, columns);
    if (writer) return before + writer.next(cells);
    first.push(cells);
    return '';
  };
  const end = (): string => (first.length > 0 && columns ? writeFirst(columns) : '');
  const one = (value: unknown): string => {
    if (value === undefined || value === null) return '';
    if (!terminal || !asObject(value, show)) return row(value) + end();
    const names = columnsOf(value, presentation);
    return recordWriter(headOf(names), presentation.width, fold).first([read(value, names)]);
  };
  return { one, row, end, remark: () => writer?.remark?.() };
}

function writerOf(
  names: readonly string[],
  head: readonly Cell[],
  rows: readonly (readonly Cell[])[],
  presentation: Presentation,
  fold: Fold,
): TableWriter {
  const { terminal, width, fields } = presentation;
  const sizes = columnSizes(names, rows, presentation);
  const room = terminal && width > 0 && names.length > 0 ? width : Infinity;
  const filled = sizes.filter(({ isEmpty }) => !isEmpty);
  // Columns that were named are not left out.
  const wanted = room === Infinity || fields !== undefined || filled.length === 0 ? sizes : filled;
  const arranged = arrange(wanted, room);
  // One row, or one column that is left, says more as a record.
  const isRecord =
    !arranged ||
    (arranged.shown.length < wanted.length &&
      (rows.length === 1 || arranged.shown.length === 1 || fields !== undefined));
  if (!isRecord) return columnWriter(names, head, { ...arranged, room });
  const constants = wanted.flatMap(({ goes, index }) => (fields === undefined && goes === 'constant' ? index : []));
  return recordWriter(head, width, fold, watchLeftOut(names, constants, 'where it is not shown'));
}

/** Minimum width of a column of text, in terminal columns. */
const minTextWidth = 10;

function columnSizes(
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  { show, header, sort, given = {} }: Presentation,
): readonly ColumnSize[] {
  return Array.from({ length: Math.max(1, names.length) }, (_, index) => {
    const name = names[index] ?? '';
    const values = rows.flatMap((row) => row[index] ?? []);
    const headWidth = header ? cellOf(name).width : 1;
    const wanted = values.reduce((most, { width }) => Math.max(most, width), Math.max(1, headWidth));
    // A name, a number and a date are never cut: a part of them would be wrong.
    const whole = values.reduce((most, { fixed, width }) => (fixed ? Math.max(most, width) : most), headWidth);
    const { width: minWidth = minTextWidth, keep = 0, askedBy = [] } = rulesOf(show, name) ?? {};
    // What became of the row is shown whole, or the row is a record.
    const isAnswer = name === 'status' || name === 'change';
    const isWhole = isAnswer || keep === 'whole';
    const isAsked =
      askedBy.some((option) => given[option] !== undefined) || (sort !== undefined && orderOf(sort).field === name);
    const priority = isAsked ? Infinity : keep === 'whole' ? 0 : keep;
    const isConstant = values.length > 1 && values.every(({ shown }) => shown === values[0]?.shown);
    return {
      index,
      wanted,
      least: isWhole ? wanted : Math.min(wanted, Math.max(whole, minWidth)),
      isWhole: isWhole || minWidth === Infinity,
      isEmpty: !isAsked && values.every(({ shown }) => shown === ''),
      goes:
        isAnswer || (isWhole && !isConstant) ? 'never' : !isConstant ? 'text' : isWhole ? 'constant whole' : 'constant',
      priority: isConstant ? Math.min(0, priority) : priority,
    };
  });
}

/** Rows as lines of columns. */
function columnWriter(
  names: readonly string[],
  head: readonly Cell[],
  { shown, widths, room }: NonNullable<ReturnType<typeof arrange>> & { readonly room: number },
): TableWriter {
  const leftOut = watchLeftOut(
    names,
    [...names.keys()].filter((index) => !shown.some((column) => column.index === index)),
  );
  const fit = (cells: readonly Cell[]): readonly Cell[] => {
    const chosen = shown.flatMap(({ index }) => cells[index] ?? []);
    const needed = chosen.map(({ width }, place) => Math.max(width, widths[place] ?? 0));
    if (lineWidth(needed) <= room) return chosen;
    return chosen.map((cell, place) => {
      if (shown[place]?.isWhole) return cell;
      const text = shorten(cell.shown, widths[place] ?? cell.width);
      return { ...cell, shown: text, width: displayWidth(text) };
    });
  };
  const fitRow = (row: readonly Cell[]): readonly Cell[] => {
    leftOut.see(row);
    return fit(row);
  };
  return {
    first: (rows) => drawGrid([...(head.length > 0 ? [fit(head)] : []), ...rows.map(fitRow)], widths),
    next: (row) => drawLine(fitRow(row), widths),
    remark: leftOut.remark,
  };
}

/** A value goes below its name where there is less room beside it. */
const [minColumns, gap] = [20, 2];

/** Rows as records: a field a line, values wrapped, an empty line between records. `width`: columns, 0 for unknown. */
function recordWriter(names: readonly Cell[], width: number, fold: Fold, leftOut = watchLeftOut([], [])): TableWriter {
  const beside = names.length === 0 ? 0 : Math.max(...names.map((name) => name.width)) + gap;
  const isBelow = names.length > 0 && width > 0 && width - beside < minColumns;
  const margin = ' '.repeat(isBelow ? gap : beside);
  const room = width > 0 ? Math.max(1, width - margin.length) : Infinity;
  const linesOf = ({ shown }: Cell, index: number): readonly string[] => {
    if (shown === '') return [];
    const texts = (displayWidth(shown) <= room ? [shown] : fold(shown, room)).map((line) => margin + line);
    const name = names[index];
    if (!name) return texts;
    if (isBelow) return [paintCell(name), ...texts];
    const [first = '', ...others] = texts;
    return [paintCell(name) + first.slice(name.width), ...others];
  };
  const record = (row: readonly Cell[]): string => {
    leftOut.see(row);
    return row
      .flatMap((cell, index) => (leftOut.hides(index, cell) ? [] : linesOf(cell, index)))
      .map((line) => `${line.trimEnd()}\n`)
      .join('');
  };
  return {
    first: (rows) => rows.map(record).join('\n'),
    next: (row) => `\n${record(row)}`,
    remark: leftOut.remark,
  };
}

/** Reads the cells of a row for people: dates in local time, messages as plain text. */
function cellReader(
  show: Show<unknown>,
  messageText: MessageText | undefined,
  paintOf?: (status: string) => Cell['paint'],
) {
  const reader = peopleReader(show, messageText);
  const read = (value: unknown, column: string, row: unknown): Cell => {
    const { as: shape, empty = '' } = rulesOf(show, column) ?? {};
    const text = reader(value, column, row);
    if (text !== undefined) return cellOf(text, shape === 'message' ? 'flowing' : 'fixed');
    if (paintOf && column === 'status' && typeof value === 'string') return { ...cellOf(value), paint: paintOf(value) };
    const isFixed = ['number', 'bigint', 'boolean'].includes(typeof value);
    return cellOf(value === '' ? empty : cellText(value), isFixed ? 'fixed' : 'flowing');
  };
  return (row: unknown, columns: readonly string[]): readonly Cell[] =>
    cellsOf(row, columns, show).map((value, index) => read(value, columns[index] ?? '', row));
}

/** A text as a cell. Each cell is made here: spreading one object into the next takes longer than all the rest. */
function cellOf(text: string, kind: 'fixed' | 'flowing' = 'flowing'): Cell {
  const shown = plain(text);
  return { shown, width: displayWidth(shown), fixed: kind === 'fixed' };
}
