// Where messages are that left the topic of a purge: they were renamed, resolved or moved meanwhile, or deleted.
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/messages-by-ids.ts';
import type { Channel } from './find-channel.ts';

/** Below level 300 a sample is asked for, the oldest included, since servers delete the oldest message last. */
export async function findGone(
  chat: Pick<ChatApi, 'raw' | 'level'>,
  { stream_id }: Channel,
  gone: readonly number[],
): Promise<{
  readonly found: readonly MessageHead[];
  readonly missing: readonly number[];
  readonly unasked: readonly number[];
}> {
  const asked = new Set((await findsByIds(chat)) ? gone : sampleOf(gone));
  const unasked = gone.filter((id) => !asked.has(id));
  const found: MessageHead[] = [];
  for (const narrow of [inChannel(stream_id), inPublicChannels, received])
    for await (const message of messagesOfIds({ ...chat.raw, level: chat.level }, { narrow, apply_markdown: false }, [
      ...asked,
    ]))
      if (asked.delete(message.id)) found.push(message);
  return { found, missing: [...asked], unasked };
}

/** Messages that are asked for one by one where the server does not know `message_ids`. */
const sampleSize = 8;

function sampleOf(ids: readonly number[]): number[] {
  const step = Math.max(1, (ids.length - 1) / (sampleSize - 1));
  const places = Array.from({ length: Math.min(sampleSize, ids.length) }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => ids[place] ?? []);
}
