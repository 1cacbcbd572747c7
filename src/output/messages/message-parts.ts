import { jsonIn } from '../../core/json.ts';
import { utcText } from '../../core/moment.ts';
import { emptyTopicName } from '../../schema/topic.ts';
import { asObject } from '../columns.ts';

/** A message as the server sent it; only the fields that are read here are named. */
export type MessageFields = Readonly<Record<string, unknown>>;

export type ShownMessage = ReturnType<typeof shownMessage>;

/** Reads all that documents for people show of a message. */
export function shownMessage(message: MessageFields) {
  const { display_recipient, subject, sender_full_name, sender_email, sender_id } = message;
  const people = recipientsOf(message);
  const [channel, topic, between] =
    people === undefined
      ? [`#${textOf(display_recipient)}`, textOf(subject) || emptyTopicName, ' > ']
      : ['Direct messages', people, ': '];
  const moment = utcText(message['timestamp']) ?? '';
  const widget = widgetOf(message);
  return {
    /** Its channel as `#general` and its topic, or the people of a direct conversation. */
    channel,
    topic,
    heading: channel + between + topic,
    user: sender_id,
    sender: textOf(sender_full_name) || textOf(sender_email) || `user ${textOf(sender_id)}`,
    /** When it was sent in UTC, RFC 3339; empty where the message does not say so. */
    moment,
    day: moment.slice(0, 10),
    time: moment.slice(11, 16),
    seconds: Number(message['timestamp']),
    marks: marksOf(message, widget),
    ...renderedOf(message),
    /** The present state of a poll or list, shown in place of its text. */
    list: widget?.shown,
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
function marksOf(message: MessageFields, widget: { readonly kind: string } | undefined): readonly string[] {
  const { edit_history: history, last_edit_timestamp: edit, last_moved_timestamp: move } = message;
  const events = Array.isArray(history) ? history.map((event: unknown) => asObject(event) ?? {}) : [];
  const has = (...names: string[]): boolean => events.some((event) => names.some((name) => Object.hasOwn(event, name)));
  const isMoved = move !== undefined || has('prev_topic', 'prev_subject', 'prev_stream');
  const isEdited =
    has('prev_content', 'prev_rendered_content') || (edit !== undefined && !(isMoved && move === undefined));
  return [...(isEdited ? ['edited'] : []), ...(isMoved ? ['moved'] : []), ...(widget ? [widget.kind] : [])];
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

interface Widget {
  /** `poll`, `todo`, or whatever the server calls it. */
  readonly kind: string;
  /** The text that it shows now, in place of the command; undefined for a kind that is not known here. */
  readonly shown?: { readonly title: string; readonly items: readonly WidgetItem[] } | undefined;
}

interface WidgetItem {
  readonly text: string;
  /** How many people chose it; absent where nothing is to be chosen. */
  readonly votes?: number;
}

/** The poll or list that the submessages of a message make (docs/apis.md, Polls and to-do lists). */
export function widgetOf({ submessages, sender_id: author }: MessageFields): Widget | undefined {
  const [first, ...others] = listOf(submessages, mostEvents);
  if (first === undefined) return undefined;
  const { data } = eventOf(first);
  const kind = textOf(data['widget_type']) || 'interactive';
  const begin = kind === 'poll' ? pollOf : kind === 'todo' ? tasksOf : undefined;
  const widget = begin?.(asObject(data['extra_data']) ?? {});
  for (const { data: event, sender } of widget ? others.map(eventOf) : [])
    widget?.change(event, sender, sender === textOf(author));
  return { kind, shown: widget?.shown() };
}

const mostEvents = 20_000;
const mostItems = 500;
const longestItem = 1000;

/** The sender and words of a submessage; nothing where that is no JSON. */
function eventOf(submessage: unknown) {
  const { content, sender_id: sender } = asObject(submessage) ?? {};
  return { data: asObject(jsonIn(textOf(content))?.value) ?? {}, sender: textOf(sender) };
}

/** A poll or list while its events are read. What the author alone may do is `own`. */
interface WidgetEvents {
  change(event: MessageFields, sender: string, own: boolean): void;
  shown(): Widget['shown'];
}

function pollOf({ question, options }: MessageFields): WidgetEvents {
  const [choices, votes] = [new Map<string, string>(), new Map<string, Set<string>>()];
  let title = lineOf(question);
  const add = (key: string, option: unknown): void => {
    const text = lineOf(option);
    if (choices.size < mostItems && ![...choices.values()].includes(text)) choices.set(key, text);
  };
  for (const [index, option] of listOf(options).entries()) add(`canned,${index}`, option);
  return {
    change({ type, idx, option, key, vote, question: asked }, sender, own) {
      if (type === 'new_option') add(`${sender},${textOf(idx)}`, option);
      else if (type === 'question' && own) title = lineOf(asked);
      else if (type === 'vote') {
        const voters = votes.get(textOf(key)) ?? new Set();
        if (vote === 1) voters.add(sender);
        else voters.delete(sender);
        votes.set(textOf(key), voters);
      }
    },
    shown: () => ({
      title: title || 'Poll',
      items: [...choices].map(([key, text]) => {
        const count = votes.get(key)?.size ?? 0;
        return { text: `${text}: ${count} ${count === 1 ? 'vote' : 'votes'}`, votes: count };
      }),
    }),
  };
}

function tasksOf({ task_list_title: begun, tasks: given }: MessageFields): WidgetEvents {
  const [tasks, done] = [new Map<string, string>(), new Set<string>()];
  let title = lineOf(begun);
  const add = (key: string, value: unknown): void => {
    const { task, desc, completed } = asObject(value) ?? {};
    const text = [lineOf(task), lineOf(desc)].filter((part) => part !== '').join(': ');
    if (tasks.size < mostItems) tasks.set(key, text);
    if (completed === true) done.add(key);
  };
  for (const [index, task] of listOf(given).entries()) add(`${index},canned`, task);
  return {
    change(event, sender, own) {
      const { type, key, title: renamed } = event;
      if (type === 'new_task') add(`${textOf(key)},${sender}`, event);
      else if (type === 'new_task_list_title' && own) title = lineOf(renamed);
      else if (type === 'strike' && !done.delete(textOf(key))) done.add(textOf(key));
    },
    shown: () => ({
      title: title || 'Task list',
      items: [...tasks].map(([key, text]) => ({ text: `[${done.has(key) ? 'x' : ' '}] ${text}` })),
    }),
  };
}

function listOf(value: unknown, most = mostItems): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.slice(0, most);
}

function lineOf(value: unknown): string {
  return textOf(value).slice(0, longestItem).replace(/\s+/g, ' ').trim();
}
