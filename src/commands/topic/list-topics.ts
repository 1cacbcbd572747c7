import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { utcText } from '../../core/moment.ts';
import { changedView } from '../../jobs/messages/places.ts';
import { everyChannel, findChannel, type Channel } from '../../jobs/topic/find-channel.ts';
import { holdOf, inKnownChannels, type TopicHold } from '../../jobs/topic/holds.ts';
import { listTopics } from '../../jobs/topic/list-topics.ts';
import { isFatal } from '../../jobs/work/each.ts';
import { flagField, textField } from '../../schema/field.ts';
import { isSameTopic, resolvedPrefix } from '../../schema/topic.ts';
import { command } from '../command.ts';
import { ageOption, checkAge, readAge } from '../typed-time.ts';
import { holdOption, readHolds } from './holds.ts';
import { channelArgument, readPlace } from './named-topics.ts';

export default command({
  about: [
    "Counts and dates come from the messages that the account can see: all of them are fetched, 5000 per request. With --fields topic_name, the command only requests the server's list " +
      'of topics. The topic with the newest message comes first. Names that differ only by case ' +
      'are one topic, as for topic delete. The link of a topic lists that topic alone.',
    '--all-channels lists the topics of every channel, with totals below; topic delete --from accepts that list as ndjson, csv or tsv.',
  ],
  args: { channel: { ...channelArgument, required: false } },
  options: {
    all_channels: flagField('The topics of every channel that the account sees'),
    not_channel: {
      ...textField('CHANNEL', 'With --all-channels: leave out this channel'),
      many: true,
    },
    match: { ...textField('GLOB', 'Only names that match: * is any text, ? any character, in any case'), many: true },
    ...ageOption,
    ...holdOption,
    resolved: flagField('Only resolved topics, whose names begin with ✔'),
    unresolved: flagField('Only topics that are not resolved'),
  },
  examples: [
    'chatelaine topic list general',
    "chatelaine topic list general --match 'calibration*' --older-than 90d",
    'chatelaine topic list general --unresolved -o json',
    'chatelaine topic list --all-channels --older-than 30d --not-channel releases -o ndjson',
  ],

  rules: [
    { option: 'resolved', excludes: ['unresolved'] },
    {
      oneOf: ['channel', 'all_channels'],
      say: 'name one channel, or give --all-channels',
      hint: 'See chatelaine topic list --help.',
    },
    { option: 'not_channel', needs: ['all_channels'] },
  ],

  async *rows({ channel: text, not_channel = [], match, older_than, hold, resolved, unresolved }, context) {
    checkAge(older_than, context);
    const chat = context.chat();
    const holds = await inKnownChannels(chat, await readHolds(hold, context));
    const place = text === undefined ? undefined : await readPlace(text, context);
    const left = await Promise.all(not_channel.map(async (word) => (await readPlace(word, context)).channel));
    const channels = place ? [await findChannel(chat, place.channel)] : await everyChannel(chat, left);
    const before = readAge(older_than, context);
    const { fields, sort } = context.options;
    const isCounted =
      older_than !== undefined ||
      fields === undefined ||
      /messages|_time|\b(ids|first_id|last_id)\b/.test(`${fields} ${sort ?? ''}`) ||
      holds.some(({ ids }) => ids.length > 0);
    const list = {
      channels,
      holds,
      isCounted,
      isAlone: place !== undefined,
      withIds: /\bids\b/.test(String(fields)),
    };
    const isChosen = (topic_name: string, last: number): boolean =>
      (place?.topic === undefined || isSameTopic(place.topic, topic_name)) &&
      (!match || matchesGlobInAnyCase(match, topic_name)) &&
      (before === undefined || last * 1000 < before) &&
      (topic_name.startsWith(resolvedPrefix) ? !unresolved : !resolved);
    const sum = yield* chosenTopics(chat, list, isChosen, context.warn);
    if (!place)
      context.conclude(
        `channels: ${channels.length}, topics: ${sum.topics}${isCounted ? `, messages: ${sum.messages}` : ''}`,
      );
    if (holds.length > 0) context.conclude(`topics that are held: ${sum.held}`);
    const [name = '*', ...others] = match ?? [];
    if (sum.topics === 0 && others.length === 0 && !/[*?]/.test(name))
      context.note(`no topic is named '${name}': try --match '*${name}*'`);
  },

  fields: ['first_id', 'last_id', 'ids'],

  show: {
    columns: [
      { name: 'topic_name', keep: 'whole', empty: '(empty topic)' },
      'messages',
      { name: 'first_time', keep: -1 },
      'last_time',
      'resolved',
      { name: 'stream_id', keep: -2 },
      { name: 'channel', keep: 1, width: Infinity },
    ],
    none: 'no topics match',
  },
});

interface Listing {
  readonly channels: readonly Channel[];
  readonly holds: readonly TopicHold[];
  readonly isCounted: boolean;
  /** Whether one channel was named, and not all. */
  readonly isAlone: boolean;
  /** Whether rows have the ids of all messages. */
  readonly withIds: boolean;
}

const limitedCounts = 'the plan of the organization limits the history: older messages exist that are not counted';

/** The chosen topics, channel after channel; returns their sums. @throws Failure incomplete for one that fails */
async function* chosenTopics(
  chat: ChatApi,
  { channels, holds, isCounted, isAlone, withIds }: Listing,
  isChosen: (topic_name: string, last: number) => boolean,
  warn: (text: string) => void,
) {
  const sum = { topics: 0, messages: 0, held: 0 };
  let failed = 0;
  for (const [index, channel] of channels.entries()) {
    // The list of channels says it.
    if (channel.isEmpty) continue;
    const named = isAlone ? '' : `channel '${channel.name ?? ''}': `;
    const left = `${channels.length - index} of ${channels.length}`;
    const list = await listTopics(chat, channel, isCounted ? 'counts' : 'names').catch((cause: unknown) => {
      const failure = unlisted(cause, named, left);
      if (failure.details.server?.code !== 'BAD_NARROW') failed += 1;
      warn(named + failure.message);
      return undefined;
    });
    if (list?.isLimited) warn(`${named}${limitedCounts}`);
    if (list?.isChanged) warn(`${named}${changedView}; run the same command again`);
    for (const { topic_name, counts } of list?.topics ?? []) {
      if (!isChosen(topic_name, counts?.last_timestamp ?? Infinity)) continue;
      const { first_timestamp = null, last_timestamp = null, ids = [] } = counts ?? {};
      if (holdOf(holds, { channel, topic_name }, ids)) {
        sum.held += 1;
        continue;
      }
      sum.topics += 1;
      sum.messages += ids.length;
      yield {
        stream_id: channel.stream_id,
        channel: channel.name,
        topic_name,
        ...(counts && {
          messages: ids.length,
          first_time: utcText(first_timestamp),
          last_time: utcText(last_timestamp),
        }),
        resolved: topic_name.startsWith(resolvedPrefix),
        ...(counts && { first_id: ids[0], last_id: ids.at(-1) }),
        ...(counts && withIds && { ids }),
      };
    }
  }
  if (failed === 0) return sum;
  throw new Failure('incomplete', `the topics of ${failed} of ${channels.length} channels are not listed`, {
    hint: 'Run the same command again.',
    retryable: true,
  });
}

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
