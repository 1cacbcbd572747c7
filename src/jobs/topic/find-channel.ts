// Finds channels and topics by what a person types, and similar names where there is none.
import type { ChatApi } from '../../api/chat/chat.ts';
import { forward, onlyMessage } from '../../api/chat/message-pages.ts';
import { Failure, ifAnswered, usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { maxMessages } from '../../schema/messages.ts';
import { readName } from '../../schema/narrow.ts';
import { foldTopic, isSameName } from '../../schema/topic.ts';
import { nearNames } from '../../schema/nearest.ts';
import { inChannel, unlessClosed } from '../messages/messages-by-ids.ts';
import { channelsIn } from '../../schema/selection.ts';

/** A channel, with its name in the server's spelling; without a name where the account sees no message of it. */
export interface Channel {
  readonly stream_id: number;
  readonly name?: string | undefined;
}

export interface Topic {
  readonly channel: Channel;
  /** As typed: the server compares it without regard to case. */
  readonly topic_name: string;
  /** The name in sentences; with the channel in a run over a file, whose topics may be in several channels. */
  readonly label: string;
}

/** A key that is the same for two spellings which the server takes for one topic. */
export function topicKey(stream_id: number, topic_name: string): string {
  return `${stream_id} ${foldTopic(topic_name)}`;
}

/** Names a topic together with its channel. */
export function labelOf({ channel, topic_name }: Pick<Topic, 'channel' | 'topic_name'>): string {
  return `#${channel.name ?? channel.stream_id} > ${topic_name}`;
}

/** The command that lists the topics of a channel. */
export function topicListLine({ stream_id, name = String(stream_id) }: Channel): string {
  const isDoubtful = name !== String(stream_id) && /^\d+$|:/.test(name);
  return commandLine('topic list', [isDoubtful ? `name:${name}` : name]);
}

/**
 * The channel of an id (`7`, `id:7`) or a name (`kitchen`, `name:2024`), from its newest message: the specification
 * has no list of channels. @throws Failure not_found, also for a name of which the account sees no message; usage
 * for digits that also name another channel; unavailable where the server answers with another channel's messages
 */
export async function findChannel(chat: ChatApi, text: string): Promise<Channel> {
  const wanted = readName(text);
  const channel = await channelFor(chat, wanted);
  if (!channel) throw await noChannel(chat, wanted);
  // Digits without `id:` may also be the name of a channel.
  const named = wanted === Number(text) ? await channelFor(chat, text) : undefined;
  if (!named || named.stream_id === channel.stream_id) return channel;
  const name = channel.name === undefined ? '' : `'${channel.name}' `;
  throw usage(
    `'${text}' is the id of the channel ${name}and the name of another channel`,
    `Write id:${text} or name:${text}.`,
  );
}

/**
 * Finds a channel by its newest message or in the list of channels; undefined where the server does not know it.
 * @throws Failure not_found where the account sees nothing of it, or not its id; unavailable
 */
async function channelFor(chat: ChatApi, operand: number | string): Promise<Channel | undefined> {
  const query = { narrow: inChannel(operand), anchor: 'newest', num_before: 1, num_after: 0 };
  const page = await unlessClosed(chat.messages(query));
  if (!page) return undefined;
  const message = onlyMessage(page, 'found_oldest');
  const rows = message ? undefined : await chat.channels();
  const row = rows?.find((one) => isNamedSo(one, operand));
  const found = message
    ? channelIn(message.read('stream_id'), message.read('display_recipient'))
    : channelIn(row?.['stream_id'], row?.['name']);
  if (found) return found;
  if (!message && !rows && typeof operand === 'number') return { stream_id: operand };
  throw new Failure('not_found', `nothing of the channel '${operand}' is visible to this account`, {
    hint: 'It is archived, or it is private and the account is not in it. If it is empty, give its id.',
  });
}

function channelIn(stream_id: unknown, name: unknown): Channel | undefined {
  return typeof stream_id === 'number' ? { stream_id, name: typeof name === 'string' ? name : undefined } : undefined;
}

function isNamedSo({ stream_id, name }: JsonObject, operand: number | string): boolean {
  return typeof operand === 'number' ? stream_id === operand : isSameName(String(name), operand.trim());
}

/** Explains an empty result; other errors here are ignored. @throws Failure not_found for a hidden channel */
export async function refuseHiddenChannels(chat: ChatApi, narrow: readonly unknown[]): Promise<void> {
  try {
    for (const operand of channelsIn(narrow)) await channelFor(chat, operand);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption || cause.kind === 'not_found') throw cause;
  }
}

