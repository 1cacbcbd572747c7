import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlob } from '../../core/glob.ts';
import type { Channel } from '../../jobs/topic/find-channel.ts';
import { listTopics } from '../../jobs/topic/list-topics.ts';
import type { Fields, Values } from '../../schema/field.ts';
import type { Disk } from '../context/disk.ts';
import type { Time } from '../context/time.ts';

/** The ways to name the topics of a command, beside arguments. */
export const namingOptions = {
  from: {
    kind: 'string',
    nonempty: true,
    placeholder: 'FILE',
    help: 'File with the name of a topic on each line; - is standard input',
  },
  match: {
    kind: 'string',
    nonempty: true,
    placeholder: 'GLOB',
    help: 'Every topic whose name matches: * is any text, ? any character, in any case',
  },
  older_than: {
    kind: 'duration',
    help: 'With --match: only topics whose newest message is older than this, such as 90d',
  },
} as const satisfies Fields;

export interface NamedTopics extends Values<typeof namingOptions> {
  readonly topic?: readonly string[];
}

/** Refuses a line that names its topics in no way or in two. @throws Failure usage */
export function checkNaming({ topic = [], from, match, older_than }: NamedTopics): void {
  const ways = [topic.length > 0, from !== undefined, match !== undefined].filter((isUsed) => isUsed).length;
  if (ways !== 1) throw usage('name the topics in one way: as arguments, with --from FILE, or with --match GLOB');
  if (older_than !== undefined && match === undefined) throw usage('--older-than needs --match');
}

/**
 * The names of the topics.
 * @throws Failure usage for an empty file; not_found where no topic matches
 */
export async function topicNames(
  chat: Pick<ChatApi, 'messages'>,
  channel: Channel,
  { topic = [], from, match, older_than }: NamedTopics,
  { read, now }: Pick<Disk, 'read'> & Pick<Time, 'now'>,
): Promise<readonly string[]> {
  if (from !== undefined) return namesIn(from, await read(from));
  if (match === undefined) return topic;
  const names = await matching(chat, channel, match, older_than === undefined ? Infinity : now() - older_than);
  if (names.length > 0) return names;
  throw new Failure('not_found', `no topic matches '${match}': nothing was deleted`, {
    hint: `List the topics: chatelaine topic list ${channel.stream_id}.`,
  });
}

function namesIn(file: string, text: string): string[] {
  const names = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (names.length === 0) throw usage(`${file} names no topic`, 'Write the name of a topic on each line.');
  return names;
}

async function matching(
  chat: Pick<ChatApi, 'messages'>,
  channel: Channel,
  glob: string,
  newestBefore: Milliseconds,
): Promise<string[]> {
  const { topics } = await listTopics(chat, channel);
  return topics
    .filter(({ topic_name }) => matchesGlob(glob.toLowerCase(), topic_name.toLowerCase()))
    .filter(({ last_timestamp }) => last_timestamp * 1000 <= newestBefore)
    .map(({ topic_name }) => topic_name);
}
