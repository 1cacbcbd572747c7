import type { Cell } from './grid.ts';
import type { Look } from './show.ts';
import { cellOf, type TableParts } from './table-values.ts';
import type { TableWriter } from './table-writer.ts';
import { displayWidth } from './width.ts';

/** With less room beside its name, a value goes below it. */
const minColumns = 20;

const gap = 2;

/**
 * Rows as records: one field a line, values wrapped without ellipsis or border, an empty line between two records. Fields without a
 * value are left out.
 */
export function recordWriter(columns: readonly string[], look: Look, { bold, fold }: TableParts): TableWriter {
  const names = look.header ? columns.map((name) => cellOf(name, bold)) : [];
  const next = (row: readonly Cell[]): string => `\n${drawRecord(names, row, { room: look.width, fold })}`;
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
