import { link, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { Clock, Machine } from '../../core/world.ts';
import { codeOf, isMissing, isWritable, remove, storageFailure } from '../disk/files.ts';
import { makePrivateFolder, makeTemporaryFolder } from '../disk/private-folder.ts';
import { foldersOf } from '../disk/folders.ts';
import { isGone, thisOwner, type Owner } from '../disk/owner.ts';

/** What a lock needs to know of the world. */
export interface Surroundings {
  readonly machine: Machine;
  readonly clock: Clock;
}

export interface Patience {
  /** How long to wait for the owner; 0 gives up at once. Default 30 s. */
  readonly wait?: Milliseconds | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What is locked, for the message, such as `the journal /x`. Default: the path. */
  readonly what?: string | undefined;
}

/**
 * Does the work while nobody else does work under that path: no other process, and no other caller in this one.
 * @throws Failure unavailable naming the owner when the wait is over
 */
export async function withLock<T>(
  path: string,
  world: Surroundings,
  work: () => Promise<T>,
  patience?: Patience,
): Promise<T> {
  const release = await acquireLock(path, world, patience);
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * Takes the lock until the returned function is called. The lock of a process that was killed is taken over.
 * @throws Failure unavailable naming the owner when the wait is over
 */
export async function acquireLock(
  path: string,
  world: Surroundings,
  patience: Patience = {},
): Promise<() => Promise<void>> {
  const { clock, machine } = world;
  const me = await thisOwner(machine);
  const end = clock.elapsed() + (patience.wait ?? 30_000);
  for (let round = 0; ; round += 1) {
    patience.signal?.throwIfAborted();
    if (await attempt(path, me, machine)) return () => release(path, me);
    const owner = await ownerOf(path);
    if (owner && clock.elapsed() >= end) throw busy(path, owner, me, patience.what);
    await clock.sleep(Math.min(2 + round * 2, 40) * (0.5 + clock.random()), patience.signal);
  }
}

/** The folder of locks and claims: it works without a writable home too. */
export async function lockFolder(machine: Machine): Promise<string> {
  const folder = join(foldersOf(machine).state, 'locks');
  try {
    await makePrivateFolder(folder, machine);
    if (await isWritable(folder)) return folder;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
  return makeTemporaryFolder(machine);
}

/** One try, without waiting. */
async function attempt(path: string, me: Owner, machine: Machine): Promise<boolean> {
  const owner = await ownerOf(path);
  if (owner && !(await isGone(owner, me, machine))) return false;
  if (owner && !(await clearAway(path, owner, me, machine))) return false;
  return claim(path, me);
}

/**
 * Removes the lock of a dead owner. Two that both found the owner dead must not both remove, or the second would remove the first
 * one's new lock. So removing takes a lock of its own, named after the dead owner's token, and reads the owner again under it. While
 * that lock is held nobody else removes the dead owner's. A kill may leave that lock too; it is then cleared the same way.
 */
async function clearAway(path: string, dead: Owner, me: Owner, machine: Machine): Promise<boolean> {
  const guard = `${path}.${dead.token}`;
  if (!(await attempt(guard, me, machine))) return false;
  try {
    if ((await ownerOf(path))?.token === dead.token) await remove(path);
    return true;
  } finally {
    await release(guard, me);
  }
}

/** A hard link appears with its whole content or not at all, so nobody reads a lock without its owner. */
async function claim(path: string, me: Owner): Promise<boolean> {
  const draft = `${path}.${me.token}.${me.pid}`;
  try {
    await writeFile(draft, JSON.stringify(me), { flag: 'wx', mode: 0o600 });
    await link(draft, path);
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw storageFailure(`cannot make the lock ${path}`, cause);
  } finally {
    await remove(draft);
  }
}

/** Removes the lock only if it still holds our token: after somebody removed it by hand, another process may hold it. */
async function release(path: string, me: Owner): Promise<void> {
  if ((await ownerOf(path))?.token === me.token) await remove(path);
}

/** A lock without readable content was cut by a power failure: its owner is of an earlier boot. */
async function ownerOf(path: string): Promise<Owner | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw storageFailure(`cannot read the lock ${path}`, cause);
  }
  return parseOwner(text) ?? brokenOwner(path);
}

function parseOwner(text: string): Owner | undefined {
  try {
    const owner: unknown = JSON.parse(text);
    return isOwner(owner) ? owner : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

function isOwner(value: unknown): value is Owner {
  if (!isObject(value)) return false;
  const { pid, token } = value;
  return typeof pid === 'number' && typeof token === 'string' && /^\w{1,64}$/.test(token);
}

async function brokenOwner(path: string): Promise<Owner | undefined> {
  try {
    return { pid: 0, token: `broken${(await stat(path)).ino}` };
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
}

function busy(path: string, owner: Owner, me: Owner, what = path): Failure {
  const isForeign = owner.space !== me.space || owner.boot !== me.boot;
  const who = isForeign ? `process ${owner.pid} on ${owner.host ?? 'another computer'}` : `process ${owner.pid}`;
  const remedy = isForeign
    ? `Once that process has ended, remove the lock: rm ${shellWord(path)}`
    : 'Run it again when that process has ended.';
  return new Failure('unavailable', `${what} is in use by ${who}`, { hint: remedy });
}
