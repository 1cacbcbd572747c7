import { usage } from '../../core/failure.ts';
import { keepFiles } from '../../jobs/archive/attached-files.ts';
import { channelFolders, pullChannels } from '../../jobs/archive/pull-channels.ts';
import { pullArchive } from '../../jobs/archive/pull-archive.ts';
import { otherAccount, otherAccounts, type Puller } from '../../jobs/archive/pull-order.ts';
import { privateSearch, type PrivateSearch } from '../../jobs/messages/messages-by-ids.ts';
import type { MessageSelection } from '../../schema/selection.ts';
import { withNearNames } from '../../jobs/topic/near.ts';
import { whole } from '../../output/columns.ts';
import { isUrl } from '../../schema/link.ts';
import { countMessages } from '../../store/archive/archive.ts';
import { limitedHistory, readHead } from '../../store/archive/archive-head.ts';
import { flagField, textField, withEach, type Fields, type Values } from '../../schema/field.ts';
import { isSameName } from '../../schema/topic.ts';
import { command } from '../command.ts';
import type { Accounts, Disk, Invocation, Services, Terminal, Time } from '../context.ts';
import type { AccountFacts } from '../../jobs/messages/narrow.ts';
import { factsFor, selectionOf, selectionOptions, type SelectionValues } from '../messages/selection.ts';
import type { TimeParts } from '../typed-time.ts';
import { fileSizeOption, folderArgument, lastingSite, maxFileBytes } from './folder.ts';

const { channel, topic, sender, dm, search, not, since, until } = selectionOptions;

/** The options that select messages; all other operators are given in --narrow. */
const selecting = { channel, topic, sender, dm, search, not, narrow: selectionOptions.narrow, since, until } as const;

const pullOptions = {
  ...withEach(selecting, { see: 'messages fetch' }),
  raw_content: flagField('Keep the Markdown source instead of the rendered HTML'),
  both: flagField('Keep both forms, from the first pull on: rendered HTML and Markdown source'),
  files: flagField('Keep attached files too, now and in every later pull'),
  ...fileSizeOption,
  all_channels: flagField('Keep a folder in DIR for each channel that the account sees, now and in later pulls'),
  adopt: textField('ADDRESS', 'Continue an archive that another account started: the address of that account'),
  recheck: flagField(
    'Re-fetch every message to record edits, moves and disappearances, and add messages moved in (the server has no list of changes)',
  ),
} as const satisfies Fields;

export default command({
  about: [
    'The first pull records the selection in DIR; without one it fetches every message. Later pulls ' +
      'need only DIR, or DIR and --all-channels: they continue where the last one ended, even after a crash, and add new messages. Use messages fetch to read ' +
      'messages, and an archive to keep them.',
    'Give --channel (a name, or a pasted link), or --all-channels: without either, only messages that the account itself received are kept. ' +
      'Other operators of messages fetch go into --narrow.',
    '--all-channels pulls every channel that the server lists for the account, each into a folder of DIR; --topic, --sender, --search, ' +
      '--not, --since and --until select a part of each channel: give the same ones to every pull. Archived channels are not listed.',
  ],
  args: { folder: folderArgument },
  options: pullOptions,
  examples: [
    'chatelaine archive pull kitchen --channel general --both',
    'chatelaine archive pull january --channel general --since 2026-01-01 --until 2026-02-01',
    'chatelaine archive pull everything --all-channels --quiet',
  ],

  rules: [{ option: 'all_channels', excludes: ['channel', 'dm', 'narrow'] }],

  dryRun: ['rows'],

  run(values, context) {
    if (isUrl(values.folder) || values.folder.startsWith('#'))
      throw usage(`'${values.folder}' is not a folder`, 'The folder comes first; name the channel with --channel.');
    // All folders share one API object, which requests the server's level and its users only once.
    const chat = context.chat();
    const one = { ...context, chat: () => chat };
    return values.all_channels ? pullAll(values, one) : pullOne(values, one);
  },

  fields: ['edited', 'moved', 'gone', 'back', 'files', 'files_kept', 'channel', 'status'],

  show: {
    columns: [...whole('folder'), 'messages', 'added', { name: 'channel', when: 'there', width: Infinity }],
    others: 'known',
    line: pulledLine,
  },
});

type PullContext = Invocation & Services & Accounts & Terminal & Disk & Time;

type PullValues = Values<typeof pullOptions> & { readonly folder: string };

/** Facts that are looked up once and used for every folder. */
interface PullBase {
  readonly puller: Puller;
  readonly facts: AccountFacts;
  readonly search: PrivateSearch;
}

async function pullOne(values: PullValues, context: PullContext) {
  const { unkept, ...row } = await pullFolder(values, context, await baseOf([values.folder], values, context));
  concludeUnkept(unkept, context);
  return row;
}

