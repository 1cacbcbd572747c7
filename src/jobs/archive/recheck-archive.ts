import type { ChatApi } from '../../api/chat/chat.ts';
import {
  asMessage,
  type Message,
  type MessageHead,
  type MessageQuery,
  type RawMessage,
} from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, writeJson } from '../../core/json.ts';
import { emptyTopicName, foldTopic } from '../../schema/topic.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import type { ArchiveChange, MessagePlace, ReasonGone } from '../../store/archive/line-file.ts';
import { readPart, type ArchivedMessage, type ArchiveForm, type ArchivePart } from '../../store/archive/part.ts';
import {
  idsShown,
  inChannel,
  messagesOfIds,
  type PrivateSearch,
  type MessageChat,
} from '../messages/messages-by-ids.ts';
import { placeNarrow } from '../messages/places.ts';
import { channelsIn } from '../messages/selection.ts';
import { messagesNow, notInNamedPlace, reasons } from './messages-now.ts';
import { markdownOf } from './pull-pages.ts';
import { selectionIn } from './pull-order.ts';
import { truePlaces } from './true-places.ts';

export type Rechecked = Awaited<ReturnType<typeof recheckArchive>>;

interface RecheckParts {
  now(): Milliseconds;
  readonly search: PrivateSearch;
  /** Messages that the pull before it has read: these are not asked for again. */
  readonly seen: ReadonlyMap<number, RawMessage>;
}

