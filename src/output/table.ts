import { arrange } from './arrange.ts';
import { columnSizes, columnWriter } from './column-writer.ts';
import { asObject, columnsOf } from './columns.ts';
import type { Form } from './form.ts';
import { recordWriter } from './record-writer.ts';
import type { Look, Show } from './show.ts';
import { valueReader, type TableParts, type TableValue } from './table-values.ts';
import type { TableWriter } from './table-writer.ts';

/**
 * Columns for people, two spaces apart, under their names. On a terminal of known width, columns go and cells are shortened until
 * the rest fits; where that would cut what matters, each row is a record. Elsewhere nothing is left out. The first rows decide, and
 * are held for it; a longer table continues line by line.
 */
export function table(show: Show<unknown> | undefined, look: Look, parts: TableParts): Form {
  const read = valueReader(show, look, parts);
  let columns: readonly string[] | undefined;
  let held: (readonly TableValue[])[] = [];
  let writer: TableWriter | undefined;

  const row = (value: unknown): string => {
    columns ??= columnsOf(value, show, look.fields);
    const before = !writer && held.length === heldRows ? writeHeld(columns) : '';
    return before + add(read(value, columns));
  };
  const add = (values: readonly TableValue[]): string => {
    if (writer) return writer.next(values);
    held.push(values);
    return '';
  };
  const writeHeld = (names: readonly string[]): string => {
    writer = writerOf(names, held, show, look, parts);
    const text = writer.first(held);
    held = [];
    return text;
  };
  const end = (): string => (held.length > 0 && columns ? writeHeld(columns) : '');
  const one = (value: unknown): string => {
    if (value === undefined || value === null) return '';
    if (!look.terminal || !asObject(value, show)) return row(value) + end();
    const names = columnsOf(value, show, look.fields);
    return recordWriter(names, look, parts).first([read(value, names)]);
  };
  return { one, row, end, remark: () => writer?.remark() };
}

/** Rows that decide the widths. */
const heldRows = 200;

function writerOf(
  names: readonly string[],
  rows: readonly (readonly TableValue[])[],
  show: Show<unknown> | undefined,
  look: Look,
  parts: TableParts,
): TableWriter {
  const sizes = columnSizes(names, rows, show, look);
  const isFitted = look.terminal && look.width > 0 && names.length > 0;
  const all = { shown: [...sizes.keys()], widths: sizes.map(({ wanted }) => wanted) };
  const arrangement = isFitted ? arrange(sizes, look.width) : all;
  // What was asked for by name is not left out; one row, or one column that is left, says more as a record.
  const isRecord =
    (show?.records && look.terminal) ||
    !arrangement ||
    (arrangement.shown.length < names.length &&
      (rows.length === 1 || arrangement.shown.length === 1 || look.fields !== undefined));
  return isRecord ? recordWriter(names, look, parts) : columnWriter({ names, sizes, arrangement }, look, parts);
}
