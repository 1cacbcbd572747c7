import type { ChatApi } from '../../api/chat/chat.ts';
import { usage } from '../../core/failure.ts';
import { attachedFiles, fetchFiles, type FileFetching } from '../../jobs/archive/attached-files.ts';
import { pullArchive } from '../../jobs/archive/pull-archive.ts';
import { planPull } from '../../jobs/archive/pull-order.ts';
import { recheckArchive, type Rechecked } from '../../jobs/archive/recheck-archive.ts';
import type { MessageSelection } from '../../jobs/messages/selection.ts';
import { withNearNames } from '../../jobs/topic/near.ts';
import { isUrl } from '../../schema/link.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import { countField, flagField } from '../../schema/field.ts';
import { command } from '../command.ts';
import type { Accounts, Disk, Invocation, Services, Terminal, Time } from '../context.ts';
import type { AccountFacts } from '../messages/narrow.ts';
import { factsFor, selectionOf, selectionOptions, type SelectionValues } from '../messages/selection.ts';
import type { TimeReading } from '../typed-time.ts';
import { fileSizeOption, folderArgument, lastingSite, limitedHistory, maxFileBytes } from './folder.ts';
import { pullChannels } from './pull-channels.ts';

/** Without the options of one request: an archive has pages. */
const { num_before: _before, num_after: _after, use_first_unread_anchor: _first, ...pagedOptions } = selectionOptions;

export default command({
  about: [
    'The first pull takes the selection of messages fetch and keeps it in the folder; without a range it is every message. Later pulls ' +
      'need only DIR: they continue where the last one ended, however it ended, and bring what is new. Use messages fetch to look at ' +
      'messages, and an archive to keep them.',
    'A part of the archive that is damaged or missing is fetched again. --recheck looks at every archived message once more and records ' +
      'which were edited or moved, and which are no longer visible to the account; the archive keeps what it has.',
    'Every pull counts the attached files that messages link to. --files keeps them in the folder files of the archive, each with its hash, ' +
      'at most four at a time; a file that the server does not give, or that is larger than --max-file-size, is asked for again by the next pull.',
    '--all-channels pulls every channel that the server lists for the account, one after the other, each into a folder of DIR that is ' +
      'named by its id and its first name. New channels are found by the next pull, a renamed one keeps its folder, and one that is no longer listed ' +
      'keeps its archive and is named. A channel that fails does not stop the others: exit code 8 at the end. Private channels that the ' +
      'account is not in, and direct messages, are not among them.',
  ],
  args: { folder: folderArgument },
  options: {
    ...pagedOptions,
    anchor: {
      ...pagedOptions.anchor,
      help: 'The anchor: the message to start from (default: oldest; with --limit newest)',
    },
    limit: countField('N', 'Maximum number of messages (default: every message)'),
    raw_content: flagField('Keep the Markdown source instead of the rendered HTML'),
    both: flagField('Keep both forms of each message'),
    files: flagField('Keep attached files too, now and in every later pull'),
    ...fileSizeOption,
    all_channels: flagField('Keep a folder in DIR for each channel that the account sees, now and in later pulls'),
    recheck: flagField('Record which messages were edited, moved or are no longer visible'),
  },
  examples: [
    'chatelaine archive pull kitchen --channel general --both',
    'chatelaine archive pull january --channel general --since 2026-01-01 --until 2026-02-01',
    'chatelaine archive pull everything --all-channels --quiet',
  ],

  dryRun: ['rows'],

  run({ all_channels, ...values }, context) {
    if (isUrl(values.folder) || values.folder.startsWith('#narrow/'))
      throw usage(
        `'${values.folder}' is a link, and no folder`,
        'Name a folder before it: chatelaine archive pull DIR --channel LINK.',
      );
    if (!all_channels) return pullFolder(values, context);
    if (Object.keys(values).some((name) => name in pagedOptions && name !== 'raw_content'))
      throw usage('--all-channels takes no selection', 'Pull a part of the messages into a folder of its own.');
    // One for all: it asks the server for its level once.
    const chat = context.chat();
    return pullChannels(
      chat,
      values.folder,
      ({ folder: own, stream_id }, warn) =>
        pullFolder({ ...values, channel: [`id:${stream_id}`], folder: own }, { ...context, warn, chat: () => chat }),
      context,
    );
  },

  fields: ['edited', 'moved', 'gone', 'back', 'files', 'files_kept', 'channel', 'status'],

  show: { columns: ['folder', 'messages', 'added', 'repaired'], others: 'known' },
});

