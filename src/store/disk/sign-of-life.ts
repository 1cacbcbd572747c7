import { randomBytes } from 'node:crypto';
import { readdir, rename } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import type { System } from '../../core/system.ts';
import { remove } from './files.ts';

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
export function lookFor(sign: string, here: string, system: System): Promise<OwnerSight> {
  return called(addressOf(sign, here, system));
}

/** A name alone and no address: whoever can write a lock must not choose what is called. */
export function isSign(text: unknown): boolean {
  return typeof text === 'string' && /^[0-9a-f]{16}$/.test(text);
}

const prefix = 'live-';

function addressOf(sign: string, here: string, { platform }: Pick<System, 'platform'>): string {
  return platform === 'win32' ? String.raw`\\.\pipe\chatelaine-${sign}` : join(dirname(here), `${prefix}${sign}`);
}

async function listen(here: string, system: System): Promise<string> {
  const sign = randomBytes(8).toString('hex');
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
  await removeEnded(dirname(here));
  return sign;
}

/** A socket stays when its process ends. */
async function removeEnded(folder: string): Promise<void> {
  const sockets = (await readdir(folder)).filter((name) => name.startsWith(prefix)).map((name) => join(folder, name));
  for (const socket of sockets) if ((await called(socket)) === 'gone') await remove(socket);
}

/** A process that is stopped or busy does not answer at once; where nobody listens, the system says so itself. */
const patience: Milliseconds = 1000;

function called(address: string): Promise<OwnerSight> {
  return new Promise((resolve) => {
    const call = connect(address);
    const end = (sight: OwnerSight): void => {
      call.destroy();
      resolve(sight);
    };
    call.once('connect', () => end('running'));
    call.setTimeout(patience, () => end('running'));
    call.on('error', (cause: NodeJS.ErrnoException) => {
      // A pipe vanishes with its process, and a socket that nobody answers is removed by the next process.
      end(cause.code === 'ECONNREFUSED' || cause.code === 'ENOENT' ? 'gone' : 'unseen');
    });
  });
}
