import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, usage } from '../../core/failure.ts';
import { codeOf, exists, isMissing, storageFailure } from '../disk/files.ts';
import { makeFolder } from '../disk/private-folder.ts';
import { acquireLock, type Surroundings } from '../lock/lock.ts';

export interface OpenOptions {
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

const lockName = 'lock';

/**
 * Makes the folder of an archive where it is missing, and locks it. The returned function gives it back; a folder that was made and holds
 * nothing is removed then.
 * @throws Failure unavailable naming the process that still holds it after 30 seconds; config where it cannot be made
 */
export async function takeFolder(
  folder: string,
  world: Surroundings,
  options: OpenOptions,
): Promise<() => Promise<void>> {
  const isNew = !(await exists(folder));
  await makeArchiveFolder(folder);
  const release = await lockArchive(folder, world, options);
  return async () => {
    await release();
    if (isNew && (await namesIn(folder)).length === 0) await rmdir(folder).catch(ignoreUsed);
  };
}

/** Another process may have begun to use it. */
function ignoreUsed(cause: unknown): void {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY', 'EPERM'].includes(codeOf(cause) ?? '')) throw cause;
}

async function makeArchiveFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (cause) {
    throw storageFailure(`cannot make the folder ${folder}`, cause);
  }
}

async function lockArchive(folder: string, world: Surroundings, { signal, note }: OpenOptions) {
  const patience = { signal, what: `the archive ${folder}` };
  const path = join(folder, lockName);
  try {
    return await acquireLock(path, world, { ...patience, wait: 0 });
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'unavailable') throw cause;
    note(`${cause.message}: waiting`);
    return acquireLock(path, world, patience);
  }
}

/** Refuses a folder that holds anything but what an archive begins with. @throws Failure usage */
export async function refuseOtherFiles(folder: string): Promise<void> {
  const [other] = (await namesIn(folder)).filter((name) => !name.startsWith(lockName) && !name.startsWith('.'));
  if (other === undefined) return;
  throw usage(`${folder} is no archive and holds other files, such as ${other}`, 'Name an empty or a new folder.');
}

/** The names in a folder; none where it is missing. @throws Failure config */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw storageFailure(`cannot list the folder ${folder}`, cause);
  }
}
