import { CsvError, parse } from 'csv-parse/sync';
import { usage } from '../../core/failure.ts';
import { asNdjson, tsvText } from '../../core/tsv.ts';
import {
  columnsOf,
  countRequired,
  isWithoutHeader,
  maxHeaderSearch,
  type HeaderRow,
  type RosterReader,
  type WantedColumns,
} from './header.ts';

/** `line`: the one that it begins on; `end`: bytes up to its end, with its line end in CSV. */
type RowPlace = HeaderRow & { readonly end: number };

/** `next`: the line after it; `text`: with the quotes of CSV, and its line end. */
type CsvRecord = RowPlace & { readonly next: number; readonly text: string };

/** A row with more bytes is most likely one with a quote that is never closed. */
const maxRecordBytes = 1024 * 1024;

/** Reads the rows below the header: the first record, or the one on `headerLine`. @throws Failure usage for no CSV */
export function readCsvRows(text: string, headerLine: number, wanted: WantedColumns, reader: RosterReader): void {
  const { body, shapes, line } = separators(text);
  const start = Math.max(line, headerLine);
  const table = body.slice(lineStart(body, start - line));
  const bytes = Buffer.from(table.replace(formulaText, '"=""$1"""'));
  // Its cells would not be counted before all are read.
  for (const one of linesIn(bytes))
    if (one.end - one.start > maxRecordBytes) throw usage(`a line of more than 1 MiB: line ${one.line + start - 1}`);
  const { header, below } = chooseHeader(bytes, shapes, start, wanted);
  if (!header) return;
  const isList = isWithoutHeader(header, wanted);
  const columns = isList ? [wanted.alone ?? ''] : columnsOf(header, wanted, headerLine > 1 ? [] : below);
  const rest = isList ? bytes : bytes.subarray(header.end);
  const firstLine = isList ? start : header.next;
  const isOurs = line === 1 && start === 1 && !isList && isOwnHeader(header, wanted);
  const take = (record: RowPlace): void => takeCells(columns, record, rest, reader);
  const own = isOurs ? ownRows(rest, firstLine, columns, wanted) : undefined;
  own?.forEach(take);
  if (own) return;
  const fault = readCsv(rest, { delimiter: header.delimiter, line: firstLine }, (record) => {
    const unclear = isOurs ? differenceIn(record, columns, wanted) : undefined;
    if (unclear) reader.bad(record.line, unclear);
    else take(record);
  });
  const hint = 'Quote such a cell, and write each quote inside it twice: "5"" pipe".';
  if (fault) reader.bad(fault.line, { reason: fault.reason, hint });
}

/** A cell `="00123"`, which spreadsheets take for a text; inside a quoted cell each quote is doubled. */
const formulaText = /(?<=^|[,;\t\r\n] *)="([^"\r\n]*)"(?= *(?:[,;\t\r\n]|$))/g;

/** By the `sep=` line that Excel understands, else each usual separator; `line` is the first of the body. */
function separators(text: string) {
  const sep = /^"?sep=([^\w\s"]|\t)"?[\t,;]*(\r\n|\n|\r|$)/i.exec(text);
  const delimiter = sep?.[1];
  if (sep && delimiter !== undefined) return { body: text.slice(sep[0].length), shapes: [delimiter], line: 2 };
  return { body: text, shapes: [',', ';', '\t'], line: 1 };
}

/** Where the line begins that so many others precede; the end of the text where there are fewer. */
function lineStart(text: string, lines: number): number {
  const end = /\r\n|\n|\r/g;
  for (let left = lines; left > 0; left -= 1) if (!end.test(text)) return text.length;
  return end.lastIndex;
}

type Header = CsvRecord & { readonly delimiter: string };

/** The reading of the first row that has most of the required columns, and the rows below. @throws Failure usage */
function chooseHeader(bytes: Buffer, delimiters: readonly string[], line: number, wanted: WantedColumns) {
  const found: Header[] = [];
  const below: CsvRecord[] = [];
  const faults = delimiters.map((delimiter) => {
    const records: CsvRecord[] = [];
    const shape = { delimiter, line, limit: maxHeaderSearch };
    const fault = readCsv(bytes, shape, (record) => void records.push(record));
    const [first, ...others] = records;
    if (first) found.push({ ...first, delimiter });
    below.push(...others);
    return fault;
  });
  const [fault] = faults;
  if (found.length === 0 && fault) throw usage(`line ${fault.line}: ${fault.reason}`);
  const rank = ({ cells }: Header): number => countRequired(cells, wanted) * 1e9 + cells.length;
  const header = found.reduce<Header | undefined>(
    (best, next) => (best && rank(best) >= rank(next) ? best : next),
    undefined,
  );
  return { header, below };
}

