import { emptyTopicName } from '../../schema/topic.ts';
import { asObject } from '../columns.ts';

/** A message as the server sent it; only the fields that are read here are named. */
export type MessageFields = Readonly<Record<string, unknown>>;

/** Where a message is: its channel as `#general` and its topic, or the people of a direct conversation. */
export function placeOf(message: MessageFields): { readonly channel: string; readonly topic: string } {
  const { display_recipient: recipient, subject } = message;
  const people = recipientsOf(message);
  return people === undefined
    ? { channel: `#${textOf(recipient)}`, topic: textOf(subject) || emptyTopicName }
    : { channel: direct, topic: people };
}

const direct = 'Direct messages';

export function conversationOf(message: MessageFields): string {
  const { channel, topic } = placeOf(message);
  return channel === direct ? `${channel}: ${topic}` : `${channel} > ${topic}`;
}

/** The people of a direct conversation; undefined for a message of a channel. */
export function recipientsOf({ display_recipient: recipient }: MessageFields): string | undefined {
  if (!Array.isArray(recipient)) return undefined;
  const names = recipient.map((user: unknown) => {
    const { full_name: name, email } = asObject(user) ?? {};
    return textOf(name) || textOf(email) || 'unknown user';
  });
  return textOf(names.join(', '));
}

export function senderOf({ sender_full_name: name, sender_email: address, sender_id: id }: MessageFields): string {
  return textOf(name) || textOf(address) || `user ${textOf(id)}`;
}

/** UTC seconds of sending as a date; undefined where the message has none. */
export function sentAt({ timestamp }: MessageFields): Date | undefined {
  const date = typeof timestamp === 'number' ? new Date(timestamp * 1000) : undefined;
  return date && !Number.isNaN(date.getTime()) ? date : undefined;
}

/** The day of sending in UTC, as 2026-03-01; empty where the message has none. */
export function dayOf(message: MessageFields): string {
  return sentAt(message)?.toISOString().slice(0, 10) ?? '';
}

/** How often each emoji was given, in order of the first: its Unicode character, else its name between colons. */
export function reactionsOf({ reactions }: MessageFields) {
  const counts = new Map<string, number>();
  for (const item of Array.isArray(reactions) ? (reactions as unknown[]) : []) {
    const { reaction_type: type, emoji_code: code, emoji_name: name } = asObject(item) ?? {};
    const character = type === 'unicode_emoji' ? characterOf(textOf(code)) : undefined;
    const emoji = character ?? `:${textOf(name)}:`;
    counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
  }
  return [...counts].slice(0, mostReactions).map(([emoji, count]) => ({ emoji, count }));
}

/** The character of dash-separated code points in hexadecimal; undefined where they are none. */
export function characterOf(code: string): string | undefined {
  const points = code.split('-').map((part) => parseInt(part, 16));
  return points.every((point) => point >= 0 && point <= 0x10ffff) ? String.fromCodePoint(...points) : undefined;
}

/** More emoji than any message has. */
const mostReactions = 200;

/** Words beside the sender. Before level 365 `last_edit_timestamp` covers moves too, and the history decides. */
export function marksOf(message: MessageFields, widget: { readonly kind: string } | undefined): readonly string[] {
  const { edit_history: history, last_edit_timestamp: edit, last_moved_timestamp: move } = message;
  const events = Array.isArray(history) ? history.map((event: unknown) => asObject(event) ?? {}) : [];
  const has = (...names: string[]): boolean => events.some((event) => names.some((name) => Object.hasOwn(event, name)));
  const isMoved = move !== undefined || has('prev_topic', 'prev_subject', 'prev_stream');
  const isEdited =
    has('prev_content', 'prev_rendered_content') || (edit !== undefined && !(isMoved && move === undefined));
  return [...(isEdited ? ['edited'] : []), ...(isMoved ? ['moved'] : []), ...(widget ? [widget.kind] : [])];
}

export function isHtml({ content_type: type }: MessageFields): boolean {
  return type !== 'text/x-markdown';
}

/** Longest text that is rendered: the slowest markup of that length takes about a second, and signals wait for it. */
const mostRendered = 150_000;

/** A message's content up to the length that is rendered, and the mark that follows where the rest is cut. */
export function renderedOf({ content }: MessageFields) {
  const cut = typeof content === 'string' ? content.length - mostRendered : 0;
  return { content: textOf(content), mark: cut > 0 ? `[cut: ${cut} more characters are not shown]` : undefined };
}

/** A text or a number of a message for people, up to the length that is rendered. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, mostRendered) : '';
}
