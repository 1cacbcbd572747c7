import { utcText } from '../../core/moment.ts';
import { asObject } from '../columns.ts';
import type { Formatter } from '../presentation.ts';
import {
  conversationOf,
  dayOf,
  isHtml,
  marksOf,
  reactionsOf,
  renderedOf,
  senderOf,
  textOf,
  type MessageFields,
} from './message-parts.ts';
import { script } from './page-parts.ts';
import { escaped, navigation, opening, type PageHead } from './page-shell.ts';
import { sanitizer } from './sanitize.ts';
import { widgetOf } from './widget.ts';

/** A page whose rows are messages. */
export interface PageForm extends Formatter {
  /** The conversations so far, each with the name of its first message in the page. */
  readonly conversations: ReadonlyMap<string, string>;
}

/**
 * Messages as one HTML page that runs only its own search and loads nothing: its policy allows one style sheet and one script by
 * their hashes. It is written as messages come; only the list of conversations is held.
 */
export function page(head: PageHead): PageForm {
  const conversations = new Map<string, string>();
  let conversation = '';
  let day = '';
  let isOpen = false;
  const look: ArticleLook = { head, sanitized: sanitizer(head.links), initials: new Map() };
  const open = (): string => {
    if (isOpen) return '';
    isOpen = true;
    return opening(head, beginning, script);
  };
  const row = (value: unknown): string => {
    const message = asObject(value) ?? {};
    const next = { conversation: conversationOf(message), day: dayOf(message) };
    const isSame = next.conversation === conversation && next.day === day;
    ({ conversation, day } = next);
    const id = `m${textOf(message['id'])}`;
    if (!conversations.has(conversation)) conversations.set(conversation, id);
    const heading = `<h2 data-heading><bdi>${escaped(conversation)}</bdi> <small>${day}</small></h2>\n`;
    return open() + (isSame ? '' : heading) + articleOf(id, message, look);
  };
  const end = (): string => open() + footOf(conversations, head);
  return { one: (value) => row(value) + end(), row, end, conversations };
}

const beginning = [
  '<p>Times are UTC. <a href="#conversations">Conversations</a></p></header>',
  '<div class="search" role="search" hidden><input id="search" type="search" placeholder="Search in this page" aria-label="Search in this page"><output id="found"></output></div>',
  '<main>',
];

/** What the articles of a page share. */
interface ArticleLook {
  readonly head: PageHead;
  readonly sanitized: (html: string) => string;
  /** By sender: to find them takes as long as a short message. */
  readonly initials: Map<string, string>;
}

function articleOf(id: string, message: MessageFields, look: ArticleLook): string {
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
    `<article id="${escaped(id)}">`,
    `<div class="avatar c${colour}" aria-hidden="true">${initialsOf(sender, look)}</div>`,
    `<div class="by">${by}</div>`,
    `<div class="content${isAction ? ' action' : ''}" dir="auto">${contentOf(message, sender, look, widget)}</div>`,
    reactions.length === 0 ? '' : `<ul class="reactions">${reactions.join('')}</ul>`,
    '</article>',
    '',
  ].join('\n');
}

function contentOf(
  message: MessageFields,
  sender: string,
  { sanitized }: ArticleLook,
  widget: ReturnType<typeof widgetOf>,
): string {
  if (widget?.shown) {
    const items = widget.shown.items.map((item) => `<li>${escaped(item)}</li>`);
    return `<p>${escaped(widget.shown.title)}</p><ul>${items.join('')}</ul>`;
  }
  const { content, mark } = renderedOf(message);
  const rest = mark === undefined ? '' : `<p>${mark}</p>`;
  if (!isHtml(message)) return `<p class="source">${escaped(content)}</p>${rest}`;
  const html = sanitized(content) + rest;
  return message['is_me_message'] === true ? html.replace(/^<p>\/me/, `<p>* ${escaped(sender)}`) : html;
}

function footOf(conversations: ReadonlyMap<string, string>, { pages }: PageHead): string {
  const items = [...conversations].map(
    ([name, id]) => `<li><a href="#${escaped(id)}"><bdi>${escaped(name)}</bdi></a></li>`,
  );
  return [
    '</main>',
    `<nav id="conversations"><h2>Conversations</h2><ul>${items.join('\n')}</ul></nav>`,
    ...navigation(pages),
    '<footer><p>Files that messages link to are not part of this page: the links lead to the archive where it keeps them, and to the server otherwise.</p></footer>',
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function initialsOf(sender: string, { initials }: ArticleLook): string {
  const known = initials.get(sender);
  if (known !== undefined) return known;
  const words = sender.match(/[\p{L}\p{N}]+/gu) ?? [];
  const letters = [words.slice(0, 1), words.slice(1).slice(-1)].flat().map((word) => /^./u.exec(word)?.[0] ?? '');
  const made = escaped(letters.join('').toUpperCase() || '?');
  initials.set(sender, made);
  return made;
}
