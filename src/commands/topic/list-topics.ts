import { everyChannel, lookUpChannel } from '../../jobs/topic/find-channel.ts';
import { inKnownChannels } from '../../jobs/topic/holds.ts';
import { chosenTopics } from '../../jobs/topic/list-topics.ts';
import { flagField, textField } from '../../schema/field.ts';
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

  async *rows({ channel: text, not_channel = [], older_than, hold, ...filter }, context) {
    const { match } = filter;
    checkAge(older_than, context);
    const chat = context.chat();
    const holds = await inKnownChannels(chat, await readHolds(hold, context));
    const place = text === undefined ? undefined : await readPlace(text, context);
    const left = await Promise.all(not_channel.map(async (word) => (await readPlace(word, context)).channel));
    const channels = place ? [await lookUpChannel(chat, place.channel)] : await everyChannel(chat, left);
    const before = readAge(older_than, context);
    const { fields, sort } = context.options;
    const isCounted =
      older_than !== undefined ||
      fields === undefined ||
      /messages|_time|\b(ids|first_id|last_id)\b/.test(`${fields} ${sort ?? ''}`) ||
      holds.some(({ ids }) => ids.length > 0);
    const choice = {
      ...filter,
      before,
      topic: place?.topic,
      isAlone: place !== undefined,
      holds,
      withIds: /\bids\b/.test(String(fields)),
    };
    const known = channels.filter((one) => one !== undefined);
    const sum = yield* chosenTopics(chat, known, choice, isCounted ? 'counts' : 'names', context);
    if (!place)
      context.conclude(
        `channels: ${channels.length}, topics: ${sum.topics}${isCounted ? `, messages: ${sum.messages}` : ''}`,
      );
    if (holds.length > 0) context.conclude(`topics that are held: ${sum.held}`);
    const [name = '*', ...others] = match ?? [];
    if (sum.topics === 0 && others.length === 0 && !/[*?]/.test(name))
      context.note(`no topic is named '${name}'; --match '*${name}*' finds it in names`);
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
