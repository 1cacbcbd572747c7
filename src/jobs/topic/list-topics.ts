import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { utcText } from '../../core/moment.ts';
import { maxMessages } from '../../schema/messages.ts';
import { foldTopic, isSameName, resolvedPrefix } from '../../schema/topic.ts';
import { inChannel } from '../messages/messages-by-ids.ts';
import { changedView, isOldCopy, refuseIgnored } from '../messages/places.ts';
import { misplacedIn } from '../messages/topic-places.ts';
import { isFatal } from '../work/each.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { ascending } from './standings.ts';
import type { Channel } from './find-channel.ts';
import { holdOf, type TopicHold } from './holds.ts';
import { topicNamesIn } from './near.ts';

interface TopicSummary {
  /** In the spelling of its newest message. */
  readonly topic_name: string;
  readonly messages?: number;
  readonly first_id?: number;
  readonly last_id?: number;
  /** Those of all its messages. */
  readonly ids?: () => Iterable<number>;
  /** UTC seconds. */
  readonly first_timestamp?: number;
  readonly last_timestamp?: number;
  readonly resolved: boolean;
}

interface ReadTopic {
  topic_name: string;
  /** UTC seconds, by the id of the message. */
  readonly times: Map<number, number>;
}

/**
 * The one with the newest message first. All messages are fetched, page by page, and their ids and times are held;
 * without counts the server's own list is asked for, where it has one. `isLimited`: the plan hides older messages, so
 * that counts and first dates are of those shown. `unplaced`: old copies, whose topic the server does not show.
 */
export async function listTopics(
  chat: Pick<ChatApi, 'messages' | 'topics' | 'level'>,
  channel: Channel,
  show: 'counts' | 'names' = 'counts',
) {
  const names = show === 'counts' ? undefined : await topicNamesIn(chat, channel);
  if (names) return { topics: names.map(uncounted), isLimited: false, isChanged: false, unplaced: 0 };
  const topics = new Map<string, ReadTopic>();
  const lost = new Map<number, number>();
  let [isLimited, isChanged] = [false, false];
  const query = { narrow: inChannel(channel.stream_id), apply_markdown: false, allow_empty_topic_name: true };
  // Nothing of them is kept: requests count, since the server limits them.
  for await (const page of forward(chat, query, { anchor: 'oldest', page: maxMessages })) {
    refuseIgnored(page);
    isLimited ||= page.history_limited;
    isChanged ||= page.view_changed === true;
    for (const message of page.messages) {
      const { id, subject, timestamp } = message;
      if (isOldCopy(message)) lost.set(id, Number(timestamp));
      else addTo(topics, String(subject), id, Number(timestamp));
    }
  }
  const named = new Map([...topics].map(([name, { times }]) => [name, () => times.keys()]));
  const misplaced = await misplacedIn(chat, channel.stream_id, named, lost.keys());
  for (const [id, { from = '', topic }] of misplaced) {
    const time = lost.get(id) ?? topics.get(from)?.times.get(id);
    topics.get(from)?.times.delete(id);
    if (topic !== undefined) addTo(topics, topic, id, Number(time));
  }
  const newestFirst: readonly TopicSummary[] = [...topics.values()]
    .filter(({ times }) => times.size > 0)
    .map(summaryOf)
    .sort((one, other) => other.last_timestamp - one.last_timestamp);
  return {
    topics: newestFirst,
    isLimited,
    isChanged,
    unplaced: [...misplaced.values()].filter(({ topic }) => topic === undefined).length,
  };
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
  { conclude, warn }: Pick<WorkMessages, 'conclude' | 'warn'>,
) {
  const sum = { topics: 0, messages: 0, held: 0 };
  let failed = 0;
  for (const [index, channel] of channels.entries()) {
    const named = isAlone ? '' : `channel '${channel.name ?? ''}': `;
    const listed = channel.isEmpty ? Promise.resolve(nothing) : listTopics(chat, channel, show);
    const { topics, unplaced, isLimited, isChanged } = await listed.catch((cause: unknown) => {
      const failure = unlisted(cause, named, `${channels.length - index} of ${channels.length}`);
      if (failure.details.server?.code !== 'BAD_NARROW') failed += 1;
      warn(named + failure.message);
      return nothing;
    });
    if (unplaced > 0) conclude(`messages whose topic the server does not show, in no topic of this list: ${unplaced}`);
    if (isLimited) warn(`${named}${limitedCounts}`);
    if (isChanged) warn(`${named}${changedView}; run the same command again`);
    for (const { first_timestamp = null, last_timestamp = null, topic_name, ids, ...summary } of topics) {
      const { messages, resolved, ...ends } = summary;
      if (topic !== undefined && !isSameName(topic, topic_name)) continue;
      if (match && !matchesGlobInAnyCase(match, topic_name)) continue;
      if (before !== undefined && (last_timestamp ?? Infinity) * 1000 >= before) continue;
      if (resolved ? unresolved : only) continue;
      if (holdOf(holds, { channel, topic_name }, ids?.() ?? [])) {
        sum.held += 1;
        continue;
      }
      const times = { first_time: utcText(first_timestamp), last_time: utcText(last_timestamp) };
      sum.topics += 1;
      sum.messages += messages ?? 0;
      const of = { stream_id: channel.stream_id, channel: channel.name };
      yield {
        ...of,
        topic_name,
        ...(show === 'counts' && { messages, ...times }),
        resolved,
        ...ends,
        ...(withIds && ids && { ids: ascending(ids()) }),
      };
    }
  }
  if (failed === 0) return sum;
  throw new Failure('incomplete', `the topics of ${failed} of ${channels.length} channels are not listed`, {
    hint: 'Run the same command again.',
    retryable: true,
  });
}

const nothing: Awaited<ReturnType<typeof listTopics>> = { topics: [], unplaced: 0, isLimited: false, isChanged: false };

const limitedCounts = 'the history is cut by the plan of the organization: older messages exist that are not counted';

/** The failure of one channel among all, for which the list has no rows. @throws Failure what ends the list */
function unlisted(cause: unknown, named: string, left: string): Failure {
  if (named === '' || !(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
  if (cause.details.http?.status === 429)
    throw cause.as('incomplete', `${left} channels are left: ${cause.message}`, { retryable: true });
  if (isFatal(cause)) throw cause.as('incomplete', `${named}${cause.message}; the list ends before it`);
  return cause;
}

/** The topic has the spelling that was added last. */
function addTo(topics: Map<string, ReadTopic>, topic_name: string, id: number, time: number): void {
  const topic = topics.get(foldTopic(topic_name)) ?? { topic_name, times: new Map<number, number>() };
  topics.set(foldTopic(topic_name), topic);
  topic.topic_name = topic_name;
  topic.times.set(id, time);
}

function summaryOf({ topic_name, times }: ReadTopic) {
  let [first_timestamp, last_timestamp, first_id, last_id] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [id, time] of times) {
    first_timestamp = Math.min(first_timestamp, time);
    last_timestamp = Math.max(last_timestamp, time);
    first_id = Math.min(first_id, id);
    last_id = Math.max(last_id, id);
  }
  const own = { messages: times.size, first_timestamp, last_timestamp, first_id, last_id };
  return { ...uncounted(topic_name), ...own, ids: () => times.keys() };
}

function uncounted(topic_name: string): TopicSummary {
  return { topic_name, resolved: topic_name.startsWith(resolvedPrefix) };
}
