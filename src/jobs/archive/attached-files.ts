import type { ChatApi } from '../../api/chat/chat.ts';
import { incompleteWith } from '../../api/http/answer.ts';
import { messageLink } from '../../schema/link.ts';
import { Failure } from '../../core/failure.ts';
import { uploadsIn, type UploadPath } from '../../schema/upload.ts';
import { attachedFiles } from '../../store/archive/archive.ts';
import type { OpenArchive, CheckExtent } from '../../store/archive/open-archive.ts';
import { isKept, type FileRecord, type RefusedFile } from '../../store/archive/kept-file.ts';
import { readPart } from '../../store/archive/part.ts';
import { pool } from '../work/pool.ts';
import type { WorkMessages } from '../work/work-messages.ts';

interface FileLimits {
  readonly maxFileSize: number;
  /** `changed` does not read files that look the same as when they were last read. */
  readonly which: CheckExtent;
  /** Called with a text on files that, for the first time, the server lacks or does not let this account read. */
  gone(text: string): void;
}

/** A file takes two small requests; more at once gain little, and count against the account's rate limit. */
const atOnce = 4;

/**
 * Fetches the attached files that an archive lacks, at most four at a time, each kept or refused on its own
 * (docs/archive-format.md, Attached files). Returns how many it holds, and those that it lacks. @throws Failure
 * unavailable where the server does not answer; auth; config or unavailable where a file cannot be written
 */
export async function fetchFiles(chat: ChatApi, archive: OpenArchive, { maxFileSize, which, gone }: FileLimits) {
  const paths = attachedFiles(archive, archive.head?.site ?? '');
  const [fresh, lost]: [RefusedFile[], RefusedFile[]] = [[], []];
  const look = async (path: UploadPath): Promise<FileRecord | undefined> => {
    const known = archive.files.get(path);
    if (isKept(known) && (await archive.holds(known, which))) return undefined;
    const kept = await chat.upload(path, maxFileSize, (content) => archive.keep(path, content));
    if (!('refused' in kept)) return kept;
    if (!isKept(known)) return known?.refused === kept.refused ? undefined : { path, ...kept };
    // Its record stays: the file can be put back from a copy.
    lost.push({ path, refused: `${kept.refused}; put ${known.file} back from a copy`, why: 'failed' });
    return undefined;
  };
  for await (const record of pool(paths, atOnce, look)) {
    if (record) await archive.recordFile(record);
    if (record && !isKept(record)) fresh.push(record);
  }
  const missing = fresh.filter(({ why }) => why === 'missing').map(({ path }) => path);
  if (missing.length > 0) gone(`attached files that the server no longer has: ${countNamed(missing)}`);
  const unreadable = fresh.filter(({ why }) => why === 'unreadable').map(({ path }) => path);
  const links = await linksTo(archive, unreadable.slice(0, namedFiles));
  const named = unreadable.map((path) => [path, links.get(path)].filter((text) => text !== undefined).join(' in '));
  if (named.length > 0) gone(`attached files that this account may not read: ${countNamed(named)}`);
  const records = paths.flatMap((path) => archive.files.get(path) ?? []);
  const lacking = [...lost, ...records.flatMap((one) => (isKept(one) ? [] : one))];
  return { kept: records.length - lacking.length, lacking };
}

function countNamed(names: readonly string[]): string {
  return `${names.length} (${names.slice(0, namedFiles).join(', ')})`;
}

/** The link of the first archived message that names each of these files. */
async function linksTo({ folder, parts, head }: OpenArchive, paths: readonly UploadPath[]) {
  const links = new Map<UploadPath, string | undefined>();
  const site = head?.site ?? '';
  for (const part of parts.filter(({ attached }) => attached.some((path) => paths.includes(path))))
    for (const form of head?.forms ?? [])
      for (const { message } of (await readPart(folder, part, form)).messages)
        for (const path of uploadsIn(message, site))
          if (paths.includes(path) && !links.has(path)) links.set(path, messageLink(message, site));
  return links;
}

/** Fetches attached files if the archive keeps them; a run that cannot keep all ends with 8 below its result. */
export async function keepFiles(
  chat: ChatApi,
  archive: OpenArchive,
  limits: Pick<FileLimits, 'which' | 'maxFileSize'>,
  { warn, untilWritten }: Pick<WorkMessages, 'warn'> & { untilWritten(finish: () => Promise<void>): void },
) {
  const files = attachedFiles(archive, archive.head?.site ?? '').length;
  if (!archive.head?.files) return { files, files_kept: 0 };
  const fetched = await fetchFiles(chat, archive, { ...limits, gone: warn }).catch((cause: unknown) => {
    const isPart = cause instanceof Failure && cause.kind === 'unavailable';
    throw isPart ? incompleteWith(`not all attached files are kept in ${archive.folder}`, cause) : cause;
  });
  const refused = fetched.lacking.filter(({ why }) => why === 'failed');
  for (const { path, refused: why } of refused.slice(0, namedFiles)) warn(`${path} is not kept: ${why}`);
  const lacking = `attached files that are not kept in ${archive.folder}: ${refused.length}`;
  const hint = 'The next pull requests them again; --max-file-size allows larger ones.';
  if (refused.length > 0) untilWritten(() => Promise.reject(new Failure('incomplete', lacking, { hint })));
  return { files, files_kept: fetched.kept };
}

export const namedFiles = 10;