/** The visible channels in the order of their ids, without `left`. @throws Failure rejected; not_found for these */
export async function everyChannel(chat: ChatApi, left: readonly string[]): Promise<Channel[]> {
  const rows = await chat.channels();
  if (!rows) throw new Failure('rejected', 'this server does not list channels', { hint: 'Name one channel.' });
  const leftOut = left.map(readName);
  const missing = leftOut.find((one) => !rows.some((row) => isNamedSo(row, one)));
  if (missing !== undefined) throw await noChannel(chat, missing);
  return rows
    .filter((row) => !leftOut.some((one) => isNamedSo(row, one)))
    .flatMap(({ stream_id, name }) => channelIn(stream_id, name) ?? [])
    .sort((one, other) => one.stream_id - other.stream_id);
}

/** The failure for an unknown channel: it says that digits are a name, or lists similar names. */
export async function noChannel(chat: ChatApi, wanted: number | string): Promise<Failure> {
  const channels = (await ifAnswered(chat.channels())) ?? [];
  if (typeof wanted === 'number' && channels.some(({ name }) => name === String(wanted)))
    return new Failure('not_found', `no channel has the id ${wanted}; a channel is named so`, {
      hint: `Write name:${wanted} for the channel of that name.`,
    });
  const near = nearRows(channels, 'name', String(wanted), ({ stream_id }) => `id:${String(stream_id)}`);
  const hint = near === '' ? 'Give a name or an id that channel list shows.' : undefined;
  return new Failure('not_found', `no channel '${wanted}'${near}`, { hint });
}

/** Lists rows with similar names, each with what to type: `; general is id:1`. */
export function nearRows<R extends JsonObject>(
  rows: readonly R[],
  field: keyof R & string,
  wanted: string,
  typed: (row: R) => string,
): string {
  const known = rows.map((row) => row[field]).filter((name) => typeof name === 'string');
  const names = nearNames(wanted, known);
  const near = rows.filter((row) => names.includes(String(row[field]))).slice(0, 3);
  return near.map((row) => `; ${String(row[field])} is ${typed(row)}`).join('');
}

/** A channel's topics, the one with the newest message first; undefined where the server does not list them. */
export async function topicNamesIn(chat: ChatApi, { stream_id }: Channel): Promise<string[] | undefined> {
  return (await chat.topics(stream_id))?.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

/** A topic by its messages: their ids, ascending, and UTC seconds. */
export interface ListedTopic {
  /** The name as the newest message spells it. */
  readonly topic_name: string;
  readonly ids: number[];
  readonly first_timestamp: number;
  readonly last_timestamp: number;
}

/**
 * The topics of a channel, the one with the newest message first, from all its messages; only their ids are held.
 * `isLimited`: the plan hides older messages; `isChanged`: it hid some while they were read.
 */
export async function listTopics(chat: ChatApi, channel: Channel) {
  const topics = new Map<string, ListedTopic>();
  let [isLimited, isChanged] = [false, false];
  const query = { narrow: inChannel(channel.stream_id), apply_markdown: false, allow_empty_topic_name: true };
  // The pages are large, since the server limits requests, and nothing of the pages but ids is kept.
  for await (const page of forward(chat, query, { anchor: 'oldest', page: maxMessages })) {
    isLimited ||= page.history_limited;
    isChanged ||= page.view_changed === true;
    for (const message of page.messages) {
      const [topic_name, time] = [String(message.read('subject')), Number(message.read('timestamp'))];
      const key = foldTopic(topic_name);
      const known = topics.get(key);
      const first_timestamp = Math.min(known?.first_timestamp ?? time, time);
      const last_timestamp = Math.max(known?.last_timestamp ?? time, time);
      const ids = known?.ids ?? [];
      ids.push(message.id);
      topics.set(key, { topic_name, ids, first_timestamp, last_timestamp });
    }
  }
  const newestFirst = [...topics.values()].sort((one, other) => other.last_timestamp - one.last_timestamp);
  return { topics: newestFirst, isLimited, isChanged };
}
