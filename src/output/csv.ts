import { stringify } from 'csv-stringify/sync';
import { withoutFormula } from '../core/spreadsheet.ts';
import { cellText } from './columns.ts';
import { peopleReader } from './people.ts';
import { lineBreak, plainLines } from './plain.ts';
import type { Formatter, Presentation } from './presentation.ts';
import { records, type RecordChoices } from './tsv.ts';

/** RFC 4180 with the line ends of Unix. */
export function csv(choices: RecordChoices): Formatter {
  const write = (cells: readonly unknown[]): string => {
    const texts = cells.map((value) => cellOf(value, choices));
    return line(texts, ',', '\n');
  };
  return records(choices, write);
}

/** CSV that a spreadsheet opens: it runs no cell as a formula, and the byte order mark tells Excel that it is UTF-8. */
export async function excel(choices: Presentation, separator: Separator): Promise<Formatter> {
  // A terminal would obey a carriage return and show the mark, so it gets neither.
  const lineEnd = choices.terminal ? '\n' : '\r\n';
  let mark = choices.terminal ? '' : '\uFEFF';
  const write = (cells: readonly unknown[]): string => {
    const harmless = cells.map((value) => {
      const cell = cellOf(value, choices);
      return typeof cell === 'string' ? withoutFormula(cell) : cell;
    });
    const text = mark + line(harmless, separator, lineEnd);
    mark = '';
    return text;
  };
  return records(choices, write, await peopleReader(choices));
}

type RecordCell = string | number | bigint;
export type Separator = ',' | ';';

/** Numbers stay numbers here, because a minus sign makes only a text harmful. */
function cellOf(value: unknown, { terminal }: RecordChoices): RecordCell {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return terminal ? plainLines(cellText(value)) : cellText(value);
}

function line(cells: readonly RecordCell[], delimiter: Separator, record_delimiter: string): string {
  return stringify([cells], {
    // An empty line would not be read back as a record of one empty cell.
    quoted_empty: cells.length === 1,
    // A program that expects another separator or line end must not take a part of a cell for a cell.
    quoted_match: [lineBreak, /[\t,;]/],
    delimiter,
    record_delimiter,
  });
}
