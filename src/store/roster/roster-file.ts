import { Failure, labelled, messageOf, usage } from '../../core/failure.ts';
import { endOfString, isObject, parseJson } from '../../core/json.ts';
import { decodeText } from '../../core/read.ts';
import { rosterFormats } from '../../schema/license.ts';
import type { Fault } from './bad-rows.ts';
import { columnOf, normalized, type RosterReader, type TableChoice, type WantedColumns } from './header.ts';

export type RosterFormat = (typeof rosterFormats)[number];

export interface RosterFile extends TableChoice {
  readonly file: string;
  readonly bytes: Buffer;
  /** Undefined: the extension of the name tells, else the beginning of the content. */
  readonly format: RosterFormat | undefined;
}

const maxBytes = 64 * 1024 * 1024;

const saveAsCsv = 'Open it in the spreadsheet program and save it as "CSV UTF-8".';

const saveAsUtf8 =
  'It may be Windows-1252. Save it again: in Excel with File, Save As, "CSV UTF-8"; in LibreOffice with the character set UTF-8. Or: iconv -f CP1252 -t UTF-8';

interface OpenedRoster extends RosterFile {
  readonly format: RosterFormat;
  /** Empty for a workbook. */
  readonly text: string;
}

/** @throws Failure usage for bytes that are neither text nor a workbook, or too many, or another format's option */
export function openRosterFile(roster: RosterFile): OpenedRoster {
  const { file, bytes, format: typed } = roster;
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
  csv: async (roster, wanted, reader) => (await import('./csv.ts')).readCsvRows(roster, wanted, reader),
  xlsx: async (roster, wanted, reader) => (await import('./workbook.ts')).readWorkbookRows(roster, wanted, reader),
  ndjson: readLines,
  json: readArray,
};

/** Reads a roster's rows once, in order, with their line (JSON: their number). @throws Failure usage; as the others */
export async function readRosterRows(roster: OpenedRoster, wanted: WantedColumns, reader: RosterReader): Promise<void> {
  try {
    await readers[roster.format](roster, wanted, reader);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'usage' || cause.details.problems) throw cause;
    throw cause.as('usage', `${roster.file}: ${cause.message}`);
  }
}

/** Workbooks (.xlsx) are zip archives. */
export function isZip(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'PK\x03\x04';
}

/** The text of a roster without byte order mark: UTF-8, or UTF-16 with one. @throws Failure usage for other bytes */
export function rosterText(file: string, bytes: Buffer): string {
  if (isZip(bytes)) throw usage(`${file}: this is a workbook, not text`, 'Give --input-format xlsx.');
  if (bytes.toString('latin1', 0, 4) === '\xD0\xCF\x11\xE0') throw olderWorkbook(file, bytes);
  const text = labelled(file, () => decodeText(bytes, saveAsUtf8));
  if (text.includes('\0')) throw usage(`${file}: this is not text, or UTF-16 without a byte order mark`, saveAsCsv);
  if (/^\s*</.test(text)) throw usage(`${file}: this is HTML or XML, not a roster`, saveAsCsv);
  return text;
}

/** The container of workbooks until 2003, and of those that a password encrypts. */
function olderWorkbook(file: string, bytes: Buffer): Failure {
  return bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))
    ? usage(`${file}: this workbook is protected by a password`, 'Open it, and save it without one.')
    : usage(
        `${file}: this is a workbook (.xls), not text`,
        'Open it in the spreadsheet program and save it as ".xlsx".',
      );
}

function formatOf(file: string, text: string): RosterFormat {
  const extension = /\.(csv|xlsx|ndjson|jsonl|json)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === 'jsonl') return 'ndjson';
  const format = rosterFormats.find((known) => known === extension);
  if (format) return format;
  const [start = ''] = text.trimStart();
  return start === '[' ? 'json' : start === '{' ? 'ndjson' : 'csv';
}

function readLines({ text }: OpenedRoster, wanted: WantedColumns, reader: RosterReader): void {
  for (const [index, line] of text.split('\n').entries())
    if (line.trim() !== '') takeObject(index + 1, parse(line.trim()), wanted, reader);
}

function readArray({ text }: OpenedRoster, wanted: WantedColumns, reader: RosterReader): void {
  const parsed = parse(text);
  if ('reason' in parsed) throw usage(parsed.reason, parsed.hint);
  if (!Array.isArray(parsed.value)) throw usage('not a JSON array', oneEach);
  parsed.value.forEach((value: unknown, index) => takeObject(index + 1, { value }, wanted, reader));
}

const oneEach =
  'Write each object on a line of its own with no comma between them (--input-format ndjson), or all of them as one array.';

type Parsed = { readonly value: unknown } | Fault;

function parse(text: string): Parsed {
  try {
    const value = parseJson(text);
    return repeatedKey(text) ?? { value };
  } catch (cause) {
    return { reason: `not valid JSON: ${messageOf(cause)}`, rule: 'not valid JSON', hint: oneEach };
  }
}

/** Why valid JSON is refused in which an object has a key twice: a parser keeps the last one, and says nothing. */
function repeatedKey(text: string): Fault | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '{') open.push(new Set());
    else if (sign === '[') open.push(undefined);
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === '"') {
      const end = endOfString(text, at);
      const keys = open.at(-1);
      if (keys && /^\s*:/.test(text.slice(end + 1, end + 100))) {
        const key = String(JSON.parse(text.slice(at, end + 1)));
        if (keys.has(key)) return { reason: `an object has '${key}' twice`, rule: 'a key is there twice' };
        keys.add(key);
      }
      at = end;
    }
  }
  return undefined;
}

function takeObject(line: number, parsed: Parsed, wanted: WantedColumns, reader: RosterReader): void {
  const values = 'reason' in parsed ? parsed : valuesIn(parsed.value, wanted);
  if ('reason' in values) reader.bad(line, values);
  else reader.row(line, values);
}

function valuesIn(item: unknown, wanted: WantedColumns): ReadonlyMap<string, unknown> | Fault {
  if (!isObject(item)) return { reason: 'not an object' };
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(item)) {
    const column = columnOf(name, wanted);
    if (values.has(column)) return { reason: `two names are both read as ${normalized(column)}` };
    values.set(column, value ?? undefined);
  }
  return values;
}
