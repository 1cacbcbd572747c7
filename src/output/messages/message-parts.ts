import { asObject } from '../columns.ts';
import { characterOf } from './html-text.ts';

/** A message as the server sent it; only the fields that are read here are named. */
export type MessageFields = Readonly<Record<string, unknown>>;

/** What the messages of one heading share: a channel and topic, or the people of a direct conversation. */
export function conversationOf(message: MessageFields): string {
  const { display_recipient: recipient, subject } = message;
  const people = recipientsOf(message);
  return people === undefined
    ? `#${textOf(recipient)} > ${textOf(subject) || '(empty topic)'}`
    : `Direct messages: ${people}`;
}

/** The people of a direct conversation; undefined for a message of a channel. */
export function recipientsOf({ display_recipient: recipient }: MessageFields): string | undefined {
  if (!Array.isArray(recipient)) return undefined;
  return textOf(recipient.map((user: unknown) => nameOf(asObject(user))).join(', '));
}

function nameOf(user: MessageFields | undefined): string {
  return textOf(user?.['full_name']) || textOf(user?.['email']) || 'unknown user';
}

export function senderOf({ sender_full_name: name, sender_email: address, sender_id: id }: MessageFields): string {
  return textOf(name) || textOf(address) || `user ${textOf(id)}`;
}

/** UTC seconds of sending as a date; undefined where the message has none. */
export function sentAt({ timestamp }: MessageFields): Date | undefined {
  const date = typeof timestamp === 'number' ? new Date(timestamp * 1000) : undefined;
  return date && !Number.isNaN(date.getTime()) ? date : undefined;
}

interface ReactionCount {
  /** The character of an emoji of Unicode, else its name between colons. */
  readonly emoji: string;
  readonly count: number;
}

/** How often each emoji was given, in the order of the first. */
export function reactionsOf({ reactions }: MessageFields): readonly ReactionCount[] {
  const counts = new Map<string, number>();
  for (const item of Array.isArray(reactions) ? (reactions as unknown[]) : []) {
    const emoji = emojiOf(asObject(item) ?? {});
    counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
  }
  return [...counts].slice(0, mostReactions).map(([emoji, count]) => ({ emoji, count }));
}

/** More emoji than any message has. */
const mostReactions = 200;

function emojiOf({ reaction_type: type, emoji_code: code, emoji_name: name }: MessageFields): string {
  const character = type === 'unicode_emoji' ? characterOf(textOf(code)) : undefined;
  return character ?? `:${textOf(name)}:`;
}

/**
 * Whether a message was edited, moved, or both. Before level 365 `last_edit_timestamp` covers moves too, so the history decides
 * where the server shows one (docs/apis.md, Messages).
 */
export function changesOf(message: MessageFields): readonly ('edited' | 'moved')[] {
  const { edit_history: history, last_edit_timestamp: edit, last_moved_timestamp: move } = message;
  const events = Array.isArray(history) ? history.map((event: unknown) => asObject(event) ?? {}) : [];
  const has = (...names: string[]): boolean => events.some((event) => names.some((name) => Object.hasOwn(event, name)));
  const isMoved = move !== undefined || has('prev_topic', 'prev_subject', 'prev_stream');
  const isEdited =
    has('prev_content', 'prev_rendered_content') || (edit !== undefined && !(isMoved && move === undefined));
  return [...(isEdited ? (['edited'] as const) : []), ...(isMoved ? (['moved'] as const) : [])];
}

export function isHtml({ content_type: type }: MessageFields): boolean {
  return type !== 'text/x-markdown';
}

/** Characters of a text that are rendered: the slowest markup of that length takes about a second, in which no signal is heard. */
const mostRendered = 150_000;

/** A message's content as far as it is rendered, and the mark that follows where the rest is cut. */
export function renderedOf({ content }: MessageFields): {
  readonly content: string;
  readonly mark: string | undefined;
} {
  const cut = typeof content === 'string' ? content.length - mostRendered : 0;
  return { content: textOf(content), mark: cut > 0 ? `[cut: ${cut} more characters are not shown]` : undefined };
}

/** A text or a number of a message for people, as far as it is rendered. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, mostRendered) : '';
}
