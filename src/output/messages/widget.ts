import { jsonIn } from '../../core/json.ts';
import { asObject } from '../columns.ts';
import { textOf, type MessageFields } from './message-parts.ts';

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
