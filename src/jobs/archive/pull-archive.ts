import { isDeepStrictEqual } from 'node:util';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessagePage, MessageSource } from '../../api/chat/chat-messages.ts';
import { incompleteAfter } from '../../api/http/answer.ts';
import { Failure, usage } from '../../core/failure.ts';
import { parseJson, writeJson } from '../../core/json.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import { archiveForms, type ArchiveForm, type ArchiveHead } from '../../store/archive/archive-head.ts';
import type { StoredMessage } from '../../store/archive/part.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { ahead } from '../work/ahead.ts';
import { missingPages } from './archive-pages.ts';
import { formsOf } from './part-forms.ts';
import { refuseLosses, repairArchive } from './repair-archive.ts';
import { refuseOtherMessages } from './selected.ts';
import { selectionIn } from './selection-in.ts';

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
}

export interface Pulling<M extends StoredMessage> {
  note(text: string): void;
  /** Called after each part with the number of messages that this pull has added. */
  added?(count: number): void;
  /** Refuses a page whose messages are not of the selection; it throws. */
  check?(page: MessagePage<M>): void;
}

export interface Pulled {
  readonly head: ArchiveHead;
  /** Messages that this pull added. */
  readonly added: number;
  /** Files of parts that were fetched again. */
  readonly repaired: number;
}

/**
 * Brings an archive up to date: repairs its parts, and adds what the selection has and it lacks, part by part.
 * @throws Failure config for the archive of another site or account; usage for another selection; unavailable where the server ignored
 * the narrow or the disk is full; incomplete where a later page fails,
 * or where a repair, with everything else done, could not recover a message
 */
export async function pullArchive<M extends StoredMessage>(
  chat: MessageSource<M> & Pick<ChatApi, 'level' | 'organization'>,
  archive: OpenArchive,
  order: PullOrder,
  pulling: Pulling<M>,
): Promise<Pulled> {
  const head = await headOf(chat, archive, order);
  const repaired = await repairArchive(chat, archive, head, pulling);
  let added = 0;
  try {
    for await (const count of addMissing(chat, archive, head, pulling)) {
      added += count;
      pulling.added?.(added);
    }
  } catch (cause) {
    throw added > 0 ? interrupted(added, cause) : cause;
  }
  refuseLosses(repaired, archive.folder);
  return { head: archive.head ?? head, added, repaired: repaired.count };
}

async function headOf(
  chat: Pick<ChatApi, 'level' | 'organization'>,
  archive: OpenArchive,
  order: PullOrder,
): Promise<ArchiveHead> {
  const { site, account, options, selection, forms } = order;
  const { head: old } = archive;
  if (old) {
    refuseOtherOrder(old, archive.folder, order);
    const all = archiveForms.filter((form) => old.forms.includes(form) || forms.includes(form));
    if (all.length === old.forms.length) return old;
    await archive.setHead({ ...old, forms: all });
    return { ...old, forms: all };
  }
  const [organization, level] = [await chat.organization(), await chat.level()];
  const given = { options, selection: selection(), forms: forms.length > 0 ? forms : (['rendered'] as const) };
  const head = { archive: 1 as const, site, organization, level, account, ...given, history_limited: false };
  await archive.setHead(head);
  return head;
}

/** @throws Failure config for the archive of another site or account, usage for another selection */
export function refuseOtherOrder(head: ArchiveHead, folder: string, { site, account, options }: PullOrder): void {
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

/** Adds part after part, yielding the number of messages of each. */
async function* addMissing<M extends StoredMessage>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { check }: Pulling<M>,
): AsyncGenerator<number> {
  const selection = selectionIn(head);
  const [first = 'rendered'] = head.forms;
  const form = { ...selection.form, apply_markdown: first === 'source' ? false : undefined };
  const count = archive.parts.reduce((sum, part) => sum + part.count, 0);
  const reached = { count, last: archive.parts.at(-1)?.last };
  for await (const page of ahead(missingPages(chat, { ...selection, form }, reached))) {
    refuseOtherMessages(selection, page);
    check?.(page);
    if (page.history_limited && archive.head?.history_limited === false)
      await archive.setHead({ ...archive.head, history_limited: true });
    if (page.messages.length === 0) continue;
    const forms = await formsOf(chat, selection, page.messages, head.forms);
    if (forms[first]?.length === 0) continue;
    yield (await archive.add(forms)).count;
  }
}

function interrupted(added: number, cause: unknown): unknown {
  if (!(cause instanceof Failure)) return cause;
  const failure = incompleteAfter(1, cause);
  if (failure === cause || !(failure instanceof Failure)) return cause;
  return cause.as('incomplete', `${added} messages were archived, then: ${cause.message}`, {
    hint: 'Run the same command again: it continues.',
    retryable: true,
  });
}
