// Messages that are known by their ids: those that a person types, and those that left the place where they were.
import type { MessagePage, MessageQuery, RawMessage } from '../../api/chat/chat-messages.ts';
import type { ChatApi } from '../../api/chat/chat.ts';
import { once } from '../../core/batch.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { maxUrlBytes, messageParameters } from '../../schema/messages.ts';

const mostNamed = 20;

/**
 * The messages of those ids, in as many requests as the limits of count and URL need. @throws Failure incomplete at
 * the end, naming missing ids, unless a narrow may have left them out
 */
export async function* messagesByIds(
  chat: ChatApi,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<MessagePage> {
  const missing = new Set(ids);
  for (const message_ids of portions(ids, query)) {
    const page = await chat.messages({ ...query, message_ids });
    yield { ...page, messages: page.messages.filter(({ id }) => missing.delete(id)) };
  }
  if (missing.size === 0 || (query.narrow ?? []).length > 0) return;
  const named = [...missing].slice(0, mostNamed).join(', ');
  const more = missing.size > mostNamed ? ` and ${missing.size - mostNamed} more` : '';
  throw new Failure('incomplete', `no such message, or none that you may read: ${named}${more}`, { retryable: false });
}

/** Splits ids into as many as a URL holds, which are fewer than the 5000 of one request. */
export function portions(ids: readonly number[], { narrow = [] }: MessageQuery): number[][] {
  // Room for origin, path, narrow and other parameters.
  const others = 1000 + encodeURIComponent(writeJson(narrow)).length;
  const all: number[][] = [];
  let bytes = Infinity;
  for (const id of ids) {
    const size = `${id},`.length;
    if (bytes + size >= maxUrlBytes) {
      all.push([]);
      bytes = others;
    }
    all.at(-1)?.push(id);
    bytes += size;
  }
  return all;
}

// Narrows in which known messages are searched: shared history is shown only in a channel or all public ones.

export const inChannel = (operand: number | string) => [{ operator: 'channel', operand }];
export const inPublicChannels = [{ operator: 'channels', operand: 'public' }];
export const received: readonly object[] = [];

/** True if the server finds messages by `message_ids`; a server that does not report its level counts as new. */
export async function findsByIds(chat: ChatApi): Promise<boolean> {
  const level = await chat.level();
  return level === undefined || level >= messageParameters.message_ids.level;
}

/** Yields those messages that the server shows in the query's narrow; none in a channel that is not visible. */
export async function* messagesOfIds(chat: ChatApi, query: MessageQuery, ids: readonly number[]) {
  const all = (await findsByIds(chat))
    ? portions(ids, query).map((message_ids) => ({ message_ids }))
    : ids.map((id) => ({ anchor: String(id), num_before: 0, num_after: 0 }));
  const asked = new Set(ids);
  for (const request of all) {
    const page = await unlessClosed(chat.messages({ ...query, ...request }));
    if (!page) return;
    // An old server returns their neighbours too.
    yield* page.messages.filter(({ id }) => asked.has(id));
  }
}

/** Searches in the messages' channel, undefined for direct ones, in all public channels, and in received messages. */
export async function* findMessages(
  chat: ChatApi,
  form: MessageQuery,
  channel: number | string | undefined,
  ids: readonly number[],
) {
  const open = new Set(ids);
  for (const narrow of channel === undefined ? [received] : [inChannel(channel), inPublicChannels, received])
    for await (const message of messagesOfIds(chat, { ...form, narrow }, [...open]))
      if (open.delete(message.id)) yield message;
}

/** The response; undefined where a narrow names a channel that does not exist, or that the account does not see. */
export async function unlessClosed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof Failure && cause.details.server?.code === 'BAD_NARROW') return undefined;
    throw cause;
  }
}

/** The most requests of one run: a server allows so many in a minute. */
const mostRequests = 200;

export type PrivateSearch = ReturnType<typeof privateSearch>;

/** Finds messages moved to private channels with shared history; one for each run (docs/apis.md, Private channels). */
export function privateSearch(chat: ChatApi) {
  let left = mostRequests;
  const channels = once(async () => {
    const rows = ((await chat.channels()) ?? []).filter(
      ({ invite_only, history_public_to_subscribers: isShared }) => invite_only === true && isShared === true,
    );
    return rows.flatMap(({ stream_id: id }) => (typeof id === 'number' ? [id] : []));
  });
  return {
    channels,
    /** Calls `take` with what it finds. Returns how many channels were not searched for the other ids. */
    async find(form: MessageQuery, ids: readonly number[], take: (message: RawMessage) => void): Promise<number> {
      const open = new Set(ids);
      const all = open.size > 0 ? await channels() : [];
      for (const [index, channel] of all.entries()) {
        const query = { ...form, narrow: inChannel(channel) };
        for (const some of (await findsByIds(chat)) ? portions([...open], query) : [...open].map((id) => [id])) {
          if (left === 0) return all.length - index;
          left -= 1;
          for await (const message of messagesOfIds(chat, query, some)) if (open.delete(message.id)) take(message);
        }
      }
      return 0;
    },
  };
}
