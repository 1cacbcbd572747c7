import { utcText } from '../../core/moment.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { everyChannel, lookUpChannel } from '../../jobs/topic/find-channel.ts';
import { listTopics } from '../../jobs/topic/list-topics.ts';
import { isSameName } from '../../schema/topic.ts';
import { flagField, textField } from '../../schema/field.ts';
import { command } from '../command.ts';
import { ageOption, readAge } from '../typed-time.ts';
import { channelArgument, readPlace } from './place.ts';

export default command({
  about: [
    'Counts and dates come from the messages that the account can see: all of them are fetched, 1000 at a time. With --fields topic_name, the server is asked only ' +
      'for its list. The topic with the newest message comes first. Names that differ only by case ' +
      'are one topic, as for topic delete. The link of a topic lists that topic alone.',
    '--all-channels lists the topics of every channel, with totals below; topic delete --from takes that list as ndjson, csv or tsv.',
  ],
  args: { channel: { ...channelArgument, required: false } },
  options: {
    all_channels: flagField('The topics of every channel that the account sees'),
    not_channel: {
      ...textField('CHANNEL', 'With --all-channels: leave out this channel'),
      many: true,
      suggest: 'channels',
    },
    match: { ...textField('GLOB', 'Only names that match: * is any text, ? any character, in any case'), many: true },
    ...ageOption,
    resolved: flagField('Only resolved topics, whose names begin with ✔'),
    unresolved: flagField('Only topics that are not resolved'),
  },
  examples: [
    'chatelaine topic list general',
    "chatelaine topic list general --match 'calibration*' --older-than 90d",
    'chatelaine topic list general --unresolved -o json',
    'chatelaine topic list --all-channels --older-than 30d --not-channel releases -o ndjson',
  ],

  async *run({ channel: text, all_channels, not_channel = [], older_than, ...filter }, context) {
    const { match, resolved: only, unresolved } = filter;
    if (only && unresolved) throw usage('--resolved and --unresolved exclude each other');
    if ((text === undefined) !== (all_channels === true))
      throw usage('name one channel, or give --all-channels', 'See chatelaine topic list --help.');
    if (not_channel.length > 0 && !all_channels) throw usage('--not-channel needs --all-channels');
    const before = readAge(older_than, context);
    const chat = context.chat();
    const place = text === undefined ? undefined : await readPlace(text, context);
    const left = await Promise.all(not_channel.map(async (word) => (await readPlace(word, context)).channel));
    const channels = place ? [await lookUpChannel(chat, place.channel)] : await everyChannel(chat, left);
    const { fields, sort } = context.options;
    const isCounted =
      older_than !== undefined || fields === undefined || /messages|_time/.test(`${fields} ${sort ?? ''}`);
    const sum = { topics: 0, messages: 0 };
    for (const channel of channels.filter((one) => one !== undefined)) {
      const named = place ? '' : `channel '${channel.name ?? ''}': `;
      const { topics, unplaced, isLimited } = await listTopics(chat, channel, isCounted ? 'counts' : 'names').catch(
        (cause: unknown) => {
          context.warn(unlisted(cause, named));
          return nothing;
        },
      );
      if (unplaced > 0)
        context.conclude(`messages whose topic the server does not show, in no topic of this list: ${unplaced}`);
      if (isLimited) context.warn(`${named}${limitedCounts}`);
      for (const { first_timestamp = null, last_timestamp = null, topic_name, messages, resolved } of topics) {
        if (place?.topic !== undefined && !isSameName(place.topic, topic_name)) continue;
        if (match && !matchesGlobInAnyCase(match, topic_name)) continue;
        if (before !== undefined && (last_timestamp ?? Infinity) * 1000 >= before) continue;
        if (resolved ? unresolved : only) continue;
        const times = { first_time: utcText(first_timestamp), last_time: utcText(last_timestamp) };
        sum.topics += 1;
        sum.messages += messages ?? 0;
        const of = { stream_id: channel.stream_id, channel: channel.name };
        yield { ...of, topic_name, ...(isCounted && { messages, ...times }), resolved };
      }
    }
    if (!place)
      context.conclude(
        `channels: ${channels.length}, topics: ${sum.topics}${isCounted ? `, messages: ${sum.messages}` : ''}`,
      );
    const [name = '*', ...others] = match ?? [];
    if (sum.topics === 0 && others.length === 0 && !/[*?]/.test(name))
      context.note(`no topic is named '${name}'; --match '*${name}*' finds it in names`);
  },

  fields: [],

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

const nothing: Awaited<ReturnType<typeof listTopics>> = { topics: [], unplaced: 0, isLimited: false };

const limitedCounts = 'the history is cut by the plan of the organization: older messages exist that are not counted';

/** Why a channel among all has no rows. @throws Failure incomplete where it fails: the list before it is not whole */
function unlisted(cause: unknown, named: string): string {
  if (named === '' || !(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
  if (cause.details.server?.code === 'BAD_NARROW') return named + cause.message;
  throw cause.as('incomplete', `${named}${cause.message}; the list ends before it`);
}
