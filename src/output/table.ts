import { asObject, columnsOf, cellsOf, cellText, rulesOf, unlessNothing, watchDiffering } from './columns.ts';
import { arrange, columnSizes, drawGrid, drawLine, lineWidth, paintCell, type Cell } from './grid.ts';
import { peopleReader, type PeopleReader } from './people.ts';
import type { Formatter, Presentation } from './presentation.ts';
import { plain } from './plain.ts';
import { displayWidth, shorten } from './width.ts';

const decidingRows = 200;

/** A line as lines of at most `room` columns, on a terminal. */
type Fold = (text: string, room: number) => readonly string[];

/** One way to draw the rows of a table, once its first rows are known. */
interface TableWriter {
  first(rows: readonly (readonly Cell[])[]): string;
  next(row: readonly Cell[]): string;
  remark?(): string | undefined;
}

/** Columns for people. In a terminal the first rows decide what is left out; elsewhere nothing is. */
export async function table(presentation: Presentation): Promise<Formatter> {
  const { show, terminal, header, color } = presentation;
  const paint = color ? await import('./paint.ts') : undefined;
  const fold: Fold = terminal ? (await import('./wrap.ts')).fold : (text) => [text];
  const read = cellReader(presentation, await peopleReader(presentation), paint?.statusPaint);
  const headOf = (columns: readonly string[]): readonly Cell[] =>
    header ? columns.map((name) => ({ ...cellOf(name), paint: paint?.painter(1).bold })) : [];
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
    columns ??= tableColumns(value, presentation);
    const before = !writer && first.length === decidingRows ? writeFirst(columns) : '';
    const cells = read(value, columns);
    if (writer) return before + writer.next(cells);
    first.push(cells);
    return '';
  };
  const end = (): string => (first.length > 0 && columns ? writeFirst(columns) : '');
  const one = (value: unknown): string => {
    if (!terminal || !asObject(value, show)) return row(value) + end();
    const names = tableColumns(value, presentation);
    return recordWriter(headOf(names), presentation.width, fold).first([read(value, names)]);
  };
  return { one: unlessNothing(one), row, end, remark: () => writer?.remark?.() };
}

/** The columns in the order in which people look for them. */
function tableColumns(value: unknown, presentation: Presentation): readonly string[] {
  const { terminal, show, fields } = presentation;
  const all = columnsOf(value, presentation);
  if (fields) return all;
  const names = terminal ? all.filter((name) => rulesOf(show, name)?.when !== 'for programs') : all;
  const isLast = (name: string): boolean => rulesOf(show, name)?.isLast === true;
  return [...names.filter((name) => !isLast(name)), ...names.filter(isLast)];
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
  // A single row, or rows of which one column fits, say more as records.
  const isRecord =
    !arranged ||
    (arranged.shown.length < wanted.length &&
      (rows.length === 1 || arranged.shown.length === 1 || fields !== undefined));
  if (!isRecord) return columnWriter(names, head, { ...arranged, room, fold });
  return recordWriter(head, width, fold);
}

type Layout = NonNullable<ReturnType<typeof arrange>> & { readonly room: number; readonly fold: Fold };

function columnWriter(
  names: readonly string[],
  head: readonly Cell[],
  { shown, widths, room, fold }: Layout,
): TableWriter {
  const leftOut = [...names.keys()].filter((index) => !shown.some((column) => column.index === index));
  const { differing, see } = watchDiffering();
  const looks = shown.map(({ isNumber }, place) => ({
    width: widths[place] ?? 0,
    align: isNumber ? ('right' as const) : ('left' as const),
  }));
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
  /** A row is one line, or as many as its longest folded cell takes; its other cells are in the first. */
  const linesOf = (row: readonly Cell[]): readonly (readonly Cell[])[] => {
    see(leftOut.map((index) => [names[index] ?? '', row[index]?.shown ?? '']));
    const cells = fit(row).map((cell, place) => {
      const width = widths[place] ?? 0;
      if (!shown[place]?.folds || cell.width <= width) return [cell];
      return fold(cell.shown, width).map((text) => ({ ...cell, shown: text, width: displayWidth(text) }));
    });
    const count = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: count }, (_, line) => cells.map((lines) => lines[line] ?? emptyCell));
  };
  return {
    first: (rows) => drawGrid([...(head.length > 0 ? [fit(head)] : []), ...rows.flatMap(linesOf)], looks),
    next: (row) =>
      linesOf(row)
        .map((line) => drawLine(line, looks))
        .join(''),
    remark: () =>
      differing.size === 0
        ? undefined
        : `left out to fit the width: ${names.filter((name) => differing.has(name)).join(', ')}`,
  };
}

const emptyCell: Cell = { shown: '', width: 0 };

/** A value goes below its name where there is less room than this beside it, after the gap. */
const [minColumns, gap] = [20, 2];

/** Rows as records: a field a line, values wrapped, an empty line between records. `width`: columns, 0 for unknown. */
function recordWriter(names: readonly Cell[], width: number, fold: Fold): TableWriter {
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
  const record = (row: readonly Cell[]): string =>
    row
      .flatMap(linesOf)
      .map((line) => `${line.trimEnd()}\n`)
      .join('');
  return {
    first: (rows) => rows.map(record).join('\n'),
    next: (row) => `\n${record(row)}`,
  };
}

/** Reads the cells of a row for people: dates in local time, messages as plain text. */
function cellReader({ show }: Presentation, reader: PeopleReader, paintOf?: (status: string) => Cell['paint']) {
  const read = (value: unknown, column: string, row: unknown): Cell => {
    const { as: shape, empty = '' } = rulesOf(show, column) ?? {};
    const shown = reader(value, column, row);
    if (shown !== undefined) return cellOf(shown, shape === 'message' ? 'flowing' : 'fixed');
    if (paintOf && column === 'status' && typeof value === 'string') return { ...cellOf(value), paint: paintOf(value) };
    const text = Array.isArray(value) ? value.map(cellText).join(', ') : cellText(value);
    return cellOf(text === '' ? empty : text, kindOf(value));
  };
  return (row: unknown, columns: readonly string[]): readonly Cell[] =>
    cellsOf(row, columns, show).map((value, index) => read(value, columns[index] ?? '', row));
}

/** A text as a cell. Each cell is made here: spreading one object into the next takes longer than all the rest. */
function cellOf(text: string, kind: CellKind = 'flowing'): Cell {
  const shown = plain(text);
  return { shown, width: displayWidth(shown), fixed: kind !== 'flowing', isNumber: kind === 'number' };
}

type CellKind = 'number' | 'fixed' | 'flowing';

function kindOf(value: unknown): CellKind {
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'fixed' : 'flowing';
}
