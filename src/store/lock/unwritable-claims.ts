import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import type { ClaimOptions } from '../claims.ts';
import { readAnswers, readClaims, type Posted } from './claims-file.ts';
import { lockFolders, type Surroundings } from './lock.ts';

/**
 * Refuses users for whom the usual folder, where it cannot be written any more, has a holder, an answer that is open, or a request that
 * may still be carried out: what happens now could not be recorded there.
 * @throws Failure config
 */
export async function refuseOpen(
  folder: string,
  file: string,
  wanted: ReadonlyMap<string, string>,
  { settle }: ClaimOptions,
  { system, clock }: Surroundings,
): Promise<void> {
  const [usual] = lockFolders(system);
  if (folder === usual) return;
  const path = join(usual, file);
  const { claims, posted } = await readClaims(path, system);
  const isOpen = ([, time, , unanswered = 0]: Posted): boolean => unanswered > 0 || time + settle > clock.now();
  const open = new Set([...claims.flatMap(({ users }) => users), ...posted.filter(isOpen).map(([user]) => user)]);
  for (const [user] of await readAnswers(path, system)) open.add(user);
  const user = [...wanted].find(([hash]) => open.has(hash))?.[1];
  if (user === undefined) return;
  throw new Failure('config', `${usual} cannot be written, and holds an open request for '${user}': nothing was sent`, {
    hint: 'Make the folder writable again, then run the same command; other users can be given licenses meanwhile.',
  });
}