/** Spreadsheets leave out blank cells at the end of a row, add some, and write rows of blank cells only. */
function takeCells(columns: readonly string[], { line, cells, end }: RowPlace, bytes: Buffer, reader: RosterReader) {
  const values = new Map<string, unknown>();
  let last = 0;
  cells.forEach((cell, index) => {
    if (cell !== '') last = index + 1;
    const column = columns[index] ?? '';
    if (column !== '') values.set(column, cell === '' ? undefined : cell);
  });
  if (last === 0) return;
  const counted = `${cells.length} cells, and the header has ${columns.length}`;
  if (last > columns.length) reader.bad(line, { reason: counted, hint: 'Quote cells that hold the separator.' });
  else if (end === bytes.length && !/[\r\n]/.test(bytes.toString('latin1', end - 1)) && cells.length < columns.length)
    reader.bad(line, { reason: `${counted}; the file may be cut off here` });
  else reader.row(line, values);
}

/** RFC 4180 with any line ends, without blank lines and blanks around cells; returns where and why a text is none. */
function readCsv(
  bytes: Buffer,
  { delimiter, line: first, limit }: { readonly delimiter: string; readonly line: number; readonly limit?: number },
  take: (record: CsvRecord) => void,
) {
  let [end, line] = [0, first];
  // The parser's own count of lines errs where a quoted cell holds CRLF; its count of bytes does not.
  const begins = (text: string): number => line + lineEndsIn(/^\s*/.exec(text)?.[0] ?? '');
  try {
    parse(bytes, {
      delimiter,
      on_record(cells, info) {
        const text = bytes.toString('utf8', end, info.bytes);
        const next = line + lineEndsIn(text);
        const record = { line: begins(text), cells, end: info.bytes, next, text };
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

function lineEndsIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
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
function ownRows(bytes: Buffer, first: number, columns: readonly string[], { names }: WantedColumns) {
  const rows: RowPlace[] = [];
  for (const { line, start, end } of linesIn(bytes)) {
    const text = bytes.toString('utf8', start, end);
    if (text.trim() === '') continue;
    const written = text.split('\t');
    const cells = written.flatMap(
      (cell, index) => tsvText(cell.trim(), names.includes(columns[index] ?? '') ? 'name' : 'text') ?? [],
    );
    if (cells.length < written.length) return undefined;
    rows.push({ line: line + first - 1, cells, end });
  }
  return rows;
}

/** A name that this program would mean otherwise than CSV does; of one column, quotes that CSV needs are clear. */
function differenceIn({ text, cells }: CsvRecord, columns: readonly string[], { names }: WantedColumns) {
  const ours = text
    .replace(/^[\r\n]+/, '')
    .split('\t')
    .map((cell) => cell.trim().replaceAll('\\\\', '\\'));
  const isOther = (column: string, index: number): boolean =>
    names.includes(column) && (cells[index] ?? '') !== (ours[index] ?? '') && !cells[index]?.startsWith('="');
  const at = columns.findIndex(isOther);
  if (at < 0 || (columns.length === 1 && /^$|[",;\t\r\n]/.test(cells[0] ?? ''))) return undefined;
  const reason = `${columns[at]} is '${cells[at]}' if a spreadsheet wrote this, and '${ours[at]}' if chatelaine printed it`;
  return { reason, rule: `${columns[at]} has two readings`, hint: asNdjson };
}

/** The lines of a text by its bytes, from 1 on: no byte of a character that takes several is a line end. */
function* linesIn(bytes: Buffer): Generator<{ readonly line: number; readonly start: number; readonly end: number }> {
  let [line, start] = [1, 0];
  for (let end = 0; end <= bytes.length; end += 1) {
    const isEnd = end === bytes.length || bytes[end] === 10 || (bytes[end] === 13 && bytes[end + 1] !== 10);
    if (!isEnd) continue;
    yield { line, start, end };
    [line, start] = [line + 1, end + 1];
  }
}
