import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { hashOf, isMissing, readBytes, storageFailure } from '../disk/files.ts';

/** What the last run left of an archive: a part of archive.json (docs/archive-format.md, State). */
export interface ArchiveState {
  /** Whether the last pull reached the end of its selection; undefined in archives that were made before this was recorded. */
  readonly complete?: boolean | undefined;
  /** When every file was last read and compared, RFC 3339 UTC. */
  readonly checked?: string | undefined;
  /** The lists of the archive, each with as many bytes as it had then. */
  readonly lists: Readonly<Record<string, ListSeal>>;
  /** The size, times and inode that each file of messages had when it was last read and compared. */
  readonly seen: Readonly<Record<string, string>>;
}

/** The beginning of a file that only grows. */
export interface ListSeal {
  readonly bytes: number;
  readonly sha256: string;
}

export const noState: ArchiveState = { lists: {}, seen: {} };

export function isState(value: unknown): value is ArchiveState {
  return isObject(value) && isObject(value['lists']) && isObject(value['seen']);
}

/** The files of an archive that only grow. */
export const listNames = ['parts.ndjson', 'changes.ndjson', 'files.ndjson', 'purge.ndjson'] as const;
export type ListName = (typeof listNames)[number];

/**
 * How a list differs from what the last run left: `changed` where its beginning is another or shorter, `longer` where it grew since, in a
 * run that was interrupted; undefined where it is the same, or nothing was recorded.
 */
export function differenceOf(bytes: Buffer, seal: ListSeal | undefined): 'changed' | 'longer' | undefined {
  if (!seal) return undefined;
  if (bytes.length < seal.bytes || hashOf(bytes.subarray(0, seal.bytes)) !== seal.sha256) return 'changed';
  return bytes.length > seal.bytes ? 'longer' : undefined;
}

/**
 * The lists as they are now. A changed list that this run did not write keeps what was recorded, so that it is still found.
 * @throws Failure config where one cannot be read
 */
export async function sealedLists(
  folder: string,
  before: ArchiveState['lists'],
  rewritten: ReadonlySet<string>,
): Promise<ArchiveState['lists']> {
  const lists: Record<string, ListSeal> = {};
  for (const name of listNames) {
    const [bytes, old] = [await readBytes(join(folder, name)), before[name]];
    const isKept = old && !rewritten.has(name) && differenceOf(bytes ?? Buffer.alloc(0), old) === 'changed';
    if (isKept) lists[name] = old;
    else if (bytes) lists[name] = { bytes: bytes.length, sha256: hashOf(bytes) };
  }
  return lists;
}

/** What tells a file from a changed one without reading it; undefined where there is none, or its system gives no inodes. */
export async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { size, mtimeNs, ctimeNs, ino } = await stat(path, { bigint: true });
    return ino === 0n ? undefined : [size, mtimeNs, ctimeNs, ino].join(' ');
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw storageFailure(`cannot look at ${path}`, cause);
  }
}
