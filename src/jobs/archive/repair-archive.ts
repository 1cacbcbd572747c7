import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessageSource } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import { keepAside } from '../../store/archive/archive-lists.ts';
import {
  archiveForms,
  bytesOf,
  readDamaged,
  readPart,
  uploadsOf,
  type ArchiveForm,
  type ArchivePart,
  type DamagedFile,
  type StoredMessage,
} from '../../store/archive/part.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { hashOf } from '../../store/disk/files.ts';
import { messagesNow, reasons } from './messages-now.ts';
import { selectionIn } from './pull-order.ts';
import { isSameVersion } from './part-forms.ts';

/** What a repair did. */
interface Repaired {
  /** Files that were replaced. */
  readonly count: number;
  /** What could not be recovered, a line for each file. */
  readonly losses: readonly string[];
}

/**
 * Fetches every damaged or missing file of a part again, exactly its messages. What the server no longer gives is kept from the damaged
 * file; where that is not proven to be whole, the damaged file is kept aside too. A line of parts.ndjson that contradicts a file with its
 * SHA-256 is made again from the files. `changed` trusts files that look as when they were last read.
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
      if (read.isOfLine) {
        note(`part ${number}, ${form}: ${read.problem}; its line is made from its files`);
        await archive.relist(part);
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

/** Replaces one file of a part; says what could not be recovered. */
async function repairFile(
  chat: MessageSource<StoredMessage & MessageHead> & Pick<ChatApi, 'level'>,
  archive: OpenArchive,
  selection: MessageSelection,
  part: ArchivePart,
  form: ArchiveForm,
): Promise<string | undefined> {
  const damaged = await readDamaged(archive.folder, part, form);
  const channels = await channelsOf(archive.folder, part, form, damaged);
  const known = { ids: part.ids, channelOf: (id: number) => channels.get(id), reasonFor: reasons(chat) };
  const { shown } = await messagesNow(chat, selection, known, form);
  const merged = mergedPart(part, form, damaged, shown);
  const loss = await keptLoss(archive.folder, part, form, damaged, merged);
  await archive.repair(part, form, merged.messages);
  return loss;
}

/** Says what could not be recovered, after the damaged file was kept aside; undefined where nothing is missing. */
async function keptLoss(
  folder: string,
  part: ArchivePart,
  form: ArchiveForm,
  { bytes }: DamagedFile,
  { unproven, lost }: MergedPart,
): Promise<string | undefined> {
  const file = part[form]?.file;
  if (file === undefined || unproven.length + lost.length === 0) return undefined;
  const aside = bytes && (await keepAside(folder, file, bytes));
  const more = lost.length > namedIds ? ` and ${lost.length - namedIds} more` : '';
  return [
    `${file}: the server no longer has ${unproven.length + lost.length} of its ${part.count} messages as they were archived`,
    ...(unproven.length > 0 ? [`${unproven.length} are kept from the damaged file`] : []),
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

/** The channels of a part's messages, as its other form and what is left of the damaged one know them. */
async function channelsOf(
  folder: string,
  part: ArchivePart,
  form: ArchiveForm,
  damaged: DamagedFile,
): Promise<Map<number, number>> {
  const channels = new Map<number, number>();
  const learn = ({ id, stream_id }: MessageHead): void => {
    if (typeof stream_id === 'number') channels.set(id, stream_id);
  };
  for (const { message } of damaged.lines.values()) learn(message);
  for (const other of archiveForms.filter((one) => one !== form && part[one])) {
    const read = await readPart(folder, part, other);
    if (read.problem === undefined) for (const message of read.messages) learn(message);
  }
  return channels;
}

/** The messages of a damaged part, from what is left of its file and from the server. */
interface MergedPart {
  /** Ascending. */
  readonly messages: readonly StoredMessage[];
  /** Ids whose archived version is in the damaged file alone, where nothing proves that its line is whole. */
  readonly unproven: readonly number[];
  /** Ids that the file held and that are nowhere any more. */
  readonly lost: readonly number[];
}

/**
 * Merges a damaged file with the messages as the server shows them now. A message that was deleted, edited or moved there keeps its
 * archived line. Where the merge has the SHA-256 that parts.ndjson records, everything is recovered.
 */
function mergedPart(
  part: ArchivePart,
  form: ArchiveForm,
  { lines }: DamagedFile,
  now: ReadonlyMap<number, StoredMessage & MessageHead>,
): MergedPart {
  const isGone = (id: number): boolean => {
    const [line, message] = [lines.get(id), now.get(id)];
    return line !== undefined && (!message || !isSameVersion(line.message, message));
  };
  // A line can be damaged so that it looks edited or moved.
  const shown = part.ids.flatMap((id) => now.get(id) ?? lines.get(id) ?? []);
  const archivedFirst = part.ids.flatMap((id) => lines.get(id) ?? now.get(id) ?? []);
  const merged = part.ids.flatMap((id) => (isGone(id) ? lines.get(id) : now.get(id)) ?? []);
  const recorded = part[form];
  const whole = recorded && [archivedFirst, shown, merged].find((rows) => hashOf(bytesOf(rows)) === recorded.sha256);
  if (whole) return { messages: whole, unproven: [], lost: [] };
  const absent = new Set(recorded ? recorded.absent : part.ids);
  const lost = part.ids.filter((id) => !absent.has(id) && !lines.has(id) && !now.has(id));
  return { messages: merged, unproven: part.ids.filter(isGone), lost };
}
