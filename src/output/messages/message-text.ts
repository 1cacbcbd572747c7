import { htmlReader } from './html-text.ts';
import { isHtml, renderedOf, type MessageFields } from './message-parts.ts';

/** Reads the text of a message as one line without style, from HTML or from its Markdown source. */
export function messageText(): (message: MessageFields) => string {
  const readHtml = htmlReader({
    strong: ['', ''],
    faint: ['', ''],
    resolve: (link) => link,
    time: (moment) => moment,
  });
  return (message) => {
    const { content, mark = '' } = renderedOf(message);
    return `${isHtml(message) ? readHtml(content) : content} ${mark}`.replace(/\s+/g, ' ').trim();
  };
}
