import { withUploadsAt } from '../../schema/upload.ts';
import { asObject } from '../columns.ts';
import type { Formatter } from '../presentation.ts';
import { conversationOf, marksOf, senderOf, sentAt } from './message-parts.ts';
import type { PageHead } from './page-shell.ts';
import { widgetOf } from './widget.ts';

/** Messages in source form as one Markdown document: a heading for each topic and day, then sender, time and text. */
export function markdown({ title, notes, warnings, links }: Omit<PageHead, 'urlOf' | 'pages'>): Formatter {
  let conversation: string | undefined;
  let day: string | undefined;
  const open = (): string => {
    if (conversation !== undefined) return '';
    conversation = '';
    const lines = [
      ...notes.map(withoutHtml),
      'Times are UTC.',
      ...warnings.map((text) => `**Warning:** ${escaped(text)}`),
    ];
    return [`# ${escaped(title)}`, ...lines, ''].join('\n\n');
  };
  const row = (value: unknown): string => {
    const message = asObject(value) ?? {};
    const head = open();
    const next = conversationOf(message);
    const sent = sentAt(message)?.toISOString() ?? '';
    const isNext = next !== conversation;
    const isDay = isNext || sent.slice(0, 10) !== day;
    [conversation, day] = [next, sent.slice(0, 10)];
    const headings = [...(isNext ? [`## ${escaped(next)}`] : []), ...(isDay && day !== '' ? [`### ${day}`] : [])];
    const source = message['content'];
    const widget = widgetOf(message);
    const content = widget?.shown
      ? [escaped(widget.shown.title), '', ...widget.shown.items.map(({ text }) => `- ${escaped(text)}`)].join('\n')
      : withoutHtml(withUploadsAt(typeof source === 'string' ? source : '', links.fileAt));
    const marks = marksOf(message, widget).map((mark) => `(${escaped(mark)})`);
    const by = [`**${escaped(senderOf(message))}**`, sent.slice(11, 16), ...marks];
    return `${head}${[...headings, by.join(' '), content].join('\n\n')}\n\n`;
  };
  return { one: row, row, end: open };
}

/**
 * Markdown that loads nothing: typed HTML and pictures become text. Code stays where every reader takes it for code:
 * in a closed fence at the beginning of a line, and between backticks of one line outside a table.
 */
function withoutHtml(source: string): string {
  let fence = '';
  const lines = source.split(/\r\n|\r|\n/).map((line) => {
    const [, opening = ''] = /^(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
    if (fence === '' && opening === '') return lineWithoutHtml(line);
    const [, closing = ''] = /^ {0,3}(`+|~+)[ \t]*$/.exec(line) ?? [];
    if (fence === '') fence = opening;
    else if (closing.startsWith(fence)) fence = '';
    return line;
  });
  return [...lines, ...(fence === '' ? [] : [fence])].join('\n');
}

function lineWithoutHtml(line: string): string {
  const tokens = /\\[^<]|(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)|`+|\\?<(?=[a-z/!?])|!(?=\[)/gi;
  return line.replace(tokens, (token, ticks: string | undefined, code: string) => {
    if (ticks !== undefined) return line.includes('|') ? `${ticks}${escapedTags(code)}${ticks}` : token;
    if (token.endsWith('<')) return '&lt;';
    return token.startsWith('\\') ? token : token.replace(/./g, '\\$&');
  });
}

function escapedTags(code: string): string {
  return code.replaceAll('<', '&lt;').replaceAll('![', '!\\[');
}

/** A name as the text of one line that Markdown does not read as its own signs. */
function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#]/g, '\\$&');
}
