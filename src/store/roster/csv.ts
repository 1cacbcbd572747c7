import { CsvError, parse } from 'csv-parse/sync';
import { usage } from '../../core/failure.ts';
import { asNdjson, otherReading, tsvText, twoReadings } from '../../core/tsv.ts';
import type { Fault } from './bad-rows.ts';
import {
  columnsOf,
  countRequired,
  isWithoutHeader,
  maxHeaderSearch,
  repeatedHeader,
  type HeaderRow,
  type RosterReader,
  type TableChoice,
  type WantedColumns,
} from './header.ts';

/** `line`: where the row begins; `isCut`: the row has no line end, so it is the last one. */
type TableRow = HeaderRow & { readonly isCut: boolean };

/** `next`: the line after the record; `text`: the record with the quotes of CSV, and its line end. */
type CsvRecord = TableRow & { readonly next: number; readonly text: string };

const lineEnd = /\r\n|\n|\r/g;

/** A row with more is most likely one with a quote that is never closed. */
const maxRowBytes = 1024 * 1024;

/** Reads the rows below the header: the first record, or the one on `headerLine`. @throws Failure usage for no CSV */
export function readCsvRows(
  { text, headerLine = 1 }: TableChoice & { readonly text: string },
  wanted: WantedColumns,
  reader: RosterReader,
): void {
  const { body, delimiters, line } = separators(text);
  const start = Math.max(line, headerLine);
  const table = body.slice(lineStart(body, start - line)).replace(formulaText, '"=""$1"""');
  // The parser would count the cells of such a line only after it has read all of them.
  const long = table.split(lineEnd).findIndex((one) => Buffer.byteLength(one) > maxRowBytes);
  if (long >= 0) throw usage(`a line of more than 1 MiB: line ${long + start}`);
  const { header, below } = chooseHeader(table, delimiters, start, wanted);
  if (!header) return;
  const isList = isWithoutHeader(header, wanted);
  const columns = isList ? [wanted.alone ?? ''] : columnsOf(header, wanted, headerLine > 1 ? [] : below);
  const rest = isList ? table : table.slice(header.text.length);
  const firstLine = isList ? start : header.next;
  const isOurs = start === 1 && !isList && isOwnHeader(header, wanted);
  const take = (row: TableRow): void => takeCells(columns, row, wanted, reader);
  const own = isOurs ? ownRows(rest, firstLine, columns, wanted) : undefined;
  own?.forEach(take);
  if (own) return;
  const fault = readCsv(rest, { delimiter: header.delimiter, line: firstLine }, (record) => {
    const unclear = isList ? unclearName(record) : isOurs && differenceIn(record, columns, wanted);
    if (unclear) reader.bad(record.line, unclear);
    else take(record);
  });
  const hint = 'Quote such a cell, and write each quote inside it twice: "5"" pipe".';
  if (fault) reader.bad(fault.line, { reason: fault.reason, hint });
}

/** A cell `="00123"`, which spreadsheets take for a text; inside a quoted cell each quote is doubled. */
const formulaText = /(?<=^|[,;\t\r\n] *)="([^"\r\n]*)"(?= *(?:[,;\t\r\n]|$))/g;

/** The separator of the `sep=` line that Excel understands, else each usual one; `line`: the first line of the body. */
function separators(text: string) {
  const [sep = '', delimiter] = /^"?sep=([^\w\s"]|\t)"?[\t,;]*(\r\n|\n|\r|$)/i.exec(text) ?? [];
  if (delimiter !== undefined) return { body: text.slice(sep.length), delimiters: [delimiter], line: 2 };
  return { body: text, delimiters: [',', ';', '\t'], line: 1 };
}

/** Where the line begins that follows `lines` others; the end of the text where there are fewer. */
function lineStart(text: string, lines: number): number {
  const end = new RegExp(lineEnd);
  for (let left = lines; left > 0; left -= 1) if (!end.test(text)) return text.length;
  return end.lastIndex;
}

/** The reading of the first row that has most of the required columns, and the rows below. @throws Failure usage */
function chooseHeader(table: string, delimiters: readonly string[], line: number, wanted: WantedColumns) {
  const readings = delimiters.map((delimiter) => {
    const records: CsvRecord[] = [];
    const fault = readCsv(table, { delimiter, line, limit: maxHeaderSearch }, (record) => void records.push(record));
    return { delimiter, records, fault };
  });
  const found = readings.flatMap(({ delimiter, records: [first] }) => (first ? [{ ...first, delimiter }] : []));
  const fault = readings[0]?.fault;
  if (found.length === 0 && fault) throw usage(`line ${fault.line}: ${fault.reason}`);
  const rank = ({ cells }: HeaderRow): number => countRequired(cells, wanted) * 1e9 + cells.length;
  const [header] = found.toSorted((one, other) => rank(other) - rank(one));
  return { header, below: readings.flatMap(({ records }) => records.slice(1)) };
}

