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

/** The rows below such a header, read as this program writes tsv, if all of them can be. */
export function ownTable(bytes: Buffer, first: number, columns: readonly string[], { names }: WantedColumns) {
  const holds = columns.map((column) => (names.includes(column) ? 'name' : 'text'));
  const cellsOf = (text: string): (string | undefined)[] =>
    text.split('\t').map((cell, index) => tsvText(cell.trim(), holds[index] ?? 'text'));
  const lines = function* () {
    for (const { line, start, end } of linesIn(bytes)) {
      const text = bytes.toString('utf8', start, end);
      if (text.trim() !== '') yield { line: line + first - 1, text, isLast: end === bytes.length };
    }
  };
  return {
    isWhole: isEach(lines(), ({ text }) => !cellsOf(text).includes(undefined)),
    *records() {
      for (const { text, ...row } of lines()) yield { ...row, cells: cellsOf(text).map((cell = '') => cell) };
    },
    /** A name that this program would mean otherwise than CSV does; of one column, quotes that CSV needs are clear. */
    differenceIn({ text, cells }: RawRow): Fault | undefined {
      const written = text.replace(/^[\r\n]+/, '').split('\t');
      const ours = written.map((cell) => cell.trim().replaceAll('\\\\', '\\'));
      const isClear = columns.length === 1 && /[",;\t\r\n]/.test(cells[0] ?? '');
      const at = columns.findIndex(
        (_, index) =>
          holds[index] === 'name' && (cells[index] ?? '') !== (ours[index] ?? '') && !cells[index]?.startsWith('="'),
      );
      if (at < 0 || isClear) return undefined;
      const reason = `${columns[at]} is '${cells[at]}' if a spreadsheet wrote this, and '${ours[at]}' if chatelaine printed it`;
      return { reason, rule: `${columns[at]} has two readings`, hint: asNdjson };
    },
  };
}

function isEach<T>(items: Iterable<T>, is: (item: T) => boolean): boolean {
  for (const item of items) if (!is(item)) return false;
  return true;
}
