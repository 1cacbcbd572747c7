import type { ChatApi } from '../../api/chat/chat.ts';
import { commandLine } from '../../core/shell-word.ts';
import { Failure, usage } from '../../core/failure.ts';
import { utcText } from '../../core/moment.ts';
import type { Channel } from '../../jobs/topic/find-channel.ts';
import { topicNamesIn } from '../../jobs/topic/near.ts';
import { surveyTopic, type Topic, type TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import type { EarlierPurges } from '../../jobs/topic/topic-archives.ts';
import { nearNames } from '../../schema/nearest.ts';
import { foldName } from '../../schema/topic.ts';
import type { Terminal } from '../context.ts';
import { channelWord } from './place.ts';

interface Allowed {
  readonly missing_ok?: boolean | undefined;
  readonly include_hidden?: boolean | undefined;
  /** Of a topic that an earlier run began to delete no message may be left. */
  readonly earlier: (topic: Topic) => Promise<EarlierPurges>;
}

/** A topic that is to be deleted. */
export interface Doomed extends TopicSurvey, EarlierPurges {}

export function hasMessages({ ids, isLimited }: TopicSurvey): boolean {
  return ids.length > 0 || isLimited;
}

/**
 * Surveys each topic once: two spellings of one topic are one.
 * @throws Failure not_found where one has no messages, with the nearest names; rejected where messages are hidden
 */
export async function surveyTopics(
  chat: ChatApi,
  channel: Channel,
  names: readonly string[],
  { missing_ok, include_hidden, earlier }: Allowed,
): Promise<Doomed[]> {
  const surveys: Doomed[] = [];
  const folded = names.map(foldName);
  for (const topic_name of names.filter((_, index) => folded.indexOf(folded[index] ?? '') === index)) {
    const topic = { channel, topic_name };
    surveys.push({ ...(await surveyTopic(chat, topic)), ...(await earlier(topic)) });
  }
  const hidden = surveys.filter(({ isLimited }) => isLimited);
  if (hidden.length > 0 && !include_hidden)
    throw new Failure(
      'rejected',
      `the plan of the organization hides older messages of ${listed(hidden)}, which would be deleted unseen: nothing was deleted`,
      { hint: 'Give --include-hidden to delete them too.' },
    );
  const missing = surveys.filter((survey) => !hasMessages(survey) && !survey.isBegun);
  if (missing.length > 0 && !missing_ok) throw await notFound(chat, channel, missing);
  return surveys;
}

async function notFound(chat: ChatApi, channel: Channel, missing: readonly Doomed[]): Promise<Failure> {
  const known = (await topicNamesIn(chat, channel)) ?? [];
  const names = [...new Set(missing.flatMap(({ topic_name }) => nearNames(topic_name, known)))]
    .map((name) => `'${name}'`)
    .join(', ');
  const earlier = missing.flatMap(({ topic_name, ended }) =>
    ended ? `; the purge of '${topic_name}' that ended ${ended.finished} deleted ${ended.deleted}` : [],
  );
  const nothing = `nothing ${earlier.length > 0 ? 'more ' : ''}was deleted`;
  return new Failure('not_found', `no messages in ${listed(missing)}: ${nothing}${earlier.join('')}`, {
    hint:
      names === ''
        ? `List the topics: ${commandLine('topic list', [channelWord(channel)])}`
        : `Near names: ${names}. --missing-ok accepts a topic without messages.`,
  });
}

function listed(surveys: readonly TopicSurvey[]): string {
  const names = surveys.map(({ topic_name }) => `'${topic_name}'`).join(', ');
  return `${surveys.length === 1 ? 'the topic' : 'the topics'} ${names}`;
}

/** Says what would be deleted and where, in lines for a person. */
export async function describeTopics(
  chat: Pick<ChatApi, 'organization'>,
  { site, email }: { readonly site: string; readonly email: string },
  surveys: readonly Doomed[],
  /** What becomes of attached files. */
  files: 'archived' | 'not archived',
  { note }: Pick<Terminal, 'note'>,
): Promise<void> {
  const { host: full, hostname } = new URL(site);
  // The port of a sandbox is another one in each run.
  const host = hostname === '127.0.0.1' ? hostname : full;
  const organization = await chat.organization();
  const { stream_id, name } = surveys[0]?.channel ?? {};
  const channel = name === undefined ? `channel ${stream_id}` : `channel '${name}' (id ${stream_id})`;
  note(`${organization === undefined ? host : `${organization} (${host})`}, as ${email}, ${channel}:`);
  for (const survey of surveys) {
    const count = survey.files === 1 ? '1 attached file' : `${survey.files} attached files`;
    const fate = `; ${count}, ${files}${files === 'archived' ? ' too' : ' without --files'}`;
    note(describeTopic(survey) + (survey.files === 0 ? '' : fate));
  }
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

/**
 * The typed name is the only yes: --yes does not count here.
 * @throws Failure usage, cancelled
 */
export async function confirmTopics(
  surveys: readonly TopicSurvey[],
  by: 'name' | 'number',
  typed: string | undefined,
  { interactive, ask }: Pick<Terminal, 'interactive' | 'ask'>,
): Promise<void> {
  const expected = by === 'name' ? (surveys[0]?.topic_name ?? '') : String(surveys.length);
  const what = by === 'name' ? "the topic's name" : 'the number of topics';
  if (typed === undefined && !interactive()) throw usage(`deleting needs --confirm with ${what}: nothing was deleted`);
  const answer = typed ?? (await ask(`Type ${what} to delete ${by === 'name' ? 'it' : 'them'} permanently:`));
  if (answer === expected) return;
  if (typed !== undefined) throw usage(`--confirm '${typed}' is not ${what}: nothing was deleted`);
  throw new Failure('cancelled', `cancelled: '${answer}' is not ${what}; nothing was deleted`);
}
