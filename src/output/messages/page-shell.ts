import { createHash } from 'node:crypto';
import { foldName } from '../../schema/topic.ts';
import type { MessageFields } from './message-parts.ts';
import { styleSheet } from './page-parts.ts';
import type { LinkTargets } from './sanitize.ts';

export interface PageHead {
  readonly title: string;
  /** Sentences below the title: where the messages are from, how many there are. */
  readonly notes: readonly string[];
  /** Sentences that must not be overlooked, such as that the history is limited. */
  readonly warnings: readonly string[];
  readonly links: LinkTargets;
  readonly urlOf: (message: MessageFields) => string | undefined;
  /** Other pages of the same document; absent where there is one page. */
  readonly pages?: readonly OtherPage[];
}

interface OtherPage {
  readonly label: string;
  readonly href: string;
}

/** The line by which a page of this program is known. */
export const generator = '<meta name="generator" content="chatelaine">';

type PageTitle = Pick<PageHead, 'title' | 'notes' | 'warnings' | 'pages'>;

/** The beginning of a page. Firefox does not count another file beside it as 'self'. */
export function opening({ title, notes, warnings, pages }: PageTitle, content: readonly string[]) {
  const policy = `default-src 'none'; style-src '${hashOf(styleSheet)}'; img-src 'self' file:; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    generator,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escaped(title)}</title>`,
    `<style>${styleSheet}</style>`,
    '</head>',
    '<body>',
    `<header class="page"><h1>${escaped(title)}</h1>`,
    ...notes.map((note) => `<p>${escaped(note)}</p>`),
    ...warnings.map((warning) => `<p class="warning">${escaped(warning)}</p>`),
    ...navigation(pages),
    ...content,
    '',
  ].join('\n');
}

export function navigation(pages: readonly OtherPage[] = []): string[] {
  if (pages.length === 0) return [];
  const links = pages.map(({ label, href }) => `<a href="${escaped(href)}">${escaped(label)}</a>`);
  return [`<nav class="pages">${links.join(' ')}</nav>`];
}

export interface PageConversation {
  readonly channel: string;
  readonly topic: string;
  /** The name of its first message in the page. */
  readonly id: string;
  readonly messages: number;
  /** Days of its first and its last message there, as 2026-03-01. */
  readonly first: string;
  readonly last: string;
}

/** The index of channels and topics: number, days, a link to each. Names that differ only by case are one topic. */
export function indexPage(head: PageTitle, pages: ReadonlyMap<string, Iterable<PageConversation>>): string {
  const channels = new Map<string, Map<string, PageConversation>>();
  for (const [file, conversations] of pages)
    for (const { channel, topic, id, ...part } of conversations) {
      const topics = channels.get(channel) ?? new Map<string, PageConversation>();
      const begun = { ...part, id: `${file}#${id}`, messages: 0 };
      const { messages, first, ...known } = topics.get(foldName(topic)) ?? begun;
      topics.delete(foldName(topic));
      const counts = { messages: messages + part.messages, first, last: part.last };
      channels.set(channel, topics.set(foldName(topic), { ...known, channel, topic, ...counts }));
    }
  const header = '<thead><tr><th>Topic</th><th class="right">Messages</th><th>Days</th></tr></thead>';
  const tables = [...channels].flatMap(([name, topics]) => [
    `<h2><bdi>${escaped(name)}</bdi></h2>`,
    `<table class="index">${header}<tbody>`,
    ...[...topics.values()].map(rowOf).reverse(),
    '</tbody></table>',
  ]);
  return opening(head, ['<p>Days are UTC.</p></header>', '<main>', ...tables, '</main></body></html>']);
}

function rowOf({ topic, id, messages, first, last }: PageConversation): string {
  const link = `<a href="${escaped(id)}"><bdi>${escaped(topic)}</bdi></a>`;
  const days = Array.from(new Set([first, last]), (day) => `<time>${day}</time>`).join(' to ');
  return `<tr><td>${link}</td><td class="right">${messages}</td><td class="days">${days}</td></tr>`;
}

const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' };

/** A text as HTML that shows it. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&${entities[sign] ?? ''};`);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
