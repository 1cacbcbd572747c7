import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessageSource } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import { keepAside } from '../../store/archive/archive-lists.ts';
import {
  bytesOf,
  uploadsOf,
  type ArchiveForm,
  type ArchivePart,
  type StoredMessage,
} from '../../store/archive/part.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { hashOf, readBytes } from '../../store/disk/files.ts';
import { messagesNow, reasons } from './messages-now.ts';
import { selectionIn } from './pull-order.ts';

/** What a repair did. */
interface Repaired {
  /** Files that were replaced. */
  readonly count: number;
  /** What could not be recovered, a line for each file. */
  readonly losses: readonly string[];
}

/**
 * Fetches every damaged or missing file of a part again, exactly its messages. Where the result is not what was archived, because messages were
 * deleted, edited or moved on the server, the damaged file is kept aside. `changed` trusts files that look as when they were last read.
 */
export async function repairArchive(
  chat: MessageSource<StoredMessage & MessageHead> & Pick<ChatApi, 'level'>,
  archive: OpenArchive,
  head: ArchiveHead,
  { which, note }: { readonly which: 'all' | 'changed'; note(text: string): void },
): Promise<Repaired> {
  const losses: string[] = [];
  let count = 0;
  for (const number of archive.parts.map(({ part }) => part)) {
    for (const form of head.forms) {
      const part = archive.parts.find((one) => one.part === number);
      const read = part && (await archive.check(part, form, which));
      if (!part || !read) continue;
      if (read.problem === undefined) {
        if (!part.uploads) await archive.list({ ...part, uploads: uploadsOf(read.messages) });
        continue;
      }
      note(`part ${number}, ${form}: ${read.problem}; fetching its ${part.count} messages again`);
      const loss = await repairFile(chat, archive, selectionIn(head), part, form);
      if (loss !== undefined) losses.push(loss);
      count += 1;
    }
  }
  return { count, losses };
}

/** Replaces one file of a part; says what could not be recovered. What was there is kept aside where the result is not as it was archived. */
async function repairFile(
  chat: MessageSource<StoredMessage & MessageHead> & Pick<ChatApi, 'level'>,
  { folder, repair }: OpenArchive,
  selection: MessageSelection,
  part: ArchivePart,
  form: ArchiveForm,
): Promise<string | undefined> {
  const known = { ids: part.ids, channelOf: () => undefined, reasonFor: reasons(chat) };
  const { shown } = await messagesNow(chat, selection, known, form);
  const messages = part.ids.flatMap((id) => shown.get(id) ?? []);
  const recorded = part[form];
  const absent = new Set(recorded ? recorded.absent : part.ids);
  const lost = part.ids.filter((id) => !absent.has(id) && !shown.has(id));
  const content = bytesOf(messages);
  const before = recorded && (await readBytes(join(folder, recorded.file)));
  // Where the line alone is damaged, the file is what the server shows.
  const isWhole = hashOf(content) === recorded?.sha256 || before?.equals(content);
  const aside = recorded && before && !isWhole ? await keepAside(folder, recorded.file, before) : undefined;
  await repair(part, form, messages);
  if (!recorded || (aside === undefined && lost.length === 0)) return undefined;
  const more = lost.length > namedIds ? ` and ${lost.length - namedIds} more` : '';
  return [
    `${recorded.file}: what the server shows of its ${part.count} messages is not what was archived`,
    ...(lost.length > 0 ? [`lost: ${lost.slice(0, namedIds).join(', ')}${more}`] : []),
    ...(aside === undefined ? [] : [`the damaged file is kept as ${aside}`]),
  ].join('; ');
}

const namedIds = 20;

/** @throws Failure incomplete where a repair could not recover everything */
export function refuseLosses({ losses }: Repaired, folder: string): void {
  if (losses.length === 0) return;
  throw new Failure('incomplete', losses.join('\n'), {
    problems: losses,
    hint: `Look at the files that end in .damaged, and move them out of ${folder}; archive verify names them until then.`,
    retryable: false,
  });
}
