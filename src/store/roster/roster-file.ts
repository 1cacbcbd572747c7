import { basename } from 'node:path';
import { Failure, usage, messageOf } from '../../core/failure.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { rosterFormats } from '../../schema/license.ts';
import { columnOf, normalized, type RosterReader, type TableChoice, type WantedColumns } from './header.ts';
import { isZip, rosterText } from './roster-text.ts';

export type RosterFormat = (typeof rosterFormats)[number];

export interface RosterFile extends TableChoice {
  /** How messages name it. */
  readonly file: string;
  readonly bytes: Buffer;
  /** Else by the extension of its name, else by how it begins. */
  readonly format: RosterFormat | undefined;
}

const maxBytes = 64 * 1024 * 1024;

interface OpenedRoster extends RosterFile {
  readonly format: RosterFormat;
  /** Of a workbook nothing. */
  readonly text: string;
}

/** @throws Failure usage for bytes that are neither text nor a workbook, or too many, or another format's option */
export function openRosterFile(roster: RosterFile): OpenedRoster {
  const { file, bytes, format: typed } = roster;
  const [, opened] = /^(?:~\$|\.~lock\.)(.+?)#?$/.exec(basename(file)) ?? [];
  if (opened !== undefined)
    throw usage(`${file}: this is no workbook, but the mark that one is open`, `Give the workbook itself: ${opened}`);
  if (bytes.length === 0) throw usage(`${file}: no rows: the file is empty`);
  if (bytes.length > maxBytes) throw usage(`${file}: more than 64 MiB`, 'Split the roster into several files.');
  const isWorkbook = isZip(bytes) && (typed ?? 'xlsx') === 'xlsx';
  const text = isWorkbook ? '' : rosterText(file, bytes);
  const format = isWorkbook ? 'xlsx' : (typed ?? formatOf(file, text));
  if (format === 'xlsx' && !isWorkbook)
    throw usage(`${file}: this is text, not a workbook (.xlsx)`, 'If it is CSV, give --input-format csv.');
  if (roster.sheet !== undefined && format !== 'xlsx')
    throw usage(`--sheet: ${file} is ${format}, which has no sheets`);
  if (roster.headerLine !== undefined && format.endsWith('json'))
    throw usage(`--header-line: ${file} is ${format}, which has no header`);
  return { ...roster, format, text };
}

type ReadRows = (roster: OpenedRoster, wanted: WantedColumns, reader: RosterReader) => Promise<void> | void;

const readers: Readonly<Record<RosterFormat, ReadRows>> = {
  csv: async ({ text, headerLine = 1 }, wanted, reader) =>
    (await import('./csv.ts')).readCsvRows(text, headerLine, wanted, reader),
  xlsx: async (roster, wanted, reader) =>
    (await import('./workbook-rows.ts')).readWorkbookRows(roster.bytes, roster, wanted, reader),
  ndjson: readLines,
  json: readArray,
};

/** Reads a roster's rows once, in order, with their line (JSON: their number). @throws Failure usage; as the others */
export async function readRosterRows(
  roster: OpenedRoster,
  wanted: WantedColumns,
  reader: RosterReader,
  end?: () => void,
): Promise<void> {
  try {
    await readers[roster.format](roster, wanted, reader);
    end?.();
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'usage' || cause.details.problems) throw cause;
    throw cause.as('usage', `${roster.file}: ${cause.message}`);
  }
}

function formatOf(file: string, text: string): RosterFormat {
  const extension = /\.(csv|xlsx|ndjson|jsonl|json)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === 'jsonl') return 'ndjson';
  const format = rosterFormats.find((known) => known === extension);
  if (format) return format;
  const [start = ''] = text.trimStart();
  return start === '[' ? 'json' : start === '{' ? 'ndjson' : 'csv';
}

/** An object a line; or one after another over several lines, as jq writes them: from `{` to `}` alone. */
function readLines({ text }: OpenedRoster, wanted: WantedColumns, reader: RosterReader): void {
  let opened: { readonly line: number; text: string } | undefined;
  const take = (line: number, object: string): void => {
    const parsed = object.trim() === '' ? undefined : parse(object.trim());
    if (parsed && 'reason' in parsed) reader.bad(line, parsed);
    else if (parsed) takeObject(line, parsed.value, wanted, reader);
  };
  for (const [index, line] of text.split('\n').entries()) {
    if (opened) opened.text += line;
    else if (line.trimEnd() === '{') opened = { line: index + 1, text: line };
    else take(index + 1, line);
    if (!opened || line.trimEnd() !== '}') continue;
    take(opened.line, opened.text);
    opened = undefined;
  }
  if (opened) take(opened.line, opened.text);
}

function readArray(roster: OpenedRoster, wanted: WantedColumns, reader: RosterReader): void {
  const parsed = parse(roster.text);
  if ('reason' in parsed && roster.text.trimStart().startsWith('{')) {
    readLines(roster, wanted, reader);
    return;
  }
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
    reader.bad(line, { reason: 'not an object' });
    return;
  }
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(item)) {
    const column = columnOf(name, wanted);
    if (values.has(column)) {
      reader.bad(line, { reason: `two names are both read as ${normalized(column)}` });
      return;
    }
    if (value !== null) values.set(column, value);
  }
  reader.row(line, values);
}
