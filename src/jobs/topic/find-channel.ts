import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import { onlyMessage } from '../../api/chat/message-pages.ts';
import { Failure, usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { readName } from '../../schema/narrow.ts';
import { isSameName } from '../../schema/topic.ts';
import { isOldCopy, refuseIgnored } from '../messages/places.ts';
import { digitsAreAName, nearChannels } from './near.ts';

/** A channel of the server, its name in the server's spelling; without one where the account sees no message of it. */
export interface Channel {
  readonly stream_id: number;
  readonly name?: string | undefined;
}

/**
 * The channel of an id (`7`, `id:7`) or a name (`kitchen`, `name:2024`), from its newest message: the API of the specification
 * has no list of channels.
 * @throws Failure not_found, also for the name of a channel of which the account sees no message; usage for digits that are also the name
 * of another channel; unavailable where the server answers with messages of another channel
 */
export async function findChannel(chat: Pick<ChatApi, 'messages' | 'channels'>, text: string): Promise<Channel> {
  const channel = await lookUpChannel(chat, text);
  if (channel) return channel;
  throw new Failure('not_found', `the account sees no message of the channel '${text}' that shows its id`, {
    hint: 'Give the id of the channel.',
  });
}

/** The same; undefined for the name of a channel of which the account sees no message. */
export async function lookUpChannel(
  chat: Pick<ChatApi, 'messages' | 'channels'>,
  text: string,
): Promise<Channel | undefined> {
  const wanted = readName(text);
  const found = await newestOf(chat, wanted);
  if (!found) throw await noChannel(chat, text);
  const channel = channelOf(wanted, found.message);
  // Digits alone can be meant as a name.
  if (channel && wanted === Number(text)) await refuseAmbiguous(chat, channel, text);
  return channel;
}

/**
 * The newest message of a channel, if it has one; undefined where the server does not know the channel, or does not let the account see it.
 * @throws Failure unavailable for an empty answer that does not say that nothing is there
 */
async function newestOf(
  chat: Pick<ChatApi, 'messages' | 'channels'>,
  operand: number | string,
): Promise<{ readonly message: Message | undefined } | undefined> {
  const narrow = [{ operator: 'channel', operand }];
  try {
    const page = await chat.messages({ narrow, anchor: 'newest', num_before: 1, num_after: 0 });
    refuseIgnored(page);
    const message = onlyMessage(page, 'found_oldest');
    return { message: message && isOldCopy(message) ? await listed(chat, operand, message.id) : message };
  } catch (cause) {
    if (cause instanceof Failure && cause.details.server?.code === 'BAD_NARROW') return undefined;
    throw cause;
  }
}

/** A message that names another channel than its own says nothing of it: the list of channels does. */
async function listed(
  chat: Pick<ChatApi, 'channels'>,
  operand: number | string,
  id: number,
): Promise<Message | undefined> {
  const isIt = ({ stream_id, name }: JsonObject): boolean =>
    typeof operand === 'number' ? stream_id === operand : isSameName(String(name), operand.trim());
  const channel = (await chat.channels())?.find(isIt);
  if (channel) return { id, stream_id: channel['stream_id'], display_recipient: channel['name'] };
  return typeof operand === 'number' ? { id, stream_id: operand } : undefined;
}

function channelOf(wanted: number | string, message: Message | undefined): Channel | undefined {
  if (!message) return typeof wanted === 'number' ? { stream_id: wanted } : undefined;
  const { stream_id, display_recipient } = message;
  if (typeof stream_id !== 'number') return undefined;
  return { stream_id, name: typeof display_recipient === 'string' ? display_recipient : undefined };
}

/** Digits are an id; where only a channel of that name is there, the error says how it is named. */
async function noChannel(chat: Pick<ChatApi, 'messages' | 'channels'>, text: string): Promise<Failure> {
  const isNamed = /^\d+$/.test(text) && (await newestOf(chat, text)) !== undefined;
  if (isNamed) return new Failure('not_found', ...digitsAreAName(text));
  const near = await nearChannels(chat, text.replace(/^name:/, ''));
  return new Failure('not_found', `no channel '${text}'${near ?? ''}`, {
    hint: 'Give the name or the id of a channel that the account can see.',
  });
}

async function refuseAmbiguous(
  chat: Pick<ChatApi, 'messages' | 'channels'>,
  { stream_id, name }: Channel,
  text: string,
): Promise<void> {
  const found = await newestOf(chat, text);
  if (!found || found.message?.['stream_id'] === stream_id) return;
  throw usage(
    `'${text}' is the id of the channel ${name === undefined ? '' : `'${name}' `}and the name of another channel`,
    `Write id:${text} or name:${text}.`,
  );
}
