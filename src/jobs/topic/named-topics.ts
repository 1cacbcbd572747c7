import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { utcText } from '../../core/moment.ts';
import { commandLine } from '../../core/shell-word.ts';
import { nameThatIsThere, tsvText } from '../../core/tsv.ts';
import { foldTopic, isSameName, isSameTopic } from '../../schema/topic.ts';
import { channelWord, findChannel, labelOf, shownName, type Channel, type Topic } from './find-channel.ts';
import { listTopics } from './list-topics.ts';
import { topicNamesIn } from './near.ts';
import type { PurgeRun } from './purge-run.ts';
import type { TopicSurvey } from './survey-topics.ts';

/** Names, a pattern, or rows with their channels; with --older-than only those without a younger message. */
export type Naming = { readonly before?: Milliseconds | undefined } & (
  { readonly names: readonly string[] } | { readonly match: readonly string[] } | { readonly rows: readonly TopicRow[] }
);

interface TopicRow {
  readonly stream_id?: number;
  readonly channel?: string;
  readonly topic_name: string;
}

export function isSeveral(naming: Naming): boolean {
  return !('names' in naming) || new Set(naming.names.map(foldTopic)).size > 1;
}

/** The topics, with those that an interrupted run began. @throws Failure not_found; usage for another channel */
export async function topicsOf(
  chat: Pick<ChatApi, 'messages' | 'channels' | 'archivedChannels' | 'topics' | 'level'>,
  channel: Channel | undefined,
  naming: Naming,
  begun: readonly string[],
): Promise<readonly Topic[]> {
  if (channel) await refuseArchived(chat, channel);
  if (channel) return (await namesOf(chat, channel, naming, begun)).map((topic_name) => ({ channel, topic_name }));
  const known = new Map<string, Channel>();
  const topics: Topic[] = [];
  for (const { stream_id, channel: name, topic_name } of 'rows' in naming ? naming.rows : []) {
    const word = stream_id === undefined ? `name:${name}` : `id:${stream_id}`;
    const found = known.get(word) ?? (await findChannel(chat, word));
    if (!known.has(word)) await refuseArchived(chat, found);
    known.set(word, found);
    if (name !== undefined && found.name !== undefined && !isSameName(name, found.name))
      throw usage(
        `the channel ${found.stream_id} is '${found.name}', and the file says '${name}': nothing was deleted`,
        'The file is of another server, or the channel was renamed: list the topics again.',
      );
    const topic = { channel: found, topic_name };
    topics.push({ ...topic, label: labelOf(topic) });
  }
  return topics;
}

/** The server lists archived channels apart, and deletes nothing in them. @throws Failure rejected */
async function refuseArchived(
  chat: Pick<ChatApi, 'channels' | 'archivedChannels'>,
  { stream_id, name = String(stream_id) }: Channel,
): Promise<void> {
  const rows = await chat.channels();
  if (!rows || rows.some((row) => row['stream_id'] === stream_id)) return;
  const row = (await chat.archivedChannels())?.find((one) => one['stream_id'] === stream_id);
  if (row?.['is_archived'] !== true) return;
  throw new Failure('rejected', `the channel '${name}' is archived: nothing was archived or deleted`, {
    hint: 'Unarchive the channel first: the server deletes no topic of an archived one.',
  });
}

async function namesOf(
  chat: Pick<ChatApi, 'messages' | 'topics' | 'level'>,
  channel: Channel,
  naming: Naming,
  begun: readonly string[],
): Promise<readonly string[]> {
  if ('names' in naming) {
    const isDoubtful = naming.names.some((name) => (tsvText(name, 'name') ?? name) !== name);
    const known = isDoubtful ? await topicNamesIn(chat, channel) : undefined;
    const isThere = (name: string): boolean => known?.some((one) => isSameTopic(one, name)) ?? false;
    return naming.names.map((name) => nameThatIsThere(name, isThere));
  }
  if (!('match' in naming)) return [];
  const { match, before = Infinity } = naming;
  const { topics } = await listTopics(chat, channel);
  const matched = topics.filter(({ topic_name }) => matchesGlobInAnyCase(match, topic_name));
  const old = matched.filter(({ counts }) => (counts?.last_timestamp ?? 0) * 1000 < before);
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
  const { last_timestamp } = survey;
  throw new Failure(
    'incomplete',
    `topic '${shownName(survey)}' has a message of ${utcText(last_timestamp)}, which is younger than --older-than: nothing more of it is deleted`,
    { hint: 'Look at it; the topic can be deleted by its name.', retryable: false },
  );
}

function isNewer({ last_timestamp }: TopicSurvey, naming: Naming): boolean {
  if (naming.before === undefined || last_timestamp === null) return false;
  return last_timestamp * 1000 >= naming.before;
}
