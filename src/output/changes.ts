import { asObject, cellText, cellsOf } from './columns.ts';
import { plain } from './plain.ts';
import type { Formatter, Presentation } from './presentation.ts';

/** GitHub takes comments of 65,536 characters. */
const maxChars = 60_000;
/** A cell may hold the words of a server. */
const maxCellChars = 300;

/** The conclusion and the changed rows that fit, as Markdown without license codes. Cells are harmless code. */
export function changes({ show, conclusions = [] }: Presentation): Formatter {
  const { by = '', nothing, columns = [] } = show.outcome ?? {};
  const rows: (readonly string[])[] = [];
  let [chars, omitted] = [0, 0];
  const row = (value: unknown): string => {
    const status = asObject(value, show)?.[by];
    if (status === nothing) return '';
    const cells = cellsOf(value, columns, show).map((cell, index) =>
      columns[index] === by ? cellText(cell) : cellOf(cell),
    );
    chars += cells.reduce((sum, { length }) => sum + length + 3, 2);
    if (chars > maxChars) omitted += 1;
    else rows.push(cells);
    return '';
  };
  const end = (): string => {
    const filled = columns.map((_, index) => rows.some((cells) => cells[index] !== ''));
    const line = (cells: readonly string[]): string => `| ${cells.filter((_, index) => filled[index]).join(' | ')} |\n`;
    const table = [columns, columns.map(() => '---'), ...rows].map(line).join('');
    const parts = [
      ...conclusions.map((text) => `**${escapeMarkdown(text)}**\n`),
      rows.length === 0 ? 'Nothing changes.\n' : table,
      ...(omitted > 0 ? [`${omitted} more ${omitted === 1 ? 'row is' : 'rows are'} left out.\n`] : []),
    ];
    return parts.join('\n');
  };
  return { one: row, row, end };
}

/** A number, or a text as code. A bar is escaped; behind a backslash, where renderers differ, it is `\x7c`. */
function cellOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = plain(cellText(value));
  if (text === '') return '';
  const cut = text.length > maxCellChars ? `${text.slice(0, maxCellChars)}…` : text;
  const fence = '`'.repeat(Math.max(0, ...[...cut.matchAll(/`+/g)].map(([ticks]) => ticks.length)) + 1);
  // One blank on each side is no part of the code, where there is one on both.
  const pad = /^[` ]|[` ]$/.test(cut) ? ' ' : '';
  const code = cut.replace(/\\\|/g, '\\\\x7c').replace(/(?<!\\)\|/g, '\\|');
  return `${fence}${pad}${code}${pad}${fence}`;
}

function escapeMarkdown(text: string): string {
  return plain(text).replace(/[\\`*_[\]{}<>#|~&!]/g, '\\$&');
}
