import { createHash } from 'node:crypto';
import { asObject } from '../columns.ts';
import type { Form } from '../form.ts';
import {
  changesOf,
  conversationOf,
  isHtml,
  reactionsOf,
  senderOf,
  sentAt,
  textOf,
  widgetOf,
  type MessageFields,
} from './message-parts.ts';
import { script, styleSheet } from './page-parts.ts';
import { sanitized, type LinkTargets } from './sanitize.ts';

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
}

/**
 * Messages as one HTML page that runs only its own search and loads nothing: its policy allows one style sheet and one script by
 * their hashes. It is written as messages come; only the list of conversations is held.
 */
export function page(head: PageHead): Form {
  const conversations = new Map<string, string>();
  let conversation = '';
  let day = '';
  let isOpen = false;
  const open = (): string => {
    if (isOpen) return '';
    isOpen = true;
    return headOf(head);
  };
  const row = (value: unknown): string => {
    const message = asObject(value) ?? {};
    const next = { conversation: conversationOf(message), day: dayOf(message) };
    const isSame = next.conversation === conversation && next.day === day;
    ({ conversation, day } = next);
    const id = `m${textOf(message['id'])}`;
    if (!conversations.has(conversation)) conversations.set(conversation, id);
    return open() + (isSame ? '' : headingOf(conversation, day)) + articleOf(id, message, head);
  };
  const end = (): string => open() + footOf(conversations);
  return { one: (value) => row(value) + end(), row, end };
}

function headOf({ title, notes, warnings }: PageHead): string {
  const policy = `default-src 'none'; style-src '${hashOf(styleSheet)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
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
    '<p>Times are UTC. <a href="#conversations">Conversations</a></p></header>',
    '<div class="search" role="search" hidden><input id="search" type="search" placeholder="Search in this page" aria-label="Search in this page"><output id="found"></output></div>',
    '<main>',
    '',
  ].join('\n');
}

function headingOf(conversation: string, day: string): string {
  return `<h2 data-heading><bdi>${escaped(conversation)}</bdi> <small>${day}</small></h2>\n`;
}

function articleOf(id: string, message: MessageFields, { links, urlOf }: PageHead): string {
  const sender = senderOf(message);
  const date = sentAt(message);
  const url = urlOf(message);
  const marks = [...changesOf(message), widgetOf(message)].filter((mark) => mark !== undefined);
  const moment = date?.toISOString().replace('.000Z', 'Z') ?? '';
  const by = [
    `<b><bdi>${escaped(sender)}</bdi></b>`,
    `<a href="#${escaped(id)}"><time datetime="${moment}">${moment.slice(11, 16)}</time></a>`,
    ...marks.map((mark) => `<span>${escaped(mark)}</span>`),
    ...(url === undefined ? [] : [`<a href="${escaped(url)}" rel="noopener noreferrer">open in the chat</a>`]),
  ].join('');
  return [
    `<article id="${escaped(id)}">`,
    `<div class="avatar c${colourOf(message, sender)}" aria-hidden="true">${escaped(initialsOf(sender))}</div>`,
    `<div class="by">${by}</div>`,
    contentOf(message, sender, links),
    reactionList(message),
    '</article>',
    '',
  ].join('\n');
}

function contentOf(message: MessageFields, sender: string, links: LinkTargets): string {
  const content = textOf(message['content']);
  if (!isHtml(message)) return `<div class="content" dir="auto"><p class="source">${escaped(content)}</p></div>`;
  const html = sanitized(content, links);
  const isAction = message['is_me_message'] === true;
  const shown = isAction ? html.replace(/^<p>\/me/, `<p>* ${escaped(sender)}`) : html;
  return `<div class="content${isAction ? ' action' : ''}" dir="auto">${shown}</div>`;
}

function reactionList(message: MessageFields): string {
  const reactions = reactionsOf(message).map(({ emoji, count }) => `<li>${escaped(emoji)} ${count}</li>`);
  return reactions.length === 0 ? '' : `<ul class="reactions">${reactions.join('')}</ul>`;
}

function footOf(conversations: ReadonlyMap<string, string>): string {
  const items = [...conversations].map(
    ([name, id]) => `<li><a href="#${escaped(id)}"><bdi>${escaped(name)}</bdi></a></li>`,
  );
  return [
    '</main>',
    `<nav id="conversations"><h2>Conversations</h2><ul>${items.join('\n')}</ul></nav>`,
    '<footer><p>Files that messages link to are not part of this page: the links lead to the server.</p></footer>',
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

function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const initials = [words.at(0), words.length > 1 ? words.at(-1) : undefined].map((word = '') => firstOf(word));
  return initials.join('').toUpperCase() || '?';
}

function firstOf(word: string): string {
  for (const character of word) return character;
  return '';
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
