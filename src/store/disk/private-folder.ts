import { basename, dirname, join } from 'node:path';
import { access, chmod, constants, lstat, mkdir, readdir, stat } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { removing } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { codeOf, exists, hasModes, ifThere, storageFailure, syncFolder, unlessRefused } from './files.ts';
import { foldersOf } from './folders.ts';
import { refuseUnsafe } from './private-file.ts';

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
  const failure = storageFailure(`cannot ${verb} the folder ${folder}`, cause);
  if (failure.kind !== 'config' || !isOfState(folder, system)) return failure;
  return failure.as('config', failure.message, { hint: 'Set XDG_STATE_HOME to a folder that can be written.' });
}

function isOfState(folder: string, system: System): boolean {
  return `${folder}/`.startsWith(`${foldersOf(system).state}/`);
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

/**
 * Makes a folder and its parents, and syncs each into its parent before anything is put into it: a power cut would take
 * all. An empty one may be a killed process's. mkdir's own recursion never ends below /proc.
 */
export async function makeFolder(folder: string, mode = 0o700): Promise<void> {
  const parent = dirname(folder);
  if (parent === folder || ((await unlessRefused(readdir(folder)))?.length ?? 0) > 0) return;
  await makeFolder(parent, mode);
  try {
    await mkdir(folder, { mode });
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw cause;
  }
  await syncFolder(parent);
}

/** A 0700 folder of this user inside one that all share. @throws Failure config for a link, another's or an open one */
export async function makeFolderAmongOthers(shared: string, system: System): Promise<string> {
  const folder = folderAmongOthers(shared, system);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    const hint = 'Set XDG_STATE_HOME to a folder that can be written.';
    if (codeOf(cause) !== 'EEXIST') throw storageFailure(`cannot make the folder ${folder}`, cause, hint);
  }
  const found = await lstat(folder);
  const isOurs = !hasModes(system) || (found.uid === system.uid && (found.mode & 0o077) === 0);
  if (found.isDirectory() && isOurs) return folder;
  throw new Failure('config', `${folder} is not a private folder of this user`, {
    hint: `Remove it, or set XDG_STATE_HOME to a folder that can be written.`,
  });
}

export function folderAmongOthers(shared: string, system: System): string {
  return join(shared, `chatelaine-${system.uid ?? 'user'}`);
}

/**
 * Refuses a folder, links followed, that another user owns or can write, since he could put a key command into it
 * (docs/apis.md, Credentials). Repairs nothing. @throws Failure config with the command that repairs it
 */
export async function refuseUnsafeFolder(folder: string, system: System): Promise<void> {
  const found = hasModes(system) ? await ifThere(`look at the folder ${folder}`, stat(folder)) : undefined;
  const words = { what: `the folder ${folder}`, repair: 'Check what it holds, then: chmod 700' };
  if (found) await refuseUnsafe(folder, found, system, 0o022, words);
}
