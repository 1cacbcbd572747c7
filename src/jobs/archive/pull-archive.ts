import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageSource } from '../../api/chat/chat-messages.ts';
import { incompleteAfter } from '../../api/http/answer.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import type { StoredMessage } from '../../store/archive/part.ts';
import { ahead } from '../work/pool.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { pagesOf } from '../messages/fetch-messages.ts';
import { messagesByIds } from '../messages/messages-by-ids.ts';
import { within } from '../messages/messages-by-time.ts';
import { refuseIgnored } from '../messages/places.ts';
import { channelsIn, type MessageSelection } from '../messages/selection.ts';
import { formsOf } from './part-forms.ts';
import { headFor, type PullOrder, selectionIn } from './pull-order.ts';
import { refuseLosses, repairArchive } from './repair-archive.ts';
import { visibilityOf } from './messages-now.ts';

interface Pulling {
  note(text: string): void;
  /** Called after each part with the number of messages that this pull has added. */
  added?(count: number): void;
  /** Whether a pull that brings nothing asks if the channels are visible at all, and says if one is not. */
  warn?(text: string): void;
  /** Whether parts that were read in the last seven days and look unchanged are trusted. */
  now?(): Milliseconds;
}

/**
 * Brings an archive up to date: repairs its parts, and adds what it lacks, part by part.
 * @throws Failure config for the archive of another site or account; usage for another selection; unavailable where the
 * server ignored the narrow or the disk is full; not_found where a new archive is of a channel of which nothing is
 * visible; incomplete where a later page fails, or a repair could not recover a message
 */
export async function pullArchive<M extends StoredMessage>(
  chat: MessageSource<M> & Pick<ChatApi, 'level' | 'organization'>,
  archive: OpenArchive,
  order: PullOrder,
  pulling: Pulling,
) {
  const head = await headFor(chat, archive, order);
  const now = pulling.now?.();
  // A time in the future is of another clock.
  const age = (now ?? NaN) - Date.parse(archive.state.checked ?? '');
  const which = age >= 0 && age < trustedFor ? 'changed' : 'all';
  const repaired = await repairArchive(chat, archive, head, { which, note: pulling.note });
  if (which === 'all' && now !== undefined) archive.mark({ checked: new Date(now).toISOString() });
  let added = 0;
  try {
    for await (const count of addMissing(chat, archive, head)) {
      added += count;
      pulling.added?.(added);
    }
  } catch (cause) {
    throw added > 0 ? interrupted(added, cause) : cause;
  }
  if (added === 0 && pulling.warn) await lookAtChannels(chat, archive, head, pulling.warn);
  if (!archive.head) await archive.setHead(head);
  archive.mark({ complete: true });
  refuseLosses(repaired, archive.folder);
  return {
    head: archive.head ?? head,
    /** Messages that this pull added. */
    added,
    /** Files of parts that were fetched again. */
    repaired: repaired.count,
    /** Which files were read: all, or those that look changed. */
    which,
  } as const;
}

/** How long files that look unchanged are trusted. */
const trustedFor: Milliseconds = 7 * 24 * 3_600_000;

/** @throws Failure not_found for a new archive: nothing of it was written */
async function lookAtChannels(
  chat: MessageSource<MessageHead>,
  { head: begun }: OpenArchive,
  head: ArchiveHead,
  warn: (text: string) => void,
): Promise<void> {
  for (const operand of channelsIn(selectionIn(head))) {
    const { isLimited, lowest } = await visibilityOf(chat, [{ operator: 'channel', operand }]);
    if (isLimited || lowest !== undefined) continue;
    const what = `nothing of the channel '${operand}' is visible to this account`;
    if (begun) warn(`${what}: it is empty or archived, or the account lost its access`);
    else
      throw new Failure('not_found', `${what}: nothing was written`, {
        hint: 'The channel is empty or archived, or it is private and the account is not in it.',
      });
  }
}

/** Adds part after part, yielding the number of messages of each. */
async function* addMissing<M extends StoredMessage>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
): AsyncGenerator<number> {
  const selection = selectionIn(head);
  const [first = 'rendered'] = head.forms;
  const asked = { ...selection, form: { ...selection.form, apply_markdown: first === 'source' ? false : undefined } };
  const count = archive.parts.reduce((sum, part) => sum + part.count, 0);
  const last = archive.parts.at(-1)?.last;
  // They continue what is there, so that an interrupted pull leaves no gap.
  const pages = last === undefined ? firstPages(chat, asked) : laterPages(chat, asked, count, last);
  for await (const page of ahead(pages)) {
    refuseIgnored(page);
    const now = archive.head ?? head;
    const isNews = page.history_limited && !now.history_limited;
    if (isNews || !(archive.head || page.messages.length === 0))
      await archive.setHead({ ...now, history_limited: now.history_limited || page.history_limited });
    if (page.messages.length === 0) continue;
    const forms = await formsOf(chat, selection, page.messages, head.forms);
    if (forms[first]?.length === 0) continue;
    archive.mark({ complete: false });
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

/** The pages of a selection, ascending; one without messages is only the sign of a limited history. */
async function* firstPages<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  selection: MessageSelection,
): AsyncGenerator<MessagePage<M>> {
  const { range } = selection;
  const isBackward = range.kind === 'newest' || (range.kind === 'times' && range.since === undefined && range.limit);
  if (!isBackward) {
    yield* pagesOf(chat, selection);
    return;
  }
  // These are found backward. An archive grows forward only: the first one is looked up, the rest fetched from there.
  let start: M | undefined;
  for await (const page of pagesOf(chat, selection)) {
    start ??= page.messages[0];
    if (page.history_limited) yield { ...page, messages: [] };
  }
  if (start) yield* laterPages(chat, selection, 0, start.id - 1);
}

/** The same above the message `last`, of which `count` messages and all of the selection before it are archived. */
async function* laterPages<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  { narrow, form, range }: MessageSelection,
  count: number,
  last: number,
): AsyncGenerator<MessagePage<M>> {
  const query = { narrow, ...form };
  if (range.kind === 'ids') {
    const ids = range.ids.filter((id) => id > last);
    if (ids.length > 0) yield* messagesByIds(chat, query, ids);
    return;
  }
  const limit =
    'limit' in range && range.kind !== 'newest' && range.limit !== undefined ? range.limit - count : undefined;
  if (limit !== undefined && limit <= 0) return;
  const span = range.kind === 'times' ? within(range) : {};
  yield* forward(chat, { ...query, include_anchor: false }, { anchor: String(last), limit, ...span });
}
