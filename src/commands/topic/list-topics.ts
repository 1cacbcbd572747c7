import { Failure } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { utcText } from '../../core/moment.ts';
import { changedView } from '../../jobs/messages/places.ts';
import {
  everyChannel,
  findChannel,
  listTopics,
  type Channel,
  type ListedTopic,
} from '../../jobs/topic/find-channel.ts';
import { holdOf, inKnownChannels } from '../../jobs/topic/holds.ts';
import { isFatal } from '../../jobs/work/each.ts';
import { flagField, textField } from '../../schema/field.ts';
import { isSameTopic, resolvedPrefix } from '../../schema/topic.ts';
import { command } from '../command.ts';
import { ageOption, checkAge, readAge } from '../typed-time.ts';
import { holdOption, readHolds } from './holds.ts';
import { channelArgument, readPlace } from './named-topics.ts';

export default command({
  about: [
    'Counts and dates come from the messages that the account can see: all of them are fetched, 5000 per request. The topic with the newest message ' +
      'comes first. Names that differ only by case ' +
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
  },
  examples: [
    'chatelaine topic list general',
    "chatelaine topic list general --match 'calibration*' --older-than 90d",
    'chatelaine topic list --all-channels --older-than 30d --not-channel releases -o ndjson',
  ],

  rules: [
    {
      oneOf: ['channel', 'all_channels'],
      say: 'name one channel, or give --all-channels',
      hint: 'See chatelaine topic list --help.',
    },
    { option: 'not_channel', needs: ['all_channels'] },
  ],

  async *rows({ channel: text, not_channel = [], match, older_than, hold }, context) {
    checkAge(older_than, context);
    const chat = context.chat();
    const holds = await inKnownChannels(chat, await readHolds(hold, context));
    const place = text === undefined ? undefined : await readPlace(text, context);
    const left = await Promise.all(not_channel.map(async (word) => (await readPlace(word, context)).channel));
    const channels = place ? [await findChannel(chat, place.channel)] : await everyChannel(chat, left);
    const before = readAge(older_than, context);
    const withIds = /\bids\b/.test(String(context.options.fields));
    const isChosen = ({ topic_name, last_timestamp }: ListedTopic): boolean =>
      (place?.topic === undefined || isSameTopic(place.topic, topic_name)) &&
      (!match || matchesGlobInAnyCase(match, topic_name)) &&
      (before === undefined || last_timestamp * 1000 < before);
    const sum = { topics: 0, messages: 0, held: 0, failed: 0 };
    for (const channel of channels) {
      const named = place ? '' : `channel '${channel.name ?? ''}': `;
      const warn = (text: string): void => context.warn(named + text);
      const { topics, isLimited, isChanged } = await listTopics(chat, channel).catch((cause: unknown) => {
        const failure = unlisted(cause, named);
        if (failure.details.server?.code !== 'BAD_NARROW') sum.failed += 1;
        warn(failure.message);
        return { topics: [], isLimited: false, isChanged: false };
      });
      if (isLimited) warn('the plan of the organization limits the history: older messages exist that are not counted');
      if (isChanged) warn(`${changedView}; run the same command again`);
      for (const topic of topics.filter(isChosen)) {
        const { topic_name, ids } = topic;
        const isHeld = holdOf(holds, { channel, topic_name }, ids) !== undefined;
        sum[isHeld ? 'held' : 'topics'] += 1;
        if (!isHeld) sum.messages += ids.length;
        if (!isHeld) yield { ...rowOf(channel, topic), ...(withIds && { ids }) };
      }
    }
    if (sum.failed > 0)
      throw new Failure('incomplete', `the topics of ${sum.failed} of ${channels.length} channels are not listed`, {
        hint: 'Run the same command again.',
        retryable: true,
      });
    if (!place) context.conclude(`channels: ${channels.length}, topics: ${sum.topics}, messages: ${sum.messages}`);
    if (holds.length > 0) context.conclude(`topics that are held: ${sum.held}`);
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

function rowOf({ stream_id, name: channel }: Channel, topic: ListedTopic) {
  const { topic_name, ids, first_timestamp, last_timestamp } = topic;
  const times = { first_time: utcText(first_timestamp), last_time: utcText(last_timestamp) };
  const resolved = topic_name.startsWith(resolvedPrefix);
  const ends = { first_id: ids[0], last_id: ids.at(-1) };
  return { stream_id, channel, topic_name, messages: ids.length, ...times, resolved, ...ends };
}

/** The failure of one channel of --all-channels, which the list skips. @throws the failures that end the list */
function unlisted(cause: unknown, named: string): Failure {
  if (named === '' || !(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
  // The server responded, but not with what was requested of this channel.
  const isOfChannel = cause.kind === 'unavailable' && cause.details.http === undefined;
  if (isFatal(cause) && !isOfChannel) throw cause.as('incomplete', `${named}${cause.message}; the list ends before it`);
  return cause;
}
