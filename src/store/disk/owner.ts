import { randomBytes } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { defined } from '../../core/defined.ts';
import type { Machine } from '../../core/world.ts';
import { codeOf } from './files.ts';

/** Who holds a lock. All but `pid` and `token` come from /proc and are absent on systems without it. */
export interface Owner {
  /** 0: the lock does not say, so the process that made it ended before it was complete. */
  readonly pid: number;
  /** Different for every lock that is taken. */
  readonly token: string;
  /** When the process began, in ticks since boot: a later process with the same id is another one. */
  readonly start?: string;
  /** Different after each boot, and on each computer. */
  readonly boot?: string;
  /** The namespace in which `pid` counts: each container has its own. */
  readonly space?: string;
  readonly host?: string;
}

/** This process, with a fresh token. */
export async function thisOwner(machine: Machine): Promise<Owner> {
  const [stat, boot, space, host] = await Promise.all([
    text('/proc/self/stat'),
    text('/proc/sys/kernel/random/boot_id'),
    link('/proc/self/ns/pid'),
    text('/proc/sys/kernel/hostname'),
  ]);
  const token = randomBytes(8).toString('hex');
  const pid = stat === undefined ? machine.pid : Number.parseInt(stat, 10);
  return { pid, token, ...defined({ start: stat && startIn(stat), boot, space, host }) };
}

/**
 * Whether that owner certainly no longer runs. Of a process in another container or on another computer nothing is certain, so
 * it counts as running.
 */
export async function isGone(owner: Owner, me: Owner, machine: Machine): Promise<boolean> {
  if (owner.pid === 0) return true;
  if (owner.boot !== me.boot) return owner.boot !== undefined && me.boot !== undefined && owner.host === me.host;
  if (owner.space !== me.space) return false;
  const stat = await text(`/proc/${owner.pid}/stat`);
  if (stat === undefined) return (me.start !== undefined || machine.kill !== undefined) && !answers(owner.pid, machine);
  return startIn(stat) !== owner.start || /^[ZX]/.test(afterName(stat));
}

/** A process that may not be signalled is there all the same. */
function answers(pid: number, machine: Machine): boolean {
  if (!machine.kill) return false;
  try {
    machine.kill(pid, 0);
    return true;
  } catch (cause) {
    return codeOf(cause) === 'EPERM';
  }
}

/** proc(5): the 22nd field; the second, the name in parentheses, may hold spaces and parentheses itself. */
function startIn(stat: string): string | undefined {
  return afterName(stat).split(' ')[19];
}

function afterName(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2);
}

async function text(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if (codeOf(cause) === undefined) throw cause;
    return undefined;
  }
}

async function link(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (cause) {
    if (codeOf(cause) === undefined) throw cause;
    return undefined;
  }
}
