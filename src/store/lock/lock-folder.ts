import { join } from 'node:path';
import { access, constants } from '../../core/outside.ts';
import type { System } from '../../core/system.ts';
import { isLasting, storageFailure } from '../disk/files.ts';
import { foldersOf } from '../disk/folders.ts';
import { folderAmongOthers, makeFolderAmongOthers, makePrivateFolder, writableState } from '../disk/private.ts';

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

/** Where that folder may be, for a reader that makes none. */
export function lockFolders(system: System): readonly [string, string] {
  return [join(foldersOf(system).state, 'locks'), folderAmongOthers(system.temporary, system)];
}
