import { join } from 'node:path';
import type { RawMessage } from '../../api/chat/chat-messages.ts';
import { incompleteWith } from '../../api/http/answer.ts';
import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { OpenArchive, Which } from '../../store/archive/open-archive.ts';
import { type ArchiveHead, keepAside } from '../../store/archive/archive-head.ts';
import { bytesOf, idsOfFile, lastIdOf, type ArchiveForm, type ArchivePart } from '../../store/archive/part.ts';
import { ahead } from '../work/pool.ts';
import { changedView, refuseIgnored } from '../messages/places.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { hashOf, readBytes } from '../../store/disk/files.ts';
import type { MessageChat, PrivateSearch } from '../messages/messages-by-ids.ts';
import { unorderedTimes } from '../messages/messages-by-time.ts';
import { formsOf, markdownOf, firstPages, laterPages, roomIn, startOf } from './pull-pages.ts';
import { headFor, type PullChat, type PullOrder, selectionIn } from './pull-order.ts';
import { lookAtSelection, lookForLast, messagesNow, reasons } from './messages-now.ts';

interface Pulling {
  note(text: string): void;
  /** Called after each part with the number of messages that this pull has added. */
  added?(count: number): void;
  /** Whether a pull that brings nothing asks if the channels are visible at all, and says if one is not. */
  warn?(text: string): void;
  /** Whether all of the selection is compared with the archive, and not only what is newest. */
  readonly isWhole?: boolean | undefined;
  /** Whether it is one of all channels, some of which may not have what is selected. */
  readonly isOfAll?: boolean | undefined;
  /** Where else messages of a damaged part are looked for. */
  readonly search?: PrivateSearch | undefined;
  /** Which files are read and compared. */
  readonly which: Which;
}

/**
 * Brings an archive up to date: repairs its parts, and adds what it lacks, part by part.
 * @throws Failure config for the archive of another site or account; usage for another selection; unavailable where the
 * server ignored the narrow or the disk is full; not_found where a new archive is of a channel of which nothing is
 * visible; incomplete where a later page fails, or a repair could not recover a message
 */
export async function pullArchive(
  chat: MessageChat & PullChat,
  archive: OpenArchive,
  order: PullOrder,
  pulling: Pulling,
) {
  const head = await headFor(chat, archive, order);
  const repaired = await repairArchive(chat, archive, head, pulling);
  const { warn, isWhole, isOfAll = false } = pulling;
  const found: PullFindings = { read: new Map<number, RawMessage>(), last: lastIdOf(archive.parts), isLastSeen: false };
  const { last } = found;
  let [added, isVisible] = [0, false];
  try {
    for await (const count of addMissing(chat, archive, head, pulling, found)) {
      isVisible = true;
      added += count;
      if (count > 0) pulling.added?.(added);
    }
  } catch (cause) {
    const what = `${quantity(added, 'message was', 'messages were')} archived, then`;
    throw added > 0 ? incompleteWith(what, cause) : cause;
  }
  if (!isVisible && warn) await lookAtSelection(chat, head, { warn, isBegun: archive.head !== undefined, isOfAll });
  if (last > 0 && !isWhole && !found.isLastSeen && warn) await lookForLast(chat, head, last, warn);
  if (!archive.head) await archive.setHead(head);
  archive.mark({ complete: true });
  refuseLosses(repaired.losses, archive.folder);
  // `repaired`: files of parts that were fetched again.
  return { head: archive.head ?? head, added, repaired: repaired.count, read: found.read } as const;
}

interface PullFindings {
  /** Messages that the archive holds, and that a whole pull has read in the form of a recheck. */
  readonly read: Map<number, RawMessage>;
  /** The last id that was archived before this pull, and whether the server still shows it in the selection. */
  readonly last: number;
  isLastSeen: boolean;
}

/** So many messages a recheck does not ask for again. */
const mostRead = 5000;

