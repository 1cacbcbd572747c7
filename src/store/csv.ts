import { parse, CsvError } from 'csv-parse/sync';
import { usage } from '../core/failure.ts';

/** One record of a CSV file, with the line it begins on. */
export interface CsvRecord {
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Reads CSV with a header line (RFC 4180).
 * @throws Failure usage with the line where the text is no CSV
 */
export function parseCsv(text: string): CsvRecord[] {
  try {
    const records = parse(text, {
      bom: true,
      columns: (names: string[]) => names.map((name) => name.trim()),
      info: true,
      skip_empty_lines: true,
    }) as unknown as {
      info: { lines: number };
      record: Record<string, string>;
    }[];
    return records.map(({ info, record }) => ({ line: info.lines, values: record }));
  } catch (cause) {
    if (cause instanceof CsvError)
      throw usage(`not valid CSV: ${cause.message}`, 'Quote cells that hold commas or quotes.');
    throw cause;
  }
}
