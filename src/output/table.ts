import { cellsOf, cellText, columnsOf } from './columns.ts';
import type { Form } from './form.ts';
import { drawGrid, drawLine, fitWidths, lineWidth, type Cell } from './grid.ts';
import { plain } from './plain.ts';
import type { Look, Show } from './show.ts';
import { displayWidth, shorten } from './width.ts';

/**
 * Columns for people, two spaces apart, under their names, which `bold` paints. On a terminal of known width long cells are
 * shortened; elsewhere nothing is. The first rows decide the widths and are held for it; a longer table goes on line by line.
 */
export function table(show: Show<unknown> | undefined, look: Look, bold: ((text: string) => string) | undefined): Form {
  let columns: readonly string[] | undefined;
  let held: (readonly Cell[])[] = [];
  let writeLine: ((cells: readonly Cell[]) => string) | undefined;

  const head = (): (readonly Cell[])[] => (look.header && columns?.length ? [measured(columns, bold)] : []);
  const row = (value: unknown): string => {
    columns ??= columnsOf(value, show, look.fields);
    const cells = measured(cellsOf(value, columns, show).map(cellText));
    if (writeLine) return writeLine(cells);
    if (held.length === heldRows) return writeHeld() + row(value);
    held.push(cells);
    return '';
  };
  const writeHeld = (): string => {
    const lines = [...head(), ...held];
    held = [];
    writeLine = lineWriter(lines, look, kept());
    return lines.map(writeLine).join('');
  };
  const kept = (): boolean[] => (columns ?? []).map((column) => show?.whole?.includes(column) ?? false);
  const end = (): string => (held.length > 0 ? drawFitted([...head(), ...held], look, kept()) : '');
  return { one: (value) => (value === undefined || value === null ? '' : row(value) + end()), row, end };
}

/** Rows that decide the widths; cli-table3 is superlinear, and draws no more than that. */
const heldRows = 1000;

function lineWriter(
  first: readonly (readonly Cell[])[],
  look: Look,
  kept: readonly boolean[],
): (cells: readonly Cell[]) => string {
  const widths = widthsOf(first, look, kept);
  return (cells) => drawLine(fitted(cells, widths, look), widths);
}

function drawFitted(lines: readonly (readonly Cell[])[], look: Look, kept: readonly boolean[]): string {
  const widths = widthsOf(lines, look, kept);
  const cells = lines.map((line) => fitted(line, widths, look));
  return drawGrid(cells, widths);
}

function measured(texts: readonly string[], paint?: (text: string) => string): readonly Cell[] {
  return texts.map((text) => {
    const shown = plain(text);
    return { shown, width: displayWidth(shown), ...(paint && { paint }) };
  });
}

function widthsOf(lines: readonly (readonly Cell[])[], look: Look, kept: readonly boolean[]): readonly number[] {
  const widths: number[] = [];
  for (const cells of lines) {
    for (const [index, { width }] of cells.entries()) widths[index] = Math.max(1, widths[index] ?? 0, width);
  }
  return look.terminal && look.width > 0 ? fitWidths(widths, look.width, kept) : widths;
}

/** Cells that keep their line within the terminal: a line that fits as it is stays whole. */
function fitted(cells: readonly Cell[], widths: readonly number[], look: Look): readonly Cell[] {
  const needed = cells.map(({ width }, index) => Math.max(width, widths[index] ?? 0));
  if (!look.terminal || look.width === 0 || lineWidth(needed) <= look.width) return cells;
  return cells.map((cell, index) => {
    const shown = shorten(cell.shown, widths[index] ?? cell.width);
    return { ...cell, shown, width: displayWidth(shown) };
  });
}
