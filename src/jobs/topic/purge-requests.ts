// The requests of a purge: a look at the topic, a delete call, and the search for messages that left it (docs/apis.md,
// Looks, Deleting a topic). They know nothing of what was before.
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageQuery, RawMessage } from '../../api/chat/chat-messages.ts';
import { backward, forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { CallEnd } from '../../store/archive/line-file.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/messages-by-ids.ts';
import type { Channel, Topic } from './find-channel.ts';
import type { PurgeArchive } from './purge-archive.ts';
import { checked, page, queryOf, type Looking } from './survey-topics.ts';

/** `newest` reads on until it is enough; `one page` is asked for after Ctrl-C too, for at most 10 s. */
export type LookExtent = 'whole' | 'newest' | 'one page';

export interface TopicLook {
  /** Ascending. */
  readonly ids: readonly number[];
  /** The lowest id that it reached; null where it read the whole topic. */
  readonly from: number | null;
  readonly pages: number;
  /** Messages of which the archive lacks the version that was seen, ascending. */
  readonly unkept: readonly RawMessage[];
}

/** Reads the topic from its newest message downward. @throws Failure as surveyTopic */
export async function lookAt(
  chat: Looking,
  topic: Topic,
  extent: LookExtent,
  isEnough: (ids: readonly number[]) => boolean,
  archive: PurgeArchive | undefined,
): Promise<TopicLook> {
  const pages: (readonly number[])[] = [];
  const unkept: RawMessage[] = [];
  let from: number | null = null;
  const limits = { repeat: 'never', timeout: 10_000, outlasts: 'earlier Ctrl-C' } as const;
  const messages = (query: MessageQuery) => chat.messages(query, extent === 'one page' ? limits : undefined);
  const read = backward({ messages }, queryOf(topic), { anchor: 'newest', page });
  for await (const { messages: shown, found_oldest } of checked(chat, topic, read)) {
    pages.unshift(shown.map(({ id }) => id));
    unkept.unshift(...shown.filter((message) => archive?.lacks(message)));
    const isLast = extent === 'one page' || (extent === 'newest' && isEnough(pages.flat()));
    if (found_oldest || !isLast) continue;
    from = shown[0]?.id ?? Infinity;
    break;
  }
  return { ids: pages.flat(), from, pages: pages.length, unkept };
}

/** Times that what has come during the archiving is looked for. */
const maxCatchUps = 3;

/** Archives what a look showed, and newer messages, for which the last request before a call is. Returns their ids. */
export async function archiveSeen(
  chat: Looking,
  topic: Topic,
  { ids, pages, unkept }: TopicLook,
  archive: PurgeArchive | undefined,
): Promise<readonly number[]> {
  await archive?.add(unkept);
  const came: number[] = [];
  const newest = ids.at(-1);
  if (newest === undefined || (pages === 1 && unkept.length === 0)) return came;
  for (let round = 0; round < maxCatchUps; round += 1) {
    const query = { ...queryOf(topic), include_anchor: false };
    const fresh: RawMessage[] = [];
    const read = forward(chat, query, { anchor: String(came.at(-1) ?? newest), page });
    for await (const { messages } of checked(chat, topic, read)) fresh.push(...messages);
    if (fresh.length === 0) break;
    await archive?.add(fresh.filter((message) => archive.lacks(message)));
    came.push(...fresh.map(({ id }) => id));
  }
  return came;
}

/**
 * Ctrl-C waits for the response. A call that a read-only profile or an unverified server refuses is not sent, nor one
 * whose `before` fails. @throws Failure of a signal, the deadline, or what was not sent
 */
export async function callDeleteTopic(
  chat: Pick<ChatApi, 'deleteTopic'>,
  { channel, topic_name }: Topic,
  before: () => Promise<void>,
  { signal, say }: { readonly signal: AbortSignal; say(text: string): void },
): Promise<{ readonly end: CallEnd; readonly failure?: Failure }> {
  const call = { isSent: false };
  const sayWaiting = (): void => {
    if (signal.reason instanceof Failure && signal.reason.kind === 'cancelled')
      say('waiting for the response to the delete call under way; Ctrl-C again leaves at once');
  };
  signal.addEventListener('abort', sayWaiting);
  try {
    const { complete } = await chat.deleteTopic(channel.stream_id, topic_name, async () => {
      await before();
      call.isSent = true;
    });
    return { end: complete ? 'whole' : 'part' };
  } catch (cause) {
    if (!call.isSent || !(cause instanceof Failure) || cause.isInterruption) throw cause;
    return { end: isBroken(cause) ? 'broken' : 'failed', failure: cause };
  } finally {
    signal.removeEventListener('abort', sayWaiting);
  }
}

/** Whether the server broke in the call, as where somebody else writes to the messages; a timeout is no such sign. */
function isBroken({ details: { http, server } }: Failure): boolean {
  return http?.status === 500 && server?.code !== 'REQUEST_TIMEOUT';
}

/** Whether the server said that it deletes, though it ignored a part of the request. */
export function isAccepted({ details: { http } }: Failure): boolean {
  return http?.status !== undefined && http.status < 300;
}

/** Below level 154 any error but a refusal of the account may be a timeout that kept what it had deleted. */
export function isRepeatable({ kind, details: { server, http } }: Failure, level: number | undefined): boolean {
  if (kind === 'unavailable' || server?.code === 'REQUEST_TIMEOUT') return true;
  if (http?.status === undefined || http.status < 400 || http.status === 401) return false;
  if (server?.code === 'UNAUTHORIZED_PRINCIPAL') return false;
  return level !== undefined && level < topicLevels.partial;
}

/** Whether a failure says nothing of the server's further responses. */
export function isAnswering(cause: unknown): boolean {
  return cause instanceof Failure && !cause.isInterruption && !(cause.kind === 'unavailable' && cause.details.http);
}

/** Below level 300 a sample is asked for, the oldest included, since servers delete the oldest message last. */
export async function findGone(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  { stream_id }: Channel,
  gone: readonly number[],
) {
  const asked = new Set((await findsByIds(chat)) ? gone : sampleOf(gone));
  const unasked = gone.filter((id) => !asked.has(id));
  const source = chat;
  const found: RawMessage[] = [];
  try {
    for (const narrow of [inChannel(stream_id), inPublicChannels, received])
      for await (const message of messagesOfIds(source, { narrow, apply_markdown: false }, [...asked]))
        if (asked.delete(message.id)) found.push(message);
  } catch (cause) {
    // What an earlier request found lives on, whatever becomes of the next one.
    if (!(cause instanceof Failure) || cause.isInterruption || found.length === 0) throw cause;
    return { found, missing: [], unasked: gone.filter((id) => !found.some((message) => message.id === id)) };
  }
  return { found, missing: [...asked], unasked };
}

/** Messages that are asked for one by one where the server does not know `message_ids`. */
const sampleSize = 8;

function sampleOf(ids: readonly number[]): number[] {
  const step = Math.max(1, (ids.length - 1) / (sampleSize - 1));
  const places = Array.from({ length: Math.min(sampleSize, ids.length) }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => ids[place] ?? []);
}
