import type { ChalkInstance } from 'chalk';
import { asObject, cellText } from '../columns.ts';
import type { Formatter, Presentation } from '../presentation.ts';
import { plain, plainLines } from '../plain.ts';
import { wrapped } from '../wrap.ts';
import { htmlReader } from './html-text.ts';
import {
  changesOf,
  conversationOf,
  isHtml,
  reactionsOf,
  recipientsOf,
  renderedOf,
  senderOf,
  sentAt,
  textOf,
  type MessageFields,
} from './message-parts.ts';
import { widgetOf } from './widget.ts';

const indent = '  ';

type ConversationChoices = Pick<Presentation, 'width'>;

/**
 * Messages as a conversation for people: a heading where the topic or the day changes, then local time, sender and the text,
 * wrapped to the terminal. Made for eyes: it may change from version to version.
 */
export function conversation(choices: ConversationChoices, paint: ChalkInstance | undefined): Formatter {
  let heading = '';
  let base = '';
  const clock = clockOf();
  const readHtml = htmlReader({
    strong: surroundings(paint?.bold),
    faint: surroundings(paint?.dim),
    found: surroundings(paint?.inverse),
    resolve: (link) => (!URL.canParse(link) && URL.canParse(link, base) ? new URL(link, base).href : link),
    time: (moment) => momentOf(moment, clock),
  });
  const row = (value: unknown): string => {
    const message = asObject(value);
    if (!message) return `${plain(cellText(value))}\n`;
    base = textOf(message['url']);
    const next = headingOf(message, clock);
    const topic = paint && recipientsOf(message) === undefined ? readHtml(textOf(message['match_subject'])) : '';
    const titled = topic === '' ? next : headingOf(message, clock, topic);
    const title = wrapped(titled, choices.width, '').map((line) => bold(line, paint));
    const lines = next === heading ? [] : [...(heading === '' ? [] : ['']), ...title, ''];
    heading = next;
    return [...lines, ...linesOf(message, bodyOf(message, readHtml, paint), choices, clock, paint), ''].join('\n');
  };
  return { one: (value) => (value === undefined || value === null ? '' : row(value)), row, end: () => '' };
}

/** What a message says, and of a poll or list what it shows now. */
function bodyOf(
  message: MessageFields,
  readHtml: (html: string) => string,
  paint: ChalkInstance | undefined,
): MessageBody {
  const widget = widgetOf(message);
  // What a search found is marked in HTML that comes beside the content.
  const isMarked = paint !== undefined && textOf(message['match_content']) !== '';
  const { content, mark } = renderedOf(isMarked ? { content: message['match_content'] } : message);
  const read = isMarked || isHtml(message) ? readHtml(content) : plainLines(content.trimEnd());
  const { title, items } = widget?.shown ?? {};
  const shown =
    title === undefined ? read : plainLines([title, ...(items ?? []).map((item) => `• ${item}`)].join('\n'));
  return { text: mark === undefined ? shown : `${shown}\n${mark}`, kind: widget?.kind };
}

interface MessageBody {
  readonly text: string;
  /** Of a message that people act on in the chat. */
  readonly kind: string | undefined;
}

interface LocalClock {
  day(date: Date): string;
  time(date: Date): string;
}

function clockOf(): LocalClock {
  const day = new Intl.DateTimeFormat('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return {
    // Versions of Node differ in the commas of a whole date, not in its parts.
    day(date) {
      const parts = day.formatToParts(date).filter(({ type }) => type !== 'literal');
      return parts.map(({ value }) => value).join(' ');
    },
    time: (date) => time.format(date),
  };
}

/** The heading of a message; `topic`: its topic with what a search found in it marked. */
function headingOf(message: MessageFields, clock: LocalClock, topic?: string): string {
  const date = sentAt(message);
  const name = plain(conversationOf(message));
  const place = topic === undefined ? name : name.slice(0, -plain(textOf(message['subject'])).length) + topic;
  return `${place}${date ? ` — ${clock.day(date)}` : ''}`;
}

function linesOf(
  message: MessageFields,
  { text, kind }: MessageBody,
  choices: ConversationChoices,
  clock: LocalClock,
  paint: ChalkInstance | undefined,
): string[] {
  const date = sentAt(message);
  const marks = [...changesOf(message), ...(kind === undefined ? [] : [kind])];
  const sender = plain(senderOf(message));
  const isAction = message['is_me_message'] === true && text.startsWith('/me');
  const head = [
    date ? clock.time(date) : '--:--',
    bold(sender, paint),
    ...marks.map((mark) => faint(`(${plain(mark)})`, paint)),
  ].join('  ');
  const body = isAction ? `* ${sender}${text.slice('/me'.length)}` : text;
  const reactions = reactionsOf(message).map(({ emoji, count }) => `${plain(emoji)} ${count}`);
  return [
    ...wrapped(head, choices.width, ''),
    ...wrapped(body, choices.width, indent),
    ...(reactions.length > 0 ? wrapped(reactions.join('  '), choices.width, indent) : []),
  ];
}

function momentOf(text: string, clock: LocalClock): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? '' : `${clock.day(date)} ${clock.time(date)}`;
}

/** The escape sequences before and after a text; none without colour. */
function surroundings(style: ChalkInstance | undefined): readonly [string, string] {
  const [before = '', after = ''] = style?.('|').split('|') ?? [];
  return [before, after];
}

function bold(text: string, paint: ChalkInstance | undefined): string {
  return paint ? paint.bold(text) : text;
}

function faint(text: string, paint: ChalkInstance | undefined): string {
  return paint ? paint.dim(text) : text;
}
