import type { MessageHead } from '../../api/chat/chat-messages.ts';
import type { ArchiveForm } from '../../store/archive/archive-head.ts';
import type { DamagedFile } from '../../store/archive/damaged-file.ts';
import { bytesOf, type ArchivePart, type StoredMessage } from '../../store/archive/part.ts';
import { hashOf } from '../../store/disk/files.ts';
import { isSameVersion } from './part-forms.ts';

/** The messages of a damaged part, from what is left of its file and from the server. */
export interface MergedPart {
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
export function mergedPart(
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
