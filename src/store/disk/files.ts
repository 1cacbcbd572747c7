import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  access,
  constants,
  lstat,
  open,
  randomBytes,
  rename,
  unlinkSync,
  type FileHandle,
} from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, systemReason, usage } from '../../core/failure.ts';
import { isWindows } from '../../core/system.ts';

/** The result of a file system call; undefined where nothing is at its path. @throws Failure config that it `cannot` */
export function ifThere<T>(cannot: string, call: Promise<T>, hint?: string): Promise<T | undefined> {
  return call.catch((cause: unknown) => {
    if (isMissing(cause)) return undefined;
    throw storageFailure(`cannot ${cannot}`, cause, hint);
  });
}

/** The result of such a call. @throws Failure config that it `cannot`, unavailable where the disk is full */
export function orFailure<T>(cannot: string, call: Promise<T>, hint?: string): Promise<T> {
  return call.catch((cause: unknown) => {
    throw storageFailure(`cannot ${cannot}`, cause, hint);
  });
}

/** The result of such a call; undefined where the system refuses it, for whatever reason. */
export function unlessRefused<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((cause: unknown) => {
    if (codeOf(cause) === undefined) throw cause;
    return undefined;
  });
}

/** @throws Failure config where its folder cannot be read */
export async function exists(path: string): Promise<boolean> {
  const found = access(path).then(() => true);
  return (await ifThere(`read ${path}`, found)) ?? false;
}

export function writePrivate(path: string, ...parts: readonly (string | Uint8Array)[]): Promise<void> {
  return writeWhole(path, async (file) => {
    for (const part of parts) await file.writeFile(part);
  });
}

/** Fills a file: readers see the old or the whole new one, even after a crash. @throws as `write`; Failure config */
export async function writeWhole<T>(path: string, write: (file: FileHandle) => Promise<T>, mode = 0o600): Promise<T> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const written = await withFile(open(draft, 'wx', mode), async (file) => {
      const result = await write(file);
      await file.sync();
      return result;
    });
    await replace(draft, path);
    return written;
  } catch (cause) {
    await remove(draft);
    throw storageFailure(`cannot write ${path}`, cause);
  }
}

/** Fills a file that a user named, with the mode of the one before. @throws as `writeWhole`; Failure usage */
export async function writeNamed<T>(path: string, write: (file: FileHandle) => Promise<T>, mode = 0o666): Promise<T> {
  const old = await ifThere(`look at ${path}`, lstat(path));
  if (old && !old.isFile() && !old.isDirectory())
    throw usage(`${path} is not a regular file`, 'It would be replaced: name another file.');
  return writeWhole(path, write, (old?.mode ?? mode) & 0o666);
}

/** Renames a file over another, so that it survives a power cut. @throws a file system's error, or as `whenClosed` */
export async function replace(from: string, to: string): Promise<void> {
  await whenClosed(`write ${to}`, () => rename(from, to));
  await syncFolder(dirname(to));
}

/** How long a file may be open in another program before that is said. */
const longestHold: Milliseconds = 5000;

/** Repeats what Windows refuses while a scanner has the file open. @throws Failure unavailable if it stays open */
export async function whenClosed<T>(what: string, work: () => Promise<T>): Promise<T> {
  let waited = 0;
  for (let pause = 5; ; pause *= 1.3) {
    try {
      return await work();
    } catch (cause) {
      if (!isWindows || !['EPERM', 'EACCES', 'EBUSY'].includes(codeOf(cause) ?? '')) throw cause;
      if (waited > longestHold) throw stillOpen(`cannot ${what}`, cause);
    }
    await setTimeout(pause);
    waited += pause;
  }
}

function stillOpen(what: string, cause: unknown): Failure {
  return new Failure('unavailable', `${what}: another program has it open, or it is write-protected`, {
    hint: 'Close it there, then run the same command again.',
    cause,
  });
}

