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
  let widths: readonly number[] | undefined;
  let held: (readonly Cell[])[] = [];

  const row = (value: unknown): string => {
    if (!columns) {
      columns = columnsOf(value, show, look.fields);
      if (look.header && columns.length > 0) held.push(measured(columns, bold));
    }
    const cells = measured(cellsOf(value, columns, show).map(cellText));
    if (widths) return drawLine(fitted(cells, widths, look), widths);
    held.push(cells);
    return held.length > measuredRows ? drawHeld() : '';
  };
  const drawHeld = (): string => {
    const fixed = widthsOf(held, look);
    const text = held.map((cells) => drawLine(fitted(cells, fixed, look), fixed)).join('');
    [widths, held] = [fixed, []];
    return text;
  };
  const end = (): string => {
    if (held.length === 0) return '';
    const fixed = widthsOf(held, look);
    return drawGrid(
      held.map((cells) => fitted(cells, fixed, look)),
      fixed,
    );
  };
  return { one: (value) => (value === undefined || value === null ? '' : row(value) + end()), row, end };
}

/** The names of the columns and a thousand rows: cli-table3 is superlinear, and draws no more than that. */
const measuredRows = 1001;

function measured(texts: readonly string[], paint?: (text: string) => string): readonly Cell[] {
  return texts.map((text) => {
    const shown = plain(text);
    return { shown, width: displayWidth(shown), ...(paint && { paint }) };
  });
}

function widthsOf(lines: readonly (readonly Cell[])[], look: Look): readonly number[] {
  const widths: number[] = [];
  for (const cells of lines) {
    for (const [index, { width }] of cells.entries()) widths[index] = Math.max(1, widths[index] ?? 0, width);
  }
  return look.terminal && look.width > 0 ? fitWidths(widths, look.width) : widths;
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
