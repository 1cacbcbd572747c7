import { asObject, cellText, cellsOf } from './columns.ts';
import { fit, plain, plainLines } from './plain.ts';
import type { Formatter, PlannedChange, Presentation } from './presentation.ts';
import { displayWidth } from './width.ts';

/** The marks of changes; those to check come first. A retired key goes on working, so it has no minus. */
const marks = {
  failed: '!',
  leave: '!',
  retire: 'x',
  smaller: '~',
  larger: '~',
  rename: '~',
  'put back': '~',
  create: '+',
} as const satisfies Record<PlannedChange['kind'], string>;

/** Nobody reads more changes than this before answering. */
const maxWhole = 20;
const maxOfKind = 10;
/** A name that is longer does not move the other lines. */
const widest = 32;

export function isWhole(changes: readonly PlannedChange[]): boolean {
  return changes.length <= maxWhole;
}

/** The changes of a plan, a line each; those to check come first. Up to 20 are all shown, else ten a kind. */
export function planLines(changes: readonly PlannedChange[]): string[] {
  const apps = new Set(changes.map(({ app_code }) => app_code));
  const kinds = Object.keys(marks).map((kind) => changes.filter((change) => change.kind === kind));
  const most = isWhole(changes) ? Infinity : maxOfKind;
  const cells = kinds.map((ofKind) =>
    ofKind.slice(0, most).map(({ kind, sizes = kind, user, becomes, app_code }) => {
      const app = apps.size > 1 && app_code !== undefined ? `application ${app_code}` : undefined;
      return [`${marks[kind]} ${sizes}`, user, [becomes, app].filter(Boolean).join(', ')] as const;
    }),
  );
  const widths = [0, 1].map((column) =>
    Math.min(widest, Math.max(...cells.flat().map((line) => displayWidth(line[column] ?? '')))),
  );
  const pad = (text: string, column: number) =>
    text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)));
  return cells.flatMap((lines, index) => {
    const rest = (kinds[index]?.length ?? 0) - lines.length;
    return [
      ...lines.map((line) => line.map(pad).join('  ').trimEnd()),
      ...(rest > 0 ? [`${lines[0]?.[0].slice(0, 1) ?? ''} and ${rest} more`] : []),
    ];
  });
}

/** The plan of a dry run on a terminal, as its question would show it. */
export function planFormatter({ show, terminal, width }: Presentation): Formatter {
  const changes: PlannedChange[] = [];
  const row = (value: unknown): string => {
    changes.push(...(show.outcome?.plan?.(value) ?? []));
    return '';
  };
  const end = (): string => {
    const lines = planLines(changes);
    const advice = isWhole(changes) ? [] : ['-o table shows all of them'];
    const text = [...lines, ...advice, ''].join('\n');
    // The last line of a run that counts its rows says that nothing changes.
    if (changes.length === 0) return show.outcome?.columns ? '' : 'nothing would change\n';
    return terminal ? fit(plainLines(text), width) : text;
  };
  return { one: (value) => row(value) + end(), row, end };
}

/** GitHub takes comments of 65,536 characters. */
const maxChars = 60_000;
/** A cell is cut, since it may hold the words of a server. */
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
      ...conclusions.map((text) => `**${plain(text).replace(/[\\`*_[\]{}<>#|~&!]/g, '\\$&')}**\n`),
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
  // Markdown drops one blank on each side of code, which may begin or end with a tick or a blank.
  const pad = /^[` ]|[` ]$/.test(cut) ? ' ' : '';
  const code = cut.replace(/\\\|/g, '\\\\x7c').replace(/(?<!\\)\|/g, '\\|');
  return `${fence}${pad}${code}${pad}${fence}`;
}
