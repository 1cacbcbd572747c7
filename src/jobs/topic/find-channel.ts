import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message, MessageHead, MessagePage } from '../../api/chat/chat-messages.ts';
import { onlyMessage } from '../../api/chat/message-pages.ts';
import { Failure, usage } from '../../core/failure.ts';
import { readName } from '../../schema/narrow.ts';
import { isSameName } from '../../schema/topic.ts';
import { nearChannels } from './near.ts';

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
  chat: Pick<ChatApi, 'messages'>,
  operand: number | string,
): Promise<{ readonly message: Message | undefined } | undefined> {
  const narrow = [{ operator: 'channel', operand }];
  try {
    const page = await chat.messages({ narrow, anchor: 'newest', num_before: 1, num_after: 0 });
    const isOf = ({ stream_id, display_recipient }: Message): boolean => {
      if (typeof operand === 'number') return stream_id === operand;
      return typeof display_recipient === 'string' && isSameName(display_recipient, operand.trim());
    };
    checkMessages(page, isOf, String(operand));
    return { message: onlyMessage(page, 'found_oldest') };
  } catch (cause) {
    if (cause instanceof Failure && cause.details.server?.code === 'BAD_NARROW') return undefined;
    throw cause;
  }
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
  const near = isNamed ? undefined : await nearChannels(chat, text.replace(/^name:/, ''));
  return new Failure(
    'not_found',
    isNamed ? `no channel has the id ${text}; a channel is named so` : `no channel '${text}'${near ?? ''}`,
    {
      hint: isNamed
        ? `Write name:${text} for the channel of that name.`
        : 'Give the name or the id of a channel that the account can see.',
    },
  );
}

async function refuseAmbiguous(
  chat: Pick<ChatApi, 'messages'>,
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

/** Pages whose messages are all those asked for. @throws what `checkMessages` throws */
export async function* checkedPages<M extends MessageHead>(
  pages: AsyncIterable<MessagePage<M>>,
  isAsked: (message: M) => boolean,
  what: string,
): AsyncGenerator<MessagePage<M>> {
  for await (const page of pages) {
    checkMessages(page, isAsked, what);
    yield page;
  }
}

/**
 * Refuses a page whose messages are not those asked for: the server ignored the narrow, with or without saying so.
 * @throws Failure unavailable
 */
export function checkMessages<M extends MessageHead>(
  page: MessagePage<M>,
  isAsked: (message: M) => boolean,
  what: string,
): void {
  if (page.ignored.includes('narrow')) throw untrusted(`the server ignored the narrow that asks for '${what}'`);
  const other = page.messages.find((message) => !isAsked(message));
  if (!other) return;
  const { stream_id, display_recipient, subject } = other;
  const place = typeof display_recipient === 'string' ? `'${display_recipient}'` : 'a direct conversation';
  throw untrusted(
    `the server was asked for '${what}' and answered with message ${other.id} of ${place} (id ${String(stream_id)}), topic '${String(subject)}'`,
  );
}

function untrusted(message: string): Failure {
  return new Failure('unavailable', `${message}: such an answer is not used, and nothing more is deleted`, {
    hint: 'Check the site URL of the profile, and any proxy between it and this machine.',
    retryable: false,
  });
}
