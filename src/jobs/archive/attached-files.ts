import type { ChatApi } from '../../api/chat/chat.ts';
import { uploadsIn, type UploadPath } from '../../schema/upload.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import { isKept, type FileRecord } from '../../store/archive/kept-file.ts';
import { pool } from '../work/pool.ts';

export interface FileFetching {
  readonly maxFileSize: number;
  /** `changed` trusts files that look as when they were last read; all are read without it. */
  readonly which?: 'all' | 'changed';
  /** Called after each file with the number of those that were looked at. */
  looked?(count: number): void;
}

/** Each request of the pair for one file is small; more at once gain little, and count against the account's rate. */
const atOnce = 4;

/** The attached files that the messages of an archive link to, their recorded later versions included; each once. */
export function attachedFiles({ parts, changes }: Pick<OpenArchive, 'parts' | 'changes'>): UploadPath[] {
  const later = changes.flatMap(({ message }) => (message === undefined ? [] : uploadsIn(message)));
  return [...new Set([...parts.flatMap(({ uploads }) => uploads ?? []), ...later])];
}

/**
 * Fetches the attached files that an archive lacks, at most four at a time, each kept or refused on its own
 * (docs/archive-format.md, Attached files). Returns the archive's files, and those added and refused. @throws Failure
 * unavailable where the server does not answer; auth; config or unavailable where a file cannot be written
 */
export async function fetchFiles(
  chat: Pick<ChatApi, 'upload'>,
  archive: OpenArchive,
  { maxFileSize, which = 'all', looked }: FileFetching,
) {
  const paths = attachedFiles(archive);
  const counts = { looked: 0, fetched: 0 };
  const look = async (path: UploadPath): Promise<FileRecord | undefined> => {
    const known = archive.files.get(path);
    if (isKept(known) && (await archive.holds(known, which))) return undefined;
    const { content, refused } = await chat.upload(path, maxFileSize);
    return content ? archive.keep(path, content) : { path, refused };
  };
  for await (const record of pool(paths, atOnce, look)) {
    counts.looked += 1;
    const known = record && archive.files.get(record.path);
    const isKnown = known && !isKept(known) && !isKept(record) && known.refused === record.refused;
    if (record && !isKnown) await archive.recordFile(record);
    if (isKept(record)) counts.fetched += 1;
    looked?.(counts.looked);
  }
  const records = paths.flatMap((path) => archive.files.get(path) ?? []);
  /** Files that the server did not give, or that are larger than allowed. */
  const refused = records.flatMap((record) => (isKept(record) ? [] : record));
  return { kept: records.length - refused.length, fetched: counts.fetched, refused };
}