/** Adds part after part what the archive lacks, yielding the number of messages of each page that shows any. */
async function* addMissing(
  chat: MessageChat,
  archive: OpenArchive,
  head: ArchiveHead,
  { isWhole = false, warn }: Pulling,
  found: PullFindings,
) {
  const selection = selectionIn(head);
  const forms = isWhole ? head.forms.toReversed() : head.forms;
  const [first = 'rendered'] = forms;
  const asked = { ...selection, form: { ...selection.form, apply_markdown: first === 'source' ? false : undefined } };
  const held = new Set(archive.parts.flatMap(({ ids }) => ids));
  const { last, read } = found;
  let room = roomIn(selection.range, held.size);
  let isLimited = false;
  const begun = archive.parts[0] && { first: archive.parts[0].first, last, isWhole };
  if (begun && room <= 0 && !isWhole) return;
  // They continue what is there, so that an interrupted pull leaves no gap.
  for await (const page of ahead(begun ? laterPages(chat, asked, begun) : firstPages(chat, asked))) {
    refuseIgnored(page);
    if (page.unordered) warn?.(`${unorderedTimes}; every message is read`);
    found.isLastSeen ||= page.messages.some(({ id }) => id === last);
    if (page.view_changed) warn?.(`${changedView}; archive pull --recheck fetches them`);
    const now = archive.head ?? head;
    isLimited ||= page.history_limited;
    const isNews = page.history_limited && !now.history_limited;
    if (isNews || !(archive.head || page.messages.length === 0))
      await archive.setHead({ ...now, history_limited: now.history_limited || page.history_limited });
    const fresh = page.messages.filter(({ id }) => id > last && !held.has(id)).slice(0, room);
    const lacking = [...page.messages.filter(({ id }) => id < last && !held.has(id)), ...fresh];
    room -= fresh.length;
    for (const one of isWhole ? page.messages : []) if (held.has(one.id) && read.size < mostRead) read.set(one.id, one);
    const rows = lacking.length > 0 ? await formsOf(chat, selection, lacking, forms) : {};
    if (rows[first]?.length) {
      archive.mark({ complete: false });
      for (const { id } of lacking) held.add(id);
      yield (await archive.add(rows)).count;
    } else if (page.messages.length > 0) yield 0;
    if (begun && room <= 0 && (page.messages.at(-1)?.id ?? 0) >= last) return;
  }
  const isAll = isWhole && startOf(selection.range) === 1 && !isLimited;
  if (isAll && archive.head?.history_limited) await archive.setHead({ ...archive.head, history_limited: false });
}

/**
 * Fetches every damaged or missing file of a part again. Where the result is not what was archived, because messages
 * were deleted, edited or moved on the server, the damaged file is kept aside. `changed` trusts files that look as
 * when they were last read. Returns how many files were replaced, and a line for each that could not be recovered.
 */
async function repairArchive(
  chat: MessageChat,
  archive: OpenArchive,
  head: ArchiveHead,
  { which, note, search }: Pulling,
) {
  const losses: (string | undefined)[] = [];
  for (const number of archive.parts.map(({ part }) => part)) {
    for (const form of head.forms) {
      const part = archive.parts.find((one) => one.part === number);
      const problem = part && (await archive.check(part, form, which));
      if (!part || problem === undefined) continue;
      note(`part ${number}, ${form}: ${problem}; fetching its ${quantity(part.count, 'message')} again`);
      losses.push(await repairFile(chat, archive, selectionIn(head), { part, form, search }));
    }
  }
  return { count: losses.length, losses: losses.filter((loss) => loss !== undefined) };
}

/** Replaces one file of a part; says what could not be recovered. */
async function repairFile(
  chat: MessageChat,
  archive: OpenArchive,
  selection: MessageSelection,
  { part, form, search }: Pick<Pulling, 'search'> & { readonly part: ArchivePart; readonly form: ArchiveForm },
) {
  const known = { ids: part.ids, channelOf: () => undefined, reasonFor: reasons(chat) };
  const { shown, gone } = await messagesNow(chat, selection, known, form);
  const query = { ...selection.form, ...markdownOf(form) };
  await search?.find(chat, query, [...gone.keys()], (message) => shown.set(message.id, message));
  const messages = part.ids.flatMap((id) => shown.get(id) ?? []);
  const recorded = part[form];
  const before = recorded && (await readBytes(join(archive.folder, recorded.file)));
  const content = bytesOf(messages);
  // Where the line alone is damaged, the file is what the server shows.
  const isWhole = hashOf(content) === recorded?.sha256 || before?.equals(content);
  const aside = recorded && before && !isWhole ? await keepAside(archive.folder, recorded.file, before) : undefined;
  await archive.repair(part, form, messages);
  const lost = recorded ? idsOfFile(part, form).filter((id) => !shown.has(id)) : [];
  if (!recorded || (aside === undefined && lost.length === 0)) return undefined;
  const more = lost.length > namedIds ? ` and ${lost.length - namedIds} more` : '';
  return [
    `${recorded.file}: what the server shows of its ${quantity(part.count, 'message')} is not what was archived`,
    ...(lost.length > 0 ? [`lost: ${lost.slice(0, namedIds).join(', ')}${more}`] : []),
    ...(aside === undefined ? [] : [`the damaged file is kept as ${aside}`]),
  ].join('; ');
}

const namedIds = 20;

/** @throws Failure incomplete where a repair could not recover everything */
function refuseLosses(losses: readonly string[], folder: string): void {
  if (losses.length === 0) return;
  throw new Failure('incomplete', losses.join('\n'), {
    problems: losses,
    hint: `Check the files that end in .damaged, and move them out of ${folder}; archive verify names them until then.`,
    retryable: false,
  });
}
