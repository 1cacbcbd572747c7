import type { ChalkInstance } from 'chalk';
import { replaceUploads } from '../../schema/upload.ts';
import { asObject, cellText } from '../columns.ts';
import { painter } from '../paint.ts';
import { plain, plainLines } from '../plain.ts';
import type { Formatter, Presentation } from '../presentation.ts';
import { wrapLines } from '../wrap.ts';
import { htmlReader } from './html-text.ts';
import {
  conversationOf,
  isHtml,
  marksOf,
  reactionsOf,
  recipientsOf,
  renderedOf,
  senderOf,
  sentAt,
  textOf,
  type MessageFields,
} from './message-parts.ts';
import type { PageHead } from './page-shell.ts';
import { widgetOf } from './widget.ts';

const indent = '  ';

type ConversationLook = Pick<Presentation, 'width' | 'color'> & Partial<Pick<PageHead, 'links'>>;

/** Messages for people: a heading for each topic and day, then local time, sender and wrapped text. It may change. */
export function conversation({ width, color, links }: ConversationLook): Formatter {
  const paint = painter(color ? 1 : 0);
  let heading = '';
  let base = '';
  const clock = clockOf();
  const readHtml = htmlReader({
    strong: surroundings(paint.bold),
    faint: surroundings(paint.dim),
    found: surroundings(paint.inverse),
    resolve: (link) => (!URL.canParse(link) && URL.canParse(link, base) ? new URL(link, base).href : link),
    time(moment) {
      const date = new Date(moment);
      return Number.isNaN(date.getTime()) ? '' : `${clock.day(date)} ${clock.time(date)}`;
    },
  });
  /** The heading of a message; `topic`: its topic with what a search found in it marked. */
  const headingOf = (message: MessageFields, topic = ''): string => {
    const date = sentAt(message);
    const name = plain(conversationOf(message));
    const place = topic === '' ? name : name.slice(0, -plain(textOf(message['subject'])).length) + topic;
    return `${place}${date ? ` — ${clock.day(date)}` : ''}`;
  };
  /** The text of a message, and of a poll or list what it shows now. */
  const linesOf = (message: MessageFields): string[] => {
    const widget = widgetOf(message);
    // HTML beside the content marks what a search found.
    const isMarked = color && textOf(message['match_content']) !== '';
    const { content, mark } = renderedOf(isMarked ? { content: message['match_content'] } : message);
    const { title, items = [] } = widget?.shown ?? {};
    let text = isMarked || isHtml(message) ? readHtml(content) : plainLines(content.trimEnd());
    if (title !== undefined) text = plainLines([title, ...items.map((item) => `• ${item.text}`)].join('\n'));
    if (links)
      text = replaceUploads(text, links.site, (path, _address, before) => {
        const place = links.fileAt(path);
        return place !== undefined && before.endsWith('<') ? `<${place}>` : place;
      });
    if (mark !== undefined) text += `\n${mark}`;
    const date = sentAt(message);
    const sender = plain(senderOf(message));
    const marks = marksOf(message, widget).map((word) => paint.dim(`(${plain(word)})`));
    const head = [date ? clock.time(date) : '--:--', paint.bold(sender), ...marks].join('  ');
    const isAction = message['is_me_message'] === true && text.startsWith('/me');
    const body = isAction ? `* ${sender}${text.slice('/me'.length)}` : text;
    const reactions = reactionsOf(message).map(({ emoji, count }) => `${plain(emoji)} ${count}`);
    return [
      ...wrapLines(head, width, ''),
      ...wrapLines(body, width, indent),
      ...(reactions.length > 0 ? wrapLines(reactions.join('  '), width, indent) : []),
    ];
  };
  const row = (value: unknown): string => {
    const message = asObject(value);
    if (!message) return `${plain(cellText(value))}\n`;
    base = textOf(message['url']);
    const next = headingOf(message);
    const topic = color && recipientsOf(message) === undefined ? readHtml(textOf(message['match_subject'])) : '';
    const title = wrapLines(headingOf(message, topic), width, '').map((line) => paint.bold(line));
    const lines = next === heading ? [] : [...(heading === '' ? [] : ['']), ...title, ''];
    heading = next;
    return [...lines, ...linesOf(message), ''].join('\n');
  };
  return { one: (value) => (value === undefined || value === null ? '' : row(value)), row, end: () => '' };
}

/** Reads the text of a message as one line without style, from HTML or from its Markdown source. */
export function messageText(): (message: MessageFields) => string {
  const plainStyle = { strong: ['', ''], faint: ['', ''] } as const;
  const readHtml = htmlReader({ ...plainStyle, resolve: (link) => link, time: (moment) => moment });
  return (message) => {
    const { content, mark = '' } = renderedOf(message);
    return `${isHtml(message) ? readHtml(content) : content} ${mark}`.replace(/\s+/g, ' ').trim();
  };
}

function clockOf() {
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return {
    // Versions of Node differ in the commas of a whole date, not in its parts.
    day(date: Date): string {
      const parts = day.formatToParts(date).filter(({ type }) => type !== 'literal');
      return parts.map(({ value }) => value).join(' ');
    },
    time: (date: Date): string => time.format(date),
  };
}

/** The escape sequences before and after a text; none without colour. */
function surroundings(style: ChalkInstance): readonly [string, string] {
  const [before = '', after = ''] = style('|').split('|');
  return [before, after];
}
