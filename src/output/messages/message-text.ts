import { htmlReader } from './html-text.ts';
import { isHtml, textOf, type MessageFields } from './message-parts.ts';

/** Reads the text of a message as one line without style, from HTML or from its Markdown source. */
export function messageText(): (message: MessageFields) => string {
  const readHtml = htmlReader({
    strong: ['', ''],
    faint: ['', ''],
    resolve: (link) => link,
    time: (moment) => moment,
  });
  return (message) => {
    const content = textOf(message['content']);
    return (isHtml(message) ? readHtml(content) : content).replace(/\s+/g, ' ').trim();
  };
}
