// The topics that a command line of topic delete names: as arguments, in a file, by a pattern, or by a link.
import { dirname, resolve } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { commandLine } from '../../core/shell-word.ts';
import { namesInList, nameThatIsThere, otherReading } from '../../core/tsv.ts';
import {
  findChannel,
  labelOf,
  listTopics,
  topicListLine,
  topicNamesIn,
  type Channel,
  type Topic,
} from '../../jobs/topic/find-channel.ts';
import { holdOf, type TopicHold } from '../../jobs/topic/holds.ts';
import { textField, type Fields, type Values } from '../../schema/field.ts';
import { isUrl, readLink } from '../../schema/link.ts';
import { foldTopic, isSameName, isSameTopic } from '../../schema/topic.ts';
import { readPurge } from '../../store/archive/line-file.ts';
import type { Accounts, Disk } from '../context.ts';
import { readSheet, type RosterParts } from '../roster.ts';
import { ageOption, checkAge, readAge, refuseWrongClock, type TimeParts } from '../typed-time.ts';

export const channelArgument = {
  kind: 'string',
  required: true,
  nonempty: true,
  placeholder: 'CHANNEL',
  help: 'The channel: id, name, #name or a pasted link; id:7 or name:2024 if both fit',
} as const;

interface NamedPlace {
  readonly channel: string;
  readonly topic?: string | undefined;
}

/**
 * Reads a channel, or a link to a channel or topic. The account is read only for a URL, which has to be of its site.
 * @throws Failure usage for a link to something else, and for a URL of another host
 */
export async function readPlace(text: string, { chatAccount }: Accounts): Promise<NamedPlace> {
  const link = readLink(text, isUrl(text) ? (await chatAccount()).site : undefined);
  if (!link) return { channel: text };
  const named = (wanted: string) =>
    link.terms.find(({ operator, negated }) => operator === wanted && !negated)?.operand;
  const [channel, topic] = [named('channel'), named('topic')];
  if (channel === undefined) throw usage('the link leads to no channel', 'Copy it while a channel or topic is shown.');
  return {
    channel: `${typeof channel === 'number' ? 'id' : 'name'}:${String(channel)}`,
    topic: topic === undefined ? undefined : String(topic),
  };
}

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

interface Naming extends Values<typeof namingOptions> {
  readonly topic?: readonly string[];
  readonly confirm?: string | undefined;
  /** Held topics, which the number of --confirm does not count. */
  readonly holds?: readonly TopicHold[];
}

/** The topics as typed, or the one of a pasted link. @throws Failure usage where they are named in no way or in two */
export function checkNaming(place: NamedPlace | undefined, naming: Naming, context: TimeParts): readonly string[] {
  const { topic = [], from, match, older_than } = naming;
  const linked = place?.topic;
  const other = linked === undefined ? undefined : topic.find((name) => !isSameTopic(name, linked));
  if (other !== undefined)
    throw usage(`the link leads to the topic '${linked}', but '${other}' is named too: nothing was deleted`);
  const topics = topic.length === 0 && linked !== undefined ? [linked] : topic;
  const ways = [topics.length > 0, from !== undefined, match !== undefined].filter((isUsed) => isUsed).length;
  if (ways !== 1)
    throw usage(
      `name the topics${ways === 0 ? '' : ' in one way only'}: as arguments, with --from FILE, or with --match GLOB`,
      ways === 0 ? `The channel comes first: ${commandLine('topic delete', ['CHANNEL', 'TOPIC'])}` : undefined,
    );
  if (!place && from === undefined)
    throw usage('name the channel first, or give --from with rows of channel and topic');
  if (older_than !== undefined && match === undefined && place)
    throw usage('--older-than needs --match, or rows with --from');
  checkAge(older_than, context);
  return topics;
}

/**
 * The topics, and the time before which the last message of each has to be. `root`: where the archives are.
 * @throws Failure usage for an empty file, or a channel that the file names otherwise; not_found; rejected for an
 * archived channel
 */
export async function namedTopics(
  chat: ChatApi,
  channel: Channel | undefined,
  topics: readonly string[],
  naming: Naming,
  root: string | undefined,
  context: TimeParts & RosterParts & Accounts & Disk,
): Promise<{ readonly topics: readonly Topic[]; readonly before: Milliseconds | undefined }> {
  const { from, match, older_than } = naming;
  if (older_than !== undefined) refuseWrongClock('--older-than', context);
  const before = readAge(older_than, context);
  if (!channel) return { topics: await topicsInRows(chat, from ?? '', context), before };
  await refuseArchived(chat, channel);
  const listed = from === undefined ? topics : namesInFile(from, await context.disk.read(from));
  // A name that a list may have escaped is replaced by the one that exists.
  const isDoubtful = listed.some((name) => otherReading(name) !== undefined);
  const known = isDoubtful ? await topicNamesIn(chat, channel) : undefined;
  const isThere = (one: string): boolean => known?.some((there) => isSameTopic(there, one)) ?? false;
  const names = match
    ? await namesThatMatch(chat, channel, { ...naming, match }, before, root, context)
    : listed.map((name) => nameThatIsThere(name, isThere));
  return { topics: names.map((topic_name) => ({ channel, topic_name, label: topic_name })), before };
}

function namesInFile(file: string, text: string): readonly string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const names = namesInList(lines, ['topic_name'], 'keep');
  if (names.length === 0) throw usage(`${file} names no topic`, 'Write the name of a topic on each line.');
  return names;
}

