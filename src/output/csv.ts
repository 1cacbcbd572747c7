import { stringify } from 'csv-stringify/sync';
import { withoutFormula } from '../core/spreadsheet.ts';
import { cellText, peopleReader, type MessageText } from './columns.ts';
import { lineBreak, plainLines } from './plain.ts';
import type { Formatter, Presentation } from './presentation.ts';
import { records, type RecordChoices } from './tsv.ts';

/** RFC 4180 with the line ends of Unix; `--csv-safe` has those of Windows, and a mark that tells Excel of UTF-8. */
export function csv(choices: CsvChoices, messageText?: MessageText): Formatter {
  let mark = choices.csvSafe ? '\uFEFF' : '';
  const reader = choices.csvSafe ? peopleReader(choices.show, messageText) : undefined;
  const write = (cells: readonly unknown[]): string => {
    const line = stringify([cells.map((value) => cell(value, choices))], {
      // An empty line would not be read back as a record of one empty cell.
      quoted_empty: cells.length === 1,
      // A program that expects another separator or line end must not take a part of a cell for a cell.
      quoted_match: [lineBreak, /[\t,;]/],
      delimiter: choices.csvSafe === 'semicolon' ? ';' : ',',
      record_delimiter: choices.csvSafe ? '\r\n' : '\n',
    });
    const text = mark + line;
    mark = '';
    return text;
  };
  return records(choices, write, reader);
}

type CsvChoices = RecordChoices & Pick<Presentation, 'csvSafe' | 'terminal'>;

/** Numbers stay numbers here, because a minus sign makes only a text harmful. */
function cell(value: unknown, { terminal, csvSafe }: CsvChoices): string | number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  const text = terminal ? plainLines(cellText(value)) : cellText(value);
  return csvSafe ? withoutFormula(text) : text;
}
