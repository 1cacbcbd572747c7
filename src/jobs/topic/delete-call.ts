// One call of delete_topic: how it ended, and whether another may follow (docs/apis.md, Deleting a topic).
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { CallEnd } from '../../store/archive/line-file.ts';
import type { Topic } from './find-channel.ts';

interface CallResult {
  readonly end: CallEnd;
  readonly failure?: Failure;
}

/**
 * Ctrl-C waits for the response. A call that a read-only profile or an unverified server refuses is not sent, nor one
 * whose `before` fails. @throws Failure of a signal, the deadline, or what was not sent
 */
export async function callDeleteTopic(
  chat: Pick<ChatApi, 'deleteTopic'>,
  { channel, topic_name }: Topic,
  before: () => Promise<void>,
  { signal, note }: { readonly signal: AbortSignal; note(text: string): void },
): Promise<CallResult> {
  const call = { isSent: false };
  const say = (): void => {
    if (signal.reason instanceof Failure && signal.reason.kind === 'cancelled')
      note('waiting for the response to the delete call under way; Ctrl-C again leaves at once');
  };
  signal.addEventListener('abort', say);
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
    signal.removeEventListener('abort', say);
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
