import { dirname, join } from 'node:path';
import { access, constants, linkSync, stat, statSync, writeFile, type Stats } from '../../core/outside.ts';
import { jsonIn } from '../../core/json.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock, System } from '../../core/system.ts';
import {
  codeOf,
  ifThere,
  isLasting,
  orFailure,
  readFile,
  remove,
  storageFailure,
  unlessRefused,
  whenClosed,
} from '../disk/files.ts';
import { foldersOf } from '../disk/folders.ts';
import { isOwner, liveOwner, remedy, thisOwner, type LiveOwner, type Owner, type OwnerAbout } from '../disk/owner.ts';
import { folderAmongOthers, makeFolderAmongOthers, makePrivateFolder, writableState } from '../disk/private.ts';

export interface Surroundings {
  readonly system: System;
  readonly clock: Clock;
}

export interface Patience {
  /** How long to wait for the owner; 0 gives up at once. Default 30 s. */
  readonly wait?: Milliseconds | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly what?: string | undefined;
  /** Called once, before the first wait; an owner that is not seen to run is then not waited for. */
  readonly waiting?: ((holder: string) => void) | undefined;
}

/** Works while no other process or caller does so under that path. @throws Failure unavailable after the wait */
export async function withLock<T>(path: string, host: Surroundings, work: () => Promise<T>, patience?: Patience) {
  const release = await acquireLock(path, host, patience);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Takes the lock, also that of a killed process. @throws Failure unavailable naming the owner when the wait is over */
export async function acquireLock(path: string, host: Surroundings, patience: Patience = {}) {
  const { clock } = host;
  const end = clock.elapsed() + (patience.wait ?? 30_000);
  for (let round = 0; ; round += 1) {
    patience.signal?.throwIfAborted();
    const lock = await tryLock(path, host);
    if (lock.release) return lock.release;
    const { holder } = lock;
    if (clock.elapsed() >= end || (patience.waiting && !holder.isSeen)) {
      throw new Failure('unavailable', `${patience.what ?? path} is in use by ${holder.name}`, {
        hint: remedy(holder, lock.path),
      });
    }
    if (round === 0) patience.waiting?.(holder.name);
    await clock.sleep(Math.min(2 + round * 2, 40) * (0.5 + clock.random()), patience.signal);
  }
}

/** The folder of locks and records: it works without a writable home too. */
export async function lockFolder(system: System): Promise<string> {
  const [folder] = lockFolders(system);
  try {
    await makePrivateFolder(folder, system);
    await access(folder, constants.W_OK);
    return folder;
  } catch (cause) {
    // After an error that passes, other processes would keep their locks in the usual folder, and this one elsewhere.
    if (!isLasting(cause)) throw storageFailure(`cannot write into ${folder}`, cause, writableState);
  }
  return makeFolderAmongOthers(system.temporary, system);
}

/** The two places where that folder may be, for readers that do not create it. */
export function lockFolders(system: System): readonly [string, string] {
  return [join(foldersOf(system).state, 'locks'), folderAmongOthers(system.temporary, system)];
}

/** A file by which a run takes many locks of its folder: each is a hard link of it. */
export interface LockDraft {
  readonly path: string;
  readonly owner: Owner;
  readonly inode: number;
}

/** Writes the file that locks are links to. `about`: what the locks say of this process. */
export async function draftLocks(path: string, system: System, about: OwnerAbout): Promise<LockDraft> {
  const owner = { ...(await thisOwner(system)), about };
  await orFailure(`write ${path}`, writeFile(path, JSON.stringify(owner), { flag: 'wx', mode: 0o600 }));
  return { path, owner, inode: (await orFailure(`look at ${path}`, stat(path))).ino };
}

/** One try, without waiting: what gives the lock back, or who has it. */
export async function tryLock(path: string, { system, clock }: Surroundings, draft?: LockDraft) {
  const me = draft?.owner ?? (await thisOwner(system));
  for (let round = 0; ; round += 1) {
    const conflict = await attempt(path, me, system, draft);
    if (!conflict) return { release: () => orAbandon(path, me, release(path, me, draft)) };
    const { holder } = conflict;
    if (holder) return { holder, path: conflict.path };
    await clock.sleep(2 + round);
  }
}

/**
 * Locks whose files may exist after an error of the disk, although the process does not hold them. An entry names the
 * process, since tests run several in one.
 */
const abandoned = new Set<string>();
const lockOf = (path: string, token: string, { host, pid }: Owner): string => `${host} ${pid} ${token} ${path}`;

function orAbandon<T>(path: string, me: Owner, work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    abandoned.add(lockOf(path, me.token, me));
    throw cause;
  });
}

