import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { foldName, resolvedPrefix } from '../../schema/topic.ts';
import { isOldCopy, refuseIgnored } from '../messages/places.ts';
import type { Channel } from './find-channel.ts';
import { topicNamesIn } from './near.ts';

interface TopicSummary {
  /** In the spelling of its newest message. */
  readonly topic_name: string;
  readonly messages?: number;
  /** UTC seconds. */
  readonly first_timestamp?: number;
  readonly last_timestamp?: number;
  readonly resolved: boolean;
}

/**
 * The one with the newest message first. All messages are fetched, page by page, and only counts are held; without
 * counts the server's own list is asked for, where it has one. `isLimited`: the plan hides older messages, so that
 * counts and first dates are of those shown. `unplaced`: old copies, whose topic the server does not show.
 */
export async function listTopics(
  chat: Pick<ChatApi, 'messages' | 'topics'>,
  channel: Channel,
  show: 'counts' | 'names' = 'counts',
) {
  const names = show === 'counts' ? undefined : await topicNamesIn(chat, channel);
  if (names) return { topics: names.map(uncounted), isLimited: false, unplaced: 0 };
  const topics = new Map<string, Required<TopicSummary>>();
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
      const { messages = 0, first_timestamp = time } = topics.get(key) ?? {};
      const counts = { messages: messages + 1, first_timestamp, last_timestamp: time };
      topics.set(key, { ...uncounted(topic_name), ...counts });
    }
  }
  const newestFirst: TopicSummary[] = [...topics.values()].sort(
    (one, other) => other.last_timestamp - one.last_timestamp,
  );
  return { topics: newestFirst, isLimited, unplaced };
}

function uncounted(topic_name: string): TopicSummary {
  return { topic_name, resolved: topic_name.startsWith(resolvedPrefix) };
}
