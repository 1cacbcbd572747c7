import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/known-messages.ts';
import type { Channel } from './find-channel.ts';

/** Messages that exist although their topic was deleted: it was renamed or resolved, or they were moved, meanwhile. */
export interface Survivors {
  readonly count: number;
  /** Where they are, as `#channel > topic`. */
  readonly places: readonly string[];
  /** Only some of the ids were asked for: there may be more survivors. */
  readonly isSample: boolean;
}

/** Messages that are asked for one by one where the server does not know `message_ids`. */
const sampleSize = 8;

/**
 * Asks for messages by their ids, ascending: in their channel, then in all public channels, then among those that the account
 * received itself. Below level 300 a sample of them, the oldest included, since servers delete the oldest message last.
 */
export async function lookElsewhere(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  { stream_id }: Channel,
  ids: readonly number[],
): Promise<Survivors> {
  const isSample = !(await findsByIds(chat));
  const places = new Set<string>();
  let open = isSample ? sampleOf(ids) : ids;
  let count = 0;
  for (const narrow of [inChannel(stream_id), inPublicChannels, received]) {
    const wanted = new Set(open);
    const query = { narrow, apply_markdown: false };
    for await (const message of messagesOfIds(chat, query, open)) {
      if (!wanted.delete(message.id)) continue;
      count += 1;
      places.add(placeOf(message));
    }
    open = [...wanted];
  }
  return { count, places: [...places], isSample };
}

function sampleOf(ids: readonly number[]): number[] {
  const step = Math.max(1, (ids.length - 1) / (sampleSize - 1));
  const places = Array.from({ length: Math.min(sampleSize, ids.length) }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => ids[place] ?? []);
}

function placeOf({ display_recipient, subject }: Message): string {
  const channel = typeof display_recipient === 'string' ? `#${display_recipient}` : 'a direct conversation';
  return `${channel} > ${String(subject)}`;
}

/** @throws Failure incomplete naming where the survivors are */
export function refuseSurvivors(topic_name: string, known: number, { count, places, isSample }: Survivors): void {
  if (count === 0) return;
  const few = places.slice(0, 10).map((place) => `'${place}'`);
  const more = places.length > few.length ? ` and ${places.length - few.length} other topics` : '';
  const rest = isSample ? '' : `; ${known - count} were deleted`;
  throw new Failure(
    'incomplete',
    `topic '${topic_name}': ${isSample ? 'at least ' : ''}${count} of ${known} messages were not deleted and are in ${few.join(', ')}${more}${rest}`,
    { hint: 'They were renamed or moved during the deletion: delete them under that name.', retryable: false },
  );
}