async function* pullAll(values: PullValues, context: PullContext) {
  const channels = await channelFolders(context.chat(), values.folder);
  const folders = channels.map(({ folder }) => folder);
  const base = await baseOf(folders, values, context);
  let files = 0;
  yield* pullChannels(channels, context, async ({ stream_id, folder }, warn) => {
    const own = { ...values, channel: [`id:${stream_id}`], folder };
    const { unkept, ...row } = await pullFolder(own, { ...context, warn }, base);
    files += unkept;
    return row;
  });
  concludeUnkept(files, context);
}

function concludeUnkept(files: number, { conclude }: Terminal): void {
  if (files > 0) conclude(`attached files that are not archived without --files: ${files}`);
}

/** A sentence such as `kitchen: 8 messages, 2 added`. */
function pulledLine({ folder, channel, status, ...counts }: Readonly<Record<string, unknown>>): string {
  const said = Object.entries(counts).filter(([name, count]) => name === 'messages' || Number(count) > 0);
  const words = said.map(([name, count]) => `${Number(count)} ${name.replace('_', ' ')}`);
  const ending = typeof status === 'string' && status !== 'pulled' ? [status] : [];
  return `${String(channel ?? folder)}: ${[...words, ...ending].join(', ')}`;
}

/** Looks up what all folders share, before anything is written. @throws Failure config, usage */
async function baseOf(folders: readonly string[], values: PullValues, context: PullContext): Promise<PullBase> {
  const { adopt } = values;
  const { site, email: account } = await context.chatAccount();
  const user = context.options.dry_run ? undefined : await context.chat().ownUser();
  const id = typeof user?.['user_id'] === 'number' ? { account_id: user['user_id'] } : {};
  const puller = { site: lastingSite(context.options, site), account, ...id };
  const others = await otherAccounts(folders, puller);
  const base = { facts: await factsFor(values, context), search: privateSearch(context.chat()) };
  if (others.length === 0) return { puller, ...base };
  const owners = others.join(',');
  if (adopt === undefined)
    throw otherAccount({ site: puller.site, account: owners }, puller, context.again({ adopt: owners }));
  if (!isSameName(adopt, owners)) throw usage(`--adopt: the archive belongs to ${owners}`);
  return { puller: { ...puller, adopts: true }, ...base };
}

/** How long a pull waits for another pull of the same folder, such as cron's, to end. */
const mostWait = 600_000;

/** Pulls one folder. `unkept`: how many attached files there are, if the archive keeps none. */
async function pullFolder(values: PullValues, context: PullContext, { puller, facts, search }: PullBase) {
  const { folder, both, raw_content, recheck = false, files, max_file_size, all_channels, adopt: _, ...typed } = values;
  let selection: MessageSelection | undefined;
  const order = {
    ...puller,
    options: typed,
    files,
    selection: () => (selection ??= wholeSelection(typed, facts, context)),
    forms: both ? (['rendered', 'source'] as const) : raw_content ? (['source'] as const) : [],
  };
  if (context.options.dry_run)
    return { folder, status: (await readHead(folder)) ? 'would be continued' : 'would be created', unkept: 0 };
  const chat = context.chat();
  const waiting = (holder: string): void => context.say(`waiting for ${holder}, which pulls into ${folder}`);
  const archive = await context.disk.archive(folder, { wait: mostWait, waiting });
  try {
    const parts = {
      ...context,
      ...context.clock,
      ...context.record,
      search,
      isOfAll: all_channels === true,
      isRecheck: recheck,
    };
    const { added, rechecked } = await pullArchive(chat, archive, order, parts);
    const limits = { which: recheck ? 'all' : 'changed', maxFileSize: maxFileBytes(max_file_size) } as const;
    const kept = await keepFiles(chat, archive, limits, parts);
    if (archive.head?.history_limited) context.warn(limitedHistory);
    const unkept = archive.head?.files ? 0 : kept.files;
    return { folder, messages: countMessages(archive), added, ...rechecked, ...kept, unkept };
  } catch (cause) {
    throw await withNearNames(cause, selection?.narrow ?? [], chat);
  } finally {
    await archive.close();
  }
}

/** The selection of an archive; without --since and --until it has messages of every time. */
function wholeSelection(values: SelectionValues, facts: AccountFacts, context: TimeParts) {
  const isRange = values.since !== undefined || values.until !== undefined;
  const { range: typed, narrow, form } = selectionOf(isRange ? values : { ...values, all: true }, facts, context);
  const range = typed.kind === 'times' ? { ...typed, ...typed.correct?.() } : typed;
  if (narrow.length === 0)
    context.note('archives every message that you received, direct ones too; --channel archives one channel');
  return { range, narrow, form };
}
