import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { messageParameters } from '../../schema/messages.ts';
import { pagesOfIds } from '../messages/messages-by-ids.ts';
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
  const level = await chat.level();
  const isSample = level !== undefined && level < messageParameters.message_ids.level;
  const places = new Set<string>();
  let open = isSample ? sampleOf(ids) : ids;
  let count = 0;
  for (const narrow of scopesOf(stream_id)) {
    const wanted = new Set(open);
    const query = { narrow, apply_markdown: false };
    for await (const message of readable(isSample ? onePages(chat, query, open) : pagesOfIds(chat, query, open))) {
      if (!wanted.delete(message.id)) continue;
      count += 1;
      places.add(placeOf(message));
    }
    open = [...wanted];
  }
  return { count, places: [...places], isSample };
}

/** A narrow widens what is searched: shared history is shown only where a channel or the public channels are named. */
function scopesOf(stream_id: number): readonly (readonly object[])[] {
  return [[{ operator: 'channel', operand: stream_id }], [{ operator: 'channels', operand: 'public' }], []];
}

/** The messages of pages; none of a channel that was archived or closed to the account meanwhile. */
async function* readable(pages: AsyncIterable<MessagePage>): AsyncGenerator<Message> {
  try {
    for await (const { messages } of pages) yield* messages;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.details.server?.code !== 'BAD_NARROW') throw cause;
  }
}

function sampleOf(ids: readonly number[]): number[] {
  const step = Math.max(1, (ids.length - 1) / (sampleSize - 1));
  const places = Array.from({ length: Math.min(sampleSize, ids.length) }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => ids[place] ?? []);
}

async function* onePages(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<MessagePage> {
  for (const id of ids) yield await chat.messages({ ...query, anchor: String(id), num_before: 0, num_after: 0 });
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
