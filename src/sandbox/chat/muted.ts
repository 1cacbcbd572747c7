import type { MessageRecord, User } from '../records.ts';
import type { State } from '../state.ts';
import { policyKey } from './topic-names.ts';

/** Whether the user muted the message's channel or topic; a followed topic is heard in a muted channel too. */
export function isMuted(user: User, message: MessageRecord, state: State): boolean {
  const policy = policyOf(user, message, state);
  if (policy) return policy === 'muted';
  if (message.stream_id === undefined) return false;
  return state.channels.get(message.stream_id)?.muted_by.includes(user.user_id) ?? false;
}

/** Whether the user muted the message's topic, whatever holds for its channel. */
export function isTopicMuted(user: User, message: MessageRecord, state: State): boolean {
  return policyOf(user, message, state) === 'muted';
}

export function policyOf(
  { user_id }: User,
  { stream_id, subject }: MessageRecord,
  state: State,
): 'muted' | 'followed' | undefined {
  if (stream_id === undefined) return undefined;
  return state.topicPolicies.get(policyKey({ user_id, stream_id, topic: subject }))?.policy;
}
