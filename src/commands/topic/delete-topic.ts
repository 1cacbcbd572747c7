import { join } from 'node:path';
import { quantity } from '../../core/duration.ts';
import { notePlanned } from '../../api/http/call.ts';
import { Failure, orWarn, usage } from '../../core/failure.ts';
import { utcText } from '../../core/moment.ts';
import { findChannel, shownName, type Topic } from '../../jobs/topic/find-channel.ts';
import { openPurgeRun } from '../../jobs/topic/purge-run.ts';
import type { PurgeOutcome } from '../../jobs/topic/purge-report.ts';
import { TopicPurges } from '../../jobs/topic/purge-topics.ts';
import { each, isFatal } from '../../jobs/work/each.ts';
import type { ChatCredential } from '../../store/account/credentials.ts';
import { flagField, type Fields, type Values } from '../../schema/field.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Disk, Invocation } from '../context.ts';
import { fileSizeOption, lastingSite, maxFileBytes } from '../archive/folder.ts';
import { inKnownChannels, refusalsOf, refuseUnfitting, type TopicRefusal } from '../../jobs/topic/holds.ts';
import { isSeveral, refuseNewer, topicsOf, withoutNewer } from '../../jobs/topic/named-topics.ts';
import { earlierPurges, type PurgeArchives } from '../../jobs/topic/purge-folders.ts';
import {
  describeTopics,
  hasMessages,
  surveyTopics,
  type Doomed,
  type TopicSurvey,
} from '../../jobs/topic/survey-topics.ts';
import { channelArgument, namingOf, namingOptions, readPlace, withLinked } from './named-topics.ts';
import { checkAllowed, confirmTopics } from './before-purge.ts';
import { holdOption, readHolds } from './holds.ts';

const keepingOptions = {
  archive: {
    kind: 'string',
    nonempty: true,
    negatable: true,
    placeholder: 'DIR',
    help: 'Folder for the archives, one for each topic (default: purges in the state folder); --no-archive makes none',
  },
  files: flagField('Archive attached files too; if one cannot be fetched, nothing is deleted'),
  ...fileSizeOption,
} as const satisfies Fields;

