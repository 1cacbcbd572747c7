import { isDeepStrictEqual } from 'node:util';
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, usage } from '../../core/failure.ts';
import { parseJson, writeJson } from '../../core/json.ts';
import { shellWord } from '../../core/shell-word.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { refuseOtherFiles } from '../../store/archive/archive-folder.ts';
import { archiveForms, readHead, type ArchiveForm, type ArchiveHead } from '../../store/archive/archive-head.ts';
import type { MessageSelection } from '../messages/selection.ts';

/** What a pull is asked to do. */
export interface PullOrder {
  readonly site: string;
  /** The address of the account. */
  readonly account: string;
  /** The options of the selection as typed; none where the archive has its selection already. */
  readonly options: Readonly<Record<string, unknown>>;
  /** What they select. */
  readonly selection: () => MessageSelection;
  /** Forms that were asked for; none is those that the archive has, or rendered. */
  readonly forms: readonly ArchiveForm[];
  /** Whether attached files are to be kept, from now on. */
  readonly files?: boolean | undefined;
}

/** What a pull into a folder would begin with. */
export interface PlannedPull {
  /** Messages that the archive holds. */
  readonly messages: number;
  readonly status: 'would be created' | 'would be continued';
}

/**
 * What a pull would do; nothing is written, and no server is asked.
 * @throws Failure config for the archive of another site or account; usage for another selection, or a folder of other files
 */
export async function planPull(folder: string, order: PullOrder): Promise<PlannedPull> {
  if (!(await readHead(folder))) {
    await refuseOtherFiles(folder);
    order.selection();
    return { messages: 0, status: 'would be created' };
  }
  const archive = await readArchive(folder);
  refuseOtherOrder(archive.head, folder, order);
  return { messages: archive.parts.reduce((sum, part) => sum + part.count, 0), status: 'would be continued' };
}

/**
 * The head of an archive that is continued, with the forms that were asked for; or that of a new one, which is not written yet.
 * @throws Failure config for the archive of another site or account; usage for another selection
 */
export async function headFor(
  chat: Pick<ChatApi, 'level' | 'organization'>,
  archive: OpenArchive,
  order: PullOrder,
): Promise<ArchiveHead> {
  return archive.head ? continued(archive, archive.head, order) : newHead(chat, order);
}

async function continued(archive: OpenArchive, old: ArchiveHead, order: PullOrder): Promise<ArchiveHead> {
  refuseOtherOrder(old, archive.folder, order);
  const forms = archiveForms.filter((form) => old.forms.includes(form) || order.forms.includes(form));
  const files = old.files || order.files === true;
  if (forms.length === old.forms.length && files === old.files) return old;
  const head = { ...old, forms, files };
  await archive.setHead(head);
  return head;
}

async function newHead(
  chat: Pick<ChatApi, 'level' | 'organization'>,
  { site, account, options, selection, forms, files = false }: PullOrder,
): Promise<ArchiveHead> {
  const given = { options, selection: selection(), forms: forms.length > 0 ? forms : (['rendered'] as const), files };
  const [organization, level] = [await chat.organization(), await chat.level()];
  return { archive: 1, site, organization, level, account, ...given, history_limited: false };
}

/** @throws Failure config for the archive of another site or account, usage for another selection */
function refuseOtherOrder(head: ArchiveHead, folder: string, { site, account, options }: PullOrder): void {
  refuseOther(head, site, account);
  if (Object.keys(options).length > 0 && !isDeepStrictEqual(head.options, parseJson(writeJson(options))))
    throw usage(
      `${folder} has another selection: ${writeJson(head.options)}`,
      `Give no selection to continue it: chatelaine archive pull ${shellWord(folder)}`,
    );
}

/** The site alone identifies an organization: ids of messages mean nothing elsewhere. */
function refuseOther(head: ArchiveHead, site: string, account: string): void {
  if (head.site === site && head.account === account) return;
  throw new Failure(
    'config',
    `the archive is of ${head.account} at ${head.site}; this account is ${account} at ${site}`,
    {
      hint: 'Choose the profile of that account with --profile, or pull into another folder.',
    },
  );
}
