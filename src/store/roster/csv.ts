import { CsvError, parse } from 'csv-parse/sync';

export interface CsvRecord {
  /** The line it begins on. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Bytes up to its end, with its line end. */
  readonly end: number;
  /** The line after it. */
  readonly next: number;
}

/** Why a text is no CSV from this line on. */
export interface CsvFault {
  readonly line: number;
  readonly reason: string;
}

export interface CsvShape {
  readonly delimiter: string;
  /** The number of the first line. */
  readonly line: number;
  /** Maximum number of records to read. */
  readonly limit?: number;
}

/** A row with more bytes is most likely one with a quote that is never closed. */
const maxRecordBytes = 1024 * 1024;

/**
 * Reads CSV (RFC 4180), calling `take` for each record in order; lines may end in any of the usual ways, and blank ones are
 * skipped. Blanks around a cell are dropped, those inside quotes are kept. Returns the fault that ends it early.
 */
export function readCsv(
  bytes: Buffer,
  { delimiter, line: first, limit }: CsvShape,
  take: (record: CsvRecord) => void,
): CsvFault | undefined {
  let [end, line] = [0, first];
  // The parser's own count of lines errs where a quoted cell holds CRLF; its count of bytes does not.
  const begins = (text: string): number => line + lineEndsIn(/^\s*/.exec(text)?.[0] ?? '');
  try {
    parse(bytes, {
      delimiter,
      on_record(cells, info) {
        const text = bytes.toString('utf8', end, info.bytes);
        const next = line + lineEndsIn(text);
        const record = { line: begins(text), cells, end: info.bytes, next };
        [end, line] = [info.bytes, next];
        take(record);
        return null;
      },
      max_record_size: maxRecordBytes,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      ...(limit === undefined ? {} : { to: limit }),
    });
    return undefined;
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    return { line: begins(bytes.toString('utf8', end, end + maxRecordBytes)), reason: reasonOf(cause) };
  }
}

/** The number of the first line that is longer than a row may be: its cells would not be counted before all are read. */
export function firstLongLine(bytes: Buffer): number | undefined {
  let [line, start] = [1, 0];
  for (let at = 0; at <= bytes.length; at += 1) {
    const isEnd = at === bytes.length || bytes[at] === 10 || (bytes[at] === 13 && bytes[at + 1] !== 10);
    if (!isEnd) continue;
    if (at - start > maxRecordBytes) return line;
    [line, start] = [line + 1, at + 1];
  }
  return undefined;
}

function lineEndsIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

function reasonOf({ code, message }: CsvError): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'not valid CSV: a quoted cell of this row is never closed';
    case 'INVALID_OPENING_QUOTE':
      return 'not valid CSV: a quote inside a cell that is not quoted';
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE':
      return 'not valid CSV: text after a closing quote';
    case 'CSV_MAX_RECORD_SIZE':
      return 'a row of more than 1 MiB; a closing quote may be missing';
    default:
      return `not valid CSV: ${message}`;
  }
}
