import { replaceUploads } from '../../schema/upload.ts';
import { asObject, cellText, unlessNothing } from '../columns.ts';
import { painter } from '../paint.ts';
import { plain, plainLines } from '../plain.ts';
import type { Formatter, Presentation } from '../presentation.ts';
import { wrapLines } from '../wrap.ts';
import { htmlReader } from './html-text.ts';
import { isHtml, renderedOf, shownMessage, textOf, type MessageFields, type ShownMessage } from './message-parts.ts';
import type { PageHead } from './page-shell.ts';

const indent = '  ';

type ConversationLook = Pick<Presentation, 'width' | 'color' | 'zoneMark'> & Partial<Pick<PageHead, 'links'>>;

/** Messages for people: a heading for each topic and day, local time, sender and wrapped text. The form may change. */
export function conversation({ width, color, links, zoneMark }: ConversationLook): Formatter {
  const paint = painter(color ? 1 : 0);
  let heading = '';
  let base = '';
  const clock = clockOf(zoneMark);
  const readHtml = htmlReader({
    resolve: (link) => (!URL.canParse(link) && URL.canParse(link, base) ? new URL(link, base).href : link),
    time(moment) {
      const date = new Date(moment);
      return Number.isNaN(date.getTime()) ? '' : `${clock.day(date)} ${clock.time(date)}`;
    },
  });
  const linesOf = (shown: ShownMessage, date: Date | undefined): string[] => {
    const { content, mark } = shown;
    let text = shown.isHtml ? readHtml(content) : plainLines(content.trimEnd());
    if (links)
      text = replaceUploads(text, links.site, (path, _address, before) => {
        const place = links.fileAt(path);
        return place !== undefined && before.endsWith('<') ? `<${place}>` : place;
      });
    if (mark !== undefined) text += `\n${mark}`;
    const sender = plain(shown.sender);
    const marks = shown.marks.map((word) => paint.dim(`(${plain(word)})`));
    const head = [date ? clock.time(date) : '--:--', paint.bold(sender), ...marks].join('  ');
    const body = shown.isAction && text.startsWith('/me') ? `* ${sender}${text.slice('/me'.length)}` : text;
    const reactions = shown.reactions.map(({ emoji, count }) => `${plain(emoji)} ${count}`).join('  ');
    const lines = [...wrapLines(head, width, ''), ...wrapLines(body, width, indent)];
    return reactions === '' ? lines : [...lines, ...wrapLines(reactions, width, indent)];
  };
  const row = (value: unknown): string => {
    const message = asObject(value);
    if (!message) return `${plain(cellText(value))}\n`;
    base = textOf(message['url']);
    const shown = shownMessage(message);
    const date = shown.moment === '' ? undefined : new Date(shown.moment);
    const day = date ? ` — ${clock.day(date)}` : '';
    const place = plain(shown.heading);
    const next = place + day;
    const isNext = next !== heading;
    const isFirst = heading === '';
    heading = next;
    const title = isNext ? wrapLines(next, width, '').map((line) => paint.bold(line)) : [];
    const lines = isNext ? [...(isFirst ? [] : ['']), ...title, ''] : [];
    return [...lines, ...linesOf(shown, date), ''].join('\n');
  };
  return { one: unlessNothing(row), row, end: () => '' };
}

/** Reads the text of a message as one line without style, from HTML or from its Markdown source. */
export function messageText(): (message: MessageFields) => string {
  const readHtml = htmlReader({ resolve: (link) => link, time: (moment) => moment });
  return (message) => {
    const { content, mark = '' } = renderedOf(message);
    return `${isHtml(message) ? readHtml(content) : content} ${mark}`.replace(/\s+/g, ' ').trim();
  };
}

function clockOf(zoneMark = () => '') {
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return {
    // Versions of Node differ in the commas of a whole date, not in its parts.
    day(date: Date): string {
      const parts = day.formatToParts(date).filter(({ type }) => type !== 'literal');
      return parts.map(({ value }) => value).join(' ');
    },
    time: (date: Date): string => `${time.format(date)}${zoneMark()}`,
  };
}
