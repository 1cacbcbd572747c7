import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { utcText } from '../../core/moment.ts';
import { commandLine } from '../../core/shell-word.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import type { Channel } from '../../jobs/topic/find-channel.ts';
import { listTopics } from '../../jobs/topic/list-topics.ts';
import type { PurgeRun } from '../../jobs/topic/purge-run.ts';
import type { TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import { foldName, isSameName } from '../../schema/topic.ts';
import { textField, type Fields, type Values } from '../../schema/field.ts';
import type { Disk } from '../context.ts';
import { ageOption, readAge, type TimeReading } from '../typed-time.ts';
import { channelWord, type NamedPlace } from './place.ts';

/** The ways to name the topics of a command, beside arguments. */
export const namingOptions = {
  from: textField('FILE', 'File with the name of a topic on each line; - is standard input'),
  match: {
    ...textField('GLOB', 'Every topic whose name matches: * is any text, ? any character, in any case'),
    many: true,
  },
  ...ageOption,
} as const satisfies Fields;

export interface NamedTopics extends Values<typeof namingOptions> {
  readonly topic?: readonly string[];
}

/**
 * The topics as typed, or the one of a pasted link.
 * @throws Failure usage where the link is of one topic and another is typed
 */
export function withLinked({ topic: linked }: Pick<NamedPlace, 'topic'>, named: NamedTopics): NamedTopics {
  if (linked === undefined) return named;
  const other = named.topic?.find((name) => !isSameName(name, linked));
  if (other !== undefined)
    throw usage(`the link is of the topic '${linked}', and '${other}' is named too: nothing was deleted`);
  return named.topic === undefined || named.topic.length === 0 ? { ...named, topic: [linked] } : named;
}

/**
 * Refuses a line that names its topics in no way or in two; the moment of --older-than.
 * @throws Failure usage
 */
export function checkNaming(
  { topic = [], from, match, older_than }: NamedTopics,
  context: TimeReading,
): Milliseconds | undefined {
  const ways = [topic.length > 0, from !== undefined, match !== undefined].filter((isUsed) => isUsed).length;
  if (ways !== 1)
    throw usage(
      'name the topics in one way: as arguments, with --from FILE, or with --match GLOB',
      ways === 0 ? 'The channel comes first: chatelaine topic delete CHANNEL TOPIC.' : undefined,
    );
  if (older_than !== undefined && match === undefined) throw usage('--older-than needs --match');
  return readAge(older_than, context);
}

/** What names the topics: their names, or a pattern. */
export type Naming =
  | { readonly names: readonly string[] }
  | { readonly match: readonly string[]; readonly before: Milliseconds | undefined };

/** Whether more than one topic may be meant, spellings of one topic counted once. */
export function isSeveral(naming: Naming): boolean {
  return 'match' in naming || new Set(naming.names.map(foldName)).size > 1;
}

/** @throws Failure usage for an empty file */
export async function readNaming(
  { topic = [], from, match, before }: NamedTopics & { readonly before: Milliseconds | undefined },
  { read }: Pick<Disk, 'read'>,
): Promise<Naming> {
  if (match !== undefined) return { match, before };
  if (from === undefined) return { names: topic };
  const names = (await read(from)).split(/\r?\n/).filter((line) => line.trim() !== '');
  if (names.length === 0) throw usage(`${from} names no topic`, 'Write the name of a topic on each line.');
  return { names };
}

/**
 * The names of the topics. Those that an interrupted run began are among them, though they may match no more.
 * @throws Failure not_found where no topic matches
 */
export async function topicNames(
  chat: Pick<ChatApi, 'messages'>,
  channel: Channel,
  naming: Naming,
  begun: readonly string[],
): Promise<readonly string[]> {
  if ('names' in naming) return naming.names;
  const { match, before = Infinity } = naming;
  const { topics } = await listTopics(chat, channel);
  const matched = topics.filter(({ topic_name }) => matchesGlobInAnyCase(match, topic_name));
  const old = matched.filter(({ last_timestamp }) => last_timestamp * 1000 < before);
  if (old.length + begun.length > 0) return [...begun, ...old.map(({ topic_name }) => topic_name)];
  const globs = match.map((glob) => `'${glob}'`).join(' or ');
  const count = matched.length === 1 ? '1 topic matches' : `${matched.length} topics match`;
  const what = matched.length > 0 ? `${count} ${globs}, none is that old` : `no topic matches ${globs}`;
  throw new Failure('not_found', `${what}: nothing was deleted`, {
    hint: `List the topics: ${commandLine('topic list', [channelWord(channel)])}`,
  });
}

/**
 * What a run over a pattern deletes of a topic now: nothing of one that an earlier run deleted to its end, and that has a message since
 * that is younger than --older-than.
 */
export function withoutNewer<S extends TopicSurvey>(survey: S, naming: Naming, run: PurgeRun): S {
  const isEnded = run.endOf(survey.topic_name) !== undefined;
  if (!isEnded || !isNewer(survey, naming)) return survey;
  return { ...survey, ids: [], first_timestamp: null, last_timestamp: null, spellings: [], isLimited: false };
}

/** @throws Failure incomplete where a topic has a message that is younger than --older-than, and its purge began before it arrived */
export function refuseNewer(survey: TopicSurvey, naming: Naming): void {
  if (!isNewer(survey, naming)) return;
  const { topic_name, last_timestamp } = survey;
  throw new Failure(
    'incomplete',
    `topic '${topic_name}' has a message of ${utcText(last_timestamp)}, which is younger than --older-than: nothing more of it is deleted`,
    { hint: 'Look at it; the topic can be deleted by its name.', retryable: false },
  );
}

function isNewer({ last_timestamp }: TopicSurvey, naming: Naming): boolean {
  if ('names' in naming || naming.before === undefined || last_timestamp === null) return false;
  return last_timestamp * 1000 >= naming.before;
}
