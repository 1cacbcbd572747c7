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
  renderedOf,
  senderOf,
  sentAt,
  textOf,
  widgetOf,
  type MessageFields,
} from './message-parts.ts';

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
    resolve: (link) => (!URL.canParse(link) && URL.canParse(link, base) ? new URL(link, base).href : link),
    time: (moment) => momentOf(moment, clock),
  });
  const row = (value: unknown): string => {
    const message = asObject(value);
    if (!message) return `${plain(cellText(value))}\n`;
    base = textOf(message['url']);
    const { content, mark } = renderedOf(message);
    const read = isHtml(message) ? readHtml(content) : plainLines(content.trimEnd());
    const text = mark === undefined ? read : `${read}\n${mark}`;
    const next = headingOf(message, clock);
    const title = wrapped(next, choices.width, '').map((line) => bold(line, paint));
    const lines = next === heading ? [] : [...(heading === '' ? [] : ['']), ...title, ''];
    heading = next;
    return [...lines, ...linesOf(message, text, choices, clock, paint), ''].join('\n');
  };
  return { one: (value) => (value === undefined || value === null ? '' : row(value)), row, end: () => '' };
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

function headingOf(message: MessageFields, clock: LocalClock): string {
  const date = sentAt(message);
  return plain(`${conversationOf(message)}${date ? ` — ${clock.day(date)}` : ''}`);
}

function linesOf(
  message: MessageFields,
  text: string,
  choices: ConversationChoices,
  clock: LocalClock,
  paint: ChalkInstance | undefined,
): string[] {
  const date = sentAt(message);
  const marks = [...changesOf(message), widgetOf(message)].filter((mark) => mark !== undefined);
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
