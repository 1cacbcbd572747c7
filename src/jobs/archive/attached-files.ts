import type { ChatApi } from '../../api/chat/chat.ts';
import { isMissingUpload } from '../../api/chat/uploads.ts';
import { Failure } from '../../core/failure.ts';
import { uploadsIn, type UploadPath } from '../../schema/upload.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import { isKept, type FileRecord } from '../../store/archive/kept-file.ts';
import { readPart, uploadsOf } from '../../store/archive/part.ts';
import { pool } from '../work/pool.ts';
import type { WorkMessages, WrittenRecord } from '../work/work-messages.ts';

interface FileLimits {
  readonly maxFileSize: number;
  /** `changed` trusts files that look as when they were last read; all are read without it. */
  readonly which?: 'all' | 'changed';
  /** Hears of the files that the server says for the first time not to have. */
  gone(text: string): void;
  /** Called after each file with the number of those that were looked at. */
  looked?(count: number): void;
}

/** Each request of the pair for one file is small; more at once gain little, and count against the account's rate. */
const atOnce = 4;

/** The attached files that the messages of an archive name, their recorded later versions included; each once. */
export function attachedFiles({ parts, changes, head }: Pick<OpenArchive, 'parts' | 'changes' | 'head'>): UploadPath[] {
  const site = head?.site ?? '';
  const later = changes.flatMap(({ message }) => (message === undefined ? [] : uploadsIn(message, site)));
  return [...new Set([...parts.flatMap(({ attached }) => attached ?? []), ...later])];
}

/** Records the attached files of a part that was repaired, or that an earlier version made. */
export async function listAttached(archive: OpenArchive, { forms, site }: ArchiveHead, number: number): Promise<void> {
  const part = archive.parts.find((one) => one.part === number);
  if (!part || part.attached) return;
  const reads = await Promise.all(forms.map((form) => readPart(archive.folder, part, form)));
  const messages = reads.flatMap((read) => [...read.messages]);
  await archive.list({ ...part, attached: uploadsOf(messages, site) });
}

/**
 * Fetches the attached files that an archive lacks, at most four at a time, each kept or refused on its own
 * (docs/archive-format.md, Attached files). Returns how many it holds, and those that the server refused. @throws
 * Failure unavailable where the server does not answer; auth; config or unavailable where a file cannot be written
 */
export async function fetchFiles(
  chat: Pick<ChatApi, 'upload'>,
  archive: OpenArchive,
  { maxFileSize, which = 'all', gone, looked }: FileLimits,
) {
  const paths = attachedFiles(archive);
  const isMissing = (record: FileRecord): boolean => !isKept(record) && isMissingUpload(record.refused);
  const missing: UploadPath[] = [];
  let count = 0;
  const look = async (path: UploadPath): Promise<FileRecord | undefined> => {
    const known = archive.files.get(path);
    if (isKept(known) && (await archive.holds(known, which))) return undefined;
    const { content, refused } = await chat.upload(path, maxFileSize);
    return content ? archive.keep(path, content) : { path, refused };
  };
  for await (const record of pool(paths, atOnce, look)) {
    count += 1;
    const known = record && archive.files.get(record.path);
    const isKnown = known && !isKept(known) && !isKept(record) && known.refused === record.refused;
    if (record && !isKnown) {
      await archive.recordFile(record);
      if (isMissing(record)) missing.push(record.path);
    }
    looked?.(count);
  }
  const named = missing.slice(0, namedFiles).join(', ');
  if (missing.length > 0) gone(`attached files that the server no longer has: ${missing.length} (${named})`);
  const records = paths.flatMap((path) => archive.files.get(path) ?? []);
  /** Larger than allowed, or not given by a server that has them. */
  const refused = records.flatMap((record) => (isKept(record) || isMissing(record) ? [] : record));
  return { kept: records.filter(isKept).length, refused };
}

/** Fetches attached files where the archive keeps them; a run that cannot keep all ends with 8 below its result. */
export async function keepFiles(
  chat: Pick<ChatApi, 'upload'>,
  archive: OpenArchive,
  fetching: Pick<FileLimits, 'which' | 'maxFileSize'>,
  { note, warn, progress, untilWritten }: WorkMessages & { untilWritten(record: WrittenRecord): void },
) {
  const files = attachedFiles(archive).length;
  if (!archive.head?.files) {
    if (files > 0) note(`attached files that are not archived without --files: ${files}`);
    return { files, files_kept: 0 };
  }
  const line = progress('attached files', files);
  try {
    const looked = (count: number): void => line.upTo(count);
    const { kept, refused } = await fetchFiles(chat, archive, { ...fetching, gone: warn, looked });
    for (const { path, refused: why } of refused.slice(0, namedFiles)) warn(`${path} is not kept: ${why}`);
    const lacking = `attached files that are not kept in ${archive.folder}: ${refused.length}`;
    const hint = 'The next pull asks for them again; --max-file-size keeps larger ones.';
    const finish = (): Promise<never> => Promise.reject(new Failure('incomplete', lacking, { hint }));
    if (refused.length > 0) untilWritten({ finish, close: () => Promise.resolve() });
    return { files, files_kept: kept };
  } finally {
    line.end();
  }
}

/** Files that are named one by one. */
export const namedFiles = 10;
