import { utcText } from '../../core/moment.ts';
import { asObject } from '../columns.ts';
import type { Formatter } from '../presentation.ts';
import {
  conversationOf,
  dayOf,
  isHtml,
  marksOf,
  placeOf,
  reactionsOf,
  renderedOf,
  senderOf,
  textOf,
  type MessageFields,
} from './message-parts.ts';
import { script } from './page-parts.ts';
import { escaped, navigation, opening, type PageConversation, type PageHead } from './page-shell.ts';
import { sanitizer } from './sanitize.ts';
import { widgetOf } from './widget.ts';

export interface PageForm extends Formatter {
  /** The conversations so far, by their headings. */
  readonly conversations: ReadonlyMap<string, PageConversation>;
}

/** Messages as one HTML page. `listed` receives each message's line for the search over several pages. */
export function page(head: PageHead, listed?: (line: string) => void): PageForm {
  const conversations = new Map<string, PageConversation>();
  let before: MessageFields = {};
  let isOpen = false;
  const look: ArticleLook = { head, sanitized: sanitizer(head.links) };
  const open = (): string => {
    if (isOpen) return '';
    isOpen = true;
    return opening(head, beginning, script);
  };
  const row = (value: unknown): string => {
    const message = asObject(value) ?? {};
    const [heading, day, id] = [conversationOf(message), dayOf(message), `m${textOf(message['id'])}`];
    const isSame = isOpen && heading === conversationOf(before) && day === dayOf(before);
    const known = conversations.get(heading) ?? { ...placeOf(message), id, messages: 0, first: day };
    conversations.set(heading, { ...known, messages: known.messages + 1, last: day });
    const content = contentOf(message, look);
    listed?.(searchLine(message, id, content));
    const title = `<h2 data-heading><bdi>${escaped(heading)}</bdi> <small>${day}</small></h2>\n`;
    const isMore = isSame && continues(message, before);
    before = message;
    return open() + (isSame ? '' : title) + articleOf(id, message, look, { content, isMore });
  };
  const end = (): string => open() + footOf(conversations, head);
  return { one: (value) => row(value) + end(), row, end, conversations };
}

const beginning = [
  '<p>Times are UTC. <a href="#conversations">Conversations</a></p></header>',
  '<div class="search" role="search" hidden><input id="search" type="search" placeholder="Search in this page" aria-label="Search in this page"><output id="found"></output></div>',
  '<main>',
];

/** Seconds between two messages of one sender that stand under one head. */
const longestPause = 600;

/** A message of the same sender soon after, with nothing to say beside the name, needs no head of its own. */
function continues(message: MessageFields, before: MessageFields): boolean {
  const isSameSender = senderOf(message) === senderOf(before) && message['sender_id'] === before['sender_id'];
  const pause = Number(message['timestamp']) - Number(before['timestamp']);
  return isSameSender && pause <= longestPause && marksOf(message, widgetOf(message)).length === 0;
}

/** Name, time, sender, conversation and text of a message, parted by tabs: HTML without tags. */
function searchLine(message: MessageFields, id: string, content: string): string {
  const text = content.replace(/<[^>]*>/g, ' ');
  const names = [senderOf(message), conversationOf(message)].map(escaped);
  const time = utcText(message['timestamp'])?.slice(0, 16).replace('T', ' ') ?? '';
  return [id, time, ...names, text].map((part) => part.replace(/\s+/g, ' ').trim()).join('\t');
}

interface ArticleLook {
  readonly head: PageHead;
  readonly sanitized: (html: string) => string;
}

function articleOf(
  id: string,
  message: MessageFields,
  look: ArticleLook,
  { content, isMore }: { readonly content: string; readonly isMore: boolean },
): string {
  const sender = senderOf(message);
  const url = look.head.urlOf(message);
  const widget = widgetOf(message);
  const moment = utcText(message['timestamp']) ?? '';
  const by = [
    `<b><bdi>${escaped(sender)}</bdi></b>`,
    `<a href="#${escaped(id)}"><time datetime="${moment}">${moment.slice(11, 16)}</time></a>`,
    ...marksOf(message, widget).map((mark) => `<span>${escaped(mark)}</span>`),
    ...(url === undefined ? [] : [`<a href="${escaped(url)}" rel="noopener noreferrer">open in the chat</a>`]),
  ].join('');
  const isAction = message['is_me_message'] === true && !widget?.shown && isHtml(message);
  const reactions = reactionsOf(message).map(({ emoji, count }) => `<li>${escaped(emoji)} ${count}</li>`);
  const { sender_id: user } = message;
  // One of the twelve colours of the style sheet: the same for the same sender.
  const colour = typeof user === 'number' ? Math.abs(Math.trunc(user)) % 12 : sender.length % 12;
  return [
    `<article id="${escaped(id)}"${isMore ? ' class="more"' : ''}>`,
    `<div class="avatar c${colour}" aria-hidden="true">${initialsOf(sender)}</div>`,
    `<div class="by">${by}</div>`,
    `<div class="content${isAction ? ' action' : ''}" dir="auto">${content}</div>`,
    reactions.length === 0 ? '' : `<ul class="reactions">${reactions.join('')}</ul>`,
    '</article>',
    '',
  ].join('\n');
}

function contentOf(message: MessageFields, { sanitized }: ArticleLook): string {
  const shown = widgetOf(message)?.shown;
  if (shown) {
    const most = Math.max(1, ...shown.items.map(({ votes = 0 }) => votes));
    const items = shown.items.map(({ text, votes }) => {
      const bar = votes === undefined ? '' : `<meter max="${most}" value="${votes}"></meter>`;
      return `<li>${bar}${escaped(text)}</li>`;
    });
    return `<p><strong>${escaped(shown.title)}</strong></p><ul class="items">${items.join('')}</ul>`;
  }
  const { content, mark } = renderedOf(message);
  const rest = mark === undefined ? '' : `<p>${mark}</p>`;
  if (!isHtml(message)) return `<p class="source">${escaped(content)}</p>${rest}`;
  const html = sanitized(content) + rest;
  return message['is_me_message'] === true ? html.replace(/^<p>\/me/, `<p>* ${escaped(senderOf(message))}`) : html;
}

function footOf(conversations: PageForm['conversations'], { pages }: PageHead): string {
  const item = (name: string, id: string) => `<li><a href="#${escaped(id)}"><bdi>${escaped(name)}</bdi></a></li>`;
  const items = [...conversations].map(([name, { id }]) => item(name, id));
  return [
    '</main>',
    `<nav id="conversations"><h2>Conversations</h2><ul>${items.join('\n')}</ul></nav>`,
    ...navigation(pages),
    '<footer><p>Links to attached files lead to where the archive or this folder keeps them, and to the server otherwise.</p></footer>',
    `<script>${script}</script>`,
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
