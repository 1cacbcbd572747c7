import { asObject } from '../columns.ts';
import type { Formatter } from '../presentation.ts';
import { shownMessage, textOf, type ShownMessage } from './message-parts.ts';
import { escaped, navigation, opening, type PageConversation, type PageHead } from './page-shell.ts';
import { sanitizer } from './sanitize.ts';

interface PageForm extends Formatter {
  /** The conversations so far, by their headings. */
  readonly conversations: ReadonlyMap<string, PageConversation>;
}

export function page(head: PageHead): PageForm {
  const conversations = new Map<string, PageConversation>();
  let before: ShownMessage | undefined;
  let isOpen = false;
  const sanitized = sanitizer(head.links);
  const open = (): string => {
    if (isOpen) return '';
    isOpen = true;
    return opening(head, beginning);
  };
  const row = (value: unknown): string => {
    const message = asObject(value) ?? {};
    const [shown, id] = [shownMessage(message), `m${textOf(message['id'])}`];
    const { channel, topic, heading, day } = shown;
    const isSame = heading === before?.heading && day === before.day;
    const known = conversations.get(heading) ?? { channel, topic, id, messages: 0, first: day };
    conversations.set(heading, { ...known, messages: known.messages + 1, last: day });
    const content = contentOf(shown, sanitized);
    const title = `<h2><bdi>${escaped(heading)}</bdi> <small>${day}</small></h2>\n`;
    before = shown;
    const article = articleOf(id, shown, head.urlOf(message), content);
    return open() + (isSame ? '' : title) + article;
  };
  const end = (): string => open() + footOf(conversations, head);
  return { one: (value) => row(value) + end(), row, end, conversations };
}

const beginning = ['<p>Times are UTC. <a href="#conversations">Conversations</a></p></header>', '<main>'];

function articleOf(
  id: string,
  { sender, moment, time, marks, reactions, isAction, isHtml }: ShownMessage,
  url: string | undefined,
  content: string,
): string {
  const by = [
    `<b><bdi>${escaped(sender)}</bdi></b>`,
    `<a href="#${escaped(id)}"><time datetime="${moment}">${time}</time></a>`,
    ...marks.map((mark) => `<span>${escaped(mark)}</span>`),
    ...(url === undefined ? [] : [`<a href="${escaped(url)}" rel="noopener noreferrer">open in the chat</a>`]),
  ].join('');
  const given = reactions.map(({ emoji, count }) => `<li>${escaped(emoji)} ${count}</li>`);
  return [
    `<article id="${escaped(id)}">`,
    `<div class="by">${by}</div>`,
    `<div class="content${isAction && isHtml ? ' action' : ''}" dir="auto">${content}</div>`,
    given.length === 0 ? '' : `<ul class="reactions">${given.join('')}</ul>`,
    '</article>',
    '',
  ].join('\n');
}

function contentOf(shown: ShownMessage, sanitized: (html: string) => string): string {
  const { content, mark } = shown;
  const rest = mark === undefined ? '' : `<p>${mark}</p>`;
  if (!shown.isHtml) return `<p class="source">${escaped(content)}</p>${rest}`;
  const html = sanitized(content) + rest;
  return shown.isAction ? html.replace(/^<p>\/me/, () => `<p>* ${escaped(shown.sender)}`) : html;
}

function footOf(conversations: PageForm['conversations'], { pages }: PageHead): string {
  const item = (name: string, id: string) => `<li><a href="#${escaped(id)}"><bdi>${escaped(name)}</bdi></a></li>`;
  const items = [...conversations].map(([name, { id }]) => item(name, id));
  return [
    '</main>',
    `<nav id="conversations"><h2>Conversations</h2><ul>${items.join('\n')}</ul></nav>`,
    ...navigation(pages),
    '<footer><p>Links to attached files lead to where the archive or this folder keeps them, and to the server otherwise.</p></footer>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
