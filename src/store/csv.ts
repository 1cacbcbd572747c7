import { parse, CsvError } from 'csv-parse/sync';
import { usage } from '../core/failure.ts';

/** One record of a CSV file, with the line it begins on. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Reads CSV (RFC 4180), its header line among the records. Lines may end in any of the usual ways, and be empty.
 * @throws Failure usage with the line where the text is no CSV
 */
export function parseCsv(text: string): CsvRecord[] {
  const bytes = Buffer.from(text.replace(/^\uFEFF/, ''));
  const records: CsvRecord[] = [];
  let line = 1;
  let start = 0;
  eachRecord(bytes, (cells, end) => {
    const read = bytes.toString('utf8', start, end);
    const [blank = ''] = /^[\r\n]*/.exec(read) ?? [];
    records.push({ line: line + breaksIn(blank), cells });
    start = end;
    line += breaksIn(read);
  });
  return records;
}

/** The parser's own count of lines errs where a quoted cell holds a line break of two characters; its count of bytes does not. */
function eachRecord(bytes: Buffer, take: (cells: readonly string[], end: number) => void): void {
  try {
    parse(bytes, {
      on_record(cells, { bytes: end }) {
        take(cells, end);
        return null;
      },
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
    });
  } catch (cause) {
    if (cause instanceof CsvError)
      throw usage(`not valid CSV: ${cause.message}`, 'Quote cells that hold commas or quotes.');
    throw cause;
  }
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
