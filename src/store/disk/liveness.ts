import { dirname, join } from 'node:path';
import { connect, createServer, randomBytes, readdir, rename, stat, type Server } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { System } from '../../core/system.ts';
import { codeOf, remove } from './files.ts';
import { foldersOf } from './folders.ts';
import { makePrivateFolder } from './private-folder.ts';

export type Liveness = 'running' | 'gone' | 'unseen';

/**
 * The name to call this process by until it ends; no other process answers there. Undefined where it cannot listen.
 * `here` is this computer's path, without /proc (docs/exactly-once.md, Owners).
 */
export function openLivenessSocket(here: string | undefined, system: System): Promise<string | undefined> {
  return (here === undefined ? listenInState(system) : listen(here, system)).catch(() => undefined);
}

/** Whether the process with that sign runs; `here` is the path of its computer, which must be this one. */
export async function probeHere(sign: string, here: string, system: System): Promise<Liveness> {
  const liveness = await probe(addressOf(sign, here, system));
  // A pipe vanishes with its process, and the socket of a process that is gone is removed by the next one.
  if (liveness === 'missing') return 'gone';
  if (liveness !== 'refused') return liveness;
  // macOS also refuses calls for a process that is stopped, once some 190 wait in its queue.
  return answers(Number.parseInt(sign.slice(0, idDigits), 16), system) ? 'unseen' : 'gone';
}

/** Whether the process with that sign runs, in another container of this computer that shares the folder of state. */
export async function probeInState(sign: string, system: System): Promise<Liveness> {
  const liveness = await probe(join(folderInState(system), sign));
  if (liveness === 'missing') return 'unseen';
  return liveness === 'refused' ? 'gone' : liveness;
}

/** Whether a process has that id. One that may not be signalled is there all the same. */
export function answers(pid: number, system: System): boolean {
  try {
    system.kill(pid, 0);
    return true;
  } catch (cause) {
    return codeOf(cause) === 'EPERM';
  }
}

/** A name alone and no address: whoever can write a lock must not choose what is called. */
export function isSign(text: unknown): boolean {
  return typeof text === 'string' && /^[0-9a-f]{16}$/.test(text);
}

/** A sign begins with the id of its process. */
const idDigits = 8;

const prefix = 'live-';

function addressOf(sign: string, here: string, { platform }: Pick<System, 'platform'>): string {
  return platform === 'win32' ? String.raw`\\.\pipe\chatelaine-${sign}` : join(dirname(here), `${prefix}${sign}`);
}

async function listen(here: string, system: System): Promise<string> {
  const sign = newSign(system);
  const address = addressOf(sign, here, system);
  const isPipe = system.platform === 'win32';
  // A socket exists before it listens, and would be removed as a dead one's: it gets its name afterwards.
  const draft = isPipe ? address : join(dirname(here), sign);
  await serverAt(draft);
  if (isPipe) return sign;
  await rename(draft, address);
  await removeEnded(here, system);
  return sign;
}

async function listenInState(system: System): Promise<string> {
  const folder = folderInState(system);
  await makePrivateFolder(folder, system);
  const sign = newSign(system);
  const server = await serverAt(join(folder, sign));
  system.atExit(() => server.close());
  await removeOld(folder, sign).catch(() => undefined);
  return sign;
}

/** What a killed process leaves stays for a day: whoever finds its locks asks for it. */
async function removeOld(folder: string, mine: string): Promise<void> {
  const madeAt = async (name: string): Promise<number> => (await stat(join(folder, name))).mtimeMs;
  const oldest = (await madeAt(mine)) - 86_400_000;
  for (const name of await readdir(folder))
    if ((await madeAt(name)) < oldest && (await probe(join(folder, name))) === 'refused')
      await remove(join(folder, name));
}

function folderInState(system: System): string {
  return join(foldersOf(system).state, 'live');
}

function newSign({ pid }: System): string {
  return pid.toString(16).padStart(idDigits, '0') + randomBytes(4).toString('hex');
}

/** Neither the server nor a fault of it keeps or ends the process. */
async function serverAt(address: string): Promise<Server> {
  const server = createServer((call) => call.destroy());
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address, resolve));
  return server.unref().on('error', () => undefined);
}

/** A socket stays when its process ends. */
async function removeEnded(here: string, system: System): Promise<void> {
  const names = (await readdir(dirname(here))).filter((name) => name.startsWith(prefix));
  for (const sign of names.map((name) => name.slice(prefix.length)))
    if ((await probeHere(sign, here, system)) === 'gone') await remove(addressOf(sign, here, system));
}

/** A process that is stopped or busy does not answer at once; where nobody listens, the system says so itself. */
const patience: Milliseconds = 1000;

function probe(address: string): Promise<'running' | 'refused' | 'missing' | 'unseen'> {
  return new Promise((resolve) => {
    const call = connect(address);
    const end = (liveness: 'running' | 'refused' | 'missing' | 'unseen'): void => {
      call.destroy();
      resolve(liveness);
    };
    call.once('connect', () => end('running'));
    call.setTimeout(patience, () => end('running'));
    call.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') end('missing');
      else end(cause.code === 'ECONNREFUSED' ? 'refused' : 'unseen');
    });
  });
}