/** Spreadsheets leave out blank cells at the end of a row, add some, and write rows of blank cells only. */
function takeCells(
  columns: readonly string[],
  { line, cells, isCut }: TableRow,
  wanted: WantedColumns,
  reader: RosterReader,
): void {
  const last = cells.findLastIndex((cell) => cell !== '');
  if (last < 0) return;
  const repeated = repeatedHeader(cells, columns, wanted);
  const counted = `${cells.length} cells, and the header has ${columns.length}`;
  if (repeated) reader.bad(line, repeated);
  else if (last >= columns.length) reader.bad(line, { reason: counted, hint: 'Quote cells that hold the separator.' });
  else if (isCut && cells.length < columns.length)
    reader.bad(line, { reason: `${counted}; the file may be cut off here` });
  else {
    const values = columns.map((column, index) => [column, cells[index] === '' ? undefined : cells[index]] as const);
    reader.row(line, new Map(values.filter(([column]) => column !== '')));
  }
}

interface CsvShape {
  readonly delimiter: string;
  /** The line of the first record. */
  readonly line: number;
  readonly limit?: number;
}

/** RFC 4180 with any line ends, without blank lines and blanks around cells; returns where and why a text is none. */
function readCsv(table: string, { delimiter, line: first, limit }: CsvShape, take: (record: CsvRecord) => void) {
  const bytes = Buffer.from(table);
  let [end, line] = [0, first];
  // The parser's own count of lines errs where a quoted cell holds CRLF; its count of bytes does not.
  const begins = (text: string): number => line + lineEndsIn(/^\s*/.exec(text)?.[0] ?? '');
  try {
    parse(bytes, {
      delimiter,
      on_record(cells, info) {
        const text = bytes.toString('utf8', end, info.bytes);
        const next = line + lineEndsIn(text);
        const record = { line: begins(text), cells, next, text, isCut: !/[\r\n]$/.test(text) };
        [end, line] = [info.bytes, next];
        take(record);
        return null;
      },
      max_record_size: maxRowBytes,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      ...(limit === undefined ? {} : { to: limit }),
    });
    return undefined;
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    return { line: begins(bytes.toString('utf8', end, end + maxRowBytes)), reason: reasonOf(cause) };
  }
}

function lineEndsIn(text: string): number {
  return text.match(lineEnd)?.length ?? 0;
}

/** The parser's own words, without its count of lines: `quote not closed`. */
function reasonOf({ code, message }: CsvError): string {
  if (code === 'CSV_MAX_RECORD_SIZE') return 'a row of more than 1 MiB; a closing quote may be missing';
  return `not valid CSV: ${message.replace(/[:,].*| at line .*/s, '').toLowerCase()}`;
}

/** Columns that results have, and sheets of people rarely. */
const ofResults = ['license_code', 'status', 'topic_name'];

/** Whether a header may be of tsv that this program printed, of several columns or one. */
function isOwnHeader({ cells, text }: CsvRecord, { names }: WantedColumns): boolean {
  const written = text.trim().split('\t');
  if (written.length !== cells.length) return false;
  return written.some((cell) => ofResults.includes(cell)) || written.every((cell) => names.includes(cell));
}

/** The rows below such a header, read as this program writes tsv; undefined where one of them cannot be. */
function ownRows(text: string, first: number, columns: readonly string[], { names }: WantedColumns) {
  const lines = text.split(lineEnd);
  const rows: TableRow[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const written = line.split('\t');
    const cells = written.flatMap(
      (cell, column) => tsvText(cell.trim(), names.includes(columns[column] ?? '') ? 'name' : 'text') ?? [],
    );
    if (cells.length < written.length) return undefined;
    rows.push({ line: first + index, cells, isCut: index === lines.length - 1 });
  }
  return rows;
}

/** A name in a list without a header, where nothing says whether this program printed it. */
function unclearName({ cells: [name = ''] }: CsvRecord): Fault | undefined {
  const ours = otherReading(name);
  return ours === undefined ? undefined : { reason: twoReadings(name, ours), rule: 'two readings', hint: asNdjson };
}

/** A name that this program would mean otherwise than CSV does; of one column, quotes that CSV needs are clear. */
function differenceIn({ text, cells }: CsvRecord, columns: readonly string[], { names }: WantedColumns) {
  const ours = text.split('\t').map((cell) => cell.trim().replaceAll('\\\\', '\\'));
  const isOther = (column: string, index: number): boolean =>
    names.includes(column) && (cells[index] ?? '') !== (ours[index] ?? '') && !cells[index]?.startsWith('="');
  const at = columns.findIndex(isOther);
  if (at < 0 || (columns.length === 1 && /^$|[",;\t\r\n]/.test(cells[0] ?? ''))) return undefined;
  const reason = `${columns[at]} is ${twoReadings(cells[at] ?? '', ours[at])}`;
  return { reason, rule: `${columns[at]} has two readings`, hint: asNdjson };
}
