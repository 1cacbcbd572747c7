import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { crc32 } from 'node:zlib';

/**
 * V8's code cache of the program (docs/internals/architecture.md, Code cache): what an earlier run kept under a name,
 * and how to keep what `make` returns. A cache that cannot be read or written is none.
 */
export function openCodeCache(env: NodeJS.ProcessEnv, name: string) {
  const folder = cacheFolder(env);
  if (folder === undefined) return { data: undefined, keep: () => undefined };
  return {
    data: attempt(() => readCache(folder, name)),
    keep: (make: () => Buffer) => attempt(() => writeCache(folder, name, make())),
  };
}

/**
 * Undefined where the user wants no cache, where owners and modes say nothing (Windows), and where the folder around it
 * is missing or another user's, who would be locked out of it.
 */
function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const { CHATELAINE_NO_CACHE: unwanted, XDG_CACHE_HOME: caches = '', HOME: home = '' } = env;
  if (unwanted === '1' || process.getuid === undefined) return undefined;
  // The XDG specification: a relative path is ignored.
  const around = [caches, home].find((folder) => isAbsolute(folder));
  if (around === undefined || attempt(() => lstatSync(around).uid) !== process.getuid()) return undefined;
  return around === caches ? join(caches, 'chatelaine') : join(home, '.cache', 'chatelaine');
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

const headBytes = 4;

/** The cache is code to execute: only this user may have been able to write it. V8 does not notice damage. */
function readCache(folder: string, name: string): Buffer | undefined {
  const file = join(folder, name);
  const found = lstatSync(file);
  if (!isPrivateFolder(folder) || !found.isFile() || !isPrivate(found)) return undefined;
  const bytes = readFileSync(file);
  const data = bytes.subarray(headBytes);
  return crc32(data) === bytes.readUInt32BE(0) ? data : undefined;
}

function isPrivateFolder(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && isPrivate(stats);
}

function isPrivate({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

/** Whole or not at all: a run that starts meanwhile reads the old file or the new one. Other builds' files go. */
function writeCache(folder: string, name: string, data: Buffer): void {
  for (const one of [dirname(folder), folder]) if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
  if (!isPrivateFolder(folder)) return;
  const draft = `${process.pid}.draft`;
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(crc32(data));
  for (const old of readdirSync(folder)) rmSync(join(folder, old), { force: true });
  writeFileSync(join(folder, draft), Buffer.concat([head, data]), { flag: 'wx', mode: 0o600 });
  renameSync(join(folder, draft), join(folder, name));
}
