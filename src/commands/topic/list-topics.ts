import { utcText } from '../../core/moment.ts';
import { usage } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { lookUpChannel } from '../../jobs/topic/find-channel.ts';
import { listTopics } from '../../jobs/topic/list-topics.ts';
import { isSameName } from '../../schema/topic.ts';
import { flagField, textField } from '../../schema/field.ts';
import { command } from '../command.ts';
import { ageOption, readAge } from '../typed-time.ts';
import { channelArgument, readPlace } from './place.ts';

export default command({
  about: [
    'The API has no list of topics: every message of the channel is fetched and counted, a page of 1000 at a time. Only messages that ' +
      'the account can see are counted. The topic with the newest message comes first.',
    'Names that differ only by case are one topic, as they are for topic delete. The link of a topic lists that topic alone.',
  ],
  args: { channel: channelArgument },
  options: {
    match: { ...textField('GLOB', 'Only names that match: * is any text, ? any character, in any case'), many: true },
    ...ageOption,
    resolved: flagField('Only resolved topics, whose names begin with ✔'),
    unresolved: flagField('Only topics that are not resolved'),
  },
  examples: [
    'chatelaine topic list general',
    "chatelaine topic list general --match 'calibration*' --older-than 90d",
    'chatelaine topic list general --unresolved -o json',
  ],

  async *run({ channel: text, match, older_than, resolved: only, unresolved }, context) {
    if (only && unresolved) throw usage('--resolved and --unresolved exclude each other');
    const before = readAge(older_than, context);
    const chat = context.chat();
    const place = await readPlace(text, context);
    const channel = await lookUpChannel(chat, place.channel);
    if (!channel) return;
    const { topics, isLimited, unplaced } = await listTopics(chat, channel);
    if (unplaced > 0)
      context.conclude(`messages whose topic the server does not show, in no topic of this list: ${unplaced}`);
    if (isLimited)
      context.warn('the history is cut by the plan of the organization: older messages exist that are not counted');
    let count = 0;
    for (const { first_timestamp, last_timestamp, topic_name, messages, resolved } of topics) {
      if (place.topic !== undefined && !isSameName(place.topic, topic_name)) continue;
      if (match && !matchesGlobInAnyCase(match, topic_name)) continue;
      if (before !== undefined && last_timestamp * 1000 >= before) continue;
      if (resolved ? unresolved : only) continue;
      const times = { first_time: utcText(first_timestamp), last_time: utcText(last_timestamp) };
      count += 1;
      yield { stream_id: channel.stream_id, channel: channel.name, topic_name, messages, ...times, resolved };
    }
    const [name = '*', ...others] = match ?? [];
    if (count === 0 && others.length === 0 && !/[*?]/.test(name))
      context.note(`no topic is named '${name}'; --match '*${name}*' finds it in names`);
  },

  fields: ['stream_id', 'channel'],

  show: {
    columns: ['topic_name', 'messages', 'first_time', 'last_time', 'resolved'],
    untruncated: ['topic_name'],
    layout: { topic_name: { empty: '(empty topic)' } },
    none: 'no topics match',
  },
});