type PullValues = SelectionValues & {
  readonly folder: string;
  readonly both?: boolean;
  readonly files?: boolean;
  readonly max_file_size?: number;
  readonly recheck?: boolean;
};

async function pullFolder(
  { folder, both, recheck, files, max_file_size, ...values }: PullValues,
  context: Invocation & Services & Accounts & Terminal & Disk & Time,
) {
  const { raw_content, ...typed } = values;
  const { site, email: account } = await context.chatAccount();
  const facts = await factsFor(typed, context);
  let selection: MessageSelection | undefined;
  const order = {
    ...{ site: lastingSite(context.options, site), account, options: typed, files },
    selection: () => (selection ??= wholeSelection(typed, facts, context)),
    forms: both ? (['rendered', 'source'] as const) : raw_content ? (['source'] as const) : [],
  };
  if (context.options.dry_run) return { folder, ...(await planPull(folder, order)) };
  const chat = context.chat();
  const archive = await context.archive(folder);
  try {
    const source = { ...chat.raw, level: chat.level, organization: chat.organization };
    const { head, added, repaired, which } = await pullArchive(source, archive, order, context);
    const changes = recheck ? told(await recheckArchive(chat, archive, head, context), context) : {};
    const kept = await keepFiles(chat, archive, { which, maxFileSize: maxFileBytes(max_file_size) }, context);
    if (head.history_limited) context.warn(limitedHistory);
    const messages = archive.parts.reduce((sum, part) => sum + part.count, 0);
    return { folder, messages, added, repaired, ...changes, ...kept };
  } catch (cause) {
    throw await withNearNames(cause, selection?.narrow ?? [], chat);
  } finally {
    await archive.close();
  }
}

/** Says what is no longer visible, and counts what a recheck saw for the first time. */
function told({ changes, gone }: Rechecked, { note, warn }: Pick<Terminal, 'note' | 'warn'>) {
  const { limit, 'no-access': barred, unknown } = gone;
  if (limit > 0)
    warn(`${messagesText(limit)} no longer visible: the plan of the organization hides messages of their age`);
  if (barred > 0) warn(`${messagesText(barred)} no longer visible, nor is anything else of their channels`);
  if (unknown > 0) note(`${messagesText(unknown)} no longer visible: deleted, or moved out of sight`);
  const count = (kind: string): number => changes.filter(({ change }) => change === kind).length;
  return { edited: count('edited'), moved: count('moved'), gone: count('gone'), back: count('back') };
}

/** Fetches attached files where the archive keeps them, and says what is not kept. */
async function keepFiles(
  chat: Pick<ChatApi, 'upload'>,
  archive: OpenArchive,
  fetching: FileFetching,
  { note, warn, progress }: Pick<Terminal, 'note' | 'warn' | 'progress'>,
) {
  const files = attachedFiles(archive).length;
  if (!archive.head?.files) {
    if (files > 0) note(`attached files that the messages link to, and that are not kept without --files: ${files}`);
    return { files, files_kept: 0 };
  }
  const line = progress('attached files', files);
  try {
    const { kept, refused } = await fetchFiles(chat, archive, { ...fetching, looked: (count) => line.upTo(count) });
    for (const { path, refused: why } of refused.slice(0, namedFiles)) warn(`${path} is not kept: ${why}`);
    if (refused.length > namedFiles) warn(`attached files that are not kept: ${refused.length}`);
    return { files, files_kept: kept };
  } finally {
    line.end();
  }
}

/** Files that are named one by one. */
const namedFiles = 10;

function messagesText(count: number): string {
  return count === 1 ? '1 archived message is' : `${count} archived messages are`;
}

/** Without a range, an archive is of everything. */
function wholeSelection(values: SelectionValues, facts: AccountFacts, context: TimeReading): MessageSelection {
  const { limit, message_ids, since, until } = values;
  const isRange = [limit, message_ids, since, until].some((value) => value !== undefined);
  const { range, narrow, form } = selectionOf(isRange ? values : { ...values, all: true }, facts, context);
  return { range, narrow, form };
}
