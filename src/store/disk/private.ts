import { basename, dirname, join } from 'node:path';
import { access, chmod, constants, lstat, mkdir, readdir, readdirSync, stat, type Stats } from '../../core/outside.ts';
import { Failure, labelled } from '../../core/failure.ts';
import { decodeText } from '../../core/read.ts';
import { removing, shellWord } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { codeOf, exists, ifThere, storageFailure, syncFolder, unlessRefused, openFile, withFile } from './files.ts';
import { foldersOf } from './folders.ts';

export const writableState = 'Set XDG_STATE_HOME to a folder that can be written.';

/** Makes or closes a folder that only this user can enter. @throws Failure config, unavailable when the disk is full */
export async function makePrivateFolder(folder: string, system: System): Promise<void> {
  await refuseUnsafeState(folder, system);
  try {
    await makeFolder(folder);
    // A folder that carries our name, or is in one: any other was named by the user, and may be shared.
    const isOfOurs = [folder, dirname(folder)].some((one) => basename(one) === 'chatelaine');
    if (!hasModes(system) || !isOfOurs) return;
    const { mode, uid } = await stat(folder);
    if (uid === system.uid && (mode & 0o077) !== 0) await chmod(folder, mode & 0o700);
  } catch (cause) {
    throw folderFailure(folder, system, cause);
  }
}

/** A failure of making a folder, or of writing into it; of our own for state it says how to name another place. */
export function folderFailure(folder: string, system: System, cause: unknown, verb = 'make'): Failure {
  const hint = isOfState(folder, system) ? writableState : undefined;
  return storageFailure(`cannot ${verb} the folder ${folder}`, cause, hint);
}

function isOfState(folder: string, system: System): boolean {
  return `${folder}/`.startsWith(`${foldersOf(system).state}/`);
}

/** What is in a folder of state; nothing where it is not there. @throws Failure config */
export async function stateFiles(folder: string): Promise<readonly string[]> {
  // Asked for each user: waking another thread would take longer.
  const read = async (): Promise<string[]> => readdirSync(folder);
  return (await ifThere(`read ${folder}`, read(), writableState)) ?? [];
}

/** Checks the folder of state as that of the configuration, for any folder in it. @throws Failure config */
export async function refuseUnsafeState(folder: string, system: System): Promise<void> {
  if (!isOfState(folder, system)) return;
  const { state } = foldersOf(system);
  await refuseUnsafeFolder(state, system);
  await refuseLinks(state, folder);
}

/** @throws Failure config where a part of the path below `root` is a link: it leads to somebody else's files */
export async function refuseLinks(root: string, path: string): Promise<void> {
  for (let part = path; part.length > root.length; part = dirname(part)) {
    const found = await ifThere(`look at ${part}`, lstat(part));
    if (found?.isSymbolicLink())
      throw new Failure('config', `${part} is a symbolic link, which is not followed`, {
        hint: `Put what it leads to in its place, or remove it: ${removing(part)}`,
      });
  }
}

/** The folder may be missing; makes nothing. @throws Failure config where files cannot be made in it */
export async function refuseUnwritable(folder: string, system: System): Promise<void> {
  let nearest = folder;
  try {
    while (!(await exists(nearest)) && dirname(nearest) !== nearest) nearest = dirname(nearest);
    // With the slash a file in the place of a folder is refused.
    await access(`${nearest}/`, constants.W_OK);
  } catch (cause) {
    throw folderFailure(folder, system, cause, 'write into');
  }
}

/** Makes a folder and its parents, each synced into its parent. mkdir's own recursion never ends below /proc. */
export async function makeFolder(folder: string, mode = 0o700): Promise<void> {
  const parent = dirname(folder);
  if (parent === folder || ((await unlessRefused(readdir(folder)))?.length ?? 0) > 0) return;
  await makeFolder(parent, mode);
  try {
    await mkdir(folder, { mode });
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
    if (!(await stat(folder)).isDirectory()) throw noFolder(folder, cause);
  }
  await syncFolder(parent);
}

