import type { HelpEntry } from '../../src/cli/help.ts';
import { wrap } from '../../src/output/plain.ts';

/** A manual page before it is written; the order is the reader's. */
export interface ManualPage {
  /** 1 for commands, 7 for guides. */
  readonly section: 1 | 7;
  /** File name without its section, such as `chatelaine-license-create`. */
  readonly name: string;
  readonly summary: string;
  readonly chapters: readonly Chapter[];
}

export interface Chapter {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly text: string }
  | { readonly heading: string }
  | { readonly entries: readonly HelpEntry[] }
  /** Lines that are shown unchanged. */
  | { readonly lines: readonly string[] }
  /** Lines that are typed into bash, together a script; a test runs each. */
  | { readonly commands: readonly string[] }
  /** A file of a CI or a line of cron; a test runs the commands in it. */
  | { readonly workflow: 'github' | 'gitlab' | 'cron'; readonly lines: readonly string[] };

/** The top and bottom of every page. */
export interface Edition {
  readonly version: string;
  /** RFC 3339 date. */
  readonly date: string;
}

/** A page as roff with the man macros: what `man` shows, and `mandoc -Tlint` and `groff -ww` find nothing in. */
export function writePage({ section, name, summary, chapters }: ManualPage, { version, date }: Edition): string {
  const lines = [
    '.\\" Made by scripts/manual.js from man/ and the tables of the program: edit those, not this.',
    `.TH ${escape(name.toUpperCase())} ${section} ${date} ${quoted(`chatelaine ${version}`)} ${quoted('chatelaine')}`,
    // Identifiers are copied: no hyphen is put into them.
    '.nh',
    '.ad l',
    '.SH NAME',
    `${escape(name)} \\- ${escape(summary)}`,
    ...chapters.flatMap(({ title, blocks }) => [`.SH ${quoted(title.toUpperCase())}`, ...blocksOf(blocks)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The paragraph macro between blocks is needed where the macro before has not begun one. */
function blocksOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block, index) => {
    const before = blocks[index - 1];
    const follows = before !== undefined && !('heading' in before) && !('entries' in block) && !('heading' in block);
    return [...(follows ? ['.PP'] : []), ...blockLines(block)];
  });
}

function blockLines(block: Block): string[] {
  if ('text' in block) return textLines(block.text);
  if ('heading' in block) return [`.SS ${quoted(block.heading)}`];
  if ('lines' in block) return ['.nf', ...block.lines.map(line), '.fi'];
  if ('commands' in block) return ['.nf', ...block.commands.map(line), '.fi'];
  return block.entries.flatMap(({ term, text }) => ['.TP', `\\fB${escape(term)}\\fR`, ...textLines(text)]);
}

const width = 78;

function textLines(text: string): string[] {
  return wrap(text, width).map(line);
}

/** A dot or quote at the beginning of a line would be read as a macro. */
function line(text: string): string {
  const escaped = escape(text);
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

function quoted(text: string): string {
  return `"${escape(text).replaceAll('"', '\\(dq')}"`;
}

/** Signs that roff would set as typographic ones stay what is typed: a reader copies them into a shell. */
const signs: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '…': '...',
};

function escape(text: string): string {
  return text.replace(/[\\\-'`^~]|[^\x20-\x7e]/gu, (sign) => signs[sign] ?? `\\[u${hex(sign)}]`);
}

function hex(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
