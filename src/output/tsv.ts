import { tsvCell } from '../core/tsv.ts';
import { cellText, cellsOf, columnsOf, namesOf, type peopleReader } from './columns.ts';
import { plain } from './plain.ts';
import type { Formatter, Presentation } from './presentation.ts';

/** One record a line, cells parted by tabs; a tab, line end or backslash inside a cell is `\t`, `\n`, `\r`, `\\`. */
export function tsv(presentation: Presentation): Formatter {
  const cell = (value: unknown): string => {
    const text = tsvCell(cellText(value));
    return presentation.terminal ? plain(text) : text;
  };
  return records(presentation, (cells) => `${cells.map(cell).join('\t')}\n`);
}

export type RecordChoices = Pick<Presentation, 'show' | 'fields' | 'header'>;

/** A formatter of one record a row below a header (csv, tsv). A list without rows still shows a known header. */
export function records(
  choices: RecordChoices,
  write: (cells: readonly unknown[]) => string,
  reader?: ReturnType<typeof peopleReader>,
): Formatter {
  const { show, fields } = choices;
  let columns: readonly string[] | undefined;
  const header = (names: readonly string[]): string => (choices.header && names.length > 0 ? write(names) : '');
  const line = (row: unknown, names: readonly string[]): string => {
    const cells = cellsOf(row, names, show);
    return write(reader ? cells.map((cell, index) => reader(cell, names[index] ?? '', row) ?? cell) : cells);
  };
  const row = (value: unknown): string => {
    let head = '';
    if (!columns) {
      columns = columnsOf(value, choices);
      head = header(columns);
    }
    return head + line(value, columns);
  };
  return {
    one: (value) => (value === undefined || value === null ? '' : row(value)),
    row,
    end: () => (columns ? '' : header(fields ?? namesOf(show))),
  };
}
