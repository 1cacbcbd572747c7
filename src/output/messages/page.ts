import { asObject } from '../columns.ts';
import type { Formatter } from '../presentation.ts';
import { shownMessage, textOf, type ShownMessage } from './message-parts.ts';
import { escaped, navigation, opening, type PageConversation, type PageHead } from './page-shell.ts';
import { sanitizer } from './sanitize.ts';

export interface PageForm extends Formatter {
  /** The conversations so far, by their headings. */
  readonly conversations: ReadonlyMap<string, PageConversation>;
}

/** Messages as one HTML page. */
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
    const isMore = isSame && continues(shown, before);
    before = shown;
    const article = articleOf(id, shown, { url: head.urlOf(message), content, isMore });
    return open() + (isSame ? '' : title) + article;
  };
  const end = (): string => open() + footOf(conversations, head);
  return { one: (value) => row(value) + end(), row, end, conversations };
}

const beginning = ['<p>Times are UTC. <a href="#conversations">Conversations</a></p></header>', '<main>'];

/** Seconds between two messages of one sender that stand under one head. */
const longestPause = 600;

/** A message of the same sender soon after, with nothing to say beside the name, needs no head of its own. */
function continues({ user, sender, seconds, marks }: ShownMessage, before: ShownMessage | undefined) {
  const isSameSender = user === before?.user && sender === before?.sender;
  return isSameSender && seconds - before.seconds <= longestPause && marks.length === 0;
}

function articleOf(
  id: string,
  { user, sender, moment, time, marks, reactions, isAction, isHtml }: ShownMessage,
  { url, content, isMore }: { readonly url: string | undefined; readonly content: string; readonly isMore: boolean },
): string {
  const by = [
    `<b><bdi>${escaped(sender)}</bdi></b>`,
    `<a href="#${escaped(id)}"><time datetime="${moment}">${time}</time></a>`,
    ...marks.map((mark) => `<span>${escaped(mark)}</span>`),
    ...(url === undefined ? [] : [`<a href="${escaped(url)}" rel="noopener noreferrer">open in the chat</a>`]),
  ].join('');
  const given = reactions.map(({ emoji, count }) => `<li>${escaped(emoji)} ${count}</li>`);
  // One of the twelve colours of the style sheet: the same for the same sender.
  const colour = typeof user === 'number' ? Math.abs(Math.trunc(user)) % 12 : sender.length % 12;
  return [
    `<article id="${escaped(id)}"${isMore ? ' class="more"' : ''}>`,
    `<div class="avatar c${colour}" aria-hidden="true">${initialsOf(sender)}</div>`,
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
  return shown.isAction ? html.replace(/^<p>\/me/, `<p>* ${escaped(shown.sender)}`) : html;
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

function initialsOf(sender: string): string {
  const words = sender.match(/[\p{L}\p{N}]+/gu) ?? [];
  const letters = [words.slice(0, 1), words.slice(1).slice(-1)].flat().map((word) => /^./u.exec(word)?.[0] ?? '');
  return escaped(letters.join('').toUpperCase() || '?');
}
