import { topicLevels } from '../../schema/topic.ts';
import { proxyPage } from '../answer.ts';
import type { MessageRecord } from '../records.ts';
import type { CallOutcome, UserCall } from './call.ts';
import { canRead } from './access.ts';
import { accessChannel } from './channels.ts';
import { policyKey, sameTopic, storedTopic } from './topic-names.ts';
import { ignoredField, ignoredSince } from './ignored.ts';
import { plain, readParameters, required } from './parameters.ts';
import { Refusal } from './refusal.ts';

/** Messages that one transaction deletes, the newest first (docs/apis.md, Deleting a topic). */
export const batchSize = 100;

/**
 * POST /streams/{stream_id}/delete_topic (docs/apis.md, Deleting a topic). The 50 seconds of the real server are counted in messages: a batch
 * takes its share of them, and `deleteBatches` full ones take them all.
 * @throws Refusal
 */
export function deleteTopic(call: UserCall) {
  const { state, user, segment, request, level } = call;
  const { values, ignored } = readParameters(request, { topic_name: plain });
  const topic = storedTopic(level, required('topic_name', values.topic_name));
  const channel = accessChannel(call, Number(segment));
  const doomed = state.messages
    .rows()
    .filter((message) => message.stream_id === channel.stream_id && sameTopic(message.subject, topic))
    .filter((message) => canRead(user, message, state));
  const outcome = purge(call, doomed);
  if (isDone(outcome)) forgetPolicies(call, channel.stream_id, topic);
  return 'status' in outcome ? outcome : { ...outcome, ...ignoredField(level, ignoredSince.others, ignored) };
}

function purge({ state, level, deleteBatches }: UserCall, doomed: readonly MessageRecord[]): CallOutcome {
  const affordable = deleteBatches * batchSize;
  const timesOut = doomed.length >= affordable;
  if (timesOut && level < topicLevels.batches && doomed.length > affordable) return proxyPage(502);
  const within = level < topicLevels.batches ? doomed : doomed.slice(Math.max(0, doomed.length - affordable));
  for (const { id } of within) state.messages.remove(id);
  if (level < topicLevels.batches) return {};
  if (timesOut) return timeUp(level);
  return level >= topicLevels.complete ? { complete: true } : {};
}

/** What a server of that level says when its time is up; the finished batches are kept. @throws Refusal */
function timeUp(level: number): CallOutcome {
  if (level >= topicLevels.complete) return { complete: false };
  if (level >= topicLevels.partial) return { result: 'partially_completed', code: 'REQUEST_TIMEOUT' };
  throw new Refusal('Request timed out.', { code: 'REQUEST_TIMEOUT' });
}

function isDone(outcome: CallOutcome): boolean {
  return !('status' in outcome) && outcome['complete'] !== false && outcome['result'] === undefined;
}

/** The end of a topic takes away who follows or mutes it. */
function forgetPolicies({ state }: UserCall, channel: number, topic: string): void {
  for (const row of state.topicPolicies.rows()) {
    if (row.stream_id === channel && sameTopic(row.topic, topic)) state.topicPolicies.remove(policyKey(row));
  }
}
