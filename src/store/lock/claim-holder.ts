import { Failure } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { Owner } from '../disk/owner.ts';

/** Process ids count within one container: a process of another one cannot be looked at from here. */
export function waiting({ pid, space, host }: Owner, me: Owner, path: string): string {
  if (space === me.space) return `waiting for process ${pid}, which is creating licenses of the same users`;
  const where = `process ${pid} of another container (host ${host ?? 'unknown'})`;
  return `waiting for ${where}, which is creating licenses of the same users; ${remedy(path)}`;
}

/** A living process that holds users, in words. */
export function holderInWords({ pid, space, host }: Owner, me: Owner, path: string): string {
  if (space === me.space) return `process ${pid} of this machine`;
  return `process ${pid} of another container (host ${host ?? 'unknown'}; once it has ended, rm ${shellWord(path)}),`;
}

function remedy(path: string): string {
  return `whether it still runs cannot be seen from here: once it has ended, remove its claims: rm ${shellWord(path)}`;
}

/** Why nobody waits any longer. */
export function held({ pid, space }: Owner, me: Owner, path: string): Failure {
  return new Failure('unavailable', `process ${pid} is creating licenses of the same users`, {
    hint: space === me.space ? 'Run the command again when it has ended.' : remedy(path),
  });
}
