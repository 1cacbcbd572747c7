import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, ifAnswered, usage } from '../../core/failure.ts';
import { findChannel } from '../../jobs/topic/find-channel.ts';
import { inKnownChannels, refusalsOf, refuseUnfitting } from '../../jobs/topic/holds.ts';
import { describeTopics } from '../../jobs/topic/purge-report.ts';
import { TopicPurges } from '../../jobs/topic/purge-topics.ts';
import { hasMessages, surveyTopics, type PurgePlace, type TopicSurvey } from '../../jobs/topic/survey-topics.ts';
import { whole } from '../../output/columns.ts';
import { countField, flagField, type Fields, type Values } from '../../schema/field.ts';
import { emptyTopicName, topicLevels } from '../../schema/topic.ts';
import type { ChatCredential } from '../../store/account/credentials.ts';
import { fileSizeOption, lastingSite, maxFileBytes } from '../archive/folder.ts';
import { command } from '../command.ts';
import type { Disk, Invocation, Terminal } from '../context.ts';
import { holdOption, readHolds } from './holds.ts';
import { channelArgument, checkNaming, namedTopics, namingOptions, readPlace } from './named-topics.ts';

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
      'this question. The same command, with the same number, continues a deletion that was interrupted.',
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
      ...countField('N', 'Stop before deleting more than N messages in total, counting earlier runs of this deletion'),
      min: 0,
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
    const names = checkNaming(place, typed, context);
    const typedHolds = await readHolds(hold, context);
    if (typed.archive === undefined && !context.options.dry_run) await context.disk.refuseUnwritableState();
    const [chat, account] = [context.chat(), await context.chatAccount()];
    await checkAllowed(chat, names, account);
    const channel = place && (await findChannel(chat, place.channel));
    const holds = await inKnownChannels(chat, typedHolds);
    const purgePlace = placeOf(typed, account, context);
    const naming = { ...typed, confirm, holds };
    const { topics, before } = await namedTopics(chat, channel, names, naming, purgePlace.root, context);
    const allowances = { missing_ok: missing_ok === true, include_hidden: include_hidden === true };
    const surveys = await surveyTopics(chat, topics, purgePlace, allowances);
    await refuseUnfitting(chat, holds, surveys, context.warn);
    const refusals = await refusalsOf(chat, holds, surveys);
    const allowed = surveys.filter((survey) => !refusals.has(survey));
    await describeTopics(chat, purgePlace, allowed, context.say);
    const isTyped = names.length > 0;
    // The refusal of a topic that the command line names is the failure of its row.
    const said = isTyped ? [] : [...refusals.values()].map(({ failure }) => failure.message);
    for (const text of new Set(said)) context.note(text);
    const held = [...refusals.values()].filter(({ isHeld }) => isHeld).length;
    if (holds.length > 0 && (!isTyped || held === 0)) context.conclude(`topics that are held: ${held}`);
    const { clock, disk, record, options } = context;
    const parts = { ...context, ...clock, ...disk, ...record.recorder(account) };
    const limits = { holds, refusals, isTyped, before, maxMessages: max_messages ?? Infinity, ...allowances };
    const purges = new TopicPurges({ ...parts, chat, place: purgePlace, ...limits }, surveys);
    const by = surveys.length > 1 || !isTyped ? 'number' : 'name';
    if (!options.dry_run && allowed.some(hasMessages)) await confirmTopics(allowed, by, confirm, context);
    yield* purges.run(options.dry_run ? 'plan' : 'delete');
  },

  fields: ['arrived', 'deeper', 'at_least'],

  show: {
    columns: ['stream_id', ...whole('channel', 'topic_name'), 'messages', 'deleted', 'status'],
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
function placeOf(
  { archive: folder, files, max_file_size }: Values<typeof keepingOptions>,
  { site, email }: ChatCredential,
  { options, disk }: Invocation & Disk,
): PurgePlace {
  if (files && folder === false) throw usage('--files and --no-archive exclude each other: nothing was deleted');
  return {
    root: folder === false ? undefined : (folder ?? join(disk.files().state, 'purges')),
    site: lastingSite(options, site),
    account: email,
    maxFileSize: files ? maxFileBytes(max_file_size) : undefined,
  };
}

/** Checks the role, if it is known, before anything is archived. @throws Failure auth; rejected for the empty topic */
async function checkAllowed(chat: ChatApi, names: readonly string[], { email }: ChatCredential): Promise<void> {
  const level = names.includes('') ? await chat.level() : undefined;
  if (level !== undefined && level < topicLevels.emptyTopic)
    throw new Failure('rejected', `the empty topic needs level ${topicLevels.emptyTopic}; this server has ${level}`);
  if ((await ifAnswered(chat.ownUser()))?.['is_admin'] !== false) return;
  const what = `${email} is not an administrator of the organization; only administrators may delete topics`;
  throw new Failure('auth', `${what}: nothing was archived or deleted`, {
    hint: 'Choose the profile of an administrator with --profile.',
  });
}

/** The typed name is the only yes: --yes and return alone are none. @throws Failure usage, cancelled */
async function confirmTopics(
  surveys: readonly TopicSurvey[],
  by: 'name' | 'number',
  typed: string | undefined,
  { terminal }: Terminal,
): Promise<void> {
  const expected = by === 'name' ? (surveys[0]?.topic_name ?? '') : String(surveys.length);
  const what = by === 'name' ? "the topic's name" : 'the number of topics';
  if (typed === undefined && !terminal.canAsk()) throw usage(`give ${what} with --confirm: nothing was deleted`);
  const name = typed === undefined && expected === '' ? emptyTopicName : expected;
  const whole = name === expected ? what : `${what}, ${name},`;
  const answer = typed ?? (await terminal.ask(`Type ${whole} to delete ${by === 'name' ? 'it' : 'them'} permanently:`));
  if (answer === name) return;
  if (typed !== undefined) throw usage(`--confirm '${typed}' is not ${what}: nothing was deleted`);
  throw new Failure('cancelled', `cancelled: '${answer}' is not ${what}; nothing was deleted`);
}
