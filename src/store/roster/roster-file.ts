import { setFlagsFromString } from 'node:v8';
import { usage } from '../../core/failure.ts';
import { parseJson } from '../../core/json.ts';
import { anew } from '../../core/rows.ts';
import { suggestion } from '../../schema/nearest.ts';
import type { CsvRecord } from './csv.ts';

export const rosterFormats = ['csv', 'ndjson', 'json'] as const;
export type RosterFormat = (typeof rosterFormats)[number];

/** A row of a roster as texts by column, with the line or place it stands on. */
export interface RosterRecord {
  readonly place: string;
  /** @throws Failure usage where this place holds no row, so that it is told with what is wrong in others */
  readonly values: () => Readonly<Record<string, string>>;
}

/** The format of a file by its extension; of anything else by how it begins. */
export function formatOf(file: string, text: string): RosterFormat {
  const extension = /\.(csv|ndjson|jsonl|json)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === 'jsonl') return 'ndjson';
  if (extension !== undefined) return extension as RosterFormat;
  const [start = ''] = text.trimStart();
  return start === '[' ? 'json' : start === '{' ? 'ndjson' : 'csv';
}

/** A roster of more characters has several thousand rows. */
const long = 100_000;

/**
 * The rows of a roster: CSV with a header, a JSON object a line, or a JSON array. Cells that are empty or null are absent. Lines are
 * read anew each time the rows are gone through: a long file takes no more memory than its text.
 * @throws Failure usage where the whole is no roster; for CSV also while the rows are gone through
 */
export async function readRoster(
  text: string,
  format: RosterFormat,
  columns: readonly string[],
): Promise<Iterable<RosterRecord>> {
  // What comes of its rows is short-lived: a young generation that does not grow takes 30 MB less, and a sixth more time.
  if (text.length > long) setFlagsFromString('--semi-space-growth-factor=1');
  if (format === 'csv') return fromCsv(text, columns);
  if (format === 'ndjson') return anew(() => linesOf(withoutMark(text)));
  return arrayOf(withoutMark(text)).map((item, index) => ({
    place: `row ${index + 1}`,
    values: () => valuesOf(item, `row ${index + 1}`),
  }));
}

/** The byte order mark that some editors begin a text with. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

function* linesOf(text: string): Generator<RosterRecord> {
  let start = 0;
  for (let number = 1; start < text.length; number += 1) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? undefined : end).trim();
    const place = `line ${number}`;
    if (line !== '') yield { place, values: () => valuesOf(parsed(line, place), place) };
    start = end < 0 ? text.length : end + 1;
  }
}

async function fromCsv(text: string, columns: readonly string[]): Promise<Iterable<RosterRecord>> {
  const { csvRecords } = await import('./csv.ts');
  const bytes = Buffer.from(withoutMark(text));
  const [header] = csvRecords(bytes);
  if (!header) return [];
  const names = header.cells.map((name) => name.trim());
  refuseHeader(names, columns);
  return anew(() => rowsBelow(names, csvRecords(bytes)));
}

function* rowsBelow(names: readonly string[], records: Generator<CsvRecord>): Generator<RosterRecord> {
  records.next();
  for (const { line, cells } of records)
    yield { place: `line ${line}`, values: () => named(`line ${line}`, names, cells) };
}

/** A column that stands twice would leave it to chance which one counts. */
function refuseHeader(names: readonly string[], columns: readonly string[]): void {
  const missing = columns.filter((column) => !names.includes(column));
  if (missing.length > 0)
    throw usage(
      `the header lacks ${missing.join(' and ')}; it has ${names.join(', ')}`,
      suggestion(missing[0] ?? '', names),
    );
  const repeated = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  if (repeated !== undefined) throw usage(`the header has ${repeated} twice`);
}

function named(place: string, names: readonly string[], cells: readonly string[]): Record<string, string> {
  if (cells.length !== names.length)
    throw usage(`${place}: ${cells.length} cells, and the header has ${names.length}`, 'Quote cells that hold commas.');
  const values: Record<string, string> = {};
  names.forEach((name, index) => {
    const cell = cells[index] ?? '';
    if (cell !== '') values[name] = cell;
  });
  return values;
}

function arrayOf(text: string): readonly unknown[] {
  const value = parsed(text, 'the file');
  if (Array.isArray(value)) return value as unknown[];
  throw usage('the file is not a JSON array', 'Give an array of objects, or name the format with --input-format.');
}

function parsed(text: string, place: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw usage(`${place}: not valid JSON: ${(cause as Error).message}`);
  }
}

function valuesOf(item: unknown, place: string): Record<string, string> {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw usage(`${place}: not an object`);
  const values = Object.entries(item).flatMap(([name, value]: [string, unknown]) => {
    if (value === null || value === '') return [];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
      ? [[name, String(value)] as const]
      : [];
  });
  return Object.fromEntries(values);
}
