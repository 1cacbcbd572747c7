import { constants, readFile, stat, type FileHandle, type Stats } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { hasModes, ifThere, openFile, unlessRefused, withFile } from './files.ts';

/** The text of a file, if there is one. `forbidden`: unsafe mode bits, except on Windows. @throws Failure config */
export async function readPrivate(path: string, system: System, forbidden = 0o077): Promise<string | undefined> {
  // Tools that keep a configuration elsewhere, and mounts of Kubernetes, put links there.
  return (await bytesOf(path, system, forbidden, openFile(path, constants.O_RDONLY, 0)))?.toString('utf8');
}

/** The same for a file that only this program makes: it is no link. */
export function readPrivateBytes(path: string, system: System): Promise<Buffer | undefined> {
  return bytesOf(path, system, 0o077, openFile(path));
}

async function bytesOf(path: string, system: System, forbidden: number, opening: Promise<FileHandle>) {
  const reading = withFile(opening, async (file) => {
    await refuseUnsafe(path, await file.stat(), system, forbidden);
    return file.readFile();
  });
  return ifThere(`read ${path}`, reading);
}

/** Refuses what another user owns, or others can read or write. @throws Failure config with the repairing command */
export async function refuseUnsafe(
  path: string,
  found: Stats,
  system: System,
  forbidden: number,
  {
    what = path,
    repair = 'Run: chmod 600',
    otherwise = '',
  }: Partial<Record<'what' | 'repair' | 'otherwise', string>> = {},
): Promise<void> {
  if (!hasModes(system)) return;
  if (found.uid !== system.uid && found.uid !== 0) {
    throw new Failure('config', `${what} belongs to another user (id ${found.uid})`, {
      hint: `Check what it holds, then: chown ${system.uid ?? ''} ${shellWord(path)}`,
    });
  }
  if ((found.mode & forbidden) === 0 || (await isOwnGroupAlone(found, system, forbidden))) return;
  const danger = (found.mode & forbidden & 0o055) === 0 ? 'written' : 'read';
  throw new Failure('config', `${what} can be ${danger} by other users (mode ${(found.mode & 0o777).toString(8)})`, {
    hint: `${repair} ${shellWord(path)}${otherwise}`,
  });
}

export async function canOthersRead(path: string, system: System): Promise<boolean> {
  const found = hasModes(system) ? await unlessRefused(stat(path)) : undefined;
  return found?.isFile() === true && (found.mode & 0o044) !== 0;
}

/**
 * Whether of these bits of the mode only a group may write, of which this user is the only member, as Ubuntu and Fedora
 * give every user one. A group that this computer's files do not name may have any members.
 */
async function isOwnGroupAlone({ mode, gid }: Stats, system: System, bits: number): Promise<boolean> {
  if ((mode & bits) !== 0o020) return false;
  const [users, groups] = await Promise.all([rowsOf('/etc/passwd'), rowsOf('/etc/group')]);
  const me = users.find(([, , uid]) => uid === String(system.uid))?.[0];
  const members = groups.find(([, , id]) => id === String(gid))?.[3]?.split(',');
  const others = users.filter(([name, , , group]) => group === String(gid) && name !== me);
  return me !== undefined && others.length === 0 && members?.every((name) => name === '' || name === me) === true;
}

async function rowsOf(file: string): Promise<string[][]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').map((line) => line.split(':'));
}
