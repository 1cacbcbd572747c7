import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { maxMessages } from '../../schema/messages.ts';
import { foldTopic } from '../../schema/topic.ts';
import { inChannel } from '../messages/messages-by-ids.ts';
import { refuseIgnored } from '../messages/places.ts';
import type { Channel } from './find-channel.ts';
import { topicNamesIn } from './near.ts';

interface ListedTopic {
  /** In the spelling of its newest message. */
  readonly topic_name: string;
  /** Undefined where names alone were asked for. */
  readonly counts?: TopicCounts;
}

/** Of the messages of a topic: their ids, ascending, and UTC seconds. */
interface TopicCounts {
  readonly ids: number[];
  first_timestamp: number;
  last_timestamp: number;
}

interface TopicList {
  readonly topics: readonly ListedTopic[];
  /** The plan hides older messages, so that counts and first dates are of those shown. */
  readonly isLimited: boolean;
  readonly isChanged: boolean;
}

/**
 * The one with the newest message first. All messages are fetched, page by page, and their ids are held; without counts
 * the server's own list is requested, if it has one.
 */
export async function listTopics(
  chat: Pick<ChatApi, 'messages' | 'topics' | 'level'>,
  channel: Channel,
  show: 'counts' | 'names',
): Promise<TopicList> {
  const names = show === 'counts' ? undefined : await topicNamesIn(chat, channel);
  if (names) return { topics: names.map((topic_name) => ({ topic_name })), isLimited: false, isChanged: false };
  const topics = new Map<string, ListedTopic & { readonly counts: TopicCounts }>();
  let [isLimited, isChanged] = [false, false];
  const query = { narrow: inChannel(channel.stream_id), apply_markdown: false, allow_empty_topic_name: true };
  // Nothing of them is kept: requests count, since the server limits them.
  for await (const page of forward(chat, query, { anchor: 'oldest', page: maxMessages })) {
    refuseIgnored(page);
    isLimited ||= page.history_limited;
    isChanged ||= page.view_changed === true;
    for (const { id, subject, timestamp } of page.messages) {
      const [topic_name, time] = [String(subject), Number(timestamp)];
      const known = topics.get(foldTopic(topic_name))?.counts;
      const counts = known ?? { ids: [], first_timestamp: time, last_timestamp: time };
      topics.set(foldTopic(topic_name), { topic_name, counts });
      counts.ids.push(id);
      counts.first_timestamp = Math.min(counts.first_timestamp, time);
      counts.last_timestamp = Math.max(counts.last_timestamp, time);
    }
  }
  const newestFirst = [...topics.values()].sort(
    (one, other) => other.counts.last_timestamp - one.counts.last_timestamp,
  );
  return { topics: newestFirst, isLimited, isChanged };
}
