import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessageQuery, MessageSource } from '../../api/chat/chat-messages.ts';
import type { JsonObject } from '../../core/json.ts';
import { findsByIds, inChannel, messagesOfIds, portions } from './messages-by-ids.ts';

/** Requests of one run: what a server allows in a minute. */
const mostRequests = 200;

export type PrivateSearch = ReturnType<typeof privateSearch>;

/** Finds what was moved into private channels with shared history; one for a run (docs/apis.md, Private channels). */
export function privateSearch(chat: Pick<ChatApi, 'channels' | 'level'>) {
  let known: Promise<readonly number[]> | undefined;
  let left = mostRequests;
  const channels = (): Promise<readonly number[]> => (known ??= sharedPrivateChannels(chat));
  return {
    channels,
    /** `take` gets what is found, and where. Returns in how many channels the other ids were not looked for. */
    async find<M extends MessageHead>(
      source: MessageSource<M>,
      form: MessageQuery,
      ids: readonly number[],
      take: (message: M, channel: number) => void,
    ): Promise<ReadonlyMap<number, number>> {
      const unsearched = new Map<number, number>();
      const open = new Set(ids);
      for (const channel of open.size > 0 ? await channels() : []) {
        const query = { ...form, narrow: inChannel(channel) };
        const requests = (await findsByIds(chat)) ? portions([...open], query) : [...open].map((id) => [id]);
        for (const some of requests) {
          if (left === 0) for (const id of some) unsearched.set(id, (unsearched.get(id) ?? 0) + 1);
          else {
            left -= 1;
            for await (const message of messagesOfIds({ ...source, level: chat.level }, query, some))
              if (open.delete(message.id)) take(message, channel);
          }
        }
      }
      return unsearched;
    },
  };
}

async function sharedPrivateChannels(chat: Pick<ChatApi, 'channels'>): Promise<readonly number[]> {
  const rows = ((await chat.channels()) ?? []).filter(isSharedPrivate);
  return rows.flatMap(({ stream_id: id }) => (typeof id === 'number' ? [id] : []));
}

export function isSharedPrivate({ invite_only, history_public_to_subscribers: isShared }: JsonObject): boolean {
  return invite_only === true && isShared === true;
}
