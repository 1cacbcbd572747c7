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
  let line = 1;
  let start = 0;
  return recordsOf(bytes, (cells, end) => {
    const read = bytes.toString('utf8', start, end);
    const [blank = ''] = /^[\r\n]*/.exec(read) ?? [];
    const first = line + breaksIn(blank);
    start = end;
    line += breaksIn(read);
    return { line: first, cells };
  });
}

/** The parser's own count of lines errs where a quoted cell holds a line break of two characters; its count of bytes does not. */
function recordsOf(bytes: Buffer, take: (cells: string[], end: number) => CsvRecord): CsvRecord[] {
  try {
    return parse(bytes, {
      on_record: (cells: string[], { bytes: end }) => take(cells, end),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as CsvRecord[];
  } catch (cause) {
    if (cause instanceof CsvError)
      throw usage(`not valid CSV: ${cause.message}`, 'Quote cells that hold commas or quotes.');
    throw cause;
  }
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
