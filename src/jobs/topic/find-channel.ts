import type { ChatApi } from '../../api/chat/chat.ts';
import { onlyMessage } from '../../api/chat/message-pages.ts';
import { Failure, usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { readName } from '../../schema/narrow.ts';
import { foldTopic, isSameName, isSameTopic } from '../../schema/topic.ts';
import { nearNames } from '../../schema/nearest.ts';
import { channelsIn, operandsIn } from '../messages/selection.ts';
import { refuseIgnored } from '../messages/places.ts';
import { topicNamesIn, unknownChannel } from './near.ts';

/** A channel of the server, its name in the server's spelling; without one where the account sees no message of it. */
export interface Channel {
  readonly stream_id: number;
  readonly name?: string | undefined;
  /** The list of channels says that it has no message. */
  readonly isEmpty?: boolean;
}

export interface Topic {
  readonly channel: Channel;
  /** As typed: the server compares it without regard to case. */
  readonly topic_name: string;
  /** Its name in sentences of a run over a file, whose topics may be of several channels. */
  readonly label?: string | undefined;
}

/** The same for two topics that are one for the server. */
export function topicKey(stream_id: number, topic_name: string): string {
  return `${stream_id} ${foldTopic(topic_name)}`;
}

/** A topic among those of several channels. */
export function labelOf({ channel, topic_name }: Topic): string {
  return `#${channel.name ?? channel.stream_id} > ${topic_name}`;
}

export function shownName({ label, topic_name }: Pick<Topic, 'label' | 'topic_name'>): string {
  return label ?? topic_name;
}

/** The channel as the argument CHANNEL takes it. */
export function channelWord({ stream_id, name = String(stream_id) }: Channel): string {
  return name !== String(stream_id) && /^\d+$|:/.test(name) ? `name:${name}` : name;
}

/**
 * The channel of an id (`7`, `id:7`) or a name (`kitchen`, `name:2024`), from its newest message: the specification
 * has no list of channels. @throws Failure not_found, also for a name of which the account sees no message; usage
 * for digits that also name another channel; unavailable where the server answers with another channel's messages
 */
export async function findChannel(chat: Pick<ChatApi, 'messages' | 'channels'>, text: string): Promise<Channel> {
  const wanted = readName(text);
  const found = await channelFor(chat, wanted);
  if (!found) throw await noChannel(chat, text);
  const { channel } = found;
  if (!channel)
    throw new Failure('not_found', `the account sees no message of the channel '${text}' that shows its id`, {
      hint: 'Give the id of the channel.',
    });
  // Digits alone can be meant as a name.
  const named = wanted === Number(text) ? await channelFor(chat, text) : undefined;
  if (!named || named.channel?.stream_id === channel.stream_id) return channel;
  throw usage(
    `'${text}' is the id of the channel ${channel.name === undefined ? '' : `'${channel.name}' `}and the name of another channel`,
    `Write id:${text} or name:${text}.`,
  );
}

/**
 * By its newest message, or the list of channels; undefined where the server does not know it, `channel` where
 * neither shows it. @throws Failure not_found where the account sees nothing of it; unavailable
 */
async function channelFor(
  chat: Pick<ChatApi, 'messages' | 'channels'>,
  operand: number | string,
): Promise<{ readonly channel: Channel | undefined } | undefined> {
  const narrow = [{ operator: 'channel', operand }];
  try {
    const page = await chat.messages({ narrow, anchor: 'newest', num_before: 1, num_after: 0 });
    refuseIgnored(page);
    const message = onlyMessage(page, 'found_oldest');
    if (message) return { channel: channelIn(message['stream_id'], message['display_recipient']) };
    const rows = await chat.channels();
    const row = rows?.find((one) => isNamedSo(one, operand));
    if (row) return { channel: channelIn(row['stream_id'], row['name']) };
    if (rows)
      throw new Failure('not_found', `nothing of the channel '${operand}' is visible to this account`, {
        hint: 'It is archived, or it is private and the account is not in it.',
      });
    return { channel: typeof operand === 'number' ? { stream_id: operand } : undefined };
  } catch (cause) {
    if (cause instanceof Failure && cause.details.server?.code === 'BAD_NARROW') return undefined;
    throw cause;
  }
}

function channelIn(stream_id: unknown, name: unknown): Channel | undefined {
  return typeof stream_id === 'number' ? { stream_id, name: typeof name === 'string' ? name : undefined } : undefined;
}

function isNamedSo({ stream_id, name }: JsonObject, operand: number | string): boolean {
  return typeof operand === 'number' ? stream_id === operand : isSameName(String(name), operand.trim());
}

/**
 * A topic that the channel does not have, with near names; undefined where nothing explains it, or a look fails.
 * @throws Failure not_found for a channel of which nothing is visible
 */
export async function whyEmpty(
  chat: Pick<ChatApi, 'messages' | 'channels' | 'topics'>,
  narrow: readonly unknown[],
): Promise<string | undefined> {
  try {
    for (const operand of channelsIn(narrow)) {
      const channel = (await channelFor(chat, operand))?.channel;
      const known = channel && (await topicNamesIn(chat, channel));
      for (const topic of known ? operandsIn(narrow, 'topic').map(String) : []) {
        if (known?.some((name) => isSameTopic(name, topic))) continue;
        const near = nearNames(topic, known ?? []).map((name) => `'${name}'`);
        const name = String(channel?.name ?? operand);
        const names = near.length > 0 ? `near: ${near.join(', ')}` : `its topics: ${commandLine('topic list', [name])}`;
        return `no topic '${topic}' in the channel '${name}'; ${names}`;
      }
    }
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption || cause.kind === 'not_found') throw cause;
  }
  return undefined;
}

async function noChannel(chat: Pick<ChatApi, 'channels'>, text: string): Promise<Failure> {
  const [message, { hint }] = (await unknownChannel(chat, readName(text))) ?? [`no channel '${text}'`, {}];
  return new Failure('not_found', message, { hint: hint ?? 'Give a name or an id that channel list shows.' });
}

/** The visible channels by id, but those left out. @throws Failure rejected; not_found for one that is missing */
export async function everyChannel(chat: Pick<ChatApi, 'channels'>, left: readonly string[]): Promise<Channel[]> {
  const rows = await chat.channels();
  if (!rows) throw new Failure('rejected', 'this server does not list channels', { hint: 'Name one channel.' });
  const missing = left.find((text) => !rows.some((row) => isNamedSo(row, readName(text))));
  if (missing !== undefined) throw await noChannel(chat, missing);
  return rows
    .filter((row) => !left.some((text) => isNamedSo(row, readName(text))))
    .flatMap(({ stream_id, name, first_message_id: first }) => {
      const channel = channelIn(stream_id, name);
      return channel ? { ...channel, isEmpty: first === null } : [];
    })
    .sort((one, other) => one.stream_id - other.stream_id);
}
