import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { utcText } from '../../core/moment.ts';
import { maxMessages } from '../../schema/messages.ts';
import { foldTopic, isSameTopic, resolvedPrefix } from '../../schema/topic.ts';
import { inChannel } from '../messages/messages-by-ids.ts';
import { changedView, refuseIgnored } from '../messages/places.ts';
import { isFatal } from '../work/each.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { ascending } from './purge-state.ts';
import type { Channel } from './find-channel.ts';
import { holdOf, type TopicHold } from './holds.ts';
import { topicNamesIn } from './near.ts';

interface ListedTopic {
  /** In the spelling of its newest message. */
  readonly topic_name: string;
  /** Undefined where names alone were asked for. */
  readonly counts?: ReturnType<typeof countsIn>;
}

interface TopicList {
  readonly topics: readonly ListedTopic[];
  /** The plan hides older messages, so that counts and first dates are of those shown. */
  readonly isLimited: boolean;
  readonly isChanged: boolean;
}

const nothing: TopicList = { topics: [], isLimited: false, isChanged: false };

/** A topic while it is read: the UTC seconds of its messages, by their ids. */
interface ReadTopic {
  topic_name: string;
  readonly times: Map<number, number>;
}

/**
 * The one with the newest message first. All messages are fetched, page by page, and their ids and times are held;
 * without counts the server's own list is asked for, where it has one.
 */
export async function listTopics(
  chat: Pick<ChatApi, 'messages' | 'topics' | 'level'>,
  channel: Channel,
  show: 'counts' | 'names' = 'counts',
): Promise<TopicList> {
  const names = show === 'counts' ? undefined : await topicNamesIn(chat, channel);
  if (names) return { ...nothing, topics: names.map((topic_name) => ({ topic_name })) };
  const topics = new Map<string, ReadTopic>();
  let [isLimited, isChanged] = [false, false];
  const query = { narrow: inChannel(channel.stream_id), apply_markdown: false, allow_empty_topic_name: true };
  // Nothing of them is kept: requests count, since the server limits them.
  for await (const page of forward(chat, query, { anchor: 'oldest', page: maxMessages })) {
    refuseIgnored(page);
    isLimited ||= page.history_limited;
    isChanged ||= page.view_changed === true;
    for (const { id, subject, timestamp } of page.messages) addTo(topics, String(subject), id, Number(timestamp));
  }
  const newestFirst = [...topics.values()]
    .map(({ topic_name, times }) => ({ topic_name, counts: countsIn(times) }))
    .sort((one, other) => other.counts.last_timestamp - one.counts.last_timestamp);
  return { topics: newestFirst, isLimited, isChanged };
}

interface TopicChoice {
  /** Whether one channel was named, and not all. */
  readonly isAlone: boolean;
  /** The one topic of a link. */
  readonly topic?: string | undefined;
  readonly match?: readonly string[] | undefined;
  readonly before?: Milliseconds | undefined;
  readonly resolved?: boolean | undefined;
  readonly unresolved?: boolean | undefined;
  /** Topics that are left out. */
  readonly holds: readonly TopicHold[];
  /** Whether rows have the ids of all messages. */
  readonly withIds: boolean;
}

/** The chosen topics, channel after channel; returns their sums. @throws Failure incomplete for one that fails */
export async function* chosenTopics(
  chat: Parameters<typeof listTopics>[0],
  channels: readonly Channel[],
  { isAlone, topic, match, before, resolved: only, unresolved, holds, withIds }: TopicChoice,
  show: 'counts' | 'names',
  { warn }: Pick<WorkMessages, 'warn'>,
) {
  const sum = { topics: 0, messages: 0, held: 0 };
  let failed = 0;
  for (const [index, channel] of channels.entries()) {
    const named = isAlone ? '' : `channel '${channel.name ?? ''}': `;
    const listed = channel.isEmpty ? Promise.resolve(nothing) : listTopics(chat, channel, show);
    const { topics, isLimited, isChanged } = await listed.catch((cause: unknown) => {
      const failure = unlisted(cause, named, `${channels.length - index} of ${channels.length}`);
      if (failure.details.server?.code !== 'BAD_NARROW') failed += 1;
      warn(named + failure.message);
      return nothing;
    });
    if (isLimited) warn(`${named}${limitedCounts}`);
    if (isChanged) warn(`${named}${changedView}; run the same command again`);
    for (const { topic_name, counts } of topics) {
      const resolved = topic_name.startsWith(resolvedPrefix);
      if (topic !== undefined && !isSameTopic(topic, topic_name)) continue;
      if (match && !matchesGlobInAnyCase(match, topic_name)) continue;
      if (before !== undefined && (counts?.last_timestamp ?? Infinity) * 1000 >= before) continue;
      if (resolved ? unresolved : only) continue;
      if (holdOf(holds, { channel, topic_name }, counts?.ids ?? [])) {
        sum.held += 1;
        continue;
      }
      const { messages = 0, first_timestamp = null, last_timestamp = null, ids = [] } = counts ?? {};
      const times = { first_time: utcText(first_timestamp), last_time: utcText(last_timestamp) };
      sum.topics += 1;
      sum.messages += messages;
      yield {
        stream_id: channel.stream_id,
        channel: channel.name,
        topic_name,
        ...(show === 'counts' && { messages, ...times }),
        resolved,
        ...(counts && { first_id: ids[0], last_id: ids.at(-1) }),
        ...(withIds && counts && { ids }),
      };
    }
  }
  if (failed === 0) return sum;
  throw new Failure('incomplete', `the topics of ${failed} of ${channels.length} channels are not listed`, {
    hint: 'Run the same command again.',
    retryable: true,
  });
}

const limitedCounts = 'the plan of the organization limits the history: older messages exist that are not counted';

/** The failure of one channel among all, for which the list has no rows. @throws Failure what ends the list */
function unlisted(cause: unknown, named: string, left: string): Failure {
  if (named === '' || !(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
  if (cause.details.http?.status === 429)
    throw cause.as('incomplete', `${left} channels are left: ${cause.message}`, { retryable: true });
  // The server answers, but not what was requested of this channel.
  const isOfChannel = cause.kind === 'unavailable' && cause.details.http === undefined;
  if (isFatal(cause) && !isOfChannel) throw cause.as('incomplete', `${named}${cause.message}; the list ends before it`);
  return cause;
}

/** The topic has the spelling that was added last. */
function addTo(topics: Map<string, ReadTopic>, topic_name: string, id: number, time: number): void {
  const topic = topics.get(foldTopic(topic_name)) ?? { topic_name, times: new Map<number, number>() };
  topics.set(foldTopic(topic_name), topic);
  topic.topic_name = topic_name;
  topic.times.set(id, time);
}

function countsIn(times: ReadonlyMap<number, number>) {
  let [first_timestamp, last_timestamp] = [Infinity, -Infinity];
  for (const time of times.values()) {
    first_timestamp = Math.min(first_timestamp, time);
    last_timestamp = Math.max(last_timestamp, time);
  }
  return { messages: times.size, first_timestamp, last_timestamp, ids: ascending(times.keys()) };
}
