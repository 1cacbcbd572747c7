import { Failure, usage, messageOf } from '../../core/failure.ts';
import { isObject, parseJson } from '../../core/json.ts';
import type { CsvFault, CsvRecord, CsvShape } from './csv.ts';
import { columnOf, columnsOf, countRequired, normalized, type WantedColumns } from './header.ts';
import { rosterText } from './roster-text.ts';

export const rosterFormats = ['csv', 'ndjson', 'json'] as const;
export type RosterFormat = (typeof rosterFormats)[number];

/** A roster as it was given. */
export interface RosterFile {
  /** How messages name it. */
  readonly file: string;
  readonly bytes: Buffer;
  /** By the extension of its name, else by how the text begins. */
  readonly format: RosterFormat | undefined;
}

/** What is done with each row. Cells that are blank or null are not among the values. */
export interface RosterReader {
  row(line: number, values: ReadonlyMap<string, unknown>): void;
  /** A line that holds no row. */
  bad(line: number, reason: string, hint?: string): void;
}

const maxBytes = 64 * 1024 * 1024;

/** The text of a roster and its format. */
export interface RosterText {
  readonly file: string;
  readonly text: string;
  readonly format: RosterFormat;
}

/** @throws Failure usage where the bytes are no text, or too many */
export function openRosterFile({ file, bytes, format }: RosterFile): RosterText {
  if (bytes.length > maxBytes) throw usage(`${file}: more than 64 MiB`, 'Split the roster into several files.');
  const text = rosterText(file, bytes);
  return { file, text, format: format ?? formatOf(file, text) };
}

/**
 * Reads the rows of a roster once, in their order, with their line (in a JSON array: their number).
 * @throws Failure usage naming the file where the whole of it is no roster; what `reader` throws
 */
export async function readRosterRows(
  { file, text, format }: RosterText,
  wanted: WantedColumns,
  reader: RosterReader,
): Promise<void> {
  try {
    if (format === 'csv') await readCsvRows(text, wanted, reader);
    else if (format === 'ndjson') readLines(text, wanted, reader);
    else readArray(text, wanted, reader);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'usage' || cause.details.problems) throw cause;
    throw cause.as('usage', `${file}: ${cause.message}`);
  }
}

function formatOf(file: string, text: string): RosterFormat {
  const extension = /\.(csv|ndjson|jsonl|json)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === 'jsonl') return 'ndjson';
  const format = rosterFormats.find((known) => known === extension);
  if (format) return format;
  const [start = ''] = text.trimStart();
  return start === '[' ? 'json' : start === '{' ? 'ndjson' : 'csv';
}

async function readCsvRows(text: string, wanted: WantedColumns, reader: RosterReader): Promise<void> {
  const { firstLongLine, readCsv } = await import('./csv.ts');
  const { body, shapes } = separators(text);
  const bytes = Buffer.from(body);
  const long = firstLongLine(bytes);
  if (long !== undefined) throw usage(`a line of more than 1 MiB: line ${long + (shapes[0]?.line ?? 1) - 1}`);
  const header = chooseHeader(bytes, shapes, wanted, readCsv);
  if (!header) return;
  const columns = columnsOf(header.cells, wanted);
  const rest = bytes.subarray(header.end);
  const fault = readCsv(rest, { delimiter: header.delimiter, line: header.next }, (record) =>
    takeCells(columns, record, endOf(record, rest), reader),
  );
  if (fault)
    reader.bad(fault.line, fault.reason, 'Quote such a cell, and write each quote inside it twice: "5"" pipe".');
}

/** The ways to read the header: by the `sep=` line that Excel understands, else by each usual separator. */
function separators(text: string): { readonly body: string; readonly shapes: readonly CsvShape[] } {
  const line = /^"?sep=([^\w\s"]|\t)"?[\t,;]*(\r\n|\n|\r|$)/i.exec(text);
  const delimiter = line?.[1];
  if (line && delimiter !== undefined) return { body: text.slice(line[0].length), shapes: [{ delimiter, line: 2 }] };
  return { body: text, shapes: [',', ';', '\t'].map((each) => ({ delimiter: each, line: 1 })) };
}

