import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveChange } from '../../store/archive/archive-change.ts';
import type { ArchiveForm, ArchiveHead } from '../../store/archive/archive-head.ts';
import { readPart, type ArchivedMessage } from '../../store/archive/part.ts';
import { messagesNow } from './messages-now.ts';
import { selectionIn } from './selection-in.ts';

/**
 * Looks at every archived message once more and records what changed since it was last seen: edited (another text), moved (another
 * channel or topic), deleted (no longer shown anywhere). Returns the changes that are new.
 */
export async function recheckArchive(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { now }: { now(): Milliseconds },
): Promise<readonly ArchiveChange[]> {
  // The source changes with an edit only; the rendered text also where the server renders it another way.
  const form: ArchiveForm = head.forms.includes('source') ? 'source' : 'rendered';
  const recorded = lastSeen(archive.changes);
  const all: ArchiveChange[] = [];
  for (const part of archive.parts) {
    const read = await readPart(archive.folder, part, form);
    if (read.problem !== undefined) throw new Failure('unavailable', `part ${part.part}: ${read.problem}`);
    const open = [...read.messages].filter(({ id }) => recorded.get(id) !== 'deleted');
    const before = new Map(open.map((message) => [message.id, olderOf(recorded, message)]));
    const channelOf = (id: number): number | undefined => channelIn(before.get(id));
    const found = await messagesNow(chat, selectionIn(head), { ids: [...before.keys()], channelOf }, form);
    const seen = new Date(now()).toISOString();
    const changes = [...before].flatMap(([id, old]) =>
      changesOf(old, found.get(id)).map((change) => ({ id, change, seen, message: found.get(id) })),
    );
    await archive.record(changes);
    all.push(...changes);
  }
  return all;
}

/** What the changes say of each message last. */
function lastSeen(changes: readonly ArchiveChange[]): Map<number, ArchivedMessage | 'deleted'> {
  return new Map(changes.map(({ id, message }) => [id, message ?? 'deleted']));
}

function olderOf(
  recorded: ReadonlyMap<number, ArchivedMessage | 'deleted'>,
  message: ArchivedMessage,
): ArchivedMessage {
  const last = recorded.get(message.id);
  return last === undefined || last === 'deleted' ? message : last;
}

function channelIn(message: ArchivedMessage | undefined): number | undefined {
  const channel = message?.['stream_id'];
  return typeof channel === 'number' ? channel : undefined;
}

function changesOf(before: ArchivedMessage, now: ArchivedMessage | undefined): ArchiveChange['change'][] {
  if (!now) return ['deleted'];
  const isMoved = before['subject'] !== now['subject'] || before['stream_id'] !== now['stream_id'];
  return [
    ...(before['content'] === now['content'] ? [] : (['edited'] as const)),
    ...(isMoved ? (['moved'] as const) : []),
  ];
}
