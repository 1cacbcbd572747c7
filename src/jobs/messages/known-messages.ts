import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageQuery, MessageSource } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { messageParameters } from '../../schema/messages.ts';
import { pagesOfIds } from './messages-by-ids.ts';

// Narrows to search known messages in, one after another: a server shows shared history only where a channel or the public channels are
// named, and without a narrow what the account received itself.

export const inChannel = (operand: number) => [{ operator: 'channel', operand }];
export const inPublicChannels = [{ operator: 'channels', operand: 'public' }];
export const received: readonly object[] = [];

/** Whether the server finds messages by `message_ids`; one that does not report its level counts as new. */
export async function findsByIds(chat: Pick<ChatApi, 'level'>): Promise<boolean> {
  const level = await chat.level();
  return level === undefined || level >= messageParameters.message_ids.level;
}

/**
 * Those of the messages that the server shows in the narrow of the query, by `message_ids` or one request each; an old server also shows
 * neighbours. None where the channel was archived or closed to the account.
 */
export async function* messagesOfIds<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<M> {
  const pages = (await findsByIds(chat)) ? pagesOfIds(chat, query, ids) : onePages(chat, query, ids);
  try {
    for await (const { messages } of pages) yield* messages;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.details.server?.code !== 'BAD_NARROW') throw cause;
  }
}

async function* onePages<M extends MessageHead>(
  chat: MessageSource<M>,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<MessagePage<M>> {
  for (const id of ids) yield await chat.messages({ ...query, anchor: String(id), num_before: 0, num_after: 0 });
}
