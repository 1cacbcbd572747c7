import { join } from 'node:path';
import {
  connect,
  createServer,
  randomBytes,
  readdir,
  readFile,
  readlink,
  stat,
  writeFile,
} from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { defined } from '../../core/table-names.ts';
import { isObject } from '../../core/json.ts';
import { Failure } from '../../core/failure.ts';
import { removing } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { codeOf, isLasting, remove, storageFailure, syncFolder, unlessRefused } from './files.ts';
import { foldersOf } from './folders.ts';
import { hasModes, makeFolderAmongOthers, makePrivateFolder } from './private.ts';

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
  readonly about?: OwnerAbout;
}

/** For people who wait for the process. `since`: RFC 3339. */
export interface OwnerAbout {
  readonly command: string;
  readonly since: string;
  /** The name of its file in the record of writes. */
  readonly file: string;
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
  const [line, boot, space, here] = await Promise.all([
    read('self/stat', (path) => readFile(path, 'utf8')),
    read('sys/kernel/random/boot_id', (path) => readFile(path, 'utf8')),
    read('self/ns/pid', readlink),
    whereThere(`mark this computer in ${system.local}`, markOf(system)),
  ]);
  const pid = line === undefined ? system.pid : Number.parseInt(line, 10);
  // Where /proc shows other ids than the process has, it belongs to an outer namespace, and `pid` counts in that one.
  const counted = space !== undefined && pid !== system.pid ? `${space} from outside` : space;
  const sign = line === undefined && here === undefined ? undefined : await openLivenessSocket(system);
  const known = defined({ here, start: line && startIn(line), boot: boot?.trim(), space: counted, sign });
  return { pid, host: system.hostname, ...known };
}

export function isOwner(value: unknown): value is Owner {
  if (!isObject(value)) return false;
  const { pid, token, host, here, start, boot, space, sign, about } = value;
  const isToken = typeof token === 'string' && /^\w{1,64}$/.test(token);
  const areTexts = [host, here, start, boot, space].every((one) => one === undefined || typeof one === 'string');
  if (typeof pid !== 'number' || !isToken || !areTexts) return false;
  // A name alone and no address: whoever can write a lock must not choose what is called.
  const isSign = sign === undefined || (typeof sign === 'string' && /^[0-9a-f]{16}$/.test(sign));
  return isSign && (about === undefined || isAbout(about));
}

function isAbout(value: unknown): value is OwnerAbout {
  if (!isObject(value)) return false;
  return [value['command'], value['since'], value['file']].every((one) => typeof one === 'string');
}

/** An owner that is not certainly gone. */
export interface LiveOwner {
  /** Such as `process 7 on vm`. */
  readonly name: string;
  /** False where whether it still runs cannot be seen from here. */
  readonly isSeen: boolean;
  readonly about: OwnerAbout | undefined;
}

/** What is known of an owner; undefined: it certainly no longer runs. */
export async function liveOwner(owner: Owner, me: Owner, system: System): Promise<LiveOwner | undefined> {
  const liveness = await livenessOf(owner, me, system);
  if (liveness === 'gone') return undefined;
  const name = `process ${owner.pid} on ${owner.host ?? 'an unknown computer'}`;
  const said = liveness === 'stopped' ? `${name} (stopped)` : name;
  return { name: said, isSeen: liveness !== 'unseen', about: owner.about };
}

/** A sentence that says what to do about the owner of a lock file. */
export function remedy({ isSeen }: LiveOwner, path: string): string {
  if (isSeen) return `Run the command again when it has ended; ${path} is free then.`;
  return `Whether it still runs cannot be seen from here; once it has ended, remove what it left: ${removing(path)}`;
}

type Liveness = 'running' | 'stopped' | 'gone' | 'unseen';

