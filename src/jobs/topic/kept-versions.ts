import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveChange } from '../../store/archive/archive-change.ts';
import type { ArchivedMessage } from '../../store/archive/part.ts';
import { archivedMessages, holdsMessage } from '../archive/archived-messages.ts';
import { formsOf } from '../archive/part-forms.ts';
import type { MessageSelection } from '../messages/selection.ts';
import type { TopicArchive } from './topic-archive.ts';

/** When a message was last edited, UTC seconds; 0 for never. Servers below level 365 count moves too. */
export function versionOf({ last_edit_timestamp: edited }: ArchivedMessage): number {
  return typeof edited === 'number' ? edited : 0;
}

/** The newest archived version of each message. @throws Failure incomplete for a damaged or missing part */
export async function versionsIn(archives: readonly Pick<OpenArchive, 'folder'>[]): Promise<Map<number, number>> {
  const versions = new Map<number, number>();
  const take = (message: ArchivedMessage): void =>
    void versions.set(message.id, Math.max(versionOf(message), versions.get(message.id) ?? 0));
  for (const { folder } of archives) {
    const archive = await readArchive(folder);
    for await (const message of archivedMessages(archive, 'source')) take(message);
    for (const { message } of archive.changes) if (message) take(message);
  }
  return versions;
}

/**
 * Records archived messages that were edited since in the archives that hold them, in both forms, the source last. Returns them as they
 * were recorded; one that is gone meanwhile is absent.
 * @throws Failure unavailable where a page fails, the messages change all the time, or the disk is full
 */
export async function addEdited(
  chat: Pick<ChatApi, 'messages'>,
  archives: readonly Pick<TopicArchive, 'archive'>[],
  selection: MessageSelection,
  edited: readonly Message[],
  { now }: { now(): Milliseconds },
): Promise<Message[]> {
  const added: Message[] = [];
  for (let at = 0; at < edited.length; at += 1000) {
    const page = edited.slice(at, at + 1000);
    const { source = [], rendered = [] } = await formsOf(chat, selection, page, ['source', 'rendered']);
    const seen = new Date(now()).toISOString();
    const changes = [...rendered, ...source].map((message): ArchiveChange => ({
      id: message.id,
      change: 'edited',
      seen,
      message,
    }));
    for (const { archive } of archives) await archive.record(changes.filter(({ id }) => holdsMessage(archive, id)));
    added.push(...source);
  }
  return added;
}
