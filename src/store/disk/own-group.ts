import { readFile, type Stats } from '../../core/outside.ts';
import type { System } from '../../core/system.ts';

/**
 * Whether of these bits of the mode only a group may write, of which this user is the only member, as Ubuntu and Fedora
 * give every user one. A group that this computer's files do not name may have any members.
 */
export async function isOwnGroupAlone({ mode, gid }: Stats, system: System, bits: number): Promise<boolean> {
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
