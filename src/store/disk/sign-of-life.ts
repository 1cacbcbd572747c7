import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { randomBytes, readdir, rename } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { System } from '../../core/system.ts';
import { codeOf, remove } from './files.ts';

/** What a look at an owner shows. */
export type OwnerSight = 'running' | 'gone' | 'unseen';

/** One for each process: it listens until the process ends. */
const signs = new WeakMap<System, Promise<string | undefined>>();

/**
 * The name under which this process can be called until it ends, where there is no /proc: another process with its id, after a restart or
 * much later, does not answer there. Undefined where it cannot listen. `here` is the path of this computer (docs/exactly-once.md, Owners).
 */
export function signOfLife(here: string, system: System): Promise<string | undefined> {
  const sign = signs.get(system) ?? listen(here, system).catch(() => undefined);
  signs.set(system, sign);
  return sign;
}

/** Whether the process with that sign runs; `here` is the path of its computer, which must be this one. */
export async function lookFor(sign: string, here: string, system: System): Promise<OwnerSight> {
  const sight = await called(addressOf(sign, here, system));
  if (sight !== 'refused') return sight;
  // macOS also refuses calls for a process that is stopped, once some 190 wait in its queue.
  return answers(Number.parseInt(sign.slice(0, idDigits), 16), system) ? 'unseen' : 'gone';
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
  const sign = system.pid.toString(16).padStart(idDigits, '0') + randomBytes(4).toString('hex');
  const address = addressOf(sign, here, system);
  const isPipe = system.platform === 'win32';
  const server = createServer((call) => call.destroy());
  // A socket is there before it is listened to, and would be removed as that of a process that is gone: it gets its name afterwards.
  const draft = isPipe ? address : join(dirname(here), sign);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(draft, resolve));
  // Neither the server nor a fault of it keeps or ends the process.
  server.unref().on('error', () => undefined);
  if (isPipe) return sign;
  await rename(draft, address);
  await removeEnded(here, system);
  return sign;
}

/** A socket stays when its process ends. */
async function removeEnded(here: string, system: System): Promise<void> {
  const names = (await readdir(dirname(here))).filter((name) => name.startsWith(prefix));
  for (const sign of names.map((name) => name.slice(prefix.length)))
    if ((await lookFor(sign, here, system)) === 'gone') await remove(addressOf(sign, here, system));
}

/** A process that is stopped or busy does not answer at once; where nobody listens, the system says so itself. */
const patience: Milliseconds = 1000;

function called(address: string): Promise<OwnerSight | 'refused'> {
  return new Promise((resolve) => {
    const call = connect(address);
    const end = (sight: OwnerSight | 'refused'): void => {
      call.destroy();
      resolve(sight);
    };
    call.once('connect', () => end('running'));
    call.setTimeout(patience, () => end('running'));
    call.on('error', (cause: NodeJS.ErrnoException) => {
      // A pipe vanishes with its process, and the socket of a process that is gone is removed by the next one.
      if (cause.code === 'ENOENT') end('gone');
      else end(cause.code === 'ECONNREFUSED' ? 'refused' : 'unseen');
    });
  });
}
