import { join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { stat } from '../../core/outside.ts';
import { ifThere, remove } from '../disk/files.ts';
import { makePrivateFolder, writableState } from '../disk/private.ts';
import { lockFolder, lockFolders } from '../lock/lock-folder.ts';
import { isHeld, type Surroundings } from '../lock/lock.ts';
import { namesIn, RunFiles, suffix } from './run-files.ts';
import { hashOf } from './run-record.ts';
import type { WritingRun } from './writes.ts';

const day: Milliseconds = 86_400_000;

/** `token`: the start of each id of this run. @throws Failure config where no folder can be written */
export async function openRunFiles(
  origin: string,
  token: string,
  run: WritingRun,
  host: Surroundings,
  warn: (text: string) => void,
): Promise<RunFiles> {
  const salt = hashOf(origin);
  const locks = await lockFolder(host.system);
  const [usual] = lockFolders(host.system);
  if (locks !== usual) {
    warn(`requests are recorded in ${locks}, which does not last: a later run may not know them. ${writableState}`);
    if ((await namesIn(join(usual, salt))).some((one) => one.endsWith(suffix)))
      throw new Failure('config', `${usual} cannot be written, and has open requests`, {
        hint: 'Make the folder writable again, then run the same command. Nothing was sent.',
      });
  }
  const folder = join(locks, salt);
  await makePrivateFolder(folder, host.system);
  await removeOldLocks(folder, host);
  return new RunFiles(folder, salt, token, run, host);
}

/** Younger locks of dead processes may be those that somebody waits for. */
async function removeOldLocks(folder: string, { clock, system }: Surroundings): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!name.endsWith('.lock')) continue;
    const path = join(folder, name);
    const found = await ifThere(`look at ${path}`, stat(path));
    const isOld = found && found.mtimeMs < clock.now() - day;
    if (isOld && !(await isHeld(path, system))) await remove(path);
  }
}
