// The survey of topics: what a purge would delete, read before anything is asked or archived, and said to a person.
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import { utcText } from '../../core/moment.ts';
import { commandLine } from '../../core/shell-word.ts';
import { maxMessages } from '../../schema/messages.ts';
import { nearNames } from '../../schema/nearest.ts';
import { isSameName } from '../../schema/topic.ts';
import type { UploadPath } from '../../schema/upload.ts';
import type { PurgeEnd } from '../../store/archive/line-file.ts';
import { uploadsOf } from '../../store/archive/part.ts';
import { placeNarrow, refuseIgnored, untrusted } from '../messages/places.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { channelWord, labelOf, type Topic } from './find-channel.ts';
import { topicNamesIn } from './near.ts';
import { keyOf } from './purge-run.ts';

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

export type Looking = Pick<ChatApi, 'raw' | 'channels'>;

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

/** Pages whose messages name the channel, which may have got another name meanwhile. @throws Failure unavailable */
export async function* checked<M extends MessageHead>(
  { channels }: Looking,
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

export interface EarlierPurges {
  /** Whether messages of the topic may have been deleted. */
  readonly isBegun: boolean;
  /** How the last one of the others ended. */
  readonly ended: PurgeEnd | undefined;
}

interface Allowed {
  readonly missing_ok?: boolean | undefined;
  readonly include_hidden?: boolean | undefined;
  /** Of a topic that an earlier run began to delete no message may be left. */
  readonly earlier: (topic: Topic) => Promise<EarlierPurges>;
  readonly site: string;
}

export interface Doomed extends TopicSurvey, EarlierPurges {}

export function hasMessages({ ids, isLimited }: TopicSurvey): boolean {
  return ids.length > 0 || isLimited;
}

/** Two spellings of a topic are one; `looked` hears of each. @throws Failure not_found, rejected for hidden messages */
export async function surveyTopics(
  chat: ChatApi,
  topics: readonly Topic[],
  { missing_ok, include_hidden, earlier, site }: Allowed,
): Promise<Doomed[]> {
  const surveys: Doomed[] = [];
  const single = new Map(topics.toReversed().map((topic) => [keyOf({ ...topic.channel, ...topic }), topic]));
  for (const topic of [...single.values()].reverse())
    surveys.push({ ...(await surveyTopic(chat, topic, site)), ...(await earlier(topic)) });
  const hidden = surveys.filter(({ isLimited }) => isLimited);
  if (hidden.length > 0 && !include_hidden)
    throw new Failure(
      'rejected',
      `nothing was deleted: the Zulip plan hides older messages of ${listNames(hidden)}, which cannot be archived`,
      { hint: 'Give --include-hidden to delete them too.' },
    );
  const missing = surveys.filter((survey) => !hasMessages(survey) && !survey.isBegun);
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
const mostNamed = 20;

function listNames(surveys: readonly TopicSurvey[]): string {
  const isOfOne = new Set(surveys.map(({ channel }) => channel.stream_id)).size === 1;
  const names = surveys.slice(0, mostNamed).map((one) => `'${isOfOne ? one.topic_name : labelOf(one)}'`);
  const more = surveys.length > mostNamed ? ` and ${surveys.length - mostNamed} more` : '';
  return `${surveys.length === 1 ? 'the topic' : 'the topics'} ${names.join(', ')}${more}`;
}

/** Says what would be deleted and where, in lines for a person. */
export async function describeTopics(
  chat: Pick<ChatApi, 'organization'>,
  { site, email }: { readonly site: string; readonly email: string },
  surveys: readonly Doomed[],
  /** What becomes of attached files. */
  files: 'archived' | 'not archived',
  { note }: { note(text: string): void },
): Promise<void> {
  const { host: full, hostname } = new URL(site);
  // The port of a sandbox is another one in each run.
  const host = hostname === '127.0.0.1' ? hostname : full;
  const organization = await chat.organization();
  const word = files === 'archived' ? 'archived too' : 'not archived without --files';
  const fateOf = (count: number): string =>
    count === 0 ? '' : `; ${count} attached ${count === 1 ? 'file' : 'files'}, ${word}`;
  const inChannel = (id: number) => surveys.filter(({ channel }) => channel.stream_id === id);
  const channels = new Map(surveys.map(({ channel: { stream_id: id } }) => [id, inChannel(id)]));
  const server = `${organization === undefined ? host : `${organization} (${host})`}, as ${email}`;
  const totals = (some: readonly Doomed[]): string =>
    `topics: ${some.length}, messages: ${sum(some, ({ ids }) => ids.length)}${fateOf(sum(some, (one) => one.files))}`;
  for (const [stream_id, some] of channels) {
    const name = some[0]?.channel.name;
    const channel = `${server}, ${name === undefined ? `channel ${stream_id}` : `channel '${name}' (id ${stream_id})`}:`;
    const isLong = surveys.length > mostNamed;
    note(isLong ? `${channel} ${totals(some)}` : channel);
    for (const survey of isLong ? [] : some) note(describeTopic(survey) + fateOf(survey.files));
  }
  if (surveys.length > 1) note(`channels: ${channels.size}, ${totals(surveys)}`);
}

function sum<T>(values: readonly T[], count: (value: T) => number): number {
  return values.reduce((total, value) => total + count(value), 0);
}

function describeTopic({ topic_name, ids, first_timestamp, last_timestamp, ...survey }: Doomed): string {
  const { spellings, isLimited, isBegun } = survey;
  const day = (seconds: number | null): string => utcText(seconds)?.slice(0, 10) ?? '?';
  const dates = ids.length === 0 ? '' : ` from ${day(first_timestamp)} to ${day(last_timestamp)}`;
  const others = spellings.some((name) => name !== topic_name)
    ? `; spelled ${spellings.map((name) => `'${name}'`).join(', ')}`
    : '';
  const hidden = isLimited ? '; and older ones that the plan hides' : '';
  const earlier = isBegun ? '; an earlier run began to delete it' : '';
  return `topic '${topic_name}': ${ids.length} ${ids.length === 1 ? 'message' : 'messages'}${dates}${others}${hidden}${earlier}`;
}
