import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageQuery, RawMessage } from '../../api/chat/chat-messages.ts';
import { backward, forward } from '../../api/chat/message-pages.ts';
import { maxMessages } from '../../schema/messages.ts';
import { isSameName } from '../../schema/topic.ts';
import type { UploadPath } from '../../schema/upload.ts';
import { uploadsOf } from '../../store/archive/part.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { placeNarrow, refuseIgnored, untrusted } from '../messages/places.ts';
import type { Channel } from './find-channel.ts';

export interface Topic {
  readonly channel: Channel;
  /** As typed: the server compares it without regard to case. */
  readonly topic_name: string;
  /** Its name in sentences of a run over a file, whose topics may be of several channels. */
  readonly label?: string | undefined;
}

/** A topic among those of several channels. */
export function labelOf({ channel, topic_name }: Topic): string {
  return `#${channel.name ?? channel.stream_id} > ${topic_name}`;
}

export function shownName({ label, topic_name }: Pick<Topic, 'label' | 'topic_name'>): string {
  return label ?? topic_name;
}

export interface TopicSurvey extends Topic {
  /** Ascending. */
  readonly ids: readonly number[];
  /** UTC seconds of the oldest and of the newest message; null where there is none. */
  readonly first_timestamp: number | null;
  readonly last_timestamp: number | null;
  readonly spellings: readonly string[];
  readonly files: number;
  readonly isLimited: boolean;
}

type Looking = Pick<ChatApi, 'raw' | 'channels'>;

/** As many as a request may have: of what is looked at and not kept, requests count, since the server limits them. */
const page = maxMessages;

/** Looks at every message of a topic. @throws Failure unavailable where the server answers with another topic's */
export async function surveyTopic(chat: Looking, topic: Topic, site: string): Promise<TopicSurvey> {
  const ids: number[] = [];
  const spellings = new Set<string>();
  const files = new Set<UploadPath>();
  let first_timestamp: number | null = null;
  let last_timestamp: number | null = null;
  let isLimited = false;
  // The rendered form has every address that the source has.
  const query = { ...queryOf(topic), apply_markdown: undefined };
  const pages = checked(chat, topic, forward(chat.raw, query, { anchor: 'oldest', page }));
  for await (const { messages, history_limited, view_changed } of pages) {
    isLimited ||= history_limited || view_changed === true;
    first_timestamp ??= timeOf(messages[0]);
    last_timestamp = timeOf(messages.at(-1)) ?? last_timestamp;
    for (const path of uploadsOf(messages, site)) files.add(path);
    for (const message of messages) {
      ids.push(message.id);
      spellings.add(String(message.subject));
    }
  }
  return { ...topic, ids, first_timestamp, last_timestamp, spellings: [...spellings], files: files.size, isLimited };
}

function timeOf(message: MessageHead | undefined): number | null {
  const time = message?.timestamp;
  return typeof time === 'number' ? time : null;
}

/** The pages of a topic from its newest message downward, each in itself ascending. @throws as surveyTopic */
export function newestPages(chat: Looking, topic: Topic): AsyncGenerator<MessagePage<RawMessage>> {
  return checked(chat, topic, backward(chat.raw, queryOf(topic), { anchor: 'newest', page }));
}

/** The newest page of a topic, also after Ctrl-C, for at most 10 s. @throws as surveyTopic */
export function newestPage(chat: Looking, topic: Topic): AsyncGenerator<MessagePage<RawMessage>> {
  const limits = { repeat: 'never', timeout: 10_000, outlasts: 'earlier Ctrl-C' } as const;
  const source = { messages: (query: MessageQuery) => chat.raw.messages(query, limits) };
  return checked(chat, topic, backward(source, queryOf(topic), { anchor: 'newest', page, limit: page }));
}

/** The pages of a topic above a message, upward. @throws as surveyTopic */
export function newerPages(chat: Looking, topic: Topic, id: number): AsyncGenerator<MessagePage<RawMessage>> {
  const query = { ...queryOf(topic), include_anchor: false };
  return checked(chat, topic, forward(chat.raw, query, { anchor: String(id), page }));
}

/** Pages whose messages are of the channel, as far as they name it; it may have got another name meanwhile. */
async function* checked<M extends MessageHead>(
  { channels }: Pick<ChatApi, 'channels'>,
  { channel: { stream_id, name } }: Topic,
  pages: AsyncIterable<MessagePage<M>>,
) {
  let known = name;
  const isOther = (one: M): boolean => known !== undefined && !isSameName(String(one.display_recipient), known);
  for await (const page of pages) {
    refuseIgnored(page);
    if (page.messages.some(isOther)) {
      const now = (await channels())?.find((row) => row['stream_id'] === stream_id)?.['name'];
      if (typeof now === 'string') known = now;
    }
    const other = page.messages.find(isOther);
    if (other) throw untrusted(`asked for '${name}', the server answered with message ${other.id} of another channel`);
    yield page;
  }
}

function queryOf(topic: Topic): MessageQuery {
  const { narrow, form } = topicSelection(topic);
  return { narrow, ...form, apply_markdown: false };
}

export function topicSelection({ channel, topic_name }: Topic): MessageSelection {
  const narrow = placeNarrow(channel.stream_id, topic_name);
  const form = topic_name === '' ? { allow_empty_topic_name: true } : {};
  return { narrow, form, range: { kind: 'pages', anchor: 'oldest' } };
}
