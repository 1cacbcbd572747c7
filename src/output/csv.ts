import { stringify } from 'csv-stringify/sync';
import { cellText } from './columns.ts';
import type { Form } from './form.ts';
import { plainLines } from './plain.ts';
import { records } from './records.ts';
import type { Look, Show } from './show.ts';

/**
 * RFC 4180 with the line ends of Unix tools. With `--csv-safe` a text that a spreadsheet would take for a formula begins with an
 * apostrophe; numbers stay numbers.
 */
export function csv(show: Show<unknown> | undefined, look: Look): Form {
  return records(show, look, (cells) =>
    stringify([cells.map((value) => cell(value, look))], {
      // An empty line would not be read back as a record of one empty cell.
      quoted_empty: cells.length === 1,
    }),
  );
}

/** Numbers stay numbers here, because a minus sign makes only a text harmful. */
function cell(value: unknown, look: Look): string | number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  const text = look.terminal ? plainLines(cellText(value)) : cellText(value);
  return look.csvSafe && formula.test(text) ? `'${text}` : text;
}

/** What a spreadsheet may take for a formula: its signs, also in full width, and the blanks that it skips before them. */
const formula = /^[=+\-@\t\n\r\uFF0B\uFF0D\uFF1D\uFF20]/;
