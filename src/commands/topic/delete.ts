import type { ChatApi } from '../../api/chat/chat.ts';
import { Planned } from '../../api/http/call.ts';
import { Failure } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { findChannel } from '../../jobs/topic/find-channel.ts';
import type { PurgeRun } from '../../jobs/topic/purge-run.ts';
import type { TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import { foldName, topicLevels } from '../../schema/topic.ts';
import type { Time } from '../context/time.ts';
import { command } from '../command.ts';
import { budgetOf, type Budget } from './budget.ts';
import { channelArgument, timeText } from './fields.ts';
import {
  checkNaming,
  isSeveral,
  namingOptions,
  readNaming,
  refuseNewer,
  topicNames,
  withLinked,
  withoutNewer,
  type Naming,
} from './named-topics.ts';
import { readPlace } from './place.ts';
import { openPurge, type Purge } from './purge.ts';
import { confirmTopics, describeTopics } from './question.ts';
import { surveyTopics } from './survey.ts';

export default command({
  about: [
    'Shows what would be deleted, asks for the name, and deletes until nothing is left: the server deletes in batches and may stop ' +
      'in between. The server matches the topic without regard to case; every spelling that it will delete is shown first. ' +
      'Only an administrator of the organization may do this, and it cannot be undone.',
    'Before the first deletion every message is archived, as HTML and as Markdown source, read back and verified. Before each call the whole ' +
      'topic is fetched, and what has arrived since is archived too. What arrives between that look and the call itself, one request long ' +
      '(one for each 1,000 messages for older ones that are moved in), is deleted without. archive export reads an archive.',
    'The same command continues an interrupted purge, of several topics too: --confirm counts those that are deleted already; purge.ndjson in the archive records begin and end. A purge whose messages were renamed ' +
      'or moved meanwhile stays open: each further run names them (exit code 8), until they are deleted under that name, or its archive is ' +
      'moved away.',
    'Without a terminal --confirm must give the name of the topic, or the number of topics where there are several, and with --from and --match; ' +
      '--yes never answers this question.',
    'The server deletes what the account can see: not the messages of a private channel from before it joined (protected history), and ' +
      'nothing in an archived channel or a private one that it is not in ("Invalid channel ID"). A plan that limits the history is the ' +
      'exception: hidden messages are deleted too, so such a topic is refused without --include-hidden.',
  ],
  args: {
    channel: channelArgument,
    topic: {
      kind: 'string',
      many: true,
      placeholder: 'TOPIC',
      help: "Name of the topic; '' is the empty topic (level 334); none where CHANNEL is the link of a topic",
    },
  },
  options: {
    ...namingOptions,
    confirm: {
      kind: 'string',
      placeholder: 'NAME',
      help: 'The name of the topic, or the number of several topics, in place of the question',
    },
    max_messages: {
      kind: 'integer',
      min: 0,
      placeholder: 'N',
      help: 'Delete nothing where more messages than this would be deleted; checked again before every call',
    },
    missing_ok: { kind: 'boolean', help: 'A topic without messages is no error' },
    include_hidden: {
      kind: 'boolean',
      help: 'Delete also the messages that the plan of the organization hides',
    },
    archive: {
      kind: 'string',
      nonempty: true,
      negatable: true,
      placeholder: 'DIR',
      help: 'Folder for the archives, one in it for each topic (default: purges in the state folder); --no-archive makes none',
    },
  },
  examples: [
    "chatelaine topic delete general 'calibration log' --dry-run",
    "chatelaine topic delete general 'calibration log' --confirm 'calibration log'",
    "chatelaine topic delete general --match 'calibration*' --older-than 7d --dry-run",
  ],

  writes: true,

  async *run({ channel: text, confirm, max_messages, archive, missing_ok, include_hidden, ...typed }, context) {
    const place = await readPlace(text, context);
    const named = withLinked(place, typed);
    checkNaming(named);
    const chat = context.chat();
    if (named.topic?.includes('')) await checkEmptyTopic(chat);
    const channel = await findChannel(chat, place.channel);
    const naming = await readNaming(named, context);
    const { site, email } = await context.chatAccount();
    const purge = openPurge(chat, archive, { site, email }, context);
    const run = await purge.openRun(channel, naming);
    try {
      const names = await topicNames(chat, channel, naming, run.begun, context);
      const allowed = { missing_ok, include_hidden, interrupted: isInterrupted(purge, run) };
      const newer = (survey: TopicSurvey): TopicSurvey => withoutNewer(survey, naming, run, context);
      const surveys = (await surveyTopics(chat, channel, names, allowed)).map(newer);
      const server = { site, email, organization: await chat.organization() };
      for (const line of describeTopics(server, channel, surveys)) context.note(line);
      const budget = budgetOf(surveys, max_messages);
      if (context.options.dry_run !== true && surveys.some(hasMessages)) {
        const isNumber = surveys.length > 1 || isSeveral(naming) || named.from !== undefined;
        await confirmTopics(surveys, isNumber ? 'number' : 'name', confirm, context);
      }
      const purgeOne = context.options.dry_run ? planner(chat) : purger(purge, run, budget);
      yield* each(surveys, ({ topic_name }) => topic_name, checked(naming, context, purgeOne));
      if (context.options.dry_run !== true) await run.finish();
    } finally {
      await run.close();
    }
  },

  toTheEnd: true,
  fields: ['first_time', 'last_time', 'spellings'],

  show: {
    whole: ['channel', 'topic_name'],
    columns: ['stream_id', 'channel', 'topic_name', 'messages', 'deleted', 'status'],
    line: ({ topic_name, deleted, status }) =>
      status === 'missing'
        ? `Topic '${topic_name}': no messages`
        : `Topic '${topic_name}': ${deleted} messages deleted`,
  },
});

function checked<T>(naming: Naming, time: Pick<Time, 'now'>, work: (survey: TopicSurvey) => Promise<T>) {
  return async (survey: TopicSurvey): Promise<T> => {
    refuseNewer(survey, naming, time);
    return work(survey);
  };
}

/** Of a topic whose purge was interrupted no message may be left. */
function isInterrupted(purge: Purge, run: PurgeRun) {
  const begun = new Set(run.begun.map(foldName));
  return async (topic: TopicSurvey): Promise<boolean> =>
    begun.has(foldName(topic.topic_name)) || (await purge.interrupted(topic)) !== undefined;
}

function purger(purge: Purge, run: PurgeRun, budget: Budget) {
  return async (survey: TopicSurvey) => {
    if (!hasMessages(survey)) return endedOf(survey, purge, run);
    await run.begin(survey.topic_name);
    const { deleted, now } = await purge.run(survey, budget.of(survey), run);
    budget.take(survey, now);
    return rowOf(survey, deleted, 'deleted');
  };
}

/** A topic without messages may be one that an interrupted run deleted, to its end or up to the last check. */
async function endedOf(survey: TopicSurvey, purge: Purge, run: PurgeRun) {
  const ids = await purge.interrupted(survey);
  const deleted = ids === undefined ? run.deletedOf(survey.topic_name) : await purge.end(survey, ids);
  return deleted === undefined ? rowOf(survey, 0, 'missing') : rowOf(survey, deleted, 'deleted');
}

function hasMessages({ ids, isLimited }: TopicSurvey): boolean {
  return ids.length > 0 || isLimited;
}

/** A dry run asks for the request that would be sent first. */
function planner(chat: ChatApi) {
  return async (survey: TopicSurvey) => {
    if (!hasMessages(survey)) return rowOf(survey, 0, 'missing');
    await chat.deleteTopic(survey.channel.stream_id, survey.topic_name);
    throw new Planned();
  };
}

async function checkEmptyTopic(chat: ChatApi): Promise<void> {
  const level = await chat.level();
  if (level === undefined || level >= topicLevels.emptyTopic) return;
  throw new Failure('rejected', `the empty topic needs level ${topicLevels.emptyTopic}; this server has ${level}`);
}

function rowOf<S extends string>(survey: TopicSurvey, deleted: number, status: S) {
  const { channel, topic_name, ids, first_timestamp, last_timestamp, spellings } = survey;
  const times = { first_time: timeText(first_timestamp), last_time: timeText(last_timestamp) };
  const place = { stream_id: channel.stream_id, channel: channel.name, topic_name };
  return { ...place, messages: ids.length, deleted, ...times, spellings, status };
}
