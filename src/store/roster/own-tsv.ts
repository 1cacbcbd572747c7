import { asNdjson, tsvText } from '../../core/tsv.ts';
import type { Fault } from './bad-rows.ts';
import type { HeaderRow, WantedColumns } from './header.ts';
import { linesIn } from './roster-text.ts';

/** Columns that results have, and sheets of people rarely. */
const ofResults = ['license_code', 'status', 'topic_name'];

interface RawRow extends HeaderRow {
  /** With the quotes of CSV, and its line end. */
  readonly text: string;
}

/** Whether a header may be of tsv that this program printed, of several columns or one. */
export function isOwnHeader({ cells, text }: RawRow, { names }: WantedColumns): boolean {
  const written = text.trim().split('\t');
  if (written.length !== cells.length) return false;
  return written.some((cell) => ofResults.includes(cell)) || written.every((cell) => names.includes(cell));
}

/** The rows below such a header, read as this program writes tsv; undefined where one of them cannot be. */
export function ownRows(bytes: Buffer, first: number, columns: readonly string[], { names }: WantedColumns) {
  const rows: (HeaderRow & { readonly end: number })[] = [];
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
export function differenceIn(
  { text, cells }: RawRow,
  columns: readonly string[],
  { names }: WantedColumns,
): Fault | undefined {
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
