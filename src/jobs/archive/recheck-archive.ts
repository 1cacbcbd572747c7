import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveChange, ReasonGone } from '../../store/archive/archive-lists.ts';
import type { ArchiveForm, ArchiveHead } from '../../store/archive/archive-head.ts';
import { readPart, type ArchivedMessage } from '../../store/archive/part.ts';
import { messagesNow, reasons } from './messages-now.ts';
import { selectionIn } from './pull-order.ts';

/** What a recheck saw. */
export interface Rechecked {
  /** The changes that were not known before. */
  readonly changes: readonly ArchiveChange[];
  /** Messages that are no longer visible, by reason; those that were known to be gone included. */
  readonly gone: Readonly<Record<ReasonGone, number>>;
}

/**
 * Looks at every archived message once more and records what changed since it was last seen: edited (another text), moved (another
 * channel or topic), gone (shown nowhere, with the reason), or back. What is gone is asked for again each time.
 */
export async function recheckArchive(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { now }: { now(): Milliseconds },
): Promise<Rechecked> {
  // The source changes with an edit only; the rendered text also where the server renders it another way.
  const form: ArchiveForm = head.forms.includes('source') ? 'source' : 'rendered';
  const recorded = statesIn(archive.changes);
  const reasonFor = reasons(chat);
  const all: ArchiveChange[] = [];
  const gone = { limit: 0, 'no-access': 0, unknown: 0 };
  for (const part of archive.parts) {
    const read = await readPart(archive.folder, part, form);
    if (read.problem !== undefined) throw new Failure('unavailable', `part ${part.part}: ${read.problem}`);
    const before = new Map(Array.from(read.messages, (message) => [message.id, stateOf(message, recorded)]));
    const known = { ids: [...before.keys()], channelOf: (id: number) => channelIn(before.get(id)?.message) };
    const found = await messagesNow(chat, selectionIn(head), { ...known, reasonFor }, form);
    const seen = new Date(now()).toISOString();
    for (const why of found.gone.values()) gone[why] += 1;
    const changes = [...before].flatMap(([id, state]) => changesOf(id, state, { found, seen }));
    await archive.record(changes);
    all.push(...changes);
  }
  return { changes: all, gone };
}

/** What is known of a message: its last known version, and why it is gone if it is. */
interface MessageState {
  readonly message: ArchivedMessage | undefined;
  readonly why: ReasonGone | undefined;
}

function statesIn(changes: readonly ArchiveChange[]): Map<number, MessageState> {
  const states = new Map<number, MessageState>();
  for (const { id, message, ...change } of changes)
    states.set(id, { message: message ?? states.get(id)?.message, why: 'why' in change ? change.why : undefined });
  return states;
}

function stateOf(archived: ArchivedMessage, recorded: ReadonlyMap<number, MessageState>): MessageState {
  const { message = archived, why } = recorded.get(archived.id) ?? {};
  return { message, why };
}

function channelIn(message: ArchivedMessage | undefined): number | undefined {
  const channel = message?.['stream_id'];
  return typeof channel === 'number' ? channel : undefined;
}

interface RecheckedPart {
  readonly found: Awaited<ReturnType<typeof messagesNow<ArchivedMessage>>>;
  readonly seen: string;
}

function changesOf(
  id: number,
  { message: before, why: known }: MessageState,
  { found, seen }: RecheckedPart,
): ArchiveChange[] {
  const [message, why] = [found.shown.get(id), found.gone.get(id)];
  if (why !== undefined) return why === known ? [] : [{ id, change: 'gone', seen, why }];
  if (!message) return [];
  const isMoved = before?.['subject'] !== message['subject'] || before?.['stream_id'] !== message['stream_id'];
  const changes = [
    ...(known === undefined ? [] : (['back'] as const)),
    ...(before?.['content'] === message['content'] ? [] : (['edited'] as const)),
    ...(isMoved ? (['moved'] as const) : []),
  ];
  return changes.map((change) => ({ id, change, seen, message }));
}