function noFolder(path: string, cause?: unknown): Failure {
  return new Failure('config', `${path} is a file, not a folder`, { cause });
}

/** A 0700 folder of this user inside one that all share. @throws Failure config for a link, another's or an open one */
export async function makeFolderAmongOthers(shared: string, system: System): Promise<string> {
  const folder = folderAmongOthers(shared, system);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw storageFailure(`cannot make the folder ${folder}`, cause, writableState);
  }
  if (await isOwnFolder(folder, system)) return folder;
  throw new Failure('config', `${folder} is not a private folder of this user`, {
    hint: `Remove it, or set XDG_STATE_HOME to a folder that can be written.`,
  });
}

/** Whether this user alone can enter a folder among those of others. */
export async function isOwnFolder(folder: string, system: System): Promise<boolean> {
  const found = await ifThere(`look at ${folder}`, lstat(folder));
  const isOurs = !hasModes(system) || (found?.uid === system.uid && ((found?.mode ?? 0) & 0o077) === 0);
  return found?.isDirectory() === true && isOurs;
}

export function folderAmongOthers(shared: string, system: System): string {
  return join(shared, `chatelaine-${system.uid ?? 'user'}`);
}

/** Refuses a folder, links followed, into which another user could put a key command. @throws Failure config */
export async function refuseUnsafeFolder(folder: string, system: System): Promise<void> {
  const otherPlace = isOfState(folder, system) ? writableState : 'Set CHATELAINE_CONFIG_DIR to a folder of your own.';
  const found = hasModes(system) ? await ifThere(`look at the folder ${folder}`, stat(folder), otherPlace) : undefined;
  if (found && !found.isDirectory()) throw noFolder(folder);
  const words = { what: `the folder ${folder}`, repair: 'Check what it contains, then: chmod 700' };
  if (found) await refuseUnsafe(folder, found, system, 0o022, words);
}

/** The text of a file, if there is one. `forbidden`: unsafe mode bits, except on Windows. @throws Failure config */
export async function readPrivate(path: string, system: System, forbidden = 0o077): Promise<string | undefined> {
  // Tools that keep a configuration elsewhere, and mounts of Kubernetes, put links there.
  const reading = withFile(openFile(path, constants.O_RDONLY, 0), async (file) => {
    await refuseUnsafe(path, await file.stat(), system, forbidden);
    return file.readFile();
  });
  const bytes = await ifThere(`read ${path}`, reading);
  return bytes && labelled(path, () => decodeText(bytes), 'config');
}

type Advice = Partial<Record<'what' | 'repair' | 'otherwise', string>>;

/** Refuses what another user owns, or others can read or write. @throws Failure config with the repairing command */
export async function refuseUnsafe(path: string, found: Stats, system: System, forbidden: number, words: Advice = {}) {
  const { what = path, repair = 'Run: chmod 600', otherwise = '' } = words;
  if (!hasModes(system)) return;
  if (found.uid !== system.uid && found.uid !== 0) {
    throw new Failure('config', `${what} belongs to another user (id ${found.uid})`, {
      hint: `Check what it holds, then: chown ${system.uid ?? ''} ${shellWord(path)}`,
    });
  }
  if ((found.mode & forbidden) === 0) return;
  const danger = (found.mode & forbidden & 0o055) === 0 ? 'written' : 'read';
  throw new Failure('config', `${what} can be ${danger} by other users (mode ${(found.mode & 0o777).toString(8)})`, {
    hint: `${repair} ${shellWord(path)}${otherwise}`,
  });
}

export async function canOthersRead(path: string, system: System): Promise<boolean> {
  const found = hasModes(system) ? await unlessRefused(stat(path)) : undefined;
  return found?.isFile() === true && (found.mode & 0o044) !== 0;
}

export function hasModes(system: System): boolean {
  return system.platform !== 'win32' && system.uid !== undefined;
}
