import { utcText } from '../../core/moment.ts';
import { asObject } from '../columns.ts';
import type { Formatter } from '../presentation.ts';
import {
  changesOf,
  conversationOf,
  isHtml,
  reactionsOf,
  renderedOf,
  senderOf,
  sentAt,
  textOf,
  type MessageFields,
} from './message-parts.ts';
import { script } from './page-parts.ts';
import { escaped, navigation, opening, type PageHead } from './page-shell.ts';
import { sanitizer } from './sanitize.ts';
import { widgetOf, type Widget } from './widget.ts';

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
    return open() + (isSame ? '' : headingOf(conversation, day)) + articleOf(id, message, look);
  };
  const end = (): string => open() + footOf(conversations, head);
  return { one: (value) => row(value) + end(), row, end, conversations };
}

const beginning = [
  '<p>Times are UTC. <a href="#conversations">Conversations</a></p></header>',
  '<div class="search" role="search" hidden><input id="search" type="search" placeholder="Search in this page" aria-label="Search in this page"><output id="found"></output></div>',
  '<main>',
];

function headingOf(conversation: string, day: string): string {
  return `<h2 data-heading><bdi>${escaped(conversation)}</bdi> <small>${day}</small></h2>\n`;
}

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
  const { kind, shown } = widgetOf(message) ?? {};
  const marks = [...changesOf(message), ...(kind === undefined ? [] : [kind])];
  const moment = utcText(message['timestamp']) ?? '';
  const by = [
    `<b><bdi>${escaped(sender)}</bdi></b>`,
    `<a href="#${escaped(id)}"><time datetime="${moment}">${moment.slice(11, 16)}</time></a>`,
    ...marks.map((mark) => `<span>${escaped(mark)}</span>`),
    ...(url === undefined ? [] : [`<a href="${escaped(url)}" rel="noopener noreferrer">open in the chat</a>`]),
  ].join('');
  return [
    `<article id="${escaped(id)}">`,
    `<div class="avatar c${colourOf(message, sender)}" aria-hidden="true">${initialsOf(sender, look)}</div>`,
    `<div class="by">${by}</div>`,
    shown ? widgetContent(shown) : contentOf(message, sender, look),
    reactionList(message),
    '</article>',
    '',
  ].join('\n');
}

function widgetContent({ title, items }: NonNullable<Widget['shown']>): string {
  const list = items.map((item) => `<li>${escaped(item)}</li>`);
  return `<div class="content" dir="auto"><p>${escaped(title)}</p><ul>${list.join('')}</ul></div>`;
}

function contentOf(message: MessageFields, sender: string, { sanitized }: ArticleLook): string {
  const { content, mark } = renderedOf(message);
  const rest = mark === undefined ? '' : `<p>${mark}</p>`;
  if (!isHtml(message)) return `<div class="content" dir="auto"><p class="source">${escaped(content)}</p>${rest}</div>`;
  const html = sanitized(content) + rest;
  const isAction = message['is_me_message'] === true;
  const shown = isAction ? html.replace(/^<p>\/me/, `<p>* ${escaped(sender)}`) : html;
  return `<div class="content${isAction ? ' action' : ''}" dir="auto">${shown}</div>`;
}

function reactionList(message: MessageFields): string {
  const reactions = reactionsOf(message).map(({ emoji, count }) => `<li>${escaped(emoji)} ${count}</li>`);
  return reactions.length === 0 ? '' : `<ul class="reactions">${reactions.join('')}</ul>`;
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

function dayOf(message: MessageFields): string {
  return sentAt(message)?.toISOString().slice(0, 10) ?? '';
}

/** One of the twelve colours of the style sheet: the same for the same sender. */
function colourOf({ sender_id: id }: MessageFields, sender: string): number {
  return typeof id === 'number' ? Math.abs(Math.trunc(id)) % 12 : sender.length % 12;
}

function initialsOf(sender: string, { initials }: ArticleLook): string {
  const known = initials.get(sender) ?? escaped(initialsIn(sender));
  initials.set(sender, known);
  return known;
}

function initialsIn(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const initials = [words.at(0), words.length > 1 ? words.at(-1) : undefined].map((word = '') => firstOf(word));
  return initials.join('').toUpperCase() || '?';
}

function firstOf(word: string): string {
  for (const character of word) return character;
  return '';
}
