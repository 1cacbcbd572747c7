import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageQuery, MessageSource } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { maxUrlBytes, messageParameters } from '../../schema/messages.ts';

const idsLevel = messageParameters.message_ids.level;

/**
 * The messages of those ids, in as many requests as the limits of count and URL need. @throws Failure rejected where
 * the server is too old; incomplete at the end, naming missing ids, unless a narrow may have left them out
 */
export async function* messagesByIds<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<MessagePage<M>> {
  const found = new Set<number>();
  for await (const page of pagesOfIds(chat, query, ids)) {
    for (const { id } of page.messages) found.add(id);
    yield page;
  }
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length === 0 || (query.narrow ?? []).length > 0) return;
  const named = missing.slice(0, mostNamed).join(', ');
  const more = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : '';
  throw new Failure('incomplete', `no such message, or none that you may read: ${named}${more}`, { retryable: false });
}

/** Ids that are named one by one. */
const mostNamed = 20;

/** Messages of those ids alone; a missing one is no failure. @throws Failure rejected where `message_ids` is unknown */
export async function* pagesOfIds<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<MessagePage<M>> {
  for (const message_ids of portions(ids, query)) {
    const page = await explain(chat, chat.messages({ ...query, message_ids }));
    const asked = new Set(message_ids);
    yield { ...page, messages: page.messages.filter(({ id }) => asked.has(id)) };
  }
}

/** Older servers do not know message_ids, and miss the anchor. */
async function explain<T>(chat: Pick<ChatApi, 'level'>, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const level = cause instanceof Failure && cause.kind === 'rejected' ? await chat.level() : undefined;
    if (level === undefined || level >= idsLevel || !(cause instanceof Failure)) throw cause;
    throw cause.as('rejected', `--ids needs level ${idsLevel}; this server has ${level}`);
  }
}

/** As many ids as a URL holds, which are fewer than the 5000 of one request. */
export function portions(ids: readonly number[], { narrow = [] }: MessageQuery): number[][] {
  // Room for origin, path, narrow and other parameters.
  const others = 1000 + encodeURIComponent(writeJson(narrow)).length;
  const all: number[][] = [];
  let bytes = Infinity;
  for (const id of ids) {
    const size = String(id).length + ','.length;
    const last = all.at(-1);
    if (last && bytes + size < maxUrlBytes) {
      last.push(id);
      bytes += size;
    } else {
      all.push([id]);
      bytes = others + size;
    }
  }
  return all;
}

// Narrows to search known messages in: a server shows shared history only in a channel or all public ones.

export const inChannel = (operand: number) => [{ operator: 'channel', operand }];
export const inPublicChannels = [{ operator: 'channels', operand: 'public' }];
export const received: readonly object[] = [];

/** Whether the server finds messages by `message_ids`; one that does not report its level counts as new. */
export async function findsByIds(chat: Pick<ChatApi, 'level'>): Promise<boolean> {
  const level = await chat.level();
  return level === undefined || level >= idsLevel;
}

/** Those that the server shows in the query's narrow; an old server shows neighbours too. None of a closed channel. */
export async function* messagesOfIds<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<M> {
  const isFindable = await findsByIds(chat);
  const single = { ...query, num_before: 0, num_after: 0 };
  try {
    if (isFindable) for await (const { messages } of pagesOfIds(chat, query, ids)) yield* messages;
    else for (const id of ids) yield* (await chat.messages({ ...single, anchor: String(id) })).messages;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.details.server?.code !== 'BAD_NARROW') throw cause;
  }
}
