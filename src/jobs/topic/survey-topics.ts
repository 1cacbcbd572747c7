// The survey of topics: what a purge would delete, read before anything is asked or archived.
import { dirname, join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessagePage, MessageQuery, RawMessage } from '../../api/chat/chat-messages.ts';
import { backward, forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import { maxMessages } from '../../schema/messages.ts';
import { nearNames } from '../../schema/nearest.ts';
import { foldName, isSameName } from '../../schema/topic.ts';
import type { UploadPath } from '../../schema/upload.ts';
import { readPurge } from '../../store/archive/line-file.ts';
import { uploadsOf } from '../../store/archive/part.ts';
import { hashOf } from '../../store/disk/files.ts';
import { refuseLinks } from '../../store/disk/private.ts';
import { placeNarrow, untrusted } from '../messages/places.ts';
import type { MessageSelection } from '../../schema/selection.ts';
import { labelOf, topicKey, topicListLine, topicNamesIn, type Topic } from './find-channel.ts';

/** A topic, what the server shows of it, and what the archives of its purges tell. */
export interface TopicSurvey extends Topic {
  /** The ids of the messages, ascending. */
  readonly ids: readonly number[];
  /** UTC seconds of the oldest and of the newest message; null where there is none. */
  readonly first_timestamp: number | null;
  readonly last_timestamp: number | null;
  readonly spellings: readonly string[];
  readonly files: number;
  readonly isLimited: boolean;
  /** The archive of the purge that did not end, or of the next one; empty with --no-archive. */
  readonly folder: string;
  /** True if a purge that did not end may have deleted messages of the topic. */
  readonly isBegun: boolean;
  /** True if an earlier purge of the topic ended. */
  readonly isEnded: boolean;
}

/** Whose topics are purged, and where they are archived. */
export interface PurgePlace {
  readonly site: string;
  readonly account: string;
  /** A folder for each topic is made in it; undefined with --no-archive. */
  readonly root: string | undefined;
  /** Bytes of the largest attached file; none are kept without it. */
  readonly maxFileSize?: number | undefined;
}

export function hasMessages({ ids, isLimited }: TopicSurvey): boolean {
  return ids.length > 0 || isLimited;
}

/** True if there are messages to be deleted, or a purge to be ended. */
export function isOpen(survey: TopicSurvey): boolean {
  return hasMessages(survey) || survey.isBegun;
}

/** Surveys each topic once, however often it is spelled. @throws Failure not_found; rejected for hidden messages */
export async function surveyTopics(
  chat: ChatApi,
  topics: readonly Topic[],
  place: PurgePlace,
  { missing_ok, include_hidden }: { readonly missing_ok: boolean; readonly include_hidden: boolean },
): Promise<TopicSurvey[]> {
  const surveys: TopicSurvey[] = [];
  const known = new Set<string>();
  for (const topic of topics) {
    const key = topicKey(topic.channel.stream_id, topic.topic_name);
    if (!known.has(key)) surveys.push(await surveyTopic(chat, topic, place));
    known.add(key);
  }
  const hidden = surveys.filter(({ isLimited }) => isLimited);
  if (hidden.length > 0 && !include_hidden) throw hiddenMessages(hidden, 'rejected');
  const gone = surveys.filter((survey) => !isOpen(survey));
  // Among other topics, one that an earlier run deleted is a row and no failure.
  const missing = gone.length === surveys.length ? gone : gone.filter(({ isEnded }) => !isEnded);
  if (missing.length > 0 && !missing_ok) throw await notFound(chat, missing);
  return surveys;
}

/** The failure where the plan hides messages; `incomplete` once a call was sent. */
export function hiddenMessages(surveys: readonly TopicSurvey[], kind: 'rejected' | 'incomplete'): Failure {
  const names = listNames(surveys);
  const what = kind === 'rejected' ? `nothing of ${names} was deleted` : `nothing more of ${names} is deleted`;
  const message = `${what}: the Zulip plan hides older messages, which cannot be archived`;
  return new Failure(kind, message, { hint: 'Give --include-hidden to delete them too.', retryable: false });
}

/** Reads every message of a topic. @throws Failure unavailable where the server returns another topic's */
async function surveyTopic(chat: ChatApi, topic: Topic, place: PurgePlace): Promise<TopicSurvey> {
  const ids: number[] = [];
  const spellings = new Set<string>();
  const files = new Set<UploadPath>();
  let [first_timestamp, last_timestamp, isLimited]: [number | null, number | null, boolean] = [null, null, false];
  // The rendered form has every address that the source has.
  for await (const page of topicPages(chat, topic, 'oldest', { apply_markdown: undefined })) {
    const { messages, history_limited, view_changed } = page;
    isLimited ||= history_limited || view_changed === true;
    first_timestamp ??= timeOf(messages[0]);
    last_timestamp = timeOf(messages.at(-1)) ?? last_timestamp;
    for (const path of uploadsOf(messages, place.site)) files.add(path);
    for (const message of messages) {
      ids.push(message.id);
      spellings.add(String(message.read('subject')));
    }
  }
  const shown = { ids, first_timestamp, last_timestamp, spellings: [...spellings], files: files.size, isLimited };
  return { ...topic, ...shown, ...(await earlierPurges(topic, place)) };
}

export function timeOf(message: RawMessage | undefined): number | null {
  const time = message?.read('timestamp');
  return typeof time === 'number' ? time : null;
}

const largestPage = maxMessages;

/**
 * Yields pages of a topic, upward from an anchor or downward from the newest, in the source form. The messages have to
 * name the channel, which may have been renamed meanwhile. @throws Failure unavailable
 */
export async function* topicPages(
  { messages, channels }: ChatApi,
  topic: Topic,
  anchor: string,
  query: MessageQuery = {},
  page = largestPage,
): AsyncGenerator<MessagePage> {
  const { narrow, form } = topicSelection(topic);
  const { stream_id, name } = topic.channel;
  let known = name;
  const isOther = (one: RawMessage): boolean =>
    known !== undefined && !isSameName(String(one.read('display_recipient')), known);
  const walk = anchor === 'newest' ? backward : forward;
  for await (const read of walk({ messages }, { narrow, ...form, apply_markdown: false, ...query }, { anchor, page })) {
    if (read.messages.some(isOther)) {
      const now = (await channels())?.find((row) => row['stream_id'] === stream_id)?.['name'];
      if (typeof now === 'string') known = now;
    }
    const other = read.messages.find(isOther);
    if (other) throw untrusted(`asked for '${name}', the server returned message ${other.id} of another channel`);
    yield read;
  }
}

export function topicSelection({ channel, topic_name }: Topic): MessageSelection {
  const narrow = placeNarrow(channel.stream_id, topic_name);
  const form = topic_name === '' ? { allow_empty_topic_name: true } : {};
  return { narrow, form, range: { kind: 'pages', anchor: 'oldest' } };
}

async function notFound(chat: ChatApi, missing: readonly TopicSurvey[]): Promise<Failure> {
  const near = new Set<string>();
  for (const { channel, topic_name } of missing.slice(0, mostNamed))
    for (const name of nearNames(topic_name, (await topicNamesIn(chat, channel)) ?? [])) near.add(`'${name}'`);
  const list = `List the topics: ${topicListLine(missing[0]?.channel ?? { stream_id: 0 })}`;
  const similar = `Similar names: ${[...near].join(', ')}. --missing-ok accepts a topic without messages.`;
  return new Failure('not_found', `no messages in ${listNames(missing)}: nothing was deleted`, {
    hint: near.size === 0 ? list : similar,
  });
}

const mostNamed = 20;

function listNames(surveys: readonly TopicSurvey[]): string {
  const isOfOne = new Set(surveys.map(({ channel }) => channel.stream_id)).size === 1;
  const names = surveys.slice(0, mostNamed).map((one) => `'${isOfOne ? one.topic_name : labelOf(one)}'`);
  const more = surveys.length > mostNamed ? ` and ${surveys.length - mostNamed} more` : '';
  return `${surveys.length === 1 ? 'the topic' : 'the topics'} ${names.join(', ')}${more}`;
}

/** The purge of a topic that did not end, or the next one. @throws Failure config for a damaged record or a link */
export async function earlierPurges(topic: Topic, place: PurgePlace) {
  if (place.root === undefined) return { folder: '', isBegun: false, isEnded: false };
  for (let number = 1; ; number += 1) {
    const folder = join(place.root, folderName(topic, place, number));
    await refuseLinks(dirname(folder), folder);
    const { stage } = await readPurge(folder);
    if (stage !== 'ended') return { folder, isBegun: stage === 'begun', isEnded: number > 1 };
  }
}

/** The channel's id and the name, which people can read, and a hash, which differs for each account and topic. */
function folderName({ channel, topic_name }: Topic, { site, account }: PurgePlace, number: number): string {
  const key = [site, account, channel.stream_id, foldName(topic_name)].join('\n');
  const hash = hashOf(Buffer.from(key)).slice(0, 8);
  const words = topic_name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const name = words.join('-').slice(0, 40);
  const parts = [channel.stream_id, name, hash, ...(number > 1 ? [number] : [])];
  return parts.filter((part) => part !== '').join('-');
}
