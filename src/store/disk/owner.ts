import { join } from 'node:path';
import { access, randomBytes, readdir, readFile, readlink, writeFile } from '../../core/outside.ts';
import { defined } from '../../core/table-names.ts';
import { isObject } from '../../core/json.ts';
import { Failure } from '../../core/failure.ts';
import { removing } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { hasModes, isLasting, storageFailure, syncFolder, unlessRefused } from './files.ts';
import { makeFolderAmongOthers } from './private-folder.ts';
import { answers, isSign, probeHere, probeInState, openLivenessSocket, type Liveness } from './liveness.ts';

/** Who holds a lock (docs/exactly-once.md, Owners). */
export interface Owner {
  /** 0: the lock does not say, so the process that made it ended before it was complete. */
  readonly pid: number;
  /** Different for every lock that is taken. */
  readonly token: string;
  /** The name of the computer or container, for people: it can change, and two can have the same. */
  readonly host?: string;
  /** A file with a random name, on that computer alone: where it exists, `pid` is of this computer. */
  readonly here?: string;
  /** When the process began, in ticks since boot, from /proc: a later process may have its id. */
  readonly start?: string;
  /** Different after each boot, and on each computer. */
  readonly boot?: string;
  /** The namespace in which `pid` counts: each container has its own. */
  readonly space?: string;
  /** The name to call the process by where its id says nothing: without /proc, and from another container. */
  readonly sign?: string;
}

export async function thisOwner(system: System): Promise<Owner> {
  const known = processes.get(system) ?? thisProcess(system);
  processes.set(system, known);
  return { ...(await known), token: randomBytes(8).toString('hex') };
}

const processes = new WeakMap<System, Promise<Omit<Owner, 'token'>>>();

async function thisProcess(system: System): Promise<Omit<Owner, 'token'>> {
  // On Windows these paths would be those of any file of the current drive.
  const read = (name: string, reading: (path: string) => Promise<string>): Promise<string | undefined> =>
    system.platform === 'win32'
      ? Promise.resolve(undefined)
      : whereThere(`read /proc/${name}`, reading(`/proc/${name}`));
  const [stat, boot, space, here] = await Promise.all([
    read('self/stat', (path) => readFile(path, 'utf8')),
    read('sys/kernel/random/boot_id', (path) => readFile(path, 'utf8')),
    read('self/ns/pid', readlink),
    whereThere(`mark this computer in ${system.local}`, markOf(system)),
  ]);
  const pid = stat === undefined ? system.pid : Number.parseInt(stat, 10);
  // Where /proc shows other ids than the process has, it belongs to an outer namespace, and `pid` counts in that one.
  const counted = space !== undefined && pid !== system.pid ? `${space} from outside` : space;
  const isCallable = stat !== undefined || here !== undefined;
  const sign = isCallable ? await openLivenessSocket(stat === undefined ? here : undefined, system) : undefined;
  const known = defined({ here, start: stat && startIn(stat), boot: boot?.trim(), space: counted, sign });
  return { pid, host: system.hostname, ...known };
}

export function isOwner(value: unknown): value is Owner {
  if (!isObject(value)) return false;
  const { pid, token, host, here, start, boot, space, sign } = value;
  const isToken = typeof token === 'string' && /^\w{1,64}$/.test(token);
  const areTexts = [host, here, start, boot, space].every((one) => one === undefined || typeof one === 'string');
  return typeof pid === 'number' && isToken && areTexts && (sign === undefined || isSign(sign));
}

/** An owner that is not certainly gone. */
export interface LiveOwner {
  /** Such as `process 7 on vm`. */
  readonly name: string;
  /** False where whether it still runs cannot be seen from here. */
  readonly isSeen: boolean;
}

/** What is known of an owner; undefined: it certainly no longer runs. */
export async function liveOwner(owner: Owner, me: Owner, system: System): Promise<LiveOwner | undefined> {
  const liveness = await livenessOf(owner, me, system);
  if (liveness === 'gone') return undefined;
  return { name: `process ${owner.pid} on ${owner.host ?? 'an unknown computer'}`, isSeen: liveness === 'running' };
}

/** What to do about an owner of what that file holds: a sentence. */
export function remedy({ isSeen }: LiveOwner, path: string): string {
  if (isSeen) return `Run the command again when it has ended; ${path} is free then.`;
  return `Whether it still runs cannot be seen from here; once it has ended, remove what it left: ${removing(path)}`;
}

/** An owner of what that file holds; with the way out where it may have ended unseen. */
export function inWords({ name, isSeen }: LiveOwner, path: string): string {
  return isSeen ? name : `${name} (once it has ended: ${removing(path)})`;
}

/** Looks an id up only on the computer that it is of: elsewhere it is another process's. */
async function livenessOf(owner: Owner, me: Owner, system: System): Promise<Liveness> {
  if (owner.pid === 0) return 'gone';
  const isHere = owner.here !== undefined && (await isOfHere(owner.here, me, system));
  // Of an earlier boot; the name counts too: computers can share the folder in which the path is.
  const isEarlier = owner.boot !== undefined && me.boot !== undefined && owner.host === me.host;
  if (owner.boot !== me.boot) return isEarlier && isHere ? 'gone' : 'unseen';
  if (owner.boot === undefined && !isHere) return 'unseen';
  if (owner.space !== me.space) return owner.sign === undefined ? 'unseen' : await probeInState(owner.sign, system);
  if (owner.start === undefined) {
    const { here = '', sign } = owner;
    const liveness = sign === undefined ? 'unseen' : await probeHere(sign, here, system);
    // Without an answer, a living process may be a later one with the same id.
    return liveness !== 'unseen' || answers(owner.pid, system) ? liveness : 'gone';
  }
  const stat = await unlessRefused(readFile(`/proc/${owner.pid}/stat`, 'utf8'));
  if (stat === undefined) return answers(owner.pid, system) ? 'running' : 'gone';
  return startIn(stat) !== owner.start || /^[ZX]/.test(afterName(stat)) ? 'gone' : 'running';
}

/** On Windows a path that a lock names may be on another computer, to which a lookup would send the user's sign-in. */
async function isOfHere(path: string, me: Owner, system: System): Promise<boolean> {
  return path === me.here || (hasModes(system) && (await unlessRefused(access(path).then(() => true))) === true);
}

const markPrefix = 'here-';

/**
 * The file by which this user's processes recognize this computer. It is synced before a lock names it, even if
 * present: its maker may have been killed, and a lost mark makes its owner look alive.
 */
async function markOf(system: System): Promise<string> {
  const folder = await makeFolderAmongOthers(system.local, system);
  const found = (await readdir(folder)).find((name) => name.startsWith(markPrefix));
  const mark = join(folder, found ?? `${markPrefix}${randomBytes(16).toString('hex')}`);
  if (found === undefined) {
    await syncFolder(system.local);
    await writeFile(mark, '', { flag: 'wx', mode: 0o600 });
  }
  await syncFolder(folder);
  return mark;
}

/** Undefined where it is not there. @throws Failure for an error that passes: after a boot the owner is unknown */
async function whereThere<T>(what: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (cause) {
    const isUnsafe = cause instanceof Failure && cause.cause === undefined;
    if (!isUnsafe && !isLasting(cause)) throw storageFailure(`cannot ${what}`, cause);
    return undefined;
  }
}

/** proc(5): the 22nd field; the second, the name in parentheses, may hold spaces and parentheses itself. */
function startIn(stat: string): string | undefined {
  return afterName(stat).split(' ')[19];
}

function afterName(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2);
}
