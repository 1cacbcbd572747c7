// The requests of a purge that change the topic, or find what left it (docs/apis.md, Deleting a topic).
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageQuery, RawMessage } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { CallEnd } from '../../store/archive/line-file.ts';
import { findMessages, findsByIds } from '../messages/messages-by-ids.ts';
import type { Topic } from './find-channel.ts';
import type { PurgeRun } from './purge-archive.ts';

/** Thrown before a delete call is sent, to end it: its look is too old. */
export class Unsent extends Error {}

/** This many calls in a row that come too late end the purge. */
export const maxUnsent = 5;

/**
 * The latest time for a delete call after the topic was read (docs/apis.md, Looks). @param waits before each page
 * @param span from the first request to the last response @param earlier calls in a row that were too late
 */
export function expiryOf(waits: readonly Milliseconds[], span: Milliseconds, now: Milliseconds, earlier: number) {
  const waited = waits.reduce((sum, wait) => sum + wait, 0);
  const between = earlier < 2 ? waited - (waits[0] ?? 0) : 0;
  return now - between + Math.max(2000, (2 * (span - waited)) / waits.length);
}

/**
 * Ctrl-C waits for the response. A call that a read-only profile or an unverified server refuses is not sent, nor one
 * whose `before` fails. @throws Failure of a signal, the deadline, or what was not sent
 */
export async function callDeleteTopic(
  { chat, signal, say }: PurgeRun,
  { channel, topic_name }: Topic,
  before: () => Promise<void>,
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
    if (cause instanceof Unsent) return { end: 'unsent' };
    if (!call.isSent || !(cause instanceof Failure) || cause.isInterruption) throw cause;
    return { end: isBroken(cause) ? 'broken' : 'failed', failure: cause };
  } finally {
    signal.removeEventListener('abort', sayWaiting);
  }
}

/** True if the call broke on the server, as where somebody else writes to the messages; a timeout does not count. */
function isBroken({ details: { http, server } }: Failure): boolean {
  return http?.status === 500 && server?.code !== 'REQUEST_TIMEOUT';
}

/** The same API, which requests each page once, for at most 10 s, after Ctrl-C too. */
export function askOnce(chat: ChatApi): ChatApi {
  const limits = { repeat: 'never', timeout: 10_000, outlasts: 'earlier Ctrl-C' } as const;
  return { ...chat, messages: (query: MessageQuery) => chat.messages(query, limits) };
}

/** Below level 154 any error but a refusal of the account may be a timeout that kept what it had deleted. */
export function isRepeatable({ kind, details: { server, http } }: Failure, level: number | undefined): boolean {
  if (kind === 'unavailable' || server?.code === 'REQUEST_TIMEOUT') return true;
  if (http?.status === undefined || http.status < 400 || http.status === 401) return false;
  if (server?.code === 'UNAUTHORIZED_PRINCIPAL') return false;
  return level !== undefined && level < topicLevels.partial;
}

/** Searches for messages that left the topic; below level 300 for a sample with the oldest, which is deleted last. */
export async function findGone(chat: ChatApi, { channel }: Topic, gone: readonly number[]) {
  const open = new Set((await findsByIds(chat)) ? gone : sampleOf(gone));
  const asked = open.size === gone.length ? ('all' as const) : ('sample' as const);
  const found: RawMessage[] = [];
  try {
    for await (const message of findMessages(chat, { apply_markdown: false }, channel.stream_id, [...open])) {
      open.delete(message.id);
      found.push(message);
    }
  } catch (cause) {
    // Messages that an earlier request found exist, whatever becomes of the next request.
    if (!(cause instanceof Failure) || cause.isInterruption || found.length === 0) throw cause;
    return { found, missing: [], asked: 'sample' as const };
  }
  return { found, missing: [...open], asked };
}

/** How many messages are requested one by one where the server does not know `message_ids`. */
const sampleSize = 8;

function sampleOf(ids: readonly number[]): number[] {
  const step = Math.max(1, (ids.length - 1) / (sampleSize - 1));
  const places = Array.from({ length: Math.min(sampleSize, ids.length) }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => ids[place] ?? []);
}
