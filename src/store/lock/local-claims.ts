import { join } from 'node:path';
import { batched, paced } from '../../core/batch.ts';
import { Failure } from '../../core/failure.ts';
import { randomBytes } from '../../core/outside.ts';
import type { ClaimOptions, FreeClaims } from '../claims.ts';
import { exists, remove } from '../disk/files.ts';
import { inWords } from '../disk/owner.ts';
import { noRequests, onElapsed, type OpenAnswer, type RequestHistory } from '../request-history.ts';
import { acquireLock, lockFolder, lockFolders, lockHolder, withLock, type Surroundings } from './lock.ts';
import {
  addLines,
  afterLine,
  hashOf,
  readRecord,
  suffix,
  type RecordLine,
  type RequestRecord,
} from './request-record.ts';

/** The claims on the users of one application, named by its server and code (docs/exactly-once.md, The record). */
export async function openClaims(
  name: string,
  host: Surroundings,
  { remember, signal }: ClaimOptions,
): Promise<FreeClaims> {
  const { clock, system } = host;
  const base = await recordBase(name, host);
  const lock = `${base}.lock`;
  const holderPath = (by: string): string => `${base}.${by}.holder`;
  const held = new Set<string>();
  /** While users are held, the file that says so is there. */
  let hold: { readonly by: string; readonly end: () => Promise<void> } | undefined;

  /** Users whom other processes hold that are not certainly gone, and these processes in words. */
  const othersIn = async ({ users }: RequestRecord, names: readonly string[]): Promise<Map<string, string>> => {
    const others = new Map<string, string>();
    const holders = new Map<string, string | undefined>();
    for (const user of names) {
      const by = users.get(hashOf(user))?.hold?.by;
      if (by === undefined || by === hold?.by) continue;
      if (!holders.has(by)) {
        const path = holderPath(by);
        const live = await lockHolder(path, system);
        holders.set(by, live && inWords(live, path));
        if (!live) await remove(path);
      }
      const holder = holders.get(by);
      if (holder !== undefined) others.set(user, holder);
    }
    return others;
  };

  const takeUnderLock = async (names: readonly string[]) => {
    const [now, time] = [clock.elapsed(), clock.now()];
    const record = await readRecord(base, system);
    const others = await othersIn(record, names);
    const histories = new Map<string, RequestHistory>();
    const taken = { histories, held: [...others.keys()], holder: [...others.values()][0], now };
    const free = names.filter((user) => !others.has(user));
    if (free.length === 0) return taken;
    if (!hold) {
      const by = randomBytes(8).toString('hex');
      hold = { by, end: await acquireLock(holderPath(by), host) };
    }
    // Held from here on: who gives others back meanwhile leaves that file.
    for (const user of free) held.add(user);
    const line = { event: 'held', time, hold: { by: hold.by, remember }, users: free.map(hashOf) } as const;
    await addLines(base, [line], host, record);
    for (const user of free) {
      const known = record.users.get(hashOf(user));
      const history = known && afterLine(known, line).history;
      if (history && history !== noRequests) histories.set(user, onElapsed(history, clock));
    }
    return taken;
  };

  const pace = paced(clock);
  const append = batched<readonly RecordLine[]>(
    (all) => withLock(lock, host, () => addLines(base, all.flat(), host)),
    // Who holds one user has nothing to gather.
    async () => (held.size > 1 ? pace() : undefined),
  );

  return {
    isShared: false,
    lost: () => undefined,
    takeFree: (users) => withLock(lock, host, () => takeUnderLock(users), { wait: 60_000, signal }),
    async busy(users) {
      const now = clock.elapsed();
      const record = await readRecord(base, system);
      const others = await othersIn(record, users);
      for (const user of others.keys()) if (record.users.get(hashOf(user))?.history.answer) others.delete(user);
      return { count: others.size, holder: [...others.values()][0], now };
    },
    posting: () => Promise.resolve(),
    ended: (user, end) => append([{ ...end, users: [hashOf(user)] }]),
    async release(users, shown) {
      const freed = users.filter((user) => held.has(user));
      if (freed.length === 0) return;
      const confirmed = freed.filter((user) => shown?.has(user)).map(hashOf);
      try {
        await append([
          { event: 'confirmed', time: clock.now(), users: confirmed },
          { event: 'freed', users: freed.map(hashOf) },
        ]);
      } finally {
        // What could not be written counts as asked for now, as after a kill.
        for (const user of freed) held.delete(user);
        const ended = held.size === 0 ? hold : undefined;
        if (ended) hold = undefined;
        await ended?.end();
      }
    },
  };
}

/** @throws Failure config where the record of that application is in the usual folder, which cannot be written now */
async function recordBase(name: string, { system }: Surroundings): Promise<string> {
  const folder = await lockFolder(system);
  const [usual] = lockFolders(system);
  if (folder !== usual && (await exists(join(usual, hashOf(name)) + suffix)))
    throw new Failure('config', `${usual} cannot be written, and holds the requests of this application`, {
      hint: 'Make the folder writable again, then run the same command. Nothing was sent.',
    });
  return join(folder, hashOf(name));
}

/** The open answers of users of one application. @throws Failure config where a file is damaged */
export async function openAnswersOf(
  name: string,
  users: readonly string[],
  { system }: Pick<Surroundings, 'system'>,
): Promise<Map<string, OpenAnswer>> {
  const open = new Map<string, OpenAnswer>();
  for (const folder of lockFolders(system)) {
    const record = await readRecord(join(folder, hashOf(name)), system);
    for (const user of users) {
      const answer = record.users.get(hashOf(user))?.history.answer;
      if (answer) open.set(user, answer);
    }
  }
  return open;
}
