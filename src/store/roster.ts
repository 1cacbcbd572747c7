import { usage } from '../core/failure.ts';
import { parseJson } from '../core/json.ts';
import { suggestion } from '../spec/field.ts';

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

/**
 * The rows of a roster: CSV with a header, a JSON object a line, or a JSON array. Cells that are empty or null are absent.
 * @throws Failure usage where the whole is no roster
 */
export async function readRoster(
  text: string,
  format: RosterFormat,
  columns: readonly string[],
): Promise<RosterRecord[]> {
  if (format === 'csv') return fromCsv(text, columns);
  if (format === 'json')
    return arrayOf(text).map((item, index) => ({
      place: `row ${index + 1}`,
      values: () => valuesOf(item, `row ${index + 1}`),
    }));
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line, index) => ({ line: line.trim(), place: `line ${index + 1}` }))
    .filter(({ line }) => line !== '')
    .map(({ line, place }) => ({ place, values: () => valuesOf(parsed(line, place), place) }));
}

async function fromCsv(text: string, columns: readonly string[]): Promise<RosterRecord[]> {
  const { parseCsv } = await import('./csv.ts');
  const [header, ...records] = parseCsv(text);
  if (!header) return [];
  const names = header.cells.map((name) => name.trim());
  refuseHeader(names, columns);
  return records.map(({ line, cells }) => ({
    place: `line ${line}`,
    values: () => named(`line ${line}`, names, cells),
  }));
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
  return Object.fromEntries(
    names.flatMap((name, index) => {
      const cell = cells[index] ?? '';
      return cell === '' ? [] : [[name, cell] as const];
    }),
  );
}

function arrayOf(text: string): readonly unknown[] {
  const value = parsed(text.replace(/^\uFEFF/, ''), 'the file');
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
