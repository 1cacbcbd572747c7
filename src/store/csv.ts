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
  const records = recordsOf(bytes);
  let line = 1;
  let start = 0;
  return records.map(({ info, record }) => {
    const read = bytes.toString('utf8', start, info.bytes);
    start = info.bytes;
    const [blank = ''] = /^[\r\n]*/.exec(read) ?? [];
    const first = line + breaksIn(blank);
    line += breaksIn(read);
    return { line: first, cells: record };
  });
}

interface Parsed {
  readonly info: { readonly bytes: number };
  readonly record: string[];
}

/** The parser's own count of lines errs where a quoted cell holds a line break of two characters. */
function recordsOf(bytes: Buffer): readonly Parsed[] {
  try {
    return parse(bytes, {
      info: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as Parsed[];
  } catch (cause) {
    if (cause instanceof CsvError)
      throw usage(`not valid CSV: ${cause.message}`, 'Quote cells that hold commas or quotes.');
    throw cause;
  }
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
