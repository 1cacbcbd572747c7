import { quantity } from '../../core/duration.ts';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveChange, ReasonGone } from '../../store/archive/archive-lists.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import { readPart, type ArchivedMessage, type ArchiveForm, type ArchivePart } from '../../store/archive/part.ts';
import { messagesOfIds } from '../messages/messages-by-ids.ts';
import { isMovedCopy, isOldCopy, placeNarrow } from '../messages/places.ts';
import type { PrivateSearch } from '../messages/private-channels.ts';
import type { MessageSelection } from '../messages/selection.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { messagesNow, reasons } from './messages-now.ts';
import { markdownOf } from './part-forms.ts';
import { selectionIn } from './pull-order.ts';

interface Rechecked {
  readonly changes: readonly ArchiveChange[];
  /** Messages that are no longer visible, by reason; those that were known to be gone included. */
  readonly gone: Readonly<Record<ReasonGone, number>>;
  /** Private channels in which some of these were not looked for. */
  readonly unsearched: number;
}

/** Records what changed: edited, moved, gone (with the reason), or back. What is gone is asked for again each time. */
export async function recheckArchive(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { now, search }: { now(): Milliseconds; readonly search: PrivateSearch },
): Promise<Rechecked> {
  // The source changes with an edit only; the rendered text also where the server renders it another way.
  const form = head.forms.includes('source') ? 'source' : 'rendered';
  const recorded = new Map<number, Omit<MessageState, 'message'> & { readonly message: ArchivedMessage | undefined }>();
  for (const { id, message, ...change } of archive.changes)
    recorded.set(id, {
      message: message ?? recorded.get(id)?.message,
      why: 'why' in change ? change.why : undefined,
      isMoved: change.change === 'moved',
    });
  const adopted = new Set(archive.parts.flatMap(({ part, ids }) => (part <= (head.adopted ?? 0) ? ids : [])));
  const reasonOf = reasons(chat);
  const reasonFor = async (id: number, channel: number | undefined): Promise<ReasonGone> => {
    const why = await reasonOf(id, channel);
    return adopted.has(id) && why !== 'limit' ? 'account' : why;
  };
  const all: ArchiveChange[] = [];
  const moves = openMoves(chat, selectionIn(head), form);
  const gone = { limit: 0, 'no-access': 0, account: 0, unknown: 0 };
  const missing = new Map<number, { readonly part: ArchivePart; readonly why: ReasonGone; readonly isNew: boolean }>();
  const isoNow = (): string => new Date(now()).toISOString();
  const record = async (changes: readonly ArchiveChange[]): Promise<void> => {
    await archive.record(changes);
    all.push(...changes);
  };
  const statesIn = async (part: ArchivePart): Promise<ReadonlyMap<number, MessageState>> => {
    const read = await readPart(archive.folder, part, form);
    if (read.problem !== undefined) throw new Failure('unavailable', `part ${part.part}: ${read.problem}`);
    const before = new Map<number, MessageState>();
    for (const archived of read.messages) {
      const { message = archived, why, isMoved = false } = recorded.get(archived.id) ?? {};
      before.set(archived.id, { message, why, isMoved });
    }
    return before;
  };
  const changesOf = (state: MessageState, message: Message | undefined, left: ReadonlySet<number>, seen: string) => {
    if (!message) return [];
    const kinds = kindsOfChange(state, message, left);
    moves.note(state, message, kinds);
    return kinds.map((change): ArchiveChange => ({ id: message.id, change, seen, message }));
  };
  for (const part of archive.parts) {
    const before = await statesIn(part);
    const channelOf = (id: number): number | undefined => {
      const channel = before.get(id)?.message['stream_id'];
      return typeof channel === 'number' ? channel : undefined;
    };
    const known = { ids: [...before.keys()], channelOf, reasonFor };
    const found = await messagesNow(chat, selectionIn(head), known, form);
    const seen = isoNow();
    for (const [id, reason] of found.gone) {
      const known = before.get(id)?.why;
      const why = lasting(known, reason) ?? reason;
      missing.set(id, { part, why, isNew: why !== known });
    }
    await record([...before].flatMap(([id, state]) => changesOf(state, found.shown.get(id), found.left, seen)));
  }
  const moved = new Map<number, Message>();
  const open = [...missing].filter(([, { why }]) => why !== 'limit').map(([id]) => id);
  const query = { ...selectionIn(head).form, ...markdownOf(form) };
  const unsearched = await search.find(chat, query, open, (message) => moved.set(message.id, message));
  const seen = isoNow();
  for (const part of new Set([...moved.keys()].map((id) => missing.get(id)?.part)))
    if (part)
      await record(
        [...(await statesIn(part))].flatMap(([id, state]) =>
          changesOf(state, moved.get(id), new Set(moved.keys()), seen),
        ),
      );
  const left = [...missing].filter(([id]) => !moved.has(id));
  for (const [, { why }] of left) gone[why] += 1;
  await record(left.flatMap(([id, { why, isNew }]) => (isNew ? [{ id, change: 'gone', seen, why }] : [])));
  await record((await moves.unseen()).map((message) => ({ id: message.id, change: 'moved', seen, message })));
  return { changes: all, gone, unsearched: left.reduce((most, [id]) => Math.max(most, unsearched.get(id) ?? 0), 0) };
}