async function namesThatMatch(
  chat: ChatApi,
  channel: Channel,
  { match, confirm, holds = [] }: Naming & { readonly match: readonly string[] },
  before = Infinity,
  root: string | undefined,
  context: Accounts & Disk,
): Promise<readonly string[]> {
  const { topics } = await listTopics(chat, channel);
  const matched = topics.filter(({ topic_name }) => matchesGlobInAnyCase(match, topic_name));
  const old = matched.filter(({ last_timestamp }) => last_timestamp * 1000 < before);
  const isListed = (name: string): boolean => topics.some(({ topic_name }) => isSameTopic(topic_name, name));
  const counted = old.filter(({ topic_name, ids }) => !holdOf(holds, { channel, topic_name }, ids));
  const count = Number(confirm) - counted.length;
  const deleted =
    root === undefined ? [] : await deletedEarlier(channel, match, isListed, count, resolve(root), context);
  if (deleted.length + old.length > 0) return [...deleted, ...old.map(({ topic_name }) => topic_name)];
  const globs = match.map((glob) => `'${glob}'`).join(' or ');
  const found = matched.length === 1 ? '1 topic matches' : `${matched.length} topics match`;
  const what = matched.length > 0 ? `${found} ${globs}, none is that old` : `no topic matches ${globs}`;
  throw new Failure('not_found', `${what}: nothing was deleted`, {
    hint: `List the topics: ${topicListLine(channel)}`,
  });
}

/** Topics that the latest runs deleted and archived in `root`, if they are `count`; for NaN those left unfinished. */
async function deletedEarlier(
  { stream_id }: Channel,
  match: readonly string[],
  isListed: (name: string) => boolean,
  count: number,
  root: string,
  { accounts, chatAccount, record }: Accounts & Disk,
): Promise<readonly string[]> {
  if (count <= 0) return [];
  const isUncounted = Number.isNaN(count);
  const account = await chatAccount();
  const origin = accounts.identityOf(account);
  const deleted = new Map<string, string>();
  let last: string | undefined;
  for (const entry of (await record.past('topic_name')).toReversed()) {
    if (entry.origin !== origin || entry.email !== account.email || entry.stream_id !== stream_id) continue;
    if (entry.run !== last && deleted.size >= count) break;
    const { run, topic_name, archive = '' } = entry;
    const isMeant = dirname(archive) === root && matchesGlobInAnyCase(match, topic_name) && !isListed(topic_name);
    if (isMeant && (!isUncounted || (await readPurge(archive)).stage === 'begun'))
      deleted.set(foldTopic(topic_name), topic_name);
    last = run;
  }
  return isUncounted || deleted.size === count ? [...deleted.values()].reverse() : [];
}

/** The fields of a row that names a topic, here and in lists of holds. */
export const topicRowFields = {
  stream_id: { kind: 'integer', min: 0, help: 'Id of the channel' },
  channel: textField('NAME', 'Name of the channel'),
  topic_name: { kind: 'string', help: 'Name of the topic' },
} as const satisfies Fields;

type TopicRow = Values<typeof topicRowFields>;

async function topicsInRows(chat: ChatApi, file: string, context: RosterParts): Promise<readonly Topic[]> {
  const rules = {
    fields: topicRowFields,
    column: 'topic_name',
    noun: 'topic',
    nameOf: ({ topic_name = '' }: TopicRow) => topic_name,
    keyOf: ({ stream_id, channel, topic_name = '' }: TopicRow) => `${stream_id ?? channel} ${foldTopic(topic_name)}`,
    completion: async () => (row: TopicRow) => {
      if (row.stream_id !== undefined || row.channel !== undefined) return row;
      throw usage('stream_id and channel are both missing');
    },
  } as const;
  const known = new Map<string, Channel>();
  const topics: Topic[] = [];
  const { rows } = await readSheet(file, {}, rules, context).catch(withoutOptions);
  for (const { stream_id, channel: name, topic_name = '' } of rows) {
    const word = stream_id === undefined ? `name:${name}` : `id:${stream_id}`;
    const channel = known.get(word) ?? (await findChannel(chat, word));
    if (!known.has(word)) await refuseArchived(chat, channel);
    known.set(word, channel);
    if (name !== undefined && channel.name !== undefined && !isSameName(name, channel.name))
      throw usage(
        `the channel ${channel.stream_id} is '${channel.name}', and the file says '${name}': nothing was deleted`,
        'The file is of another server, or the channel was renamed: list the topics again.',
      );
    topics.push({ channel, topic_name, label: labelOf({ channel, topic_name }) });
  }
  return topics;
}

/** The failure of a file of rows; these commands have no options of a sheet, which its hint may name. */
export function withoutOptions(cause: unknown): never {
  if (!(cause instanceof Failure) || !/--[a-z]/.test(cause.details.hint ?? '')) throw cause;
  throw cause.as(cause.kind, cause.message, { hint: 'Write the file as topic list -o ndjson prints it.' });
}

/** Refuses an archived channel, in which the server deletes nothing. @throws Failure rejected */
async function refuseArchived(chat: ChatApi, { stream_id, name = String(stream_id) }: Channel): Promise<void> {
  const row = (await chat.archivedChannels())?.find((one) => one['stream_id'] === stream_id);
  if (row?.['is_archived'] !== true) return;
  throw new Failure('rejected', `the channel '${name}' is archived: nothing was archived or deleted`, {
    hint: 'Unarchive the channel first: the server deletes no topic of an archived one.',
  });
}
