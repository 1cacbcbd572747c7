import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveChange, ReasonGone } from '../../store/archive/archive-lists.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
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
  const form = head.forms.includes('source') ? 'source' : 'rendered';
  const recorded = new Map<number, MessageState>();
  for (const { id, message, ...change } of archive.changes)
    recorded.set(id, { message: message ?? recorded.get(id)?.message, why: 'why' in change ? change.why : undefined });
  const reasonFor = reasons(chat);
  const all: ArchiveChange[] = [];
  const gone = { limit: 0, 'no-access': 0, unknown: 0 };
  for (const part of archive.parts) {
    const read = await readPart(archive.folder, part, form);
    if (read.problem !== undefined) throw new Failure('unavailable', `part ${part.part}: ${read.problem}`);
    const before = new Map<number, MessageState>();
    for (const archived of read.messages) {
      const { message = archived, why } = recorded.get(archived.id) ?? {};
      before.set(archived.id, { message, why });
    }
    const channelOf = (id: number): number | undefined => {
      const channel = before.get(id)?.message?.['stream_id'];
      return typeof channel === 'number' ? channel : undefined;
    };
    const known = { ids: [...before.keys()], channelOf, reasonFor };
    const found = await messagesNow(chat, selectionIn(head), known, form);
    const seen = new Date(now()).toISOString();
    for (const why of found.gone.values()) gone[why] += 1;
    const changes = [...before].flatMap(([id, state]): ArchiveChange[] => {
      const why = found.gone.get(id);
      if (why !== undefined) return why === state.why ? [] : [{ id, change: 'gone', seen, why }];
      const message = found.shown.get(id);
      return message ? kindsOfChange(state, message).map((change) => ({ id, change, seen, message })) : [];
    });
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

function kindsOfChange({ message: before, why }: MessageState, now: ArchivedMessage) {
  const isMoved = before?.['subject'] !== now['subject'] || before?.['stream_id'] !== now['stream_id'];
  return [
    ...(why === undefined ? [] : (['back'] as const)),
    ...(before?.['content'] === now['content'] ? [] : (['edited'] as const)),
    ...(isMoved ? (['moved'] as const) : []),
  ];
}
