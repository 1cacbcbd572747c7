import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { isObject } from '../../core/json.ts';
import type { FileHandle } from '../../core/outside.ts';
import { inertName, type UploadPath } from '../../schema/upload.ts';
import { hashOf, isMissing, openFile, orFailure, remove, storageFailure, writeWhole } from '../disk/files.ts';
import { makeFolder } from '../disk/private.ts';

/** What is known of an attached file: a line of files.ndjson (docs/archive-format.md, Attached files). */
export type FileRecord = KeptFile | RefusedFile;

export interface KeptFile {
  readonly path: UploadPath;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A file that the server did not give; the next pull asks for it again. */
export interface RefusedFile {
  readonly path: UploadPath;
  readonly refused: string;
  readonly why: (typeof reasonsRefused)[number];
}

/** The server has no such file; this account may not read it; or it was not kept for another reason. */
const reasonsRefused = ['missing', 'unreadable', 'failed'] as const;

export function isKept(record: FileRecord | undefined): record is KeptFile {
  return record !== undefined && 'file' in record;
}

export const filesFolder = 'files';

/** The names that this program gives to attached files. */
export const keptName = /^files\/[0-9a-f]{16}-[A-Za-z0-9._-]+$/;

export function fileRecordIn(record: unknown): FileRecord | undefined {
  if (!isObject(record)) return undefined;
  const { path, file, bytes, sha256, refused, why } = record;
  if (typeof path !== 'string') return undefined;
  if (typeof refused === 'string')
    return { path, refused, why: reasonsRefused.find((known) => known === why) ?? 'failed' };
  const isFile = typeof file === 'string' && keptName.test(file) && typeof bytes === 'number';
  return isFile && typeof sha256 === 'string' ? { path, file, bytes, sha256 } : undefined;
}

/** The records by path; of several of one path the last counts. */
export function filesByPath(records: readonly FileRecord[]): Map<UploadPath, FileRecord> {
  return new Map(records.map((record) => [record.path, record]));
}

/** Writes an attached file, whole and synced or not at all. @throws Failure config, unavailable for a full disk */
export async function writeKeptFile(folder: string, path: UploadPath, content: AsyncIterable<Uint8Array>) {
  // A name of our own, which cannot leave the folder: a hash of the path, and the plain characters of its name.
  const plain = basename(path).replace(/[^A-Za-z0-9._-]+/g, '_');
  const name = plain.replace(/^[._-]+|\.+$/g, '').slice(-80) || 'file';
  const file = inertName(`${filesFolder}/${hashOf(Buffer.from(path)).slice(0, 16)}-${name}`);
  const target = join(folder, file);
  await orFailure(`write ${target}`, makeFolder(dirname(target)));
  const written = await writeWhole(target, (opened) => measure(content, (chunk) => opened.writeFile(chunk)));
  return { path, file, ...written };
}

/** Uses each chunk as it comes. Returns the size of all and their hash. */
async function measure(chunks: AsyncIterable<Uint8Array>, use?: (chunk: Uint8Array) => Promise<void>) {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    await use?.(chunk);
  }
  return { bytes, sha256: hash.digest('hex') };
}

export const otherContent = 'the content changed';

/** Reads an attached file against its line; undefined where it is whole. @throws Failure config */
export async function problemOfKept(
  folder: string,
  { file, sha256 }: KeptFile,
  use?: (chunk: Uint8Array) => Promise<void>,
): Promise<string | undefined> {
  try {
    const found = await measure((await openFile(join(folder, file))).createReadStream(), use);
    return found.sha256 === sha256 ? undefined : `${otherContent}: its SHA-256 is not that of files.ndjson`;
  } catch (cause) {
    if (isMissing(cause)) return 'the file is missing';
    throw storageFailure(`cannot read ${join(folder, file)}`, cause);
  }
}

/** Copies a file for all whom the umask allows; returns what is wrong with it. @throws Failure config, unavailable */
export async function copyKept(folder: string, kept: KeptFile, target: string): Promise<string | undefined> {
  const copy = (file: FileHandle) => problemOfKept(folder, kept, (chunk) => file.writeFile(chunk));
  const problem = await writeWhole(target, copy, 0o666);
  if (problem !== undefined) await remove(target);
  return problem;
}
