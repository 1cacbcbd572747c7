import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message, RawMessage } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { emptyTopicName } from '../../schema/topic.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import type { ArchiveChange, ReasonGone } from '../../store/archive/line-file.ts';
import { readPart, type ArchivedMessage, type ArchiveForm, type ArchivePart } from '../../store/archive/part.ts';
import type { PrivateSearch } from '../messages/messages-by-ids.ts';
import { messagesNow, reasons } from './messages-now.ts';
import { markdownOf } from './pull-pages.ts';
import { selectionIn } from './pull-order.ts';

export type Rechecked = Awaited<ReturnType<typeof recheckArchive>>;

interface RecheckParts {
  now(): Milliseconds;
  readonly search: PrivateSearch;
  /** Messages that the pull before it has read: these are not asked for again. */
  readonly seen: ReadonlyMap<number, RawMessage>;
}

/** Records what changed: edited, moved, gone (with the reason), or back. What is gone is requested again each time. */
export async function recheckArchive(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { now, search, seen: read }: RecheckParts,
) {
  const form = head.forms.includes('source') ? 'source' : 'rendered';
  const selection = selectionIn(head);
  const query = { ...selection.form, ...markdownOf(form) };
  const recorded = recordedStates(archive.changes);
  const reasonFor = reasonsOfAccount(chat, archive, head);
  const all: ArchiveChange[] = [];
  /** Messages that are no longer visible, by reason; those that were known to be gone included. */
  const gone: Record<ReasonGone, number> = { limit: 0, 'no-access': 0, account: 0, unknown: 0 };
  const missing = new Map<number, { readonly part: ArchivePart; readonly why: ReasonGone; readonly isNew: boolean }>();
  const isoNow = (): string => new Date(now()).toISOString();
  const record = async (changes: readonly ArchiveChange[]): Promise<void> => {
    await archive.record(changes);
    all.push(...changes);
  };
  const compare = (
    before: ReadonlyMap<number, MessageState>,
    shown: ReadonlyMap<number, RawMessage>,
  ): Promise<void> => {
    const seen = isoNow();
    return record(
      [...shown.values()].flatMap((one) => {
        const message = one.parse();
        const state = before.get(message.id);
        return state
          ? changesOf(state, message, form).map((change) => ({ id: message.id, change, seen, message }))
          : [];
      }),
    );
  };
  for (const part of archive.parts) {
    const before = await statesIn(archive, part, form, recorded);
    const known = { ids: [...before.keys()], seen: read, channelOf: channelsOf(before), reasonFor };
    const found = await messagesNow(chat, selection, known, form);
    for (const [id, reason] of found.gone) {
      const earlier = before.get(id)?.why;
      const why = lasting(earlier, reason) ?? reason;
      missing.set(id, { part, why, isNew: why !== earlier });
    }
    await compare(before, found.shown);
  }
  const moved = new Map<number, RawMessage>();
  const open = [...missing].filter(([, { why }]) => why !== 'limit').map(([id]) => id);
  const unsearched = await search.find(chat, query, open, (message) => moved.set(message.id, message));
  for (const part of new Set([...moved.keys()].map((id) => missing.get(id)?.part)))
    if (part) await compare(await statesIn(archive, part, form, recorded), moved);
  const left = [...missing].filter(([id]) => !moved.has(id));
  for (const [, { why }] of left) gone[why] += 1;
  const seen = isoNow();
  await record(left.flatMap(([id, { why, isNew }]) => (isNew ? [{ id, change: 'gone', seen, why }] : [])));
  /** `unsearched`: private channels in which some of these were not looked for. */
  return { changes: all, gone, unsearched: left.reduce((most, [id]) => Math.max(most, unsearched.get(id) ?? 0), 0) };
}

/** Why a message is gone: one that another account archived may never have been visible to this one. */
function reasonsOfAccount(chat: Pick<ChatApi, 'messages'>, { parts }: OpenArchive, { adopted = 0 }: ArchiveHead) {
  const ofOthers = new Set(parts.flatMap(({ part, ids }) => (part <= adopted ? ids : [])));
  const reasonOf = reasons(chat);
  return async (id: number, channel: number | undefined): Promise<ReasonGone> => {
    const why = await reasonOf(id, channel);
    return ofOthers.has(id) && why !== 'limit' ? 'account' : why;
  };
}

function channelsOf(states: ReadonlyMap<number, MessageState>) {
  return (id: number): number | undefined => {
    const channel = states.get(id)?.message['stream_id'];
    return typeof channel === 'number' ? channel : undefined;
  };
}

/** What is otherwise than the archive has it of a message that is shown. */
function changesOf({ message: before, why }: MessageState, now: Message, form: ArchiveForm) {
  return [
    ...(why === undefined ? [] : (['back'] as const)),
    ...(isEdited(before, now, form) ? (['edited'] as const) : []),
    ...(isMoved(before, now) ? (['moved'] as const) : []),
  ];
}

/** Reads the states of the messages of a part. @throws Failure unavailable where its file was damaged meanwhile */
async function statesIn({ folder }: OpenArchive, part: ArchivePart, form: ArchiveForm, recorded: RecordedStates) {
  const read = await readPart(folder, part, form);
  if (read.problem !== undefined) throw new Failure('unavailable', `part ${part.part}: ${read.problem}`);
  const states = new Map<number, MessageState>();
  for (const { message: archived } of read.messages) {
    const { message = archived, why } = recorded.get(archived.id) ?? {};
    states.set(archived.id, { message, why });
  }
  return states;
}

type RecordedStates = ReturnType<typeof recordedStates>;

/** The last state of each message that changes tell. */
function recordedStates(changes: readonly ArchiveChange[]) {
  const recorded = new Map<number, { readonly [K in keyof MessageState]: MessageState[K] | undefined }>();
  for (const change of changes) {
    const why = change.change === 'gone' ? change.why : undefined;
    recorded.set(change.id, { message: change.message ?? recorded.get(change.id)?.message, why });
  }
  return recorded;
}

/** A message's last version, and why it is gone. */
interface MessageState {
  readonly message: ArchivedMessage;
  readonly why: ReasonGone | undefined;
}

/** The source changes with an edit only; the rendered text also where the server adds a preview later. */
function isEdited(before: ArchivedMessage, now: Message, form: ArchiveForm): boolean {
  if (before['content'] === now['content']) return false;
  return form === 'source' || before['last_edit_timestamp'] !== now['last_edit_timestamp'];
}

function isMoved(before: ArchivedMessage, now: Message): boolean {
  // Clients that do not declare the empty topic see a name in its place.
  const [known, name] = [before, now].map(({ subject }) => subject || emptyTopicName);
  return before['stream_id'] !== now['stream_id'] || known !== name;
}

/** What is gone keeps the reason for which it went, until that is disproved. */
function lasting(before: ReasonGone | undefined, now: ReasonGone | undefined): ReasonGone | undefined {
  return now === undefined || now === 'unknown' ? now : (before ?? now);
}
