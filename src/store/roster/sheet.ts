import { isTrue, textIn, unescaped, visitElements, type XmlElement } from './xml.ts';
import { damaged, type Zip } from './zip.ts';

/** What a cell stores: its text, or something that is not taken for a user or a size. */
export type SheetCell = string | OtherCell;

type OtherCell = Readonly<Record<'text' | 'holds' | 'kind' | 'hint', string>>;

export interface SheetRow {
  /** The number of the row in the spreadsheet program. */
  readonly line: number;
  /** The cells that are not blank, by their column: A is 0. */
  readonly cells: ReadonlyMap<number, SheetCell>;
}

/** How a number is shown: as a date, or with at least so many digits. */
export type NumberStyle = 'date' | number;

type Epoch = '1900' | '1904';

export interface CellContext {
  readonly styles: readonly NumberStyle[];
  readonly texts: readonly string[];
  readonly epoch: Epoch;
}

/** The rows in their order, at most so many, without those that hold nothing; and the merges, which follow them. */
export function readSheet(zip: Zip, part: string, meaning: CellContext, limit = Infinity) {
  if (!zip.names.includes(part)) throw damaged('a sheet is missing');
  const [rows, merges]: [SheetRow[], Merge[]] = [[], []];
  let line = 0;
  visitElements(zip, part, ['row', 'mergeCell'], ({ name, attributes, children }) => {
    if (name === 'mergeCell') {
      merges.push(...mergeAt(attributes['ref'] ?? ''));
      return 'more';
    }
    const last = line;
    line = Number(attributes['r'] ?? line + 1);
    if (!(line > last)) throw damaged(`row ${attributes['r']} follows row ${last}`);
    const cells = cellsOf(children, meaning);
    if (cells.size > 0) rows.push({ line, cells });
    return rows.length < limit ? 'more' : 'enough';
  });
  return { rows, merges };
}

function cellsOf(row: readonly XmlElement[], meaning: CellContext): SheetRow['cells'] {
  const cells = new Map<number, SheetCell>();
  const columns = new Set<number>();
  let column = -1;
  for (const cell of row.filter(({ name }) => name === 'c')) {
    const place = cell.attributes['r'];
    column = place === undefined ? column + 1 : columnOfCell(place);
    const value = columns.has(column) ? other('', 'two cells of one place', saveAgain) : cellOf(cell, meaning);
    columns.add(column);
    if (value !== '') cells.set(column, value);
  }
  return cells;
}

/** The cells that a merge covers: all but its first one, which holds its value. */
export interface Merge {
  readonly first: string;
  covers(column: number, line: number): boolean;
}

function mergeAt(place: string): readonly Merge[] {
  const [, first, top, last, bottom] = /^([A-Z]{1,3}(\d+)):([A-Z]{1,3}(\d+))$/.exec(place) ?? [];
  if (first === undefined || last === undefined) return [];
  const [left, right] = [columnOfCell(first), columnOfCell(last)];
  const isInLines = (line: number): boolean => line >= Number(top) && line <= Number(bottom);
  return [{ first, covers: (column, line) => column >= left && column <= right && isInLines(line) }];
}

/** B7 is in column 1. */
function columnOfCell(place: string): number {
  const letters = /^[A-Z]{1,3}(?=\d+$)/.exec(place)?.[0];
  if (letters === undefined) throw damaged('a cell has no place');
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** The value that is stored, which for a formula is its last result. Blanks around a text are dropped, as in CSV. */
function cellOf(cell: XmlElement, { styles, texts, epoch }: CellContext): SheetCell {
  const { t: type = 'n', s: style = '0' } = cell.attributes;
  const value = cell.children.find(({ name }) => name === 'v')?.text ?? '';
  switch (type) {
    case 's': {
      // Some writers give blank cells this type.
      if (value.trim() === '') return '';
      const text = texts[Number(value)];
      if (text === undefined) throw damaged('a cell refers to a text that is missing');
      return text.trim();
    }
    case 'str':
      return unescaped(value).trim();
    case 'inlineStr':
      return textIn(cell).trim();
    case 'b':
      return other(isTrue(value) ? 'TRUE' : 'FALSE', 'a boolean', 'Type the value as text.');
    case 'e':
      return other(value, `the error ${value.slice(0, 20)}`, 'Fix its formula.', 'an error');
    case 'd':
      return other(value, 'a date', asText);
    default:
      if (value.trim() !== '') return numberOf(value, styles[Number(style)] ?? 1, epoch);
      if (!cell.children.some(({ name }) => name === 'f')) return '';
      return other('', 'a formula without a stored result', saveAgain);
  }
}

function other(text: string, holds: string, hint: string, kind = holds): OtherCell {
  return { text, holds, kind, hint };
}

const saveAgain = 'Open the workbook in a spreadsheet program and save it again.';
const asText = 'Format the column as text, and type the value again.';

/** A spreadsheet keeps 15 digits of a number. */
const tooLong = 1e15;

function numberOf(value: string, style: NumberStyle, epoch: Epoch): SheetCell {
  const number = Number(value);
  if (Number.isNaN(number)) throw damaged('a number is none');
  if (style === 'date') return other(dateOf(number, epoch) ?? value, 'a date', asText);
  if (Math.abs(number) >= tooLong)
    return other(value, 'a number of more than 15 digits, of which a spreadsheet keeps 15', asText);
  if (!Number.isInteger(number))
    return other(value, `${number}, which is not a whole number`, 'Type a whole number.', 'a fraction');
  const digits = String(number);
  const shown = digits.padStart(style, '0');
  return shown === digits
    ? digits
    : other(digits, `the number ${digits}, which it shows as ${shown}`, asText, 'a number shown with zeros before it');
}

/** A count of days as a date, and the time of day where there is one; undefined beyond the year 9999. */
function dateOf(days: number, epoch: Epoch): string | undefined {
  if (days < 0 || days > 2958465) return undefined;
  const start = epoch === '1904' ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const text = new Date(start + Math.round(days * 86_400) * 1000).toISOString();
  return text.slice(0, Number.isInteger(days) ? 10 : 19);
}
