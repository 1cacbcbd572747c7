// The survey of topics: what a purge would delete, read before anything is asked or archived, and said to a person.
import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { RawMessage, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { maxMessages } from '../../schema/messages.ts';
import { nearNames } from '../../schema/nearest.ts';
import { foldName, isSameName } from '../../schema/topic.ts';
import type { UploadPath } from '../../schema/upload.ts';
import { readPurge, type PurgeEnd } from '../../store/archive/line-file.ts';
import { uploadsOf } from '../../store/archive/part.ts';
import { hashOf } from '../../store/disk/files.ts';
import { placeNarrow, refuseIgnored, untrusted } from '../messages/places.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { channelWord, labelOf, shownName, topicKey, type Topic } from './find-channel.ts';
import { topicNamesIn } from './near.ts';

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

export type Looking = Pick<ChatApi, 'messages' | 'channels'>;

/** As many as a request may have: of what is looked at and not kept, requests count, since the server limits them. */
export const page = maxMessages;

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
  const pages = checked(chat, topic, forward(chat, query, { anchor: 'oldest', page }));
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

function timeOf(message: RawMessage | undefined): number | null {
  const time = message?.timestamp;
  return typeof time === 'number' ? time : null;
}

/** Pages whose messages name the channel, which may have got another name meanwhile. @throws Failure unavailable */
export async function* checked(
  { channels }: Looking,
  { channel: { stream_id, name } }: Topic,
  pages: AsyncIterable<MessagePage>,
) {
  let known = name;
  const isOther = (one: RawMessage): boolean =>
    known !== undefined && !isSameName(String(one.display_recipient), known);
  for await (const page of pages) {
    refuseIgnored(page);
    if (page.messages.some(isOther)) {
      const now = (await channels())?.find((row) => row['stream_id'] === stream_id)?.['name'];
      if (typeof now === 'string') known = now;
    }
    const other = page.messages.find(isOther);
    if (other) throw untrusted(`asked for '${name}', the server returned message ${other.id} of another channel`);
    yield page;
  }
}

export function queryOf(topic: Topic): MessageQuery {
  const { narrow, form } = topicSelection(topic);
  return { narrow, ...form, apply_markdown: false };
}

export function topicSelection({ channel, topic_name }: Topic): MessageSelection {
  const narrow = placeNarrow(channel.stream_id, topic_name);
  const form = topic_name === '' ? { allow_empty_topic_name: true } : {};
  return { narrow, form, range: { kind: 'pages', anchor: 'oldest' } };
}

/** Where archives of purges are, and of which account. */
export interface PurgeArchives {
  /** Folder of the archives; each topic has one of its own in it. */
  readonly root: string;
  readonly site: string;
  readonly account: string;
  /** Bytes of the largest attached file; none are kept without it. */
  readonly maxFileSize?: number | undefined;
}

/** What the archives of a topic tell of its purges. */
export interface EarlierPurges {
  /** The archive of the purge that did not end, or of the next one. */
  readonly folder: string;
  /** Whether a purge that did not end may have deleted messages of the topic. */
  readonly isBegun: boolean;
  /** How the last one of the others ended. */
  readonly ended?: PurgeEnd | undefined;
}

export interface Doomed extends TopicSurvey, EarlierPurges {}

interface Allowances {
  readonly missing_ok?: boolean | undefined;
  readonly include_hidden?: boolean | undefined;
}

export function hasMessages({ ids, isLimited }: TopicSurvey): boolean {
  return ids.length > 0 || isLimited;
}

/** Whether there are messages to be deleted, or a purge to be ended. */
export function isOpen(survey: Doomed): boolean {
  return hasMessages(survey) || survey.isBegun;
}

/** How many messages of a topic that is gone its last purge deleted. */
export function earlierCount(survey: Doomed): number {
  return isOpen(survey) ? 0 : (survey.ended?.deleted ?? 0);
}

/** Two spellings of a topic are one. @throws Failure not_found; rejected for hidden messages */
export async function surveyTopics(
  chat: ChatApi,
  topics: readonly Topic[],
  site: string,
  archives: PurgeArchives | undefined,
  { missing_ok, include_hidden }: Allowances,
): Promise<Doomed[]> {
  const surveys: Doomed[] = [];
  const known = new Set<string>();
  for (const topic of topics) {
    const key = topicKey(topic.channel.stream_id, topic.topic_name);
    if (known.has(key)) continue;
    known.add(key);
    const earlier = archives ? await earlierPurges(topic, archives) : { folder: '', isBegun: false };
    surveys.push({ ...(await surveyTopic(chat, topic, site)), ...earlier });
  }
  const hidden = surveys.filter(({ isLimited }) => isLimited);
  if (hidden.length > 0 && !include_hidden)
    throw new Failure(
      'rejected',
      `nothing was deleted: the Zulip plan hides older messages of ${listNames(hidden)}, which cannot be archived`,
      { hint: 'Give --include-hidden to delete them too.' },
    );
  const gone = surveys.filter((survey) => !isOpen(survey));
  // Beside others, one that an earlier run deleted is a row with its number.
  const missing = gone.length === surveys.length ? gone : gone.filter(({ ended }) => !ended);
  if (missing.length > 0 && !missing_ok) throw await notFound(chat, missing);
  return surveys;
}

async function notFound(chat: ChatApi, missing: readonly Doomed[]): Promise<Failure> {
  const near = new Set<string>();
  const named = missing.slice(0, mostNamed);
  for (const { channel, topic_name } of named)
    for (const name of nearNames(topic_name, (await topicNamesIn(chat, channel)) ?? [])) near.add(`'${name}'`);
  const names = [...near].join(', ');
  const earlier = named.flatMap(({ topic_name, ended }) =>
    ended ? `; a run that ended ${ended.finished} deleted ${ended.deleted} of '${topic_name}'` : [],
  );
  const nothing = `nothing ${earlier.length > 0 ? 'more ' : ''}was deleted`;
  return new Failure('not_found', `no messages in ${listNames(missing)}: ${nothing}${earlier.join('')}`, {
    hint:
      names === ''
        ? `List the topics: ${commandLine('topic list', [channelWord(missing[0]?.channel ?? { stream_id: 0 })])}`
        : `Similar names: ${names}. --missing-ok accepts a topic without messages.`,
  });
}

/** Topics that are named one by one. */
export const mostNamed = 20;

function listNames(surveys: readonly TopicSurvey[]): string {
  const isOfOne = new Set(surveys.map(({ channel }) => channel.stream_id)).size === 1;
  const names = surveys.slice(0, mostNamed).map((one) => `'${isOfOne ? one.topic_name : labelOf(one)}'`);
  const more = surveys.length > mostNamed ? ` and ${surveys.length - mostNamed} more` : '';
  return `${surveys.length === 1 ? 'the topic' : 'the topics'} ${names.join(', ')}${more}`;
}

/** Archives that one topic may have: each complete purge leaves one. */
const maxArchives = 1000;

/** The purge of a topic that did not end, or the next one. @throws Failure config for a damaged record, or too many */
export async function earlierPurges(topic: Topic, place: PurgeArchives): Promise<EarlierPurges> {
  let ended: EarlierPurges['ended'];
  for (let number = 1; number <= maxArchives; number += 1) {
    const folder = folderOf(topic, place, number);
    const { stage } = await readPurge(folder);
    if (typeof stage === 'string') return { folder, isBegun: stage === 'begun', ended };
    ended = stage;
  }
  throw new Failure('config', `${place.root} holds ${maxArchives} archives of the topic '${shownName(topic)}'`, {
    hint: 'Name another folder with --archive.',
  });
}

/** The channel's id and the name for people, and a hash that is different for each account and spelling. */
function folderOf({ channel, topic_name }: Topic, { root, site, account }: PurgeArchives, number: number): string {
  const key = [site, account, channel.stream_id, foldName(topic_name)].join('\n');
  const hash = hashOf(Buffer.from(key)).slice(0, 8);
  const words = topic_name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const name = words.join('-').slice(0, 40);
  const parts = [channel.stream_id, name, hash, ...(number > 1 ? [number] : [])];
  return join(root, parts.filter((part) => part !== '').join('-'));
}