/** Says what is no longer visible, and counts what a recheck saw for the first time. */
export function tellChanges(
  { changes, gone, unsearched }: Rechecked,
  { note, warn }: Pick<WorkMessages, 'note' | 'warn'>,
) {
  const { limit, 'no-access': barred, account, unknown } = gone;
  if (limit > 0)
    warn(`${messagesText(limit)} no longer visible: the plan of the organization hides messages of their age`);
  if (barred > 0) warn(`${messagesText(barred)} no longer visible, nor is anything else of their channels`);
  if (account > 0) note(`${messagesText(account)} not visible to this account: the one before it saw them`);
  if (unsearched > 0)
    warn(`what is no longer visible was not looked for in ${unsearched} private channels: too many requests`);
  if (unknown > 0) note(`${messagesText(unknown)} no longer visible: deleted, or moved out of sight`);
  const count = (kind: string): number => changes.filter(({ change }) => change === kind).length;
  return { edited: count('edited'), moved: count('moved'), gone: count('gone'), back: count('back') };
}

const messagesText = (count: number): string => quantity(count, 'archived message is', 'archived messages are');

/** Of a place that messages left, others may come as old copies: it is asked for them (docs/apis.md, Old copies). */
function openMoves(chat: Pick<ChatApi, 'messages' | 'level'>, { narrow, form }: MessageSelection, kept: ArchiveForm) {
  const places = new Map<string, { readonly narrow: readonly unknown[]; readonly stayed: number[]; isLeft: boolean }>();
  const query = { ...form, ...markdownOf(kept) };
  return {
    note({ message: before, isMoved }: MessageState, now: Message, kinds: readonly string[]): void {
      const narrow = placeNarrow(before['stream_id'], before['subject']);
      const place = places.get(writeJson(narrow)) ?? { narrow, stayed: [], isLeft: false };
      places.set(writeJson(narrow), place);
      if (kinds.includes('moved')) place.isLeft = true;
      else if (!isMoved) place.stayed.push(now.id);
    },
    /** Those that are in the selection, and not in the place that they name. */
    async unseen(): Promise<Message[]> {
      const found: Message[] = [];
      for (const { narrow: place, stayed } of [...places.values()].filter(({ isLeft }) => isLeft)) {
        const left = new Set(stayed);
        for await (const { id } of messagesOfIds(chat, { ...query, narrow: place }, stayed)) left.delete(id);
        for await (const message of messagesOfIds(chat, { ...query, narrow }, [...left])) found.push(message);
      }
      return found;
    },
  };
}

/** What is known of a message: its last version, why it is gone, and whether a move was seen last. */
interface MessageState {
  readonly message: ArchivedMessage;
  readonly why: ReasonGone | undefined;
  readonly isMoved: boolean;
}

/** What is gone keeps the reason for which it went, until that is disproved. */
function lasting(before: ReasonGone | undefined, now: ReasonGone | undefined): ReasonGone | undefined {
  return now === undefined || now === 'unknown' ? now : (before ?? now);
}

/** `left`: messages that were not found in the place that they name. */
function kindsOfChange(
  { message: before, why, isMoved: wasMoved }: MessageState,
  now: Message,
  left: ReadonlySet<number>,
) {
  const isElsewhere = before['subject'] !== now['subject'] || before['stream_id'] !== now['stream_id'];
  const isMoved = isElsewhere ? !isOldCopy(now) || isMovedCopy(now, before) : left.has(now.id) && !wasMoved;
  return [
    ...(why === undefined ? [] : (['back'] as const)),
    ...(before['content'] === now['content'] ? [] : (['edited'] as const)),
    ...(isMoved ? (['moved'] as const) : []),
  ];
}
