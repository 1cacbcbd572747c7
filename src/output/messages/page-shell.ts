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
