import { link, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock, System } from '../../core/system.ts';
import { codeOf, isMissing, isWritable, readFile, remove, storageFailure } from '../disk/files.ts';
import { folderAmongOthers, makeFolderAmongOthers, makePrivateFolder } from '../disk/private-folder.ts';
import { foldersOf } from '../disk/folders.ts';
import { isOwner, liveOwner, remedy, thisOwner, type LiveOwner, type Owner } from '../disk/owner.ts';

/** What a lock needs to know of the world. */
export interface Surroundings {
  readonly system: System;
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
  host: Surroundings,
  work: () => Promise<T>,
  patience?: Patience,
): Promise<T> {
  const release = await acquireLock(path, host, patience);
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
  host: Surroundings,
  patience: Patience = {},
): Promise<() => Promise<void>> {
  const { clock, system } = host;
  const me = await thisOwner(system);
  const end = clock.elapsed() + (patience.wait ?? 30_000);
  for (let round = 0; ; round += 1) {
    patience.signal?.throwIfAborted();
    const obstacle = await attempt(path, me, system);
    if (!obstacle) return () => release(path, me);
    if (obstacle.holder && clock.elapsed() >= end) throw busy(obstacle.path, obstacle.holder, patience.what ?? path);
    await clock.sleep(Math.min(2 + round * 2, 40) * (0.5 + clock.random()), patience.signal);
  }
}

/** The folder of locks and claims: it works without a writable home too. */
export async function lockFolder(system: System): Promise<string> {
  const [folder] = lockFolders(system);
  try {
    await makePrivateFolder(folder, system);
    if (await isWritable(folder)) return folder;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
  return makeFolderAmongOthers(system.temporary, system);
}

/** Where that folder may be, for a reader that makes none. */
export function lockFolders(system: System): readonly [string, string] {
  return [join(foldersOf(system).state, 'locks'), folderAmongOthers(system.temporary, system)];
}

/** What is in the way of a lock: the lock itself, or that of whoever is just removing it. */
interface Obstacle {
  readonly path: string;
  /** Undefined where it was made between two looks: the next one shows who holds it. */
  readonly holder: LiveOwner | undefined;
}

/** One try, without waiting; undefined: the lock is taken. */
async function attempt(path: string, me: Owner, system: System): Promise<Obstacle | undefined> {
  const owner = await ownerOf(path);
  const holder = owner && (await liveOwner(owner, me, system));
  if (holder) return { path, holder };
  const obstacle = owner && (await clearAway(path, owner, me, system));
  return obstacle ?? ((await claim(path, me)) ? undefined : { path, holder: undefined });
}

/**
 * Removes the lock of a dead owner. Two that both found the owner dead must not both remove, or the second would remove the first
 * one's new lock. So removing takes a lock of its own, named after the dead owner's token, and reads the owner again under it. While
 * that lock is held nobody else removes the dead owner's. A kill may leave that lock too; it is then cleared the same way.
 */
async function clearAway(path: string, dead: Owner, me: Owner, system: System): Promise<Obstacle | undefined> {
  const guard = `${path}.${dead.token}`;
  const obstacle = await attempt(guard, me, system);
  if (obstacle) return obstacle;
  try {
    if ((await ownerOf(path))?.token === dead.token) await remove(path);
    return undefined;
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
    text = (await readFile(path)).toString('utf8');
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

async function brokenOwner(path: string): Promise<Owner | undefined> {
  try {
    return { pid: 0, token: `broken${(await stat(path)).ino}` };
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
}

function busy(path: string, holder: LiveOwner, what: string): Failure {
  return new Failure('unavailable', `${what} is in use by ${holder.name}`, { hint: remedy(holder, path) });
}