/** Records what changed: edited, moved, gone (with the reason), or back. What is gone is asked for again each time. */
export async function recheckArchive(
  chat: Pick<ChatApi, 'messages' | 'level' | 'topics' | 'channels'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { now, search, seen: pulled }: RecheckParts,
) {
  const form = head.forms.includes('source') ? 'source' : 'rendered';
  const selection = selectionIn(head);
  const query = { ...selection.form, ...markdownOf(form) };
  const read = new Map(Array.from(pulled, ([id, { text }]) => [id, asMessage(text.parse())] as const));
  const recorded = recordedStates(archive.changes);
  const adopted = new Set(archive.parts.flatMap(({ part, ids }) => (part <= (head.adopted ?? 0) ? ids : [])));
  const reasonOf = reasons(chat);
  const reasonFor = async (id: number, channel: number | undefined): Promise<ReasonGone> => {
    const why = await reasonOf(id, channel);
    return adopted.has(id) && why !== 'limit' ? 'account' : why;
  };
  const hasMoveTimes = ((await chat.level()) ?? 0) >= moveTimesLevel;
  const old = new Set(archive.parts.flatMap((part) => part.old ?? []));
  const placesOf = truePlaces(chat, selection.narrow);
  const all: ArchiveChange[] = [];
  /** Messages that are no longer visible, by reason; those that were known to be gone included. */
  const gone: Record<ReasonGone, number> = { limit: 0, 'no-access': 0, account: 0, unknown: 0 };
  const missing = new Map<number, { readonly part: ArchivePart; readonly why: ReasonGone; readonly isNew: boolean }>();
  /** By the place that the archive had for them, in any spelling: messages that still name it, if others left it. */
  const homes = new Map<string, { readonly stayed: Map<number, MessagePlace>; isLeft: boolean }>();
  const isoNow = (): string => new Date(now()).toISOString();
  const record = async (changes: readonly ArchiveChange[]): Promise<void> => {
    await archive.record(changes);
    all.push(...changes);
  };
  /** Records what is otherwise than the archive has it of messages that are shown. */
  const compare = async (
    before: ReadonlyMap<number, MessageState>,
    shown: ReadonlyMap<number, Message>,
    left: ReadonlyMap<number, number | undefined>,
    seen = isoNow(),
  ): Promise<void> => {
    const places = await placesOf(shown.values(), left);
    const changes: ArchiveChange[] = [];
    for (const [id, message] of shown) {
      const state = before.get(id);
      if (!state) continue;
      if (state.why !== undefined) changes.push({ id, change: 'back', seen, message });
      if (isEdited(state.message, message, form)) changes.push({ id, change: 'edited', seen, message });
      const named = placeNamed(message);
      const to = places.get(id) ?? named;
      const isProven = places.has(id);
      const wasAlwaysThere = old.has(id) && hasMoveTimes && !isProven && !hasMoved(message);
      const isMoved = !isStill(state.place, to, isProven ? named : undefined) && !wasAlwaysThere;
      const spot = writeJson([state.place.stream_id, foldTopic(String(state.place.subject))]);
      const home = homes.get(spot) ?? { stayed: new Map<number, MessagePlace>(), isLeft: false };
      homes.set(spot, home);
      home.isLeft ||= isMoved;
      if (isMoved) changes.push({ id, change: 'moved', seen, from: state.place, to, message });
      else if (!isProven) home.stayed.set(id, state.place);
    }
    await record(changes);
  };
  for (const part of archive.parts) {
    const before = await statesIn(archive, part, form, recorded);
    const channelOf = (id: number): number | undefined => {
      const channel = before.get(id)?.place.stream_id;
      return typeof channel === 'number' ? channel : undefined;
    };
    const isDoubtful = (message: Message): boolean => isOldCopyStill(before.get(message.id), message);
    const known = { ids: [...before.keys()], seen: read, channelOf, reasonFor, isDoubtful };
    const found = await messagesNow(chat, selection, known, form);
    for (const [id, reason] of found.gone) {
      const known = before.get(id)?.why;
      const why = lasting(known, reason) ?? reason;
      missing.set(id, { part, why, isNew: why !== known });
    }
    await compare(before, found.shown, found.left);
  }
  const moved = new Map<number, Message>();
  const channels = new Map<number, number>();
  const open = [...missing].filter(([, { why }]) => why !== 'limit').map(([id]) => id);
  const unsearched = await search.find(chat, query, open, (message, channel) => {
    moved.set(message.id, message);
    if (message['stream_id'] !== channel) channels.set(message.id, channel);
  });
  for (const part of new Set([...moved.keys()].map((id) => missing.get(id)?.part)))
    if (part) await compare(await statesIn(archive, part, form, recorded), moved, channels);
  const left = [...missing].filter(([id]) => !moved.has(id));
  for (const [, { why }] of left) gone[why] += 1;
  const seen = isoNow();
  await record(left.flatMap(([id, { why, isNew }]) => (isNew ? [{ id, change: 'gone', seen, why }] : [])));
  for (const { stayed } of [...homes.values()].filter(({ isLeft }) => isLeft)) {
    const { copies, channels } = await leftBehind(chat, { ...query, narrow: selection.narrow }, stayed);
    const places = await placesOf(copies, channels);
    const movedTo = (id: number) => ({ id, change: 'moved', seen, from: stayed.get(id), to: places.get(id) }) as const;
    await record(copies.map((message) => ({ ...movedTo(message.id), message })));
  }
  /** `unsearched`: private channels in which some of these were not looked for. */
  return { changes: all, gone, unsearched: left.reduce((most, [id]) => Math.max(most, unsearched.get(id) ?? 0), 0) };
}

/** Of a place that messages left, others may come as old copies: it is asked for them (docs/apis.md, Old copies). */
async function leftBehind(
  chat: MessageChat<Message>,
  { narrow = [], ...query }: MessageQuery,
  stayed: ReadonlyMap<number, MessagePlace>,
) {
  const copies: Message[] = [];
  /** Where they were found, if a channel was asked. */
  const channels = new Map<number, number | undefined>();
  const [place] = stayed.values();
  if (!place) return { copies, channels };
  const ids = [...stayed.keys()];
  const there = await idsShown(chat, { ...query, narrow: placeNarrow(place.stream_id, place.subject) }, ids);
  const own = Number(place.stream_id);
  const isOwn = channelsIn(narrow).some((channel) => channel === own || typeof channel === 'string');
  const scopes = [
    { where: narrow, channel: isOwn ? own : undefined },
    { where: inChannel(own), channel: own },
  ];
  for (const { where, channel } of scopes) {
    const shown: Message[] = [];
    const others = ids.filter((id) => !there.has(id));
    for await (const message of messagesOfIds(chat, { ...query, narrow: where }, others)) shown.push(message);
    for (const id of await notInNamedPlace(chat, where, shown)) channels.set(id, channel);
    copies.push(...shown.filter(({ id }) => channels.has(id)));
    for (const { id } of shown) there.add(id);
  }
  return { copies, channels };
}

