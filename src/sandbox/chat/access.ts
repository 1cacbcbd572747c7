import type { ChannelRecord, MessageRecord, User } from '../records.ts';
import type { State } from '../state.ts';

/** Whether the message was delivered to the user: personal history is made of these rows (docs/apis.md, Narrow operators). */
export function received(user: User, message: MessageRecord, state: State): boolean {
  if (message.stream_id === undefined) return message.people?.includes(user.user_id) ?? false;
  const channel = state.channels.get(message.stream_id);
  return channel?.subscribers.some((row) => row.user_id === user.user_id && message.id >= row.since) ?? false;
}

export function isSubscribed(user: User, channel: ChannelRecord): boolean {
  return channel.subscribers.some((row) => row.user_id === user.user_id);
}

/** Whether the user may know what is in the channel: public for members, private for subscribers, administrators like others. */
export function mayEnter(user: User, channel: ChannelRecord): boolean {
  if (isSubscribed(user, channel)) return true;
  return channel.privacy === 'web-public' || (channel.privacy === 'public' && user.role !== 'guest');
}

/** Whether the user may also read what was said before. */
export function seesHistory(user: User, channel: ChannelRecord): boolean {
  return mayEnter(user, channel) && (channel.privacy !== 'private' || channel.shared_history);
}

/** Whether the user may read the message at all. */
export function canRead(user: User, message: MessageRecord, state: State): boolean {
  if (received(user, message, state)) return true;
  const channel = message.stream_id === undefined ? undefined : state.channels.get(message.stream_id);
  return channel !== undefined && seesHistory(user, channel);
}
