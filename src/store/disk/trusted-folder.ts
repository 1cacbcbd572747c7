import { stat } from 'node:fs/promises';
import { Failure } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { Machine } from '../../core/world.ts';
import { hasModes, isMissing, storageFailure } from './files.ts';

/**
 * Refuses a folder, links followed, that another user owns or could write: he could put a key command or a link into it. One that is
 * not there is no danger, and the folders above are not looked at (docs/apis.md, Credentials). Nothing is repaired.
 * @throws Failure config with the command that repairs it
 */
export async function refuseUnsafeFolder(folder: string, machine: Machine): Promise<void> {
  if (!hasModes(machine)) return;
  const found = await folderAt(folder);
  if (found === undefined) return;
  if (found.uid !== machine.uid && found.uid !== 0) {
    throw new Failure('config', `the folder ${folder} belongs to another user (id ${found.uid})`, {
      hint: `Look at what it holds, then: chown ${machine.uid ?? ''} ${shellWord(folder)}`,
    });
  }
  if ((found.mode & 0o022) === 0) return;
  const mode = (found.mode & 0o777).toString(8);
  throw new Failure('config', `the folder ${folder} can be written by other users (mode ${mode})`, {
    hint: `Look at what it holds, then: chmod 700 ${shellWord(folder)}`,
  });
}

async function folderAt(folder: string): Promise<{ readonly uid: number; readonly mode: number } | undefined> {
  try {
    return await stat(folder);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw storageFailure(`cannot look at the folder ${folder}`, cause);
  }
}
