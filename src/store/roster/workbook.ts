import { posix } from 'node:path';
import { Failure, usage } from '../../core/failure.ts';
import { suggestion } from '../../schema/nearest.ts';
import { joined, type Fault } from './bad-rows.ts';
import {
  columnsOf,
  countRequired,
  maxHeaderSearch,
  repeatedHeader,
  type HeaderRow,
  type RosterReader,
  type TableChoice,
  type WantedColumns,
} from './header.ts';
import { readSheet, type CellContext, type Merge, type NumberStyle, type SheetCell, type SheetRow } from './sheet.ts';
import { elementsIn, isTrue, textIn, unescaped, visitElements } from './xml.ts';
import { openZip, type Zip } from './zip.ts';

/** Reads the rows below the header. @throws Failure usage for no workbook, no such sheet, or another header */
export function readWorkbookRows(
  book: TableChoice & { readonly bytes: Buffer },
  wanted: WantedColumns,
  reader: RosterReader,
) {
  const { bytes, headerLine } = book;
  const sheets = openWorkbook(bytes);
  const sheet = chooseSheet(sheets, book, wanted);
  const { rows, merges } = sheet.read();
  const start = rows.findIndex(({ line }) => line >= (headerLine ?? 1));
  const [first, ...below] = start < 0 ? [] : rows.slice(start);
  if (!first) return;
  const others = headerLine === undefined ? below.slice(0, maxHeaderSearch) : [];
  const columns = ofSheet(sheet, sheets, () => columnsOf(headerOf(first), wanted, others.map(headerOf)));
  for (const row of below) takeCells(columns, row, { sheet: sheet.name, merges }, wanted, reader);
}

function headerOf({ line, cells }: SheetRow): HeaderRow {
  const count = Math.max(...cells.keys()) + 1;
  return { line, cells: Array.from({ length: count }, (_, column) => textOf(cells.get(column) ?? '')) };
}

/** The sheet that was typed, else the one that has the columns. @throws Failure usage where several have them */
function chooseSheet(sheets: readonly Sheet[], { sheet: typed, headerLine }: TableChoice, wanted: WantedColumns) {
  const names = sheets.map(({ name }) => name);
  const [first] = sheets;
  if (!first) throw usage('the workbook has no sheet that is shown');
  if (typed !== undefined) {
    const sheet = sheets.find(({ name }) => name === typed);
    if (sheet) return sheet;
    throw usage(`--sheet: there is no '${typed}'; the sheets are ${names.join(', ')}`, suggestion(typed, names));
  }
  const fitting = sheets.filter((sheet) => hasHeader(sheet, headerLine, wanted));
  const [only = first, ...others] = fitting;
  if (others.length === 0) return only;
  const what = `sheets with the columns ${wanted.required.join(' and ')}: ${fitting.map(({ name }) => name).join(', ')}`;
  throw usage(`the workbook has ${fitting.length} ${what}`, 'Name one with --sheet NAME.');
}

function hasHeader(sheet: Sheet, headerLine: number | undefined, wanted: WantedColumns): boolean {
  const { rows } = sheet.read(Math.max(maxHeaderSearch, headerLine ?? 0));
  const places = headerLine === undefined ? rows : rows.filter(({ line }) => line === headerLine);
  return places.some((row) => countRequired(headerOf(row).cells, wanted) === wanted.required.length);
}

/** @throws the failure of `read`, naming the sheet and the others where there are several */
function ofSheet<T>({ name }: Sheet, sheets: readonly Sheet[], read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const others = sheets.map((sheet) => sheet.name).filter((other) => other !== name);
    if (!(cause instanceof Failure) || others.length === 0) throw cause;
    const hint = `${cause.details.hint} For another sheet give --sheet: ${others.slice(0, 20).join(', ')}.`;
    throw cause.as('usage', `sheet '${name}': ${cause.message}`, { hint });
  }
}

