import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { foldName, resolvedPrefix } from '../../schema/topic.ts';
import { isOldCopy, refuseIgnored } from '../messages/places.ts';
import type { Channel } from './find-channel.ts';

/** A topic of a channel, counted from its messages. */
interface TopicSummary {
  /** In the spelling of its newest message. */
  readonly topic_name: string;
  readonly messages: number;
  /** UTC seconds. */
  readonly first_timestamp: number;
  readonly last_timestamp: number;
  readonly resolved: boolean;
}

/**
 * Every topic of a channel, the one with the newest message first: all its messages are fetched, page by page, and only counts are held.
 * `isLimited`: the plan of the organization hides older messages, so that counts and first dates are of those that are shown.
 * `unplaced`: messages that are old copies, whose topic the server does not show.
 */
export async function listTopics(chat: Pick<ChatApi, 'messages'>, channel: Channel) {
  const topics = new Map<string, TopicSummary>();
  let isLimited = false;
  let unplaced = 0;
  const narrow = [{ operator: 'channel', operand: channel.stream_id }];
  const query = { narrow, apply_markdown: false, allow_empty_topic_name: true };
  for await (const page of forward(chat, query, { anchor: 'oldest' })) {
    refuseIgnored(page);
    isLimited ||= page.history_limited;
    const placed = page.messages.filter((message) => !isOldCopy(message));
    unplaced += page.messages.length - placed.length;
    for (const { subject, timestamp } of placed) {
      const [topic_name, time] = [String(subject), Number(timestamp)];
      const key = foldName(topic_name);
      const { messages, first_timestamp } = topics.get(key) ?? { messages: 0, first_timestamp: time };
      const counts = { messages: messages + 1, first_timestamp, last_timestamp: time };
      topics.set(key, { topic_name, ...counts, resolved: topic_name.startsWith(resolvedPrefix) });
    }
  }
  const newestFirst = [...topics.values()].sort((one, other) => other.last_timestamp - one.last_timestamp);
  return { topics: newestFirst, isLimited, unplaced };
}
