import { parse, CsvError } from 'csv-parse/sync';
import { usage } from '../../core/failure.ts';

/** One record of a CSV file, with the line it begins on. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Records are read in portions, so that those of a long file are never held together. */
const portion = 1000;

/**
 * Reads CSV (RFC 4180), its header line among the records. Lines may end in any of the usual ways, and be empty.
 * @throws Failure usage with the line where the text is no CSV
 */
export function* csvRecords(bytes: Buffer): Generator<CsvRecord> {
  let [start, line] = [0, 1];
  while (start < bytes.length) {
    const records: CsvRecord[] = [];
    const from = start;
    const take = (cells: readonly string[], size: number): void => {
      const read = bytes.toString('utf8', start, from + size);
      const [blank = ''] = /^[\r\n]*/.exec(read) ?? [];
      records.push({ line: line + breaksIn(blank), cells });
      start = from + size;
      line += breaksIn(read);
    };
    // Where a portion breaks off, what stands before is told first.
    try {
      readPortion(bytes.subarray(from), line, take);
    } finally {
      yield* records;
    }
    if (records.length < portion) return;
  }
}

/** The parser's own count of lines errs where a quoted cell holds a line break of two characters; its count of bytes does not. */
function readPortion(bytes: Buffer, line: number, take: (cells: readonly string[], size: number) => void): void {
  try {
    parse(bytes, {
      on_record(cells, { bytes: size }) {
        take(cells, size);
        return null;
      },
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      to: portion,
    });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const message = cause.message.replace(/\bline (\d+)/, (_, own) => `line ${line - 1 + Number(own)}`);
    throw usage(`not valid CSV: ${message}`, 'Quote cells that hold commas or quotes.');
  }
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
