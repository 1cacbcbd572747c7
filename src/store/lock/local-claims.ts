import { basename, dirname, join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { batched, paced } from '../../core/batch.ts';
import { Failure } from '../../core/failure.ts';
import type { System } from '../../core/system.ts';
import type { ClaimingJob, ClaimOptions, FreeClaims } from '../claims.ts';
import { orFailure, syncFolder } from '../disk/files.ts';
import { inWords } from '../disk/owner.ts';
import type { QueuePlace } from '../queue.ts';
import { isUnconfirmed, joinHistories, noRequests, onElapsed, type RequestHistory } from '../request-history.ts';
import { acquireLock, lockFolder, lockFolders, lockHolder, withLock, type Surroundings } from './lock.ts';
import {
  addLines,
  afterLine,
  hashOf,
  holderPath,
  readRecord,
  type RecordLine,
  type RequestRecord,
  type UserRecord,
} from './request-record.ts';

export interface LocalClaimOptions extends ClaimOptions {
  readonly settle: Milliseconds;
  /** The name of this run (`runName`). */
  readonly by: string;
  /** Where what dead runs have left is counted. */
  readonly queue: Pick<QueuePlace, 'findDead'>;
  readonly job?: ClaimingJob | undefined;
}

/** The claims on the users of one application, named by its server and code (docs/exactly-once.md, The record). */
export async function openClaims(name: string, host: Surroundings, options: LocalClaimOptions): Promise<FreeClaims> {
  const { remember, signal, settle, by, queue, job } = options;
  const { clock, system } = host;
  const folder = await lockFolder(system);
  const base = join(folder, hashOf(name));
  const lock = `${base}.lock`;
  const held = new Set<string>();
  /** Users of whom a line is not on disk: they are not given back, and count as asked for now, as after a kill. */
  const unrecorded = new Set<string>();
  const { add, broken } = recorderOf(base, host, job);
  /** While users are held, the file that says so is there. */
  let hold: { readonly end: () => Promise<void> } | undefined;

  const takeUnderLock = async (names: readonly string[]) => {
    const now = clock.elapsed();
    const record = await readRecord(base, system);
    const others = await othersIn(base, record, names, by, system);
    const histories = new Map<string, RequestHistory>();
    const taken = { histories, held: [...others.keys()], holder: [...others.values()][0], now };
    const free = names.filter((user) => !others.has(user));
    if (free.length === 0) return taken;
    hold ??= await holdOf(base, by, host);
    // Held from here on: who gives others back meanwhile leaves that file.
    for (const user of free) held.add(user);
    const line = {
      event: 'held',
      time: clock.now(),
      hold: { by, remember, job: job?.name },
      users: free.map(hashOf),
    } as const;
    // Of a run that has died all users count from now on, and all that it had under way.
    const isStale = record.isStale || free.some((user) => (record.users.get(hashOf(user))?.hold?.by ?? by) !== by);
    if (isStale) await queue.findDead(settle);
    await add([line], { ...record, isStale });
    const { lostEnd } = record;
    const isRecent = typeof lostEnd === 'number' ? lostEnd + settle > line.time : lostEnd !== undefined;
    const lost = isRecent ? { posted: lostEnd } : undefined;
    for (const user of free) {
      const known = record.users.get(hashOf(user));
      const own = known && afterLine(known, line).history;
      const history = lost ? joinHistories(lost, own) : own;
      if (history && history !== noRequests) histories.set(user, onElapsed(history, clock));
    }
    return taken;
  };

  const pace = paced(clock, 20);
  const append = batched<readonly RecordLine[]>(
    (all) => withLock(lock, host, () => add(all.flat())),
    // Who holds one user has nothing to gather.
    async () => (held.size > 1 ? pace() : undefined),
  );

  return {
    isShared: false,
    lost: broken,
    async takeFree(users) {
      await refuseOpen(folder, name, users, system);
      return withLock(lock, host, () => takeUnderLock(users), { wait: 60_000, signal });
    },
    async busy(users) {
      const now = clock.elapsed();
      const record = await readRecord(base, system);
      const others = await othersIn(base, record, users, by, system);
      for (const user of others.keys()) if (record.users.get(hashOf(user))?.history.answer) others.delete(user);
      return { count: others.size, holder: [...others.values()][0], now };
    },
    async posting() {
      const failure = broken();
      if (failure) throw failure;
    },
    async ended(user, end) {
      unrecorded.add(user);
      await append([{ ...end, users: [hashOf(user)] }]);
      unrecorded.delete(user);
    },
    async release(users, shown) {
      const freed = users.filter((user) => held.has(user));
      const recorded = freed.filter((user) => !unrecorded.has(user));
      const confirmed = recorded.filter((user) => shown?.has(user)).map(hashOf);
      try {
        if (recorded.length > 0)
          await append([
            { event: 'confirmed', time: clock.now(), users: confirmed },
            { event: 'freed', users: recorded.map(hashOf) },
          ]);
      } finally {
        for (const user of freed) held.delete(user);
        const ended = held.size === 0 ? hold : undefined;
        if (ended) hold = undefined;
        await ended?.end();
      }
    },
  };
}

/** The file that says who holds users: after a power cut too it tells how many requests may be under way. */
async function holdOf(base: string, by: string, host: Surroundings) {
  const end = await acquireLock(holderPath(base, by), host);
  try {
    await orFailure(`write ${base}`, syncFolder(dirname(base)));
    return { end };
  } catch (cause) {
    await end();
    throw cause;
  }
}

/** Adds lines to the record, and to the copy of a job. `broken`: why one is not on disk; then nothing more is sent. */
function recorderOf(base: string, host: Surroundings, job: ClaimingJob | undefined) {
  let failure: Failure | undefined;
  return {
    broken: () => failure,
    async add(lines: readonly RecordLine[], read?: RequestRecord): Promise<void> {
      try {
        await addLines(base, lines, host, read);
        for (const line of lines) if (line.users.length > 0) await job?.copy?.({ record: basename(base), ...line });
      } catch (cause) {
        if (cause instanceof Failure) failure ??= cause;
        throw cause;
      }
    },
  };
}

/** Users whom other processes hold that are not certainly gone, and these processes in words. */
async function othersIn(base: string, { users }: RequestRecord, names: readonly string[], own: string, system: System) {
  const others = new Map<string, string>();
  const holders = new Map<string, string | undefined>([['', undefined]]);
  for (const user of names) {
    const { by = '' } = users.get(hashOf(user))?.hold ?? {};
    if (by === own) continue;
    if (!holders.has(by)) {
      const path = holderPath(base, by);
      const live = await lockHolder(path, system);
      holders.set(by, live && inWords(live, path));
    }
    const holder = holders.get(by);
    if (holder !== undefined) others.set(user, holder);
  }
  return others;
}

/** The records of users of one application. @throws Failure config where a file is damaged */
export async function recordedOf(name: string, users: readonly string[], { system }: Pick<Surroundings, 'system'>) {
  const recorded = new Map<string, UserRecord>();
  for (const folder of lockFolders(system)) {
    const record = await readRecord(join(folder, hashOf(name)), system);
    for (const user of users) {
      const known = record.users.get(hashOf(user));
      if (known) recorded.set(user, known);
    }
  }
  return recorded;
}

/** The requests for users whom a job, begun then, held last. Its runs have ended: whom one holds counts as asked. */
export async function historiesOfJob(
  name: string,
  users: readonly string[],
  { name: job, begun }: { readonly name: string; readonly begun: Milliseconds },
  host: Surroundings,
): Promise<Map<string, RequestHistory>> {
  const histories = new Map<string, RequestHistory>();
  for (const [user, { hold, history, ...known }] of await recordedOf(name, users, host)) {
    const posted = hold ? 'end not recorded' : history.posted;
    const last = posted ?? history.answer?.time ?? 0;
    if (known.job !== job || (typeof last === 'number' && last < begun)) continue;
    histories.set(user, onElapsed({ ...history, posted }, host.clock));
  }
  return histories;
}

/** Refuses users with an open request in the usual folder, where nothing can be recorded now. @throws Failure config */
async function refuseOpen(folder: string, name: string, users: readonly string[], system: System): Promise<void> {
  const [usual] = lockFolders(system);
  if (folder === usual) return;
  const record = await readRecord(join(usual, hashOf(name)), system);
  for (const user of users) {
    const { hold, history = noRequests } = record.users.get(hashOf(user)) ?? {};
    if (!hold && !isUnconfirmed(history)) continue;
    const what = `${usual} cannot be written, and holds an open request for '${user}': nothing was sent`;
    throw new Failure('config', what, {
      hint: 'Make the folder writable again, then run the same command; other users can be given licenses meanwhile.',
    });
  }
}
