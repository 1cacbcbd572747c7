import { arrange, type Cell } from './grid.ts';
import { columnSizes, columnWriter } from './column-writer.ts';
import { asObject, columnsOf } from './columns.ts';
import type { Formatter, Presentation } from './presentation.ts';
import { valueReader, type TableParts, type TableValue, type TableWriter, cellOf } from './table-values.ts';
import { displayWidth } from './width.ts';

/**
 * Columns for people, two spaces apart, under their names. On a terminal of known width, columns go and cells are shortened until
 * the rest fits; where that would cut what matters, each row is a record. Elsewhere nothing is left out. The first rows decide, and
 * are held for it; a longer table continues line by line.
 */
export function table(presentation: Presentation, parts: TableParts): Formatter {
  const { show, terminal } = presentation;
  const read = valueReader(presentation, parts);
  let columns: readonly string[] | undefined;
  let held: (readonly TableValue[])[] = [];
  let writer: TableWriter | undefined;

  const row = (value: unknown): string => {
    columns ??= columnsOf(value, presentation);
    const before = !writer && held.length === heldRows ? writeHeld(columns) : '';
    return before + add(read(value, columns));
  };
  const add = (values: readonly TableValue[]): string => {
    if (writer) return writer.next(values);
    held.push(values);
    return '';
  };
  const writeHeld = (names: readonly string[]): string => {
    writer = writerOf(names, held, presentation, parts);
    const text = writer.first(held);
    held = [];
    return text;
  };
  const end = (): string => (held.length > 0 && columns ? writeHeld(columns) : '');
  const one = (value: unknown): string => {
    if (value === undefined || value === null) return '';
    if (!terminal || !asObject(value, show)) return row(value) + end();
    const names = columnsOf(value, presentation);
    return recordWriter(names, presentation, parts).first([read(value, names)]);
  };
  return { one, row, end, remark: () => writer?.remark() };
}

/** Rows that decide the widths. */
const heldRows = 200;

function writerOf(
  names: readonly string[],
  rows: readonly (readonly TableValue[])[],
  presentation: Presentation,
  parts: TableParts,
): TableWriter {
  const { terminal, width, fields } = presentation;
  const sizes = columnSizes(names, rows, presentation);
  const isFitted = terminal && width > 0 && names.length > 0;
  const all = { shown: [...sizes.keys()], widths: sizes.map(({ wanted }) => wanted) };
  const arrangement = isFitted ? arrange(sizes, width) : all;
  // What was asked for by name is not left out; one row, or one column that is left, says more as a record.
  const isRecord =
    !arrangement ||
    (arrangement.shown.length < names.length &&
      (rows.length === 1 || arrangement.shown.length === 1 || fields !== undefined));
  return isRecord
    ? recordWriter(names, presentation, parts)
    : columnWriter({ names, sizes, arrangement }, presentation, parts);
}

/** With less room beside its name, a value goes below it. */
const minColumns = 20;

const gap = 2;

/**
 * Rows as records: one field a line, values wrapped without ellipsis or border, an empty line between two records. Fields without a
 * value are left out.
 */
function recordWriter(
  columns: readonly string[],
  { header, width }: Presentation,
  { bold, fold }: TableParts,
): TableWriter {
  const names = header ? columns.map((name) => cellOf(name, bold)) : [];
  const next = (row: readonly Cell[]): string => `\n${drawRecord(names, row, { room: width, fold })}`;
  return { first: (rows) => rows.map(next).join('').slice(1), next, remark: () => undefined };
}

interface Room extends Pick<TableParts, 'fold'> {
  /** Columns of the terminal, 0 where they are unknown. */
  readonly room: number;
}

function drawRecord(names: readonly Cell[], values: readonly Cell[], { room, fold }: Room): string {
  const beside = names.length === 0 ? 0 : Math.max(...names.map(({ width }) => width)) + gap;
  const isBelow = names.length > 0 && room > 0 && room - beside < minColumns;
  const indent = isBelow ? gap : beside;
  const lines = values.flatMap(({ shown }, index) => {
    if (shown === '') return [];
    const margin = ' '.repeat(indent);
    const texts = linesOf(shown, { room: room > 0 ? Math.max(1, room - indent) : Infinity, fold }).map(
      (line) => margin + line,
    );
    const name = names[index];
    if (!name) return texts;
    const title = name.paint ? name.paint(name.shown) : name.shown;
    if (isBelow) return [title, ...texts];
    const [first = '', ...others] = texts;
    return [title + first.slice(name.width), ...others];
  });
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function linesOf(text: string, { room, fold }: Room): readonly string[] {
  return displayWidth(text) <= room || !fold ? [text] : fold(text, room);
}
