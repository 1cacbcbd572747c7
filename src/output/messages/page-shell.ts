import { createHash } from 'node:crypto';
import type { MessageFields } from './message-parts.ts';
import { styleSheet } from './page-parts.ts';
import type { LinkTargets } from './sanitize.ts';

/** What the head of a page says of the messages below. */
export interface PageHead {
  readonly title: string;
  /** Sentences below the title: where the messages are from, how many there are. */
  readonly notes: readonly string[];
  /** Sentences that must not be overlooked, such as that the history is limited. */
  readonly warnings: readonly string[];
  readonly links: LinkTargets;
  /** The message's own address in the chat. */
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

/** The beginning of a page up to its content: its policy allows one style sheet, and one script where there is one, by their hashes. */
export function opening(
  { title, notes, warnings, pages }: Pick<PageHead, 'title' | 'notes' | 'warnings' | 'pages'>,
  content: readonly string[],
  script?: string,
): string {
  const scripts = script === undefined ? '' : ` script-src '${hashOf(script)}';`;
  const policy = `default-src 'none'; style-src '${hashOf(styleSheet)}';${scripts} base-uri 'none'; form-action 'none'`;
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

/** Links to the other pages, as a line of the page. */
export function navigation(pages: readonly OtherPage[] = []): string[] {
  if (pages.length === 0) return [];
  const links = pages.map(({ label, href }) => `<a href="${escaped(href)}">${escaped(label)}</a>`);
  return [`<nav class="pages">${links.join(' ')}</nav>`];
}

/** A page of a document of several. */
export interface IndexedPage {
  /** The name of its file. */
  readonly file: string;
  /** Messages in it. */
  readonly count: number;
  /** Days of its first and its last message, as 2026-03-01. */
  readonly first: string;
  readonly last: string;
  /** Each conversation with the name of its first message in the page. */
  readonly conversations: ReadonlyMap<string, string>;
}

/** The page that lists the others: their days, and every conversation with links to where it begins and continues. */
export function indexPage(head: Pick<PageHead, 'title' | 'notes' | 'warnings'>, pages: readonly IndexedPage[]): string {
  const list = pages.map(
    ({ file, count, first, last }) =>
      `<li><a href="${escaped(file)}">${first === last ? first : `${first} to ${last}`}</a> <small>${count} messages</small></li>`,
  );
  const items = [...placesOf(pages)].map(
    ([name, places]) => `<li><bdi>${escaped(name)}</bdi> <small>${places.join(' ')}</small></li>`,
  );
  const content = [
    '<p>Days are UTC. Search is in each page.</p></header>',
    '<main>',
    `<h2>Pages</h2><ul>${list.join('\n')}</ul>`,
    `<nav id="conversations"><h2>Conversations</h2><ul>${items.join('\n')}</ul></nav>`,
    '</main>',
    '</body>',
    '</html>',
  ];
  return opening(head, content);
}

/** For each conversation a link to its first message in each page that has some. */
function placesOf(pages: readonly IndexedPage[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const { file, first, conversations } of pages) {
    for (const [name, id] of conversations) {
      const link = `<a href="${escaped(file)}#${escaped(id)}">${first}</a>`;
      const known = places.get(name);
      if (known) known.push(link);
      else places.set(name, [link]);
    }
  }
  return places;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML that shows it. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
