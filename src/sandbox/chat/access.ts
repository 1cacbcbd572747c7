import type { ChannelRecord, MessageRecord, User } from '../records.ts';
import type { State } from '../state.ts';
import { policyKey } from './topic-names.ts';

/** True if the message was delivered to the user: personal history has these (docs/apis.md, Narrow operators). */
export function isReceived(user: User, message: MessageRecord, state: State): boolean {
  if (message.stream_id === undefined) return message.people?.includes(user.user_id) ?? false;
  const channel = state.channels.get(message.stream_id);
  return channel?.subscribers.some((row) => row.user_id === user.user_id && message.id >= row.since) ?? false;
}

export function isSubscribed(user: User, channel: ChannelRecord): boolean {
  return channel.subscribers.some((row) => row.user_id === user.user_id);
}

/** True if the user may know what is in the channel: if it is public for members, if private for subscribers only. */
export function mayEnter(user: User, channel: ChannelRecord): boolean {
  if (isSubscribed(user, channel)) return true;
  return channel.privacy === 'web-public' || (channel.privacy === 'public' && user.role !== 'guest');
}

/** True if the user may also read what was said before. */
export function seesHistory(user: User, channel: ChannelRecord): boolean {
  return mayEnter(user, channel) && (channel.privacy !== 'private' || channel.shared_history);
}

export function canRead(user: User, message: MessageRecord, state: State): boolean {
  if (isReceived(user, message, state)) return true;
  const channel = message.stream_id === undefined ? undefined : state.channels.get(message.stream_id);
  return channel !== undefined && seesHistory(user, channel);
}

/** True if the user muted the message's channel or topic; a followed topic in a muted channel is not muted. */
export function isMuted(user: User, message: MessageRecord, state: State): boolean {
  const policy = policyOf(user, message, state);
  if (policy) return policy === 'muted';
  if (message.stream_id === undefined) return false;
  return state.channels.get(message.stream_id)?.muted_by.includes(user.user_id) ?? false;
}

export function policyOf({ user_id }: User, { stream_id, subject }: MessageRecord, state: State) {
  if (stream_id === undefined) return undefined;
  return state.topicPolicies.get(policyKey({ user_id, stream_id, topic: subject }))?.policy;
}

/** The caller's flags; shared history that was never delivered is read and historical (docs/apis.md, Messages). */
export function flagsOf(user: User, message: MessageRecord, state: State): readonly string[] {
  if (!isReceived(user, message, state)) return ['read', 'historical'];
  return message.flags[user.user_id] ?? ['read'];
}