export async function withFile<T>(opening: Promise<FileHandle>, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await opening;
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** Makes a new or renamed entry of a folder survive a power cut; a system that cannot sync folders needs no call. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    await withFile(open(folder, 'r'), (handle) => handle.sync());
  } catch (cause) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES', 'ENOTSUP'].includes(codeOf(cause) ?? '')) throw cause;
  }
}

/** Windows has no such flag; making a link needs a right of its own there. */
export const noLink = isWindows ? 0 : constants.O_NOFOLLOW;

/** Refuses a link, which leads out of the folder, and a FIFO, which blocks. @throws Failure config, a system error */
export async function openFile(path: string, flags = constants.O_RDONLY, forLinks = noLink): Promise<FileHandle> {
  const irregular = (hint: string): Failure => new Failure('config', `${path} is not a regular file`, { hint });
  const file = await open(path, flags | constants.O_NONBLOCK | forLinks, 0o600).catch((cause: unknown) => {
    if (codeOf(cause) !== 'ELOOP' || forLinks === 0) throw cause;
    throw irregular('It is a symbolic link, which is not followed: put what it leads to in its place.');
  });
  const found = await file.stat();
  if (found.isFile() || found.isDirectory()) return file;
  await file.close();
  throw irregular('Move it away, or name another file.');
}

export async function readFile(path: string, start = 0): Promise<Buffer> {
  return withFile(openFile(path), async (file) => {
    if (start === 0) return file.readFile();
    return bytesAt(file, start, (await file.stat()).size - start);
  });
}

/** Undefined where there is none. @throws Failure config */
export function readBytes(path: string, start?: number): Promise<Buffer | undefined> {
  return ifThere(`read ${path}`, readFile(path, start));
}

/** Reads `length` bytes, or as many as there are. */
export async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (length <= 0) return Buffer.alloc(0);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Deletes a file; one that is not there is no trouble. @throws Failure config naming it */
export async function remove(path: string): Promise<void> {
  const what = `remove ${path}`;
  await ifThere(
    what,
    // Waking another thread would take longer.
    whenClosed(what, async () => unlinkSync(path)),
  );
}

/** @throws Failure config for a file that a newer program wrote: this one would lose what it does not know */
export function refuseNewer(path: string, version: unknown, known: number): void {
  if (typeof version !== 'number' || version <= known) return;
  throw new Failure('config', `${path} has format version ${version}; this program reads ${known}`, {
    hint: 'Upgrade chatelaine; nothing was sent or changed.',
  });
}

/** A failed call of the file system: a full disk passes, the rest is settings, with `hint` where nothing else helps. */
export function storageFailure(what: string, cause: unknown, hint?: string): Failure {
  const isBare = cause instanceof Failure && cause.kind === 'config' && cause.details.hint === undefined;
  if (isBare && hint !== undefined) return cause.as('config', cause.message, { hint });
  if (cause instanceof Failure) return cause;
  const code = codeOf(cause);
  if (code === undefined) throw cause;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new Failure('unavailable', `disk full: ${what}`, {
      hint: 'Free some space, then run the same command again.',
      cause,
    });
  }
  if (code === 'EBUSY') return stillOpen(what, cause);
  return new Failure('config', `${what}: ${systemReason(cause)}`, { cause, ...(hint && { hint }) });
}

/** Whether an error stays until somebody changes something: the folder is not there for this user. */
export function isLasting(cause: unknown): boolean {
  return cause instanceof Failure ? isLasting(cause.cause) : noFolder.has(codeOf(cause) ?? '');
}

const noFolder: ReadonlySet<string> = new Set(
  'EACCES EPERM EROFS ENOENT ENOTDIR EEXIST ELOOP EINVAL ENOTSUP ENOSYS'.split(' '),
);

/** The system's name of an error, such as ENOENT; undefined for anything else that was thrown. */
export function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause) || !('syscall' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

export function isMissing(cause: unknown): boolean {
  return codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR';
}