export default command({
  about: [
    'Shows what would be deleted, asks for the name, and deletes until nothing is left: the server deletes in batches and may stop ' +
      'in between. The server matches the topic without regard to case; every spelling that it will delete is shown first. ' +
      'Only an administrator of the organization may do this, and it cannot be undone.',
    'A message counts as deleted if the command saw it right before a call, the server answered that call or a later one, and the message is not seen again. ' +
      'Otherwise it is unseen (exit code 8), for example after a run that was killed during a call. A message that is no longer visible after such a call ' +
      'is counted as deleted, whatever the actual reason. What is written, moved, edited or attached during a call may be deleted without being archived. Ctrl-C waits for the response to that call, up to 75 seconds; a second Ctrl-C, and SIGTERM, end the command at ' +
      'once.',
    'Attached files are deleted too – immediately, on current servers. The command shows their number first; --files archives them.',
    'Without a terminal, --confirm must give the name of the topic, or the number of topics if there are several, or with --from or --match; --yes never answers ' +
      'this question.',
  ],
  args: {
    channel: { ...channelArgument, required: false },
    topic: {
      kind: 'string',
      many: true,
      placeholder: 'TOPIC',
      help: "Name of the topic; '' is the empty topic (level 334); leave it out if CHANNEL is a link to a topic",
    },
  },
  options: {
    ...namingOptions,
    ...holdOption,
    confirm: {
      kind: 'string',
      placeholder: 'NAME',
      help: "The topic's name, or the number of topics, instead of a question",
    },
    max_messages: {
      kind: 'integer',
      min: 0,
      placeholder: 'N',
      help: 'Stop before deleting more than N messages in total, counting earlier runs of this deletion',
    },
    missing_ok: flagField('A topic without messages is not an error; it also ends a deletion that was unseen'),
    include_hidden: flagField("Also delete the messages that the organization's plan hides"),
    ...keepingOptions,
  },
  examples: [
    "chatelaine topic delete general 'calibration log' --dry-run",
    "chatelaine topic delete general --match 'calibration*' --older-than 7d --dry-run",
    "chatelaine topic delete general 'calibration log' --confirm 'calibration log'",
  ],

  dryRun: ['rows', 'requests'],

  async *rows({ channel: text, confirm, max_messages, missing_ok, include_hidden, hold, ...typed }, context) {
    const place = text === undefined ? undefined : await readPlace(text, context);
    const named = place ? withLinked(place, typed) : typed;
    const readNaming = namingOf(place, named, context);
    const typedHolds = await readHolds(hold, context);
    const [chat, account] = [context.chat(), await context.chatAccount()];
    await checkAllowed(chat, named, account);
    const channel = place && (await findChannel(chat, place.channel));
    const naming = await readNaming();
    const archives = archivesOf(typed, account, context);
    // A moment that was typed as an age is another one in the next run.
    const { before: _, ...names } = naming;
    const { site, account: email } = archives;
    const of = { job: 'topic delete', site, account: email, stream_id: channel?.stream_id };
    const header = isSeveral(naming) ? { ...of, ...names, older_than: typed.older_than } : undefined;
    const run = openPurgeRun(header && (await context.record.steps(header)));
    context.record.untilWritten(run);
    const topics = await topicsOf(chat, channel, naming, run.begun);
    const earlier = async (topic: Topic) => {
      const { isBegun = false, ended } = archives.isKept ? await earlierPurges(topic, archives) : {};
      return { isBegun: isBegun || run.hasBegun(topic), ended };
    };
    const found = await surveyTopics(chat, topics, { missing_ok, include_hidden, earlier, site: account.site });
    const all = found.map((survey) => withoutNewer(survey, naming, run));
    const holds = await inKnownChannels(chat, typedHolds);
    await refuseUnfitting(chat, holds, all, context.warn);
    const refusals = await refusalsOf(chat, holds, all);
    const surveys = all.filter((survey) => !refusals.has(survey));
    await describeTopics(chat, account, surveys, typed.files ? 'archived' : 'not archived', context);
    for (const { failure } of refusals.values()) context.note(failure.message);
    if (holds.length > 0)
      context.conclude(`topics that are held: ${[...refusals.values()].filter(({ isHeld }) => isHeld).length}`);
    const limits = { archives, holds, naming, run, max_messages, missing_ok };
    const { clock, disk, record } = context;
    const parts = { ...context, ...clock, ...disk, ...record.recorder(account) };
    const purges = new TopicPurges(chat, surveys, limits, parts);
    const progress = { isCut: false };
    const isTyped = 'names' in naming && typed.from === undefined;
    /** Of a held topic nothing is deleted, which is a failure only if the user typed its name. */
    const heldRow = (survey: Doomed, { failure, isHeld }: TopicRefusal): PurgeRow => {
      if (isTyped || !isHeld) throw failure;
      return rowOf(survey, 'held', purges.outcomeOf(survey));
    };
    if (context.options.dry_run) {
      // Its request is the one that would be sent first.
      const plan = async (survey: Doomed) => {
        const refusal = refusals.get(survey);
        if (refusal) return heldRow(survey, refusal);
        refuseNewer(survey, naming);
        if (!hasMessages(survey)) return rowOf(survey, 'missing');
        await notePlanned(chat.deleteTopic(survey.channel.stream_id, survey.topic_name));
        return rowOf(survey, 'would be deleted');
      };
      yield* each(all, shownName, plan);
      return;
    }
    const isNumber = surveys.length > 1 || isSeveral(naming) || named.from !== undefined;
    if (surveys.some(hasMessages)) await confirmTopics(surveys, isNumber ? 'number' : 'name', confirm, context);
    const purgeOne = async (survey: Doomed) => {
      const refusal = refusals.get(survey);
      if (refusal) return heldRow(survey, refusal);
      try {
        const outcome = await purges.purge(survey);
        if (outcome) return rowOf(survey, outcome.status, outcome);
      } catch (cause) {
        if (!(cause instanceof Failure)) throw cause;
        progress.isCut ||= isFatal(cause);
        return heldRow(survey, { failure: cause, isHeld: purges.outcomeOf(survey)?.status === 'held' });
      }
      // An earlier run may have ended its purge.
      const end = run.endOf(survey);
      return end ? rowOf(survey, end.status ?? 'deleted', end) : rowOf(survey, 'missing');
    };
    const partly = (survey: Doomed) => {
      const outcome = purges.outcomeOf(survey);
      return rowOf(survey, refusals.has(survey) ? 'held' : (outcome?.status ?? 'incomplete'), outcome);
    };
    try {
      yield* each(all, shownName, purgeOne, partly);
    } catch (cause) {
      // The rows that failed say more; what is found is named all the same.
      if (!progress.isCut && !context.signal.aborted) await orWarn(purges.end(), context.warn);
      throw cause;
    }
    await purges.end();
    run.done();
  },

  fields: ['first_time', 'last_time', 'spellings', 'arrived', 'deeper', 'at_least'],

  show: {
    columns: ['stream_id', ...whole('channel', 'topic_name'), 'messages', 'deleted', 'status'],
    // Earlier runs deleted some of them, so that they are no part of the messages that this one found.
    line: ({ topic_name, messages, deleted, at_least, status }) => {
      if (status === 'missing') return `Topic '${topic_name}': no messages`;
      if (status === 'would be deleted')
        return `Topic '${topic_name}': ${quantity(messages, 'message')} would be deleted`;
      if (status === 'held') return `Topic '${topic_name}': held, nothing was deleted`;
      const count = `${at_least ? 'at least ' : ''}${quantity(deleted, 'message')}`;
      return `Topic '${topic_name}': ${count} deleted${status === 'deleted' ? '' : ` (${status})`}`;
    },
  },
});

/** @throws Failure usage for --files without an archive */
function archivesOf(
  { archive: folder, files, max_file_size }: Values<typeof keepingOptions>,
  { site, email }: ChatCredential,
  { options, disk }: Invocation & Disk,
): PurgeArchives {
  if (files && folder === false) throw usage('--files and --no-archive exclude each other: nothing was deleted');
  return {
    isKept: folder !== false,
    root: folder || join(disk.files().state, 'purges'),
    site: lastingSite(options, site),
    account: email,
    maxFileSize: files ? maxFileBytes(max_file_size) : undefined,
  };
}

type PurgeRow = ReturnType<typeof rowOf>;

function rowOf(
  survey: TopicSurvey,
  status: PurgeOutcome['status'] | 'missing' | 'would be deleted',
  outcome: Partial<Omit<PurgeOutcome, 'status'>> = {},
) {
  const { channel, topic_name, ids, first_timestamp, last_timestamp, spellings } = survey;
  const { deleted = 0, arrived = 0, deeper = [], isLeast = false } = outcome;
  const times = { first_time: utcText(first_timestamp), last_time: utcText(last_timestamp) };
  const place = { stream_id: channel.stream_id, channel: channel.name, topic_name, messages: ids.length, deleted };
  const doubts = { arrived, deeper, at_least: isLeast || status === 'unseen' };
  return { ...place, ...times, spellings, ...doubts, status };
}