type ReadCsv = (bytes: Buffer, shape: CsvShape, take: (record: CsvRecord) => void) => CsvFault | undefined;

type Header = CsvRecord & Pick<CsvShape, 'delimiter'>;

/** The reading of the first row that has most of the required columns. @throws Failure usage where it is no CSV at all */
function chooseHeader(
  bytes: Buffer,
  shapes: readonly CsvShape[],
  wanted: WantedColumns,
  readCsv: ReadCsv,
): Header | undefined {
  const found: Header[] = [];
  const faults = shapes.map((shape) =>
    readCsv(bytes, { ...shape, limit: 1 }, (record) => void found.push({ ...record, delimiter: shape.delimiter })),
  );
  const [fault] = faults;
  if (found.length === 0 && fault) throw usage(`line ${fault.line}: ${fault.reason}`);
  const rank = ({ cells }: Header): number => countRequired(cells, wanted) * 1e9 + cells.length;
  return found.reduce<Header | undefined>((best, next) => (best && rank(best) >= rank(next) ? best : next), undefined);
}

/** What ends a row; a row that ends with the file may be cut off. */
type RowEnd = 'line' | 'file';

function endOf({ end }: CsvRecord, bytes: Buffer): RowEnd {
  const last = bytes[end - 1];
  return end === bytes.length && last !== 10 && last !== 13 ? 'file' : 'line';
}

/** Spreadsheets leave out blank cells at the end of a row, add some, and write rows of blank cells only. */
function takeCells(columns: readonly string[], { line, cells }: CsvRecord, end: RowEnd, reader: RosterReader): void {
  const values = new Map<string, unknown>();
  let last = 0;
  cells.forEach((cell, index) => {
    if (cell === '') return;
    last = index + 1;
    const column = columns[index] ?? '';
    if (column !== '') values.set(column, cell);
  });
  if (last === 0) return;
  const counted = `${cells.length} cells, and the header has ${columns.length}`;
  if (last > columns.length) reader.bad(line, counted, 'Quote cells that hold the separator.');
  else if (end === 'file' && cells.length < columns.length)
    reader.bad(line, `${counted}; the file may be cut off here`);
  else reader.row(line, values);
}

function readLines(text: string, wanted: WantedColumns, reader: RosterReader): void {
  let start = 0;
  for (let number = 1; start < text.length; number += 1) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? undefined : end).trim();
    if (line !== '') takeParsed(number, line, wanted, reader);
    start = end < 0 ? text.length : end + 1;
  }
}

function takeParsed(number: number, line: string, wanted: WantedColumns, reader: RosterReader): void {
  const parsed = parse(line);
  if ('reason' in parsed) reader.bad(number, parsed.reason);
  else takeObject(number, parsed.value, wanted, reader);
}

function readArray(text: string, wanted: WantedColumns, reader: RosterReader): void {
  const parsed = parse(text);
  if ('reason' in parsed) throw usage(parsed.reason);
  if (!Array.isArray(parsed.value))
    throw usage('not a JSON array', 'Give an array of objects, or name the format with --input-format.');
  parsed.value.forEach((item: unknown, index) => takeObject(index + 1, item, wanted, reader));
}

function parse(text: string): { readonly value: unknown } | { readonly reason: string } {
  try {
    return { value: parseJson(text) };
  } catch (cause) {
    return { reason: `not valid JSON: ${messageOf(cause)}` };
  }
}

function takeObject(line: number, item: unknown, wanted: WantedColumns, reader: RosterReader): void {
  if (!isObject(item)) {
    reader.bad(line, 'not an object');
    return;
  }
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(item)) {
    const column = columnOf(name, wanted);
    if (values.has(column)) {
      reader.bad(line, `two names are both read as ${normalized(column)}`);
      return;
    }
    if (value !== null && value !== '') values.set(column, value);
  }
  reader.row(line, values);
}
