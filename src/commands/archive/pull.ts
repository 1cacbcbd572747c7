import { usage } from '../../core/failure.ts';
import { planPull } from '../../jobs/archive/plan-pull.ts';
import { pullArchive } from '../../jobs/archive/pull-archive.ts';
import { recheckArchive } from '../../jobs/archive/recheck-archive.ts';
import type { MessageSelection } from '../../jobs/messages/selection.ts';
import type { ArchiveForm } from '../../store/archive/archive-head.ts';
import { command } from '../command.ts';
import { selectionOf, selectionOptions, type SelectionValues } from '../messages/selection.ts';
import { folderArgument } from './folder.ts';
import { limitedHistory } from './limited-history.ts';

export default command({
  about: [
    'The first pull takes the selection of messages fetch and keeps it in the folder; without a range it is every message. Later pulls ' +
      'need only DIR: they continue where the last one ended, however it ended, and bring what is new. Use messages fetch to look at ' +
      'messages, and an archive to keep them.',
    'A part of the archive that is damaged or missing is fetched again. --recheck looks at every archived message once more and records ' +
      'which were edited, moved or deleted since; the archive keeps what it has.',
    'Files that messages link to are not fetched: the API of the specification has no call for that.',
  ],
  args: { folder: folderArgument },
  options: {
    ...selectionOptions,
    raw_content: { kind: 'boolean', help: 'Keep the Markdown source instead of the rendered HTML' },
    both: { kind: 'boolean', help: 'Keep both forms of each message' },
    recheck: { kind: 'boolean', help: 'Record which messages were edited, moved or deleted since they were archived' },
  },
  examples: [
    'chatelaine archive pull kitchen --channel general --both',
    'chatelaine archive pull january --channel general --since 2026-01-01 --until 2026-02-01',
  ],

  plans: true,

  async run({ folder, both, recheck, ...values }, context) {
    const { raw_content, ...typed } = values;
    refuseOneRequest(typed);
    const { site, email: account } = await context.chatAccount();
    const order = {
      ...{ site: context.options.sandbox ? 'http://127.0.0.1' : site, account },
      options: typed,
      selection: () => wholeSelection(typed, context.now()),
      forms: formsOf(both, raw_content),
    };
    if (context.options.dry_run) return { folder, ...(await planPull(folder, order)) };
    const chat = context.chat();
    const archive = await context.archive(folder, 'relisted');
    try {
      const source = { ...chat.raw, level: chat.level, organization: chat.organization };
      const { head, added, repaired } = await pullArchive(source, archive, order, context);
      const seen = recheck ? await recheckArchive(chat, archive, head, context) : [];
      if (head.history_limited) context.warn(limitedHistory);
      const count = (kind: string): number => seen.filter(({ change }) => change === kind).length;
      const changes = { edited: count('edited'), moved: count('moved'), deleted: count('deleted') };
      const messages = archive.parts.reduce((sum, part) => sum + part.count, 0);
      return { folder, messages, added, repaired, ...(recheck ? changes : {}) };
    } finally {
      await archive.close();
    }
  },

  fields: ['edited', 'moved', 'deleted', 'status'],

  show: {
    columns: ['folder', 'messages', 'added', 'repaired'],
    others: true,
  },
});

/** Without a range, an archive is of everything. */
function wholeSelection(values: SelectionValues, now: number): MessageSelection {
  const { limit, message_ids, since, until } = values;
  const isRange = [limit, message_ids, since, until].some((value) => value !== undefined);
  const { range, narrow, form } = selectionOf(isRange ? values : { ...values, all: true }, now);
  return { range, narrow, form };
}

function refuseOneRequest({ num_before, num_after, use_first_unread_anchor }: SelectionValues): void {
  if (num_before === undefined && num_after === undefined && use_first_unread_anchor === undefined) return;
  throw usage('--num-before and --num-after are one request; an archive has pages', 'Use --limit, --all or --since.');
}

function formsOf(both: boolean | undefined, source: boolean | undefined): readonly ArchiveForm[] {
  if (both) return ['rendered', 'source'];
  return source ? ['source'] : [];
}
