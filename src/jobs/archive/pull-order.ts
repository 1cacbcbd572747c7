import { isDeepStrictEqual } from 'node:util';
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, usage } from '../../core/failure.ts';
import { parseJson, writeJson, isObject } from '../../core/json.ts';
import { shellWord } from '../../core/shell-word.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { refuseOtherFiles } from '../../store/archive/archive-folder.ts';
import { archiveForms, readHead, type ArchiveForm, type ArchiveHead } from '../../store/archive/archive-head.ts';
import type { MessageSelection, Range } from '../messages/selection.ts';
import type { MessageHead, MessagePage } from '../../api/chat/chat-messages.ts';
import { isSameName } from '../../schema/topic.ts';

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
interface PlannedPull {
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

/**
 * What an archive selects (docs/archive-format.md, Manifest).
 * @throws Failure config where archive.json does not say it
 */
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

/** The channels that a selection names and does not leave out. */
export function channelsIn({ narrow }: MessageSelection): (number | string)[] {
  return narrow.flatMap((term) => {
    const { operator, operand, negated } = isObject(term) ? term : {};
    const isChannel = (operator === 'channel' || operator === 'stream') && negated !== true;
    return isChannel && (typeof operand === 'number' || typeof operand === 'string') ? [operand] : [];
  });
}

/** Parameters without which an answer holds other messages than those that were asked for. */
const selecting = ['narrow', 'message_ids'];

/**
 * Refuses a page of a server that ignored the narrow, with or without saying so: channel and topic of every message are compared.
 * @throws Failure unavailable
 */
export function refuseOtherMessages({ narrow }: MessageSelection, page: MessagePage<MessageHead>): void {
  const ignored = selecting.filter((name) => page.ignored.includes(name));
  if (ignored.length > 0) throw untrusted(`the server ignored ${ignored.join(' and ')}`);
  for (const term of narrow) {
    const isOf = testOf(term);
    const other = isOf && page.messages.find((message) => !isOf(message));
    if (!other) continue;
    const { id, display_recipient, subject } = other;
    const place = typeof display_recipient === 'string' ? `#${display_recipient} > ${String(subject)}` : 'elsewhere';
    throw untrusted(`the server ignored the narrow: it answered with message ${id} of ${place}`);
  }
}

/** What the messages of a term have in common; undefined where a message does not show it. */
function testOf(term: unknown): ((message: MessageHead) => boolean) | undefined {
  if (!isObject(term) || term['negated'] === true) return undefined;
  const { operator, operand } = term;
  if (operator === 'channel' || operator === 'stream') {
    if (typeof operand === 'number') return ({ stream_id }) => stream_id === operand;
    return ({ display_recipient }) =>
      typeof display_recipient === 'string' && isSameName(display_recipient, String(operand).trim());
  }
  // The empty topic is shown under a name of the server's own, or as ''.
  if (operator === 'topic' && typeof operand === 'string' && operand.trim() !== '')
    return ({ subject }) => subject === '' || isSameName(String(subject), operand.trim());
  return undefined;
}

function untrusted(message: string): Failure {
  return new Failure('unavailable', `${message}: such an answer is not archived`, {
    hint: 'Check the site URL of the profile, and any proxy between it and this machine.',
    retryable: false,
  });
}
