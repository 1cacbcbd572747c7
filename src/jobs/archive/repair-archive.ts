import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageSource } from '../../api/chat/chat-messages.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import { archiveForms, type ArchiveForm, type ArchiveHead } from '../../store/archive/archive-head.ts';
import { readPart, type ArchivePart, type StoredMessage } from '../../store/archive/part.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { messagesNow } from './messages-now.ts';

/**
 * Fetches every damaged or missing file of a part again, exactly its messages; ids that the server no longer shows are recorded as
 * absent. Returns the number of files that were replaced.
 */
export async function repairArchive(
  chat: MessageSource<StoredMessage> & Pick<ChatApi, 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { note }: { note(text: string): void },
): Promise<number> {
  const selection = head.selection as MessageSelection;
  let count = 0;
  for (const number of archive.parts.map(({ part }) => part)) {
    for (const form of head.forms) {
      const part = archive.parts.find((one) => one.part === number);
      const read = part && (await readPart(archive.folder, part, form));
      if (!part || read?.problem === undefined) continue;
      note(`part ${number}, ${form}: ${read.problem}; fetching its ${part.count} messages again`);
      const channels = await channelsOf(archive.folder, part, form);
      const known = { ids: part.ids, channelOf: (id: number) => channels.get(id) };
      const now = await messagesNow(chat, selection, known, form);
      await archive.repair(
        part,
        form,
        part.ids.flatMap((id) => now.get(id) ?? []),
      );
      count += 1;
    }
  }
  return count;
}

/** The channels of a part's messages, as its other form knows them. */
async function channelsOf(folder: string, part: ArchivePart, damaged: ArchiveForm): Promise<Map<number, number>> {
  const channels = new Map<number, number>();
  for (const form of archiveForms.filter((one) => one !== damaged && part[one])) {
    const read = await readPart(folder, part, form);
    const messages = read.problem === undefined ? read.messages : [];
    for (const { id, stream_id } of messages) if (typeof stream_id === 'number') channels.set(id, stream_id);
  }
  return channels;
}
