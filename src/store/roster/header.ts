import { usage } from '../../core/failure.ts';
import { suggestion } from '../../schema/nearest.ts';
import type { Fault } from './bad-rows.ts';

/** The value of a blank cell is undefined, or absent. */
export interface RosterReader {
  row(line: number, values: ReadonlyMap<string, unknown>): void;
  /** A line that holds no row, or one that cannot be used. */
  bad(line: number, fault: Fault): void;
}

export interface TableChoice {
  /** The line of the header in a table; else the first that is not blank. */
  readonly headerLine?: number | undefined;
  /** The name of the sheet in a workbook; else the one that has the columns. */
  readonly sheet?: string | undefined;
}

export interface WantedColumns {
  readonly names: readonly string[];
  readonly required: readonly string[];
  /** The column that a header of another name is read as, by the normalized header. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The column of a file of one column without a header, such as a list of names; absent: there is always a header. */
  readonly alone?: string | undefined;
}

/** Usual headers of users in English and German: the first line of a list may be one. */
const usualHeader =
  /^(users?|user_?names?|logins?|names?|ids?|user_?ids?|e_?mails?|accounts?|kunden?|benutzer(name)?)$/;

/** Whether the first row of a file is a name already. @throws Failure usage where it may be a header all the same */
export function isWithoutHeader({ line, cells }: HeaderRow, wanted: WantedColumns): boolean {
  const [cell = '', ...others] = cells.filter((one) => one !== '');
  if (wanted.alone === undefined || others.length > 0 || countRequired(cells, wanted) > 0) return false;
  if (wanted.aliases.size > 0 || !usualHeader.test(normalized(cell))) return wanted.aliases.size === 0;
  throw usage(
    `line ${line}: '${cell}' may be a user or a header`,
    `If it is a header, give --column ${wanted.alone}=${cell}; if it is a user, write ${wanted.alone} on a line above it.`,
  );
}

const maxColumns = 1000;

/** The form of a header that is compared: `Remote User`, `REMOTE-USER` and full-width letters are `remote_user`. */
export function normalized(header: string): string {
  return header
    .normalize('NFKC')
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_');
}

/** Reads `NAME=HEADER` words. @throws Failure usage for another form, a name that is no column, or one given twice */
export function readAliases(words: readonly string[], names: readonly string[]): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    const name = normalized(word.slice(0, at));
    const header = normalized(word.slice(at + 1));
    if (at < 1 || header === '') throw usage(`--column ${word}: expected NAME=HEADER`);
    if (!names.includes(name))
      throw usage(`--column ${word}: '${name}' is not a column of the roster`, suggestion(name, names));
    if ([...aliases.values()].includes(name)) throw usage(`--column ${word}: ${name} is given twice`);
    if (aliases.has(header)) throw usage(`--column ${word}: the header is given twice`);
    aliases.set(header, name);
  }
  return aliases;
}

/** The column that a header means: its wire name if it is wanted, else the header as written. */
export function columnOf(header: string, { names, aliases }: WantedColumns): string {
  const name = normalized(header);
  return aliases.get(name) ?? (names.includes(name) ? name : header.trim());
}

/** Why a row with the cells of the header is refused: it would become a user of that name. */
export function repeatedHeader(cells: readonly string[], columns: readonly string[], wanted: WantedColumns) {
  const filled = columns.flatMap((column, index) => {
    const cell = cells[index] ?? '';
    return cell !== '' && wanted.names.includes(column) ? [{ column, cell }] : [];
  });
  const isHeader = filled.length > 0 && filled.every(({ column, cell }) => columnOf(cell, wanted) === column);
  if (!isHeader) return undefined;
  return {
    reason: `the header again: ${filled.map(({ cell }) => cell).join(', ')}`,
    rule: 'the header again',
    hint: 'Remove the line: two files were joined. A user of that name can be given in JSON.',
  } satisfies Fault;
}

export function countRequired(headers: readonly string[], wanted: WantedColumns): number {
  const columns = new Set(headers.map((header) => columnOf(header, wanted)));
  return wanted.required.filter((name) => columns.has(name)).length;
}

export interface HeaderRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** How many rows are searched for a header below a title. */
export const maxHeaderSearch = 100;

/** A cell without a name is ''. @throws Failure usage where a required column is missing, or two cells have one name */
export function columnsOf({ line, cells }: HeaderRow, wanted: WantedColumns, below: readonly HeaderRow[] = []) {
  if (cells.length > maxColumns) throw usage(`the header has ${cells.length} columns; at most ${maxColumns} are read`);
  const { columns, lacking } = fitOf(cells, wanted);
  const lower = lacking.length === 0 ? undefined : below.find((row) => fitOf(row.cells, wanted).lacking.length === 0);
  if (lower) {
    const found = lower.cells.filter((cell) => wanted.required.includes(columnOf(cell, wanted)));
    throw usage(
      `line ${line} is not the header; line ${lower.line} has ${found.join(' and ')}`,
      `Give --header-line ${lower.line}.`,
    );
  }
  refuseRepeatedHeader(cells, columns);
  if (lacking.length === 0) return columns;
  const shown = cells.filter((header) => header !== '').map((header) => header.slice(0, 60));
  const more = shown.length > 20 ? ', …' : '';
  const typed = new Map([...wanted.aliases].map(([header, name]) => [name, `'${header}'`]));
  const options = lacking.map((name) => `--column ${name}=HEADER`).join(' ');
  throw usage(
    `the header lacks ${lacking.map((name) => typed.get(name) ?? name).join(' and ')}; it has ${shown.slice(0, 20).join(', ')}${more}`,
    `Name it with ${options}. Without a header the file needs a first line: ${wanted.required.join(',')}.`,
  );
}

/** How a row does as the header: its columns, and the wanted ones that it lacks. */
function fitOf(headers: readonly string[], wanted: WantedColumns) {
  const columns = headers.map((header) => columnOf(header, wanted));
  const typed = new Map([...wanted.aliases].map(([header, name]) => [name, header]));
  const lacking = [...new Set([...typed.keys(), ...wanted.required])].filter((name) => {
    const header = typed.get(name);
    return header === undefined ? !columns.includes(name) : !headers.some((one) => normalized(one) === header);
  });
  return { columns, lacking };
}

/** A column that is there twice would leave it to chance which one counts. */
function refuseRepeatedHeader(headers: readonly string[], columns: readonly string[]): void {
  const first = new Map<string, string>();
  columns.forEach((column, index) => {
    const name = normalized(column);
    const [earlier, header = ''] = [first.get(name), headers[index]];
    if (name !== '' && earlier !== undefined)
      throw usage(
        earlier === header
          ? `the header has '${header}' twice`
          : `the headers '${earlier}' and '${header}' are both read as ${name}`,
        'Rename one of them.',
      );
    first.set(name, header);
  });
}
