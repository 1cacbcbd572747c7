import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { maxMessages } from '../../schema/messages.ts';
import { foldTopic } from '../../schema/topic.ts';
import { inChannel } from '../messages/messages-by-ids.ts';
import { refuseIgnored } from '../messages/places.ts';
import type { Channel } from './find-channel.ts';

/** A topic by its messages: their ids, ascending, and UTC seconds. */
export interface ListedTopic {
  /** In the spelling of its newest message. */
  readonly topic_name: string;
  readonly ids: number[];
  readonly first_timestamp: number;
  readonly last_timestamp: number;
}

/**
 * The topics of a channel, the one with the newest message first, from all its messages; only their ids are held.
 * `isLimited`: the plan hides older messages; `isChanged`: it hid some while they were read.
 */
export async function listTopics(chat: Pick<ChatApi, 'messages'>, channel: Channel) {
  const topics = new Map<string, ListedTopic>();
  let [isLimited, isChanged] = [false, false];
  const query = { narrow: inChannel(channel.stream_id), apply_markdown: false, allow_empty_topic_name: true };
  // Nothing of them is kept: requests count, since the server limits them.
  for await (const page of forward(chat, query, { anchor: 'oldest', page: maxMessages })) {
    refuseIgnored(page);
    isLimited ||= page.history_limited;
    isChanged ||= page.view_changed === true;
    for (const { id, subject, timestamp } of page.messages) {
      const [topic_name, time] = [String(subject), Number(timestamp)];
      const known = topics.get(foldTopic(topic_name));
      const first_timestamp = Math.min(known?.first_timestamp ?? time, time);
      const last_timestamp = Math.max(known?.last_timestamp ?? time, time);
      const ids = known?.ids ?? [];
      ids.push(id);
      topics.set(foldTopic(topic_name), { topic_name, ids, first_timestamp, last_timestamp });
    }
  }
  const newestFirst = [...topics.values()].sort((one, other) => other.last_timestamp - one.last_timestamp);
  return { topics: newestFirst, isLimited, isChanged };
}