/** Looks an id up only on the computer that it is of: elsewhere it is another process's. */
async function livenessOf(owner: Owner, me: Owner, system: System): Promise<Liveness> {
  if (owner.pid === 0) return 'gone';
  const isHere = owner.here !== undefined && (await isOfHere(owner.here, me, system));
  // Of an earlier boot; the name counts too: computers can share the folder in which the path is.
  const isEarlier = owner.boot !== undefined && me.boot !== undefined && owner.host === me.host;
  if (owner.boot !== me.boot) return isEarlier && isHere ? 'gone' : 'unseen';
  if (owner.boot === undefined && !isHere) return 'unseen';
  if (owner.space === me.space && owner.start !== undefined) {
    const line = await unlessRefused(readFile(`/proc/${owner.pid}/stat`, 'utf8'));
    if (line === undefined) return answers(owner.pid, system) ? 'running' : 'gone';
    const state = afterName(line).charAt(0);
    if (startIn(line) !== owner.start || /[ZX]/.test(state)) return 'gone';
    return state === 'T' ? 'stopped' : 'running';
  }
  const answer = owner.sign === undefined ? 'unseen' : await probe(owner.sign, system);
  if (answer === 'running') return answer;
  if (owner.space !== me.space) return answer === 'refused' ? 'gone' : 'unseen';
  if (answer === 'missing' && system.platform === 'win32') return 'gone';
  // A process of that id may be a later one, and a Mac also refuses calls for one that is stopped.
  return answers(owner.pid, system) ? 'unseen' : 'gone';
}

/** On Windows a path that a lock names may be on another computer, to which a lookup would send the user's sign-in. */
async function isOfHere(path: string, me: Owner, system: System): Promise<boolean> {
  return path === me.here || (hasModes(system) && (await unlessRefused(stat(path))) !== undefined);
}

const markPrefix = 'here-';

/** The file by which this computer is recognized; synced even if present, since its maker may have been killed. */
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

/** Undefined where it cannot be there. @throws Failure for an error that passes: a boot later the owner is unknown */
function whereThere<T>(what: string, work: Promise<T>): Promise<T | undefined> {
  return work.catch((cause: unknown) => {
    const isUnsafe = cause instanceof Failure && cause.cause === undefined;
    if (!isUnsafe && !isLasting(cause)) throw storageFailure(`cannot ${what}`, cause);
    return undefined;
  });
}

/** proc(5): the 22nd field; the second, the name in parentheses, may hold spaces and parentheses itself. */
function startIn(stat: string): string | undefined {
  return afterName(stat).split(' ')[19];
}

function afterName(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2);
}

/** The name to call this process by until it ends. Undefined where it cannot listen. */
async function openLivenessSocket(system: System): Promise<string | undefined> {
  const sign = system.pid.toString(16).padStart(8, '0') + randomBytes(4).toString('hex');
  try {
    if (system.platform !== 'win32') await makePrivateFolder(folderOf(system), system);
    const server = createServer((call) => call.destroy());
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(addressOf(sign, system), resolve));
    // Neither the server nor a fault of it keeps or ends the process.
    server.unref().on('error', () => undefined);
    if (system.platform === 'win32') return sign;
    system.atExit(() => server.close());
    await removeOld(sign, system).catch(() => undefined);
    return sign;
  } catch {
    return undefined;
  }
}

/** Whether a process has that id. One that may not be signalled is there all the same. */
function answers(pid: number, system: System): boolean {
  try {
    system.kill(pid, 0);
    return true;
  } catch (cause) {
    return codeOf(cause) === 'EPERM';
  }
}

function folderOf(system: System): string {
  return join(foldersOf(system).state, 'live');
}

/** A pipe of Windows vanishes with its process; a socket of a killed process stays, and refuses calls. */
function addressOf(sign: string, system: System): string {
  return system.platform === 'win32' ? String.raw`\\.\pipe\chatelaine-${sign}` : join(folderOf(system), sign);
}

/** Removes sockets that killed processes left, after a day: whoever finds their locks calls them. */
async function removeOld(mine: string, system: System): Promise<void> {
  const folder = folderOf(system);
  const madeAt = async (name: string): Promise<number> => (await stat(join(folder, name))).mtimeMs;
  const oldest = (await madeAt(mine)) - 86_400_000;
  for (const name of await readdir(folder))
    if ((await madeAt(name)) < oldest && (await probe(name, system)) === 'refused') await remove(join(folder, name));
}

/** A process that is stopped or busy does not answer at once; where nobody listens, the system says so itself. */
const patience: Milliseconds = 1000;

async function probe(sign: string, system: System): Promise<'running' | 'refused' | 'missing' | 'unseen'> {
  const call = connect(addressOf(sign, system));
  try {
    await new Promise<void>((resolve, reject) => {
      call.once('connect', resolve).on('error', reject).setTimeout(patience, resolve);
    });
    return 'running';
  } catch (cause) {
    const code = codeOf(cause);
    return code === 'ENOENT' ? 'missing' : code === 'ECONNREFUSED' ? 'refused' : 'unseen';
  } finally {
    call.destroy();
  }
}
