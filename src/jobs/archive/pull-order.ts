import { isDeepStrictEqual } from 'node:util';
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, usage } from '../../core/failure.ts';
import { parseJson, writeJson, isObject } from '../../core/json.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { refuseOtherFiles } from '../../store/archive/archive-folder.ts';
import { readHead, type ArchiveHead } from '../../store/archive/archive-head.ts';
import { archiveForms, type ArchiveForm } from '../../store/archive/part.ts';
import type { MessageSelection, Range } from '../messages/selection.ts';

export interface PullOrder {
  readonly site: string;
  readonly account: string;
  /** The options of the selection as typed; none where the archive has its selection already. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly selection: () => MessageSelection;
  /** The line that was typed, without a selection. */
  readonly again?: string;
  /** Forms that were asked for; none is those that the archive has, or rendered. */
  readonly forms: readonly ArchiveForm[];
  readonly files?: boolean | undefined;
}

/** What a pull would do; asks and writes nothing. @throws Failure as `headFor`; usage for a folder of other files */
export async function planPull(folder: string, order: PullOrder) {
  if (!(await readHead(folder))) {
    await refuseOtherFiles(folder);
    order.selection();
    return { messages: 0, status: 'would be created' } as const;
  }
  const archive = await readArchive(folder);
  refuseOtherOrder(archive.head, folder, order);
  const messages = archive.parts.reduce((sum, part) => sum + part.count, 0);
  return { messages, status: 'would be continued' } as const;
}

/** The head with the wanted forms, or of a new archive, not yet written. @throws Failure as `refuseOtherOrder` */
export async function headFor(
  chat: Pick<ChatApi, 'level' | 'organization'>,
  archive: OpenArchive,
  order: PullOrder,
): Promise<ArchiveHead> {
  const old = archive.head;
  if (!old) {
    const { site, account, options } = order;
    const selection = order.selection();
    const forms = order.forms.length > 0 ? order.forms : (['rendered'] as const);
    const [organization, level] = [await chat.organization(), await chat.level()];
    const given = { options, selection, forms, files: order.files === true };
    return { archive: 1, site, organization, level, account, ...given, history_limited: false };
  }
  refuseOtherOrder(old, archive.folder, order);
  const forms = archiveForms.filter((form) => old.forms.includes(form) || order.forms.includes(form));
  const files = old.files || order.files === true;
  if (forms.length === old.forms.length && files === old.files) return old;
  const head = { ...old, forms, files };
  await archive.setHead(head);
  return head;
}

/** Ids mean nothing on another site. @throws Failure config for another site or account, usage for another selection */
function refuseOtherOrder(head: ArchiveHead, folder: string, { site, account, options, again }: PullOrder): void {
  if (head.site !== site || head.account !== account)
    throw new Failure(
      'config',
      `the archive belongs to ${head.account} at ${head.site}; this account is ${account} at ${site}`,
      { hint: 'Choose the profile of that account with --profile, or pull into another folder.' },
    );
  if (Object.keys(options).length > 0 && !isDeepStrictEqual(head.options, parseJson(writeJson(options))))
    throw usage(
      `the archive ${folder} was begun with another selection: ${writeJson(head.options)}`,
      again && `To continue it, give no selection: ${again}`,
    );
}

/** What an archive selects (docs/archive-format.md, Manifest). @throws Failure config where that is not known */
export function selectionIn({ selection }: Pick<ArchiveHead, 'selection'>): MessageSelection {
  if (isSelection(selection)) return selection;
  throw new Failure('config', 'archive.json holds no selection', {
    hint: 'Put archive.json back from a copy, or pull into another folder.',
  });
}

function isSelection(value: unknown): value is MessageSelection {
  if (!isObject(value) || !isObject(value['range'])) return false;
  const { kind } = value['range'];
  return Array.isArray(value['narrow']) && isObject(value['form']) && rangeKinds.some((known) => known === kind);
}

const rangeKinds = ['request', 'ids', 'newest', 'pages', 'times'] as const satisfies readonly Range['kind'][];
