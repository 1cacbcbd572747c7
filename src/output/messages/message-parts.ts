import { utcText } from '../../core/moment.ts';
import { emptyTopicName } from '../../schema/topic.ts';
import { asObject } from '../columns.ts';

/** A message as the server sent it; only the fields that are read here are named. */
export type MessageFields = Readonly<Record<string, unknown>>;

export type ShownMessage = ReturnType<typeof shownMessage>;

/** Reads all that documents for people show of a message. */
export function shownMessage(message: MessageFields) {
  const { display_recipient, subject, sender_full_name, sender_email, sender_id } = message;
  const { last_edit_timestamp: edit, last_moved_timestamp: move } = message;
  const people = recipientsOf(message);
  const [channel, topic, between] =
    people === undefined
      ? [`#${textOf(display_recipient)}`, textOf(subject) || emptyTopicName, ' > ']
      : ['Direct messages', people, ': '];
  const moment = utcText(message['timestamp']) ?? '';
  return {
    /** Its channel as `#general` and its topic, or the people of a direct conversation. */
    channel,
    topic,
    heading: channel + between + topic,
    sender: textOf(sender_full_name) || textOf(sender_email) || `user ${textOf(sender_id)}`,
    /** When it was sent in UTC, RFC 3339; empty where the message does not say so. */
    moment,
    day: moment.slice(0, 10),
    time: moment.slice(11, 16),
    // Words beside the sender. Before level 365 a move has the time of an edit.
    marks: [...(edit === undefined ? [] : ['edited']), ...(move === undefined ? [] : ['moved'])],
    ...renderedOf(message),
    isHtml: isHtml(message),
    isAction: message['is_me_message'] === true,
    reactions: reactionsOf(message),
  };
}

/** Tags of which neither form for people shows anything: scripts, styles, frames, fields of forms. */
export const droppedTags = ['script', 'style', 'textarea', 'option', 'noscript', 'iframe', 'object', 'svg', 'template'];

/** Attributes with the address of a picture or recording: the original before a copy or a thumbnail of the server. */
export const sourceAttributes = ['data-original-url', 'data-original-src', 'src'] as const;

/** The people of a direct conversation; undefined for a message of a channel. */
export function recipientsOf({ display_recipient: recipient }: MessageFields): string | undefined {
  if (!Array.isArray(recipient)) return undefined;
  const names = recipient.map((user: unknown) => {
    const { full_name: name, email } = asObject(user) ?? {};
    return textOf(name) || textOf(email) || 'unknown user';
  });
  return textOf(names.join(', '));
}

export function isHtml({ content_type: type }: MessageFields): boolean {
  return type !== 'text/x-markdown';
}

/** How often each emoji was given, in order of the first: its Unicode character, else its name between colons. */
function reactionsOf({ reactions }: MessageFields) {
  const counts = new Map<string, number>();
  for (const item of Array.isArray(reactions) ? (reactions as unknown[]) : []) {
    const { reaction_type: type, emoji_code: code, emoji_name: name } = asObject(item) ?? {};
    const character = type === 'unicode_emoji' ? characterOf(textOf(code)) : undefined;
    const emoji = character ?? `:${textOf(name)}:`;
    counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
  }
  return [...counts].map(([emoji, count]) => ({ emoji, count }));
}

/** The character of dash-separated code points in hexadecimal; undefined where they are none. */
export function characterOf(code: string): string | undefined {
  const points = code.split('-').map((part) => parseInt(part, 16));
  return points.every((point) => point <= 0x10ffff) ? String.fromCodePoint(...points) : undefined;
}

/** Longest text that is rendered: the slowest markup of that length takes about a second, and signals wait for it. */
const mostRendered = 150_000;

/** A message's content up to the length that is rendered, and the mark that follows where the rest is cut. */
export function renderedOf({ content }: MessageFields) {
  const cut = String(content).length - mostRendered;
  return { content: textOf(content), mark: cut > 0 ? `[cut: ${cut} more characters are not shown]` : undefined };
}

/** A text or a number of a message for people, up to the length that is rendered. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, mostRendered) : '';
}
