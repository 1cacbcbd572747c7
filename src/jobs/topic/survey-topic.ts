import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import { forward, onlyMessage, type Walk } from '../../api/chat/message-pages.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { isSameName } from '../../schema/topic.ts';
import { checkMessages, type Channel } from './find-channel.ts';

export interface Topic {
  readonly channel: Channel;
  /** As typed: the server compares it without regard to case. */
  readonly topic_name: string;
}

/** The messages of a topic when it was looked at. */
export interface TopicSurvey extends Topic {
  /** Ascending. */
  readonly ids: readonly number[];
  /** UTC seconds of the oldest and of the newest message; null where there is none. */
  readonly first_timestamp: number | null;
  readonly last_timestamp: number | null;
  /** The spellings that the messages have. */
  readonly spellings: readonly string[];
  /** Whether the plan of the organization hides older messages of the topic. */
  readonly isLimited: boolean;
}

/**
 * Looks at every message of a topic.
 * @throws Failure unavailable where the server answers with messages of another topic or channel
 */
export async function surveyTopic(chat: Pick<ChatApi, 'messages'>, topic: Topic): Promise<TopicSurvey> {
  const ids: number[] = [];
  const spellings = new Set<string>();
  let first: Message | undefined;
  let last: Message | undefined;
  let isLimited = false;
  for await (const { messages, history_limited } of topicPages(chat, topic, { anchor: 'oldest' })) {
    first ??= messages[0];
    last = messages.at(-1) ?? last;
    isLimited ||= history_limited;
    for (const message of messages) {
      ids.push(message.id);
      spellings.add(String(message['subject']));
    }
  }
  const times = { first_timestamp: timeOf(first), last_timestamp: timeOf(last) };
  return { ...topic, ids, ...times, spellings: [...spellings], isLimited };
}

function timeOf(message: Message | undefined): number | null {
  const time = message?.['timestamp'];
  return typeof time === 'number' ? time : null;
}

/** The messages of a topic by pages, each checked to be of this topic and channel. */
export async function* topicPages(
  chat: Pick<ChatApi, 'messages'>,
  topic: Topic,
  walk: Walk & Pick<MessageQuery, 'include_anchor'>,
): AsyncGenerator<MessagePage> {
  const query = { ...queryOf(topic), include_anchor: walk.include_anchor };
  for await (const page of forward(chat, query, walk)) {
    checkMessages(page, (message) => isIn(topic, message), topic.topic_name);
    yield page;
  }
}

/**
 * The newest message of a topic; undefined where it has none.
 * @throws Failure unavailable for an empty answer that does not say that nothing is there
 */
export async function newestOfTopic(chat: Pick<ChatApi, 'messages'>, topic: Topic): Promise<Message | undefined> {
  const page = await chat.messages({ ...queryOf(topic), anchor: 'newest', num_before: 1, num_after: 0 });
  checkMessages(page, (message) => isIn(topic, message), topic.topic_name);
  return onlyMessage(page, 'found_oldest');
}

function queryOf(topic: Topic): MessageQuery {
  const { narrow, form } = topicSelection(topic);
  return { narrow, ...form, apply_markdown: false };
}

/** All messages of a topic. */
export function topicSelection({ channel, topic_name }: Topic): MessageSelection {
  const narrow = [
    { operator: 'channel', operand: channel.stream_id },
    { operator: 'topic', operand: topic_name },
  ];
  const form = topic_name === '' ? { allow_empty_topic_name: true } : {};
  return { narrow, form, range: { kind: 'pages', anchor: 'oldest' } };
}

/** Whether a message is of this topic: channel by id and name, both names without regard to case. */
export function isIn({ channel, topic_name }: Topic, { stream_id, display_recipient, subject }: Message): boolean {
  const isNamed = channel.name === undefined || isSameName(String(display_recipient), channel.name);
  return stream_id === channel.stream_id && isNamed && isSameName(String(subject), topic_name);
}
