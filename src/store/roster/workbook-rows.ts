import { Failure, usage } from '../../core/failure.ts';
import { suggestion } from '../../schema/nearest.ts';
import { joined, type Fault } from './bad-rows.ts';
import {
  columnsOf,
  countRequired,
  maxHeaderSearch,
  type HeaderRow,
  type RosterReader,
  type TableChoice,
  type WantedColumns,
} from './header.ts';
import type { Merge, SheetCell, SheetRow } from './sheet.ts';
import { openWorkbook, type Sheet } from './workbook.ts';

/** Reads the rows below the header. @throws Failure usage for no workbook, no such sheet, or another header */
export async function readWorkbookRows(
  bytes: Buffer,
  choice: TableChoice,
  wanted: WantedColumns,
  reader: RosterReader,
): Promise<void> {
  const { headerLine, warn } = choice;
  const sheets = await openWorkbook(bytes);
  const sheet = await chooseSheet(sheets, choice, wanted);
  const { rows, merges } = await sheet.read();
  const start = rows.findIndex(({ line }) => line >= (headerLine ?? 1));
  const [first, ...below] = start < 0 ? [] : rows.slice(start);
  if (!first) return;
  const others = headerLine === undefined ? below.slice(0, maxHeaderSearch) : [];
  const columns = ofSheet(sheet, sheets, () => columnsOf(headerOf(first), wanted, others.map(headerOf)));
  const isTaken = (row: SheetRow): boolean => takeCells(columns, row, { sheet: sheet.name, merges }, wanted, reader);
  const hidden = below.filter((row) => isTaken(row) && row.isHidden).length;
  if (hidden > 0) warn?.(`sheet '${sheet.name}': ${hidden} hidden ${hidden === 1 ? 'row is' : 'rows are'} read too`);
}

/** A row that may be the header. */
function headerOf({ line, cells }: SheetRow): HeaderRow {
  const count = Math.max(...cells.keys()) + 1;
  return { line, cells: Array.from({ length: count }, (_, column) => textOf(cells.get(column) ?? '')) };
}

/** The sheet that was typed, else the one that has the columns. @throws Failure usage where several have them */
async function chooseSheet(sheets: readonly Sheet[], { sheet: typed, headerLine }: TableChoice, wanted: WantedColumns) {
  const names = sheets.map(({ name }) => name);
  const [first] = sheets;
  if (!first) throw usage('the workbook has no sheet that is shown');
  if (typed !== undefined) {
    const sheet = sheets.find(({ name }) => name === typed);
    if (sheet) return sheet;
    throw usage(`--sheet: there is no '${typed}'; the sheets are ${names.join(', ')}`, suggestion(typed, names));
  }
  const fitting: Sheet[] = [];
  for (const sheet of sheets.length > 1 ? sheets : [])
    if (await hasHeader(sheet, headerLine, wanted)) fitting.push(sheet);
  const [only = first, ...others] = fitting;
  if (others.length === 0) return only;
  const what = `sheets with the columns ${wanted.required.join(' and ')}: ${fitting.map(({ name }) => name).join(', ')}`;
  throw usage(`the workbook has ${fitting.length} ${what}`, 'Name one with --sheet NAME.');
}

async function hasHeader(sheet: Sheet, headerLine: number | undefined, wanted: WantedColumns): Promise<boolean> {
  const { rows } = await sheet.read(Math.max(maxHeaderSearch, headerLine ?? 0));
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
  { line, cells }: SheetRow,
  { sheet, merges }: { readonly sheet: string; readonly merges: readonly Merge[] },
  { names }: WantedColumns,
  reader: RosterReader,
): boolean {
  const values = new Map<string, unknown>();
  const faults: Fault[] = [];
  let isRow = false;
  for (const [index, column] of columns.entries()) {
    if (column === '') continue;
    const cell = cells.get(index);
    values.set(column, cell && textOf(cell));
    isRow ||= cell !== undefined;
    if (typeof cell === 'string' || !names.includes(column)) continue;
    const place = `${column}: cell ${cellName(index, line)} of sheet '${sheet}'`;
    if (cell)
      faults.push({ reason: `${place} holds ${cell.holds}`, rule: `${column}: holds ${cell.kind}`, hint: cell.hint });
    const merge = cell ? undefined : merges.find(({ covers }) => covers(index, line));
    const hint = 'Unmerge the cells, and write the value in each row.';
    const rule = `${column}: is empty in merged cells`;
    if (merge) faults.push({ reason: `${place} is empty: it is merged with ${merge.first}`, rule, hint });
  }
  if (isRow && faults.length > 0) reader.bad(line, joined(faults));
  else if (isRow) reader.row(line, values);
  return isRow;
}

/** Column 1 of line 7 is B7. */
function cellName(column: number, line: number): string {
  let letters = '';
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return `${letters}${line}`;
}
