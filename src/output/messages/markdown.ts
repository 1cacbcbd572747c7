import { withUploadsAt } from '../../schema/upload.ts';
import { asObject } from '../columns.ts';
import { lineBreak } from '../plain.ts';
import type { Formatter } from '../presentation.ts';
import type { PageHead } from './page-shell.ts';
import type { LinkTargets } from './sanitize.ts';
import { shownMessage } from './message-parts.ts';

/** Messages in source form as one Markdown document: a heading for each topic and day, then sender, time and text. */
export function markdown({ title, notes, warnings, links }: Omit<PageHead, 'urlOf' | 'pages'>): Formatter {
  let conversation: string | undefined;
  let day: string | undefined;
  const open = (): string => {
    if (conversation !== undefined) return '';
    conversation = '';
    const lines = [
      ...notes.map(escapeMark),
      'Times are UTC.',
      ...warnings.map((text) => `**Warning:** ${escapeMark(text)}`),
    ];
    return [`# ${escapeMark(title)}`, ...lines, ''].join('\n\n');
  };
  const row = (value: unknown): string => {
    const shown = shownMessage(asObject(value) ?? {});
    const head = open();
    const isNext = shown.heading !== conversation;
    const isDay = isNext || shown.day !== day;
    ({ heading: conversation, day } = shown);
    const title = isNext ? [`## ${escapeMark(shown.heading)}`] : [];
    const headings = [...title, ...(isDay && day !== '' ? [`### ${day}`] : [])];
    const { list, mark } = shown;
    const body = list
      ? [escapeMark(list.title), '', ...list.items.map(({ text }) => `- ${escapeMark(text)}`)]
      : bodyOf(shown.content, links);
    const quote = [...body, ...(mark === undefined ? [] : ['', escapeMark(mark)])].map((line) =>
      line === '' ? '>' : `> ${line}`,
    );
    const marks = shown.marks.map((word) => `(${escapeMark(word)})`);
    const by = [`**${escapeMark(shown.sender)}**`, shown.time, ...marks];
    return `${head}${[...headings, by.join(' '), quote.join('\n')].join('\n\n')}\n\n`;
  };
  return { one: row, row, end: open };
}

/**
 * The lines of a body, for a block quote: it loads and runs nothing and defines no link, whatever a reader takes for
 * code. Code blocks get a fence that nothing in them closes.
 */
function bodyOf(source: string, { site, fileAt }: LinkTargets): string[] {
  const lines: string[] = [];
  let code: string[] = [];
  let fence: { readonly mark: string; readonly language: string } | undefined;
  // One more line ends a fence that is not closed.
  for (const line of [...source.split(lineBreak), undefined]) {
    if (!fence) {
      const [, mark, language = ''] = /^(`{3,}|~{3,})[ \t]*([\w+#.-]{0,40})[^`]*$/.exec(line ?? '') ?? [];
      if (mark !== undefined) fence = { mark, language };
      else if (line !== undefined) lines.push(lineOfText(withUploadsAt(line, site, fileAt)));
      continue;
    }
    const [closing = ''] = /^ {0,3}(?:`+|~+)[ \t]*$/.exec(line ?? '') ?? [];
    if (line !== undefined && !closing.trim().startsWith(fence.mark)) code.push(line);
    else {
      lines.push(...codeBlock(code, fence.language));
      [fence, code] = [undefined, []];
    }
  }
  return lines;
}

/** Code with markup is indented as well: a reader that knows no fences in a quote would take it for text. */
function codeBlock(code: readonly string[], language: string): string[] {
  const longest = code.join('\n').match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(2, ...longest.map((run) => run.length)) + 1);
  const isPlain = code.every((line) => withoutMarkup(line) === line);
  return ['', `${fence}${language}`, ...(isPlain ? code : ['', ...code.map((line) => `    ${line}`)]), fence, ''];
}

/** A line that is neither a heading nor the underline of one; code between backticks stays if it has no markup. */
function lineOfText(line: string): string {
  const [markers = ''] = /^[ \t>*+\-\d.)]*/.exec(line) ?? [];
  const rest = line.slice(markers.length);
  if (rest === '') return markers.replace(/[-*+.)](?=[ \t]*$)/, '\\$&');
  const parts = rest.split(/(\\[\\`]|`+)/);
  const last = new Map(parts.map((part, at) => [part, at]));
  let text = /^(?:#|=+[ \t]*$)/.test(rest) ? `${markers}\\` : markers;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    const end = part.startsWith('`') && (last.get(part) ?? 0) > at ? parts.indexOf(part, at + 1) : at;
    const code = parts.slice(at + 1, end).join('');
    const isCode = end > at && part.length < 3 && withoutMarkup(code) === code;
    const plain = at % 2 === 0 ? withoutMarkup(part) : part.replace(/^`+/, (run) => run.replaceAll('`', '\\`'));
    text += isCode ? part + code + part : plain + (end > at ? escapeMark(code) + plain : '');
    at = end;
  }
  return text;
}

/** Tags, pictures, definitions of links, fences, and links to anything but an address or a path are left out. */
function withoutMarkup(text: string): string {
  return text
    .replace(/\\?<(?=[a-z/!?])/gi, '&lt;')
    .replace(/!(?=\[)/g, '&#33;')
    .replace(/\]:/g, ']&#58;')
    .replace(/~(?=~~)/g, '&#126;')
    .replace(/\{(?=[^{}]*\b(?:on\w+|href|src|style)\s*=)/gi, '&#123;')
    .replace(/\]([ \t]*)\((?!https?:\/\/|mailto:|[/#]|[\w./%~!*'-]+[\s)])/gi, ']$1\\(');
}

/** A name as the text of one line that Markdown does not read as its own signs; some readers know no \<. */
function escapeMark(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return line.replace(/[\\`*_[\]>#]/g, '\\$&').replaceAll('~', '&#126;');
}
