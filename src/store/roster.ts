import { usage } from '../core/failure.ts';
import { parseJson } from '../core/json.ts';
import { collect, suggestion } from '../spec/field.ts';

export const rosterFormats = ['csv', 'ndjson', 'json'] as const;
export type RosterFormat = (typeof rosterFormats)[number];

/** A row of a roster as texts by column, with the line or place it stands on. */
export interface RosterRecord {
  readonly place: string;
  readonly values: Readonly<Record<string, string>>;
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
 * @throws Failure usage naming every line that is no row
 */
export async function readRoster(
  text: string,
  format: RosterFormat,
  columns: readonly string[],
): Promise<RosterRecord[]> {
  if (format === 'csv') return fromCsv(text, columns);
  if (format === 'json') return collect(arrayOf(text), (item, index) => recordOf(item, `row ${index + 1}`));
  const lines = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line, index) => ({ line: line.trim(), place: `line ${index + 1}` }));
  return collect(
    lines.filter(({ line }) => line !== ''),
    ({ line, place }) => recordOf(parsed(line, place), place),
  );
}

async function fromCsv(text: string, columns: readonly string[]): Promise<RosterRecord[]> {
  const { parseCsv } = await import('./csv.ts');
  const records = parseCsv(text);
  const names = Object.keys(records[0]?.values ?? {});
  const missing = records.length === 0 ? [] : columns.filter((column) => !names.includes(column));
  if (missing.length > 0)
    throw usage(
      `the header lacks ${missing.join(' and ')}; it has ${names.join(', ')}`,
      suggestion(missing[0] ?? '', names),
    );
  return records.map(({ line, values }) => ({ place: `line ${line}`, values: present(values) }));
}

function present(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
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

function recordOf(item: unknown, place: string): RosterRecord {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw usage(`${place}: not an object`);
  const values = Object.entries(item).flatMap(([name, value]: [string, unknown]) => {
    if (value === null || value === '') return [];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
      ? [[name, String(value)] as const]
      : [];
  });
  return { place, values: Object.fromEntries(values) };
}
