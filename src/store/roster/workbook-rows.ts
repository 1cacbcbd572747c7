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
import type { SheetCell, SheetRow } from './sheet.ts';
import { openWorkbook, type Sheet } from './workbook.ts';

/** Reads the rows below the header. @throws Failure usage for no workbook, no such sheet, or another header */
export async function readWorkbookRows(
  bytes: Buffer,
  { sheet: typed, headerLine, warn }: TableChoice,
  wanted: WantedColumns,
  reader: RosterReader,
): Promise<void> {
  const sheets = await openWorkbook(bytes);
  const sheet = chooseSheet(sheets, typed);
  let columns: readonly string[] | undefined;
  const first: HeaderRow[] = [];
  let hidden = 0;
  await sheet.read((row) => {
    if (columns) {
      if (takeCells(columns, row, sheet.name, wanted, reader) && row.isHidden) hidden += 1;
      return;
    }
    if (headerLine !== undefined && row.line < headerLine) return;
    const count = Math.max(...row.cells.keys()) + 1;
    first.push({
      line: row.line,
      cells: Array.from({ length: count }, (_, column) => textOf(row.cells.get(column) ?? '')),
    });
    const [header] = first;
    if (
      header &&
      (headerLine !== undefined ||
        first.length > maxHeaderSearch ||
        countRequired(header.cells, wanted) === wanted.required.length)
    )
      columns = columnsIn(sheet, sheets, header, wanted, first);
  });
  const [header] = first;
  if (!columns && header) columnsIn(sheet, sheets, header, wanted, first);
  if (hidden > 0) warn?.(`sheet '${sheet.name}': ${hidden} hidden ${hidden === 1 ? 'row is' : 'rows are'} read too`);
}

function chooseSheet(sheets: readonly Sheet[], typed: string | undefined): Sheet {
  const names = sheets.map(({ name }) => name);
  const [first] = sheets;
  if (!first) throw usage('the workbook has no sheet that is shown');
  if (typed === undefined) return first;
  const sheet = sheets.find(({ name }) => name === typed);
  if (!sheet)
    throw usage(`--sheet: there is no '${typed}'; the sheets are ${names.join(', ')}`, suggestion(typed, names));
  return sheet;
}

/** @throws Failure usage naming the other sheets too, where the header is not the wanted one */
function columnsIn(
  { name }: Sheet,
  sheets: readonly Sheet[],
  header: HeaderRow,
  wanted: WantedColumns,
  below: readonly HeaderRow[],
): readonly string[] {
  try {
    return columnsOf(header, wanted, below);
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
  sheet: string,
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
    if (cell === undefined) continue;
    isRow = true;
    if (typeof cell === 'string' || !names.includes(column)) continue;
    const rule = `${column}: holds ${cell.kind}`;
    faults.push({
      reason: `${column}: cell ${cellName(index, line)} of sheet '${sheet}' holds ${cell.holds}`,
      rule,
      hint: cell.hint,
    });
  }
  if (faults.length > 0) reader.bad(line, joined(faults));
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
