import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { utcText } from '../../core/moment.ts';
import { commandLine } from '../../core/shell-word.ts';
import { Failure, usage } from '../../core/failure.ts';
import { namesInList } from '../../core/tsv.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { findChannel, type Channel } from '../../jobs/topic/find-channel.ts';
import { listTopics } from '../../jobs/topic/list-topics.ts';
import type { PurgeRun } from '../../jobs/topic/purge-run.ts';
import type { Topic, TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import { foldName, isSameName } from '../../schema/topic.ts';
import { textField, type Fields, type Values } from '../../schema/field.ts';
import type { Disk, Terminal } from '../context.ts';
import { rosterSource } from '../roster.ts';
import { ageOption, readAge, type TimeReading } from '../typed-time.ts';
import { channelWord, type NamedPlace } from './place.ts';

export const namingOptions = {
  from: textField(
    'FILE',
    'File with the name of a topic on each line, or without CHANNEL rows of channel and topic, as topic list --all-channels prints them; ' +
      '- is standard input',
  ),
  match: {
    ...textField('GLOB', 'Every topic whose name matches: * is any text, ? any character, in any case'),
    many: true,
  },
  ...ageOption,
} as const satisfies Fields;

export interface NamedTopics extends Values<typeof namingOptions> {
  readonly topic?: readonly string[];
}

/** The topics as typed, or the one of a pasted link. @throws Failure usage where the link is of another topic */
export function withLinked({ topic: linked }: Pick<NamedPlace, 'topic'>, named: NamedTopics): NamedTopics {
  if (linked === undefined) return named;
  const other = named.topic?.find((name) => !isSameName(name, linked));
  if (other !== undefined)
    throw usage(`the link leads to the topic '${linked}', but '${other}' is named too: nothing was deleted`);
  return named.topic === undefined || named.topic.length === 0 ? { ...named, topic: [linked] } : named;
}

/** Returns the moment of --older-than. @throws Failure usage for a line that names its topics in no way or in two */
export function checkNaming(
  place: NamedPlace | undefined,
  { topic = [], from, match, older_than }: NamedTopics,
  context: TimeReading,
): Milliseconds | undefined {
  const ways = [topic.length > 0, from !== undefined, match !== undefined].filter((isUsed) => isUsed).length;
  if (ways !== 1)
    throw usage(
      `name the topics${ways === 0 ? '' : ' in one way only'}: as arguments, with --from FILE, or with --match GLOB`,
      ways === 0 ? `The channel comes first: ${commandLine('topic delete', ['CHANNEL', 'TOPIC'])}` : undefined,
    );
  if (!place && from === undefined)
    throw usage('name the channel first, or give --from with rows of channel and topic');
  if (older_than !== undefined && match === undefined && place)
    throw usage('--older-than needs --match, or rows with --from');
  return readAge(older_than, context);
}

/** Names, a pattern, or rows with their channels; with --older-than only those without a younger message. */
export type Naming = { readonly before?: Milliseconds | undefined } & (
  { readonly names: readonly string[] } | { readonly match: readonly string[] } | { readonly rows: readonly TopicRow[] }
);

export function isSeveral(naming: Naming): boolean {
  return !('names' in naming) || new Set(naming.names.map(foldName)).size > 1;
}

/** @throws Failure usage for an empty file, and for rows that are none of channel and topic */
export async function readNaming(
  place: NamedPlace | undefined,
  { topic = [], from, match, before }: NamedTopics & { readonly before: Milliseconds | undefined },
  context: Pick<Disk, 'read' | 'readBytes'> & Pick<Terminal, 'warn'>,
): Promise<Naming> {
  if (match !== undefined) return { match, before };
  if (from === undefined) return { names: topic };
  if (!place) return { rows: await readTopicRows(from, context), before };
  const lines = (await context.read(from)).split(/\r?\n/).filter((line) => line.trim() !== '');
  const names = namesInList(lines, ['topic_name']);
  if (names.length === 0) throw usage(`${from} names no topic`, 'Write the name of a topic on each line.');
  return { names };
}

const rowFields = {
  stream_id: { kind: 'integer', min: 0, help: 'Id of the channel' },
  channel: textField('NAME', 'Name of the channel'),
  topic_name: textField('TOPIC', 'Name of the topic'),
} as const satisfies Fields;

type TopicRow = Values<typeof rowFields> & { readonly topic_name: string };

async function readTopicRows(file: string, context: Pick<Disk, 'readBytes'> & Pick<Terminal, 'warn'>) {
  const { readRoster } = await import('../../store/roster/read-roster.ts');
  const { rows } = await readRoster(await rosterSource(file, {}, context), {
    ...{ fields: rowFields, column: 'topic_name', noun: 'topic' },
    nameOf: ({ topic_name = '' }) => topic_name,
    keyOf: ({ stream_id, channel, topic_name = '' }) => `${stream_id ?? channel} ${foldName(topic_name)}`,
    completion: async () => (row: Values<typeof rowFields>) => {
      if (row.stream_id === undefined && row.channel === undefined)
        throw usage('neither stream_id nor channel is there');
      return { ...row, topic_name: row.topic_name ?? '' };
    },
  });
  return rows;
}

/** The topics, with those that an interrupted run began. @throws Failure not_found; usage for another channel */
export async function topicsOf(
  chat: Pick<ChatApi, 'messages' | 'channels' | 'topics' | 'level'>,
  channel: Channel | undefined,
  naming: Naming,
  begun: readonly string[],
): Promise<readonly Topic[]> {
  if (channel) return (await namesOf(chat, channel, naming, begun)).map((topic_name) => ({ channel, topic_name }));
  const known = new Map<string, Channel>();
  const topics: Topic[] = [];
  for (const { stream_id, channel: name, topic_name } of 'rows' in naming ? naming.rows : []) {
    const word = stream_id === undefined ? `name:${name}` : `id:${stream_id}`;
    const found = known.get(word) ?? (await findChannel(chat, word));
    known.set(word, found);
    if (name !== undefined && found.name !== undefined && !isSameName(name, found.name))
      throw usage(
        `the channel ${found.stream_id} is '${found.name}', and the file says '${name}': nothing was deleted`,
        'The file is of another server, or the channel was renamed: list the topics again.',
      );
    topics.push({ channel: found, topic_name });
  }
  return topics;
}

async function namesOf(
  chat: Pick<ChatApi, 'messages' | 'topics' | 'level'>,
  channel: Channel,
  naming: Naming,
  begun: readonly string[],
): Promise<readonly string[]> {
  if (!('match' in naming)) return 'names' in naming ? naming.names : [];
  const { match, before = Infinity } = naming;
  const { topics } = await listTopics(chat, channel);
  const matched = topics.filter(({ topic_name }) => matchesGlobInAnyCase(match, topic_name));
  const old = matched.filter(({ last_timestamp = 0 }) => last_timestamp * 1000 < before);
  if (old.length + begun.length > 0) return [...begun, ...old.map(({ topic_name }) => topic_name)];
  const globs = match.map((glob) => `'${glob}'`).join(' or ');
  const count = matched.length === 1 ? '1 topic matches' : `${matched.length} topics match`;
  const what = matched.length > 0 ? `${count} ${globs}, none is that old` : `no topic matches ${globs}`;
  throw new Failure('not_found', `${what}: nothing was deleted`, {
    hint: `List the topics: ${commandLine('topic list', [channelWord(channel)])}`,
  });
}

/**
 * What a run over a pattern deletes of a topic now: nothing where an earlier run deleted it to its end, and a message
 * has come that is younger than --older-than.
 */
export function withoutNewer<S extends TopicSurvey>(survey: S, naming: Naming, run: PurgeRun): S {
  const isEnded = run.endOf(survey) !== undefined;
  if (!isEnded || !isNewer(survey, naming)) return survey;
  return { ...survey, ids: [], first_timestamp: null, last_timestamp: null, spellings: [], isLimited: false };
}

/** @throws Failure incomplete where a younger message than --older-than came after the purge of its topic began */
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
  if (naming.before === undefined || last_timestamp === null) return false;
  return last_timestamp * 1000 >= naming.before;
}