function textOf(cell: SheetCell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** Takes a row if it has a cell below the header. What is no text counts where the column is wanted. */
function takeCells(
  columns: readonly string[],
  row: SheetRow,
  { sheet, merges }: { readonly sheet: string; readonly merges: readonly Merge[] },
  wanted: WantedColumns,
  reader: RosterReader,
): void {
  const { line, cells } = row;
  const repeated = repeatedHeader(headerOf(row).cells, columns, wanted);
  const values = new Map<string, unknown>();
  const faults: Fault[] = [];
  let isRow = false;
  for (const [index, column] of columns.entries()) {
    if (column === '') continue;
    const cell = cells.get(index);
    values.set(column, cell && textOf(cell));
    isRow ||= cell !== undefined;
    if (typeof cell === 'string' || !wanted.names.includes(column)) continue;
    const place = `${column}: cell ${cellName(index, line)} of sheet '${sheet}'`;
    if (cell)
      faults.push({ reason: `${place} holds ${cell.holds}`, rule: `${column}: holds ${cell.kind}`, hint: cell.hint });
    const merge = cell ? undefined : merges.find(({ covers }) => covers(index, line));
    const hint = 'Unmerge the cells, and write the value in each row.';
    const rule = `${column}: is empty in merged cells`;
    if (merge) faults.push({ reason: `${place} is empty: it is merged with ${merge.first}`, rule, hint });
  }
  if (repeated) reader.bad(line, repeated);
  else if (isRow && faults.length > 0) reader.bad(line, joined(faults));
  else if (isRow) reader.row(line, values);
}

/** Column 1 of line 7 is B7. */
function cellName(column: number, line: number): string {
  let letters = '';
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return `${letters}${line}`;
}

/** A sheet of a workbook in the format of Office Open XML (ECMA-376, part 1, 18). */
interface Sheet {
  readonly name: string;
  /** @throws Failure usage */
  read(limit?: number): ReturnType<typeof readSheet>;
}

const saveAs = 'Open it in the spreadsheet program and save it as ".xlsx" or "CSV UTF-8".';

/** The shown sheets of a workbook, in order of tabs. @throws Failure usage for another format, or a damaged file */
function openWorkbook(bytes: Buffer): readonly Sheet[] {
  const zip = openZip(bytes);
  const main = relationsOf(zip, '').find(({ type }) => type.endsWith('/relationships/officeDocument'));
  const book = main?.target ?? 'xl/workbook.xml';
  if (!zip.names.includes(book) || !book.endsWith('.xml')) throw usage(`this is ${otherKind(zip)}`, saveAs);
  const relations = relationsOf(zip, book);
  const partOf = (type: string): string =>
    relations.find((relation) => relation.type.endsWith(`/${type}`))?.target ?? '';
  const named: { name: string; part: string }[] = [];
  let epoch: CellContext['epoch'] = '1900';
  for (const { name, attributes } of elementsIn(zip, book, ['workbookPr', 'sheet'])) {
    if (isTrue(attributes['date1904'])) epoch = '1904';
    if (name !== 'sheet' || (attributes['state'] ?? 'visible') !== 'visible') continue;
    const [, reference] = Object.entries(attributes).find(([key]) => key.endsWith(':id')) ?? [];
    const relation = relations.find(({ id }) => id === reference);
    if (relation?.type.endsWith('/worksheet'))
      named.push({ name: unescaped(attributes['name'] ?? ''), part: relation.target });
  }
  const styles = stylesOf(zip, partOf('styles'));
  const texts = sharedTexts(zip, partOf('sharedStrings'));
  const meaning = { styles, texts, epoch };
  return named.map(({ name, part }) => ({ name, read: (limit) => readSheet(zip, part, meaning, limit) }));
}

function otherKind({ names }: Zip): string {
  if (names.includes('xl/workbook.bin')) return 'a workbook (.xlsb)';
  return names.includes('content.xml') ? 'a workbook (.ods)' : 'a zip archive, not a workbook';
}

type Relation = Readonly<Record<'id' | 'type' | 'target', string>>;

/** Which other parts a part names; '' is the archive. */
function relationsOf(zip: Zip, part: string): readonly Relation[] {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const rels = `${folder}_rels/${part.slice(folder.length)}.rels`;
  return elementsIn(zip, rels, ['Relationship']).map(({ attributes }) => {
    const { Id: id = '', Type: type = '', Target: target = '' } = attributes;
    return { id, type, target: posix.resolve('/', folder, target).slice(1) };
  });
}

function stylesOf(zip: Zip, part: string): readonly NumberStyle[] {
  const formats = new Map<string, string>();
  for (const { name, attributes, children } of elementsIn(zip, part, ['numFmt', 'cellXfs'])) {
    if (name === 'numFmt') formats.set(attributes['numFmtId'] ?? '', attributes['formatCode'] ?? '');
    else return children.map(({ attributes: { numFmtId = '0' } }) => styleOf(Number(numFmtId), formats.get(numFmtId)));
  }
  return [];
}

/** By the format's code; those without one are of ECMA-376, part 1, 18.8.30: 14 to 22, 27 to 36, 45 to 58 are dates. */
function styleOf(id: number, code: string | undefined): NumberStyle {
  if (code === undefined)
    return (id >= 14 && id <= 36 && id !== 23) || (id >= 45 && id <= 58 && id !== 48 && id !== 49) ? 'date' : 1;
  const [plain = ''] = code.replace(/"[^"]*"|\\.|[_*]./g, '').split(';');
  if (/\[(h+|m+|s+)\]/i.test(plain)) return 'date';
  const signs = plain.replace(/\[[^\]]*\]/g, '');
  if (/^0+$/.test(signs)) return signs.length;
  return /[ymdhs]/i.test(signs) && !/general|standard/i.test(signs) ? 'date' : 1;
}

/** The texts that cells name by number: most writers put each text there once. */
function sharedTexts(zip: Zip, part: string): readonly string[] {
  const texts: string[] = [];
  visitElements(zip, part, ['si'], (text) => (texts.push(textIn(text)), 'more'));
  return texts;
}
