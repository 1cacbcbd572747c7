import { createHash } from 'node:crypto';
import { foldName } from '../../schema/topic.ts';
import type { MessageFields } from './message-parts.ts';
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

/** The line by which a page of this program is recognized. */
export const generator = '<meta name="generator" content="chatelaine">';

type PageTitle = Pick<PageHead, 'title' | 'notes' | 'warnings' | 'pages'>;

/** The beginning of a page. Firefox does not count another file beside it as 'self'. */
export function opening({ title, notes, warnings, pages }: PageTitle, content: readonly string[]) {
  const hash = createHash('sha256').update(styleSheet).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' file:; base-uri 'none'; form-action 'none'`;
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

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&${entities[sign] ?? ''};`);
}

/** The policy of a page allows exactly this, by its hash, and no script. */
const styleSheet = `
:root { color-scheme: light dark; --back: #fff; --text: #1c1e21; --faint: #667; --line: #dde; --box: #f5f6f8; --link: #1558b0; --mark: #fff3b0; }
@media screen and (prefers-color-scheme: dark) {
  :root { --back: #16181c; --text: #e3e5e8; --faint: #9aa0aa; --line: #32363d; --box: #20242a; --link: #8ab4f8; --mark: #5c4a00; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); }
header.page h1 { font-size: 1.4rem; margin: 0 0 .3rem; }
header.page p, footer { color: var(--faint); font-size: .9rem; margin: .2rem 0; }
.warning { border-left: 4px solid #d97706; padding: .3rem .7rem; background: var(--box); }
h2 { font-size: 1rem; margin: 1.6rem 0 .4rem; padding: .3rem .6rem; background: var(--box); border-radius: .4rem; overflow-wrap: anywhere; }
h2 small { color: var(--faint); font-weight: normal; margin-left: .5rem; white-space: nowrap; }
article { padding: .5rem .3rem .1rem; border-radius: .4rem; }
article:target { background: var(--mark); }
.by { overflow-wrap: anywhere; } .by time, .by span, .by a { color: var(--faint); font-size: .85rem; margin-left: .5rem; }
.by a { text-decoration: none; } .by a:hover { text-decoration: underline; }
.content { overflow-wrap: anywhere; unicode-bidi: isolate; min-width: 0; } .content time { background: var(--box); border-radius: .2rem; padding: 0 .25rem; white-space: nowrap; }
.content > :first-child { margin-top: .1rem; } .content > :last-child { margin-bottom: .1rem; }
.content p { margin: .4rem 0; } .content h1, .content h2, .content h3 { font-size: 1.05rem; margin: .4rem 0; background: none; padding: 0; }
.source { white-space: pre-wrap; margin: .1rem 0; font: inherit; }
pre { margin: .4rem 0; overflow-x: auto; padding: .6rem; background: var(--box); border-radius: .4rem; font: .9rem/1.4 ui-monospace, monospace; }
code { font-family: ui-monospace, monospace; font-size: .92em; background: var(--box); border-radius: .2rem; padding: 0 .2rem; } pre code { padding: 0; }
blockquote { margin: .4rem 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--faint); }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; }
.right { text-align: right; }
.user-mention, .user-group-mention, .topic-mention, .highlight { background: var(--mark); border-radius: .2rem; padding: 0 .15rem; }
details.spoiler { border: 1px solid var(--line); border-radius: .4rem; padding: .2rem .6rem; } summary p { display: inline; } summary:empty::after { content: "Spoiler"; }
a.upload::after { content: " (file: on the server only)"; color: var(--faint); font-size: .85rem; }
.action { font-style: italic; }
.preview { margin: .3rem 0; } .preview img { display: block; } .content img { max-width: 100%; max-height: 18rem; border: 1px solid var(--line); border-radius: .4rem; }
math[display=block] { margin: .5rem 0; overflow-x: auto; }
.index { width: 100%; } .index :is(th, td) { border: 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; } .index .days { color: var(--faint); font-size: .9rem; } .days time { white-space: nowrap; } .index .right { width: 6rem; overflow-wrap: normal; } .index .days, .index th:last-child { width: 14rem; }
.reactions { display: flex; flex-wrap: wrap; gap: .4rem; list-style: none; margin: .2rem 0 0; padding: 0; } .reactions li { border: 1px solid var(--line); border-radius: 1rem; padding: 0 .5rem; font-size: .85rem; }
nav.pages { display: flex; gap: 1.2rem; margin: .5rem 0; } nav ul { columns: 2; padding-left: 1.2rem; } nav li { overflow-wrap: anywhere; }
@media (max-width: 30rem) {
  nav ul { columns: 1; } body { padding: .7rem; } h2 small { display: block; margin: 0; }
  .by a[rel] { font-size: 0; } .by a[rel]::after { content: '\\2197'; font-size: .85rem; }
  .index .right { width: 4.5rem; } .index .days, .index th:last-child { width: 6.5rem; }
}
@media print {
  :root { color-scheme: light; }
  nav.pages, .by a[rel] { display: none; } body { max-width: none; padding: 0; } article { break-inside: avoid; } h2 { break-after: avoid; } a { color: inherit; } pre { white-space: pre-wrap; }
  h2, pre, code, .content time { print-color-adjust: exact; }
}
@media print { details::details-content { content-visibility: visible; } }
`;
