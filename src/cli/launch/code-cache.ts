import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeFolder } from './early.ts';

/**
 * V8's code cache of a program text (docs/internals/architecture.md, Code cache), and how to keep what `make` returns
 * for the next run. It is good for one build, since V8 compares only the lengths of texts, and for one version of V8
 * and processor. @param folder undefined: nothing is read or written
 */
export function openCodeCache(
  folder: string | undefined,
  { build, engine }: { readonly build: string; readonly engine: string },
) {
  if (folder === undefined) return { data: undefined, keep: () => undefined };
  const name = `${build}.${engine}`;
  return {
    data: attempt(() => readCache(folder, name)),
    keep: (make: () => Buffer) => attempt(() => writeCache(folder, name, make(), `.${engine}`)),
  };
}

/** Undefined where the user wants no cache, or where owners and modes say nothing (Windows). */
export function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env['CHATELAINE_NO_CACHE'] === '1' || process.getuid === undefined) return undefined;
  const { XDG_CACHE_HOME: caches = '', HOME: home = '' } = env;
  // The XDG specification: a relative path is ignored.
  if (isAbsolute(caches)) return join(caches, 'chatelaine');
  return isAbsolute(home) ? join(home, '.cache', 'chatelaine') : undefined;
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

const headBytes = 4;
const maxCacheBytes = 16 * 1024 * 1024;

/** The cache is code to execute: only this user may have been able to write it. V8 does not notice damage. */
function readCache(folder: string, name: string): Buffer | undefined {
  if (!isPrivateFolder(folder)) return undefined;
  const file = openSync(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || !isPrivate(stats) || stats.size > maxCacheBytes) return undefined;
    const bytes = Buffer.allocUnsafe(stats.size);
    if (readSync(file, bytes) !== stats.size) return undefined;
    const data = bytes.subarray(headBytes);
    return crc32(data) === bytes.readUInt32BE(0) ? data : undefined;
  } finally {
    closeSync(file);
  }
}

function isPrivateFolder(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && isPrivate(stats);
}

function isPrivate({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

/** The folder itself, or the next one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearest(dirname(folder));
}

/** Whole or not at all: a run that starts meanwhile reads the old file or the new one. */
function writeCache(folder: string, name: string, data: Buffer, engine: string): void {
  // Another user's home: it would lock them out of their own cache folder.
  if (lstatSync(nearest(folder)).uid !== process.getuid?.()) return;
  makeFolder(folder);
  if (!isPrivateFolder(folder)) return;
  const draft = join(folder, `${process.pid}.draft${engine}`);
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(crc32(data));
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = openSync(draft, flags, 0o600);
    try {
      writeSync(file, head);
      writeSync(file, data);
    } finally {
      closeSync(file);
    }
    renameSync(draft, join(folder, name));
  } catch {
    rmSync(draft, { force: true });
  }
  for (const old of newestFirst(folder, engine).slice(keptBuilds)) rmSync(join(folder, old), { force: true });
}

/** Two builds that are installed side by side each find their own, and an update may be taken back. */
const keptBuilds = 3;

/** The caches of an engine, and the drafts of runs that were killed. */
function newestFirst(folder: string, engine: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(engine));
  const files = names.map((name) => ({ name, written: lstatSync(join(folder, name)).mtimeMs }));
  return files.sort((one, other) => other.written - one.written).map(({ name }) => name);
}