/** Whether somebody has that lock: not where its owner certainly no longer runs. @throws Failure config */
export async function isHeld(path: string, system: System): Promise<boolean> {
  const owner = await ownerOf(path);
  return owner !== undefined && (await liveOwner(owner, await thisOwner(system), system)) !== undefined;
}

/** What is in the way of a lock: the lock itself, or that of whoever is just removing it. */
interface Conflict {
  readonly path: string;
  /** Undefined where it was made between two attempts: the next one shows who holds it. */
  readonly holder: LiveOwner | undefined;
}

/** One try, without waiting; undefined once this process has the lock. With a draft it is most likely free. */
async function attempt(path: string, me: Owner, system: System, draft?: LockDraft): Promise<Conflict | undefined> {
  const take = () => orAbandon(path, me, claim(path, me, draft));
  if (draft && (await take())) return undefined;
  const owner = await ownerOf(path);
  const holder = owner && !abandoned.has(lockOf(path, owner.token, me)) && (await liveOwner(owner, me, system));
  if (holder) return { path, holder };
  const conflict = owner && (await removeStale(path, owner, me, system));
  return conflict ?? ((await take()) ? undefined : { path, holder: undefined });
}

/**
 * Two that both found the owner dead must not both remove, or the second would remove the first one's new lock. So
 * removing takes a lock of its own, named after the dead owner's token, and reads the owner again under it. A kill
 * may leave that lock too; it is then cleared the same way.
 */
async function removeStale(path: string, dead: Owner, me: Owner, system: System): Promise<Conflict | undefined> {
  const guard = `${path}.${dead.token}`;
  const conflict = await attempt(guard, me, system);
  if (conflict) return conflict;
  try {
    if ((await ownerOf(path))?.token === dead.token) await remove(path);
    return undefined;
  } finally {
    await orAbandon(guard, me, release(guard, me));
  }
}

/** A hard link appears whole or not at all, so nobody reads a lock without its owner. False: there is a lock. */
async function claim(path: string, me: Owner, draft?: LockDraft): Promise<boolean> {
  const from = draft?.path ?? `${path}.${me.token}.${me.pid}`;
  const byLink = (): Promise<void> => whenClosed(`write ${path}`, async () => linkSync(from, path));
  try {
    if (!draft) await writeFile(from, JSON.stringify(me), { flag: 'wx', mode: 0o600 });
    await byLink();
    // Some file servers let a second link of the same name succeed.
    if (await unlessRefused(byLink().then(() => true))) throw await looseLock(path);
    abandoned.delete(lockOf(path, me.token, me));
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw storageFailure(`cannot make the lock ${path}`, cause, linkable);
  } finally {
    if (!draft) await remove(from);
  }
}

const linkable = 'Locks need a folder that can be written, on a disk with hard links.';

async function looseLock(path: string): Promise<Failure> {
  await remove(path);
  const why = 'its file system lets two processes make the same file';
  return new Failure('config', `no lock can be kept in ${dirname(path)}: ${why}`, {
    hint: 'Use a folder on a disk of this computer.',
  });
}

/** Removes the lock only if it is still ours: removed by hand, it may be another process's by now. */
async function release(path: string, me: Owner, draft?: LockDraft): Promise<void> {
  const look = async (): Promise<Stats> => statSync(path);
  const isLinked = draft && (await ifThere(`read the lock ${path}`, look()))?.ino === draft.inode;
  if (isLinked || (await ownerOf(path))?.token === me.token) await remove(path);
}

/** A lock without readable content was cut by a power failure: its owner is of an earlier boot. */
async function ownerOf(path: string): Promise<Owner | undefined> {
  const read = async (): Promise<Owner> => {
    const owner = jsonIn((await readFile(path)).toString('utf8'))?.value;
    return isOwner(owner) ? owner : { pid: 0, token: `broken${(await stat(path)).ino}` };
  };
  return ifThere(`read the lock ${path}`, read());
}
