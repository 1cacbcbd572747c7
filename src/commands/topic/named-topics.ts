import { commandLine } from '../../core/shell-word.ts';
import { usage } from '../../core/failure.ts';
import { namesInList } from '../../core/tsv.ts';
import type { Naming } from '../../jobs/topic/named-topics.ts';
import { isUrl, readLink } from '../../schema/link.ts';
import { foldTopic, isSameTopic } from '../../schema/topic.ts';
import { textField, type Fields, type Values } from '../../schema/field.ts';
import type { Accounts } from '../context.ts';
import { readSheet, whereOption, type RosterParts, type RosterValues } from '../roster.ts';
import { ageOption, checkAge, readAge, refuseWrongClock, type TimeParts } from '../typed-time.ts';

export const channelArgument = {
  kind: 'string',
  required: true,
  nonempty: true,
  placeholder: 'CHANNEL',
  help: 'The channel: id, name, #name or a pasted link; id:7 or name:2024 if both fit',
} as const;

export interface NamedPlace {
  readonly channel: string;
  /** The topic of a link. */
  readonly topic?: string | undefined;
}

/**
 * A channel as typed, or the link of one, or of a topic. The account is read only where a URL has to be of its site.
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
  ...whereOption,
} as const satisfies Fields;

export interface NamedTopics extends Values<typeof namingOptions> {
  readonly topic?: readonly string[];
}

/** The topics as typed, or the one of a pasted link. @throws Failure usage where the link is of another topic */
export function withLinked({ topic: linked }: NamedPlace, named: NamedTopics): NamedTopics {
  if (linked === undefined) return named;
  const other = named.topic?.find((name) => !isSameTopic(name, linked));
  if (other !== undefined)
    throw usage(`the link leads to the topic '${linked}', but '${other}' is named too: nothing was deleted`);
  return named.topic === undefined || named.topic.length === 0 ? { ...named, topic: [linked] } : named;
}

/**
 * What reads the topics that a line names; it refuses an empty file, and rows that are none of channel and topic.
 * @throws Failure usage for a line that names its topics in no way or in two
 */
export function namingOf(
  place: NamedPlace | undefined,
  { topic = [], from, match, older_than, where }: NamedTopics,
  context: TimeParts & RosterParts,
): () => Promise<Naming> {
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
  if (where && (place || from === undefined)) throw usage('--where needs --from with rows of channel and topic');
  checkAge(older_than, context);
  return async () => {
    if (older_than !== undefined) refuseWrongClock('--older-than', context);
    const before = readAge(older_than, context);
    if (match !== undefined) return { match, before };
    if (from === undefined) return { names: topic };
    if (!place) return { rows: await readTopicRows(from, where ? { where } : {}, context), before };
    const lines = (await context.disk.read(from)).split(/\r?\n/).filter((line) => line.trim() !== '');
    const names = namesInList(lines, ['topic_name'], 'keep');
    if (names.length === 0) throw usage(`${from} names no topic`, 'Write the name of a topic on each line.');
    return { names };
  };
}

const rowFields = {
  stream_id: { kind: 'integer', min: 0, help: 'Id of the channel' },
  channel: textField('NAME', 'Name of the channel'),
  topic_name: textField('TOPIC', 'Name of the topic'),
} as const satisfies Fields;

async function readTopicRows(file: string, how: RosterValues, context: RosterParts) {
  const { rows } = await readSheet(
    file,
    how,
    {
      fields: rowFields,
      column: 'topic_name',
      noun: 'topic',
      nameOf: ({ topic_name = '' }) => topic_name,
      keyOf: ({ stream_id, channel, topic_name = '' }) => `${stream_id ?? channel} ${foldTopic(topic_name)}`,
      completion: async () => (row: Values<typeof rowFields>) => {
        if (row.stream_id === undefined && row.channel === undefined)
          throw usage('stream_id and channel are both missing');
        return { ...row, topic_name: row.topic_name ?? '' };
      },
    },
    context,
  );
  return rows;
}