/** Reads the states of the messages of a part. @throws Failure unavailable where its file was damaged meanwhile */
async function statesIn({ folder }: OpenArchive, part: ArchivePart, form: ArchiveForm, recorded: RecordedStates) {
  const read = await readPart(folder, part, form);
  if (read.problem !== undefined) throw new Failure('unavailable', `part ${part.part}: ${read.problem}`);
  const states = new Map<number, MessageState>();
  for (const archived of read.messages) {
    const { message = archived, place = placeNamed(archived), why } = recorded.get(archived.id) ?? {};
    states.set(archived.id, { message, place, why });
  }
  return states;
}

type RecordedStates = ReturnType<typeof recordedStates>;

/** The last state of each message that changes tell. */
function recordedStates(changes: readonly ArchiveChange[]) {
  const recorded = new Map<number, { readonly [K in keyof MessageState]: MessageState[K] | undefined }>();
  for (const change of changes) {
    const before = recorded.get(change.id);
    const place = change.change !== 'moved' ? before?.place : (change.to ?? placeNamed(change.message));
    const why = change.change === 'gone' ? change.why : undefined;
    recorded.set(change.id, { message: change.message ?? before?.message, place, why });
  }
  return recorded;
}

/** A message's last version, its place, and why it is gone. */
interface MessageState {
  readonly message: ArchivedMessage;
  readonly place: MessagePlace;
  readonly why: ReasonGone | undefined;
}

function placeNamed({ stream_id, subject }: MessageHead): MessagePlace {
  return { stream_id, subject };
}

/** The source changes with an edit only; the rendered text also where the server adds a preview later. */
function isEdited(before: ArchivedMessage, now: Message, form: ArchiveForm): boolean {
  if (before['content'] === now['content']) return false;
  return form === 'source' || before['last_edit_timestamp'] !== now['last_edit_timestamp'];
}

/**
 * Whether a message is where it was. `left`: the place that it names, and in which it is not; then a narrow or a list
 * gave `to`, in any spelling, and what they do not show is undefined.
 */
function isStill(before: MessagePlace, to: MessagePlace, left: MessagePlace | undefined): boolean {
  if (left && to.stream_id !== undefined && to.stream_id !== before.stream_id) return false;
  if (left && to.subject === undefined) return !isStill(before, left, undefined);
  const [name, known] = [to.subject, before.subject].map((text) =>
    left ? foldTopic(String(text)) : text || emptyTopicName,
  );
  return name === known && (left !== undefined || to.stream_id === before.stream_id);
}

/** Whether a message was known to be elsewhere than its copy named, and the copy names that place still. */
function isOldCopyStill(before: MessageState | undefined, now: Message): boolean {
  const named = placeNamed(now);
  return !!before && isStill(placeNamed(before.message), named, named) && !isStill(before.place, named, named);
}

/** The level from which on each move has a time: what has none was always where it is, whatever an old copy named. */
const moveTimesLevel = 365;

function hasMoved({ last_moved_timestamp: time, edit_history: edits }: Message): boolean {
  const isMove = (edit: unknown): boolean => isObject(edit) && ('prev_topic' in edit || 'prev_stream' in edit);
  return time !== undefined || (Array.isArray(edits) && edits.some(isMove));
}

/** What is gone keeps the reason for which it went, until that is disproved. */
function lasting(before: ReasonGone | undefined, now: ReasonGone | undefined): ReasonGone | undefined {
  return now === undefined || now === 'unknown' ? now : (before ?? now);
}
