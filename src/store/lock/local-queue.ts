import { basename, join } from 'node:path';
import { inSequence } from '../../core/batch.ts';
import { readdir, stat, writeFile } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { thisOwner } from '../disk/owner.ts';
import { lineIn, summedLine } from '../disk/records.ts';
import { ifThere, orFailure, readBytes, remove, writePrivate } from '../disk/files.ts';
import {
  emptyQueue,
  isQueueState,
  queueAfter,
  type KeptQueue,
  type QueuePlace,
  type QueueState,
  type UnderWay,
} from '../queue.ts';
import { acquireLock, lockFolder, lockHolder, ownerOf, withLock, type Surroundings } from './lock.ts';
import { hashOf, widthIn } from './request-record.ts';

/** The queue of a server as the runs of this computer know it: `ORIGIN.queue`, there once a POST had no answer. */
export async function localQueue(origin: string, host: Surroundings): Promise<QueuePlace> {
  const { system, clock } = host;
  const folder = await lockFolder(system);
  const base = join(folder, hashOf(origin));
  const change = (next: (state: QueueState, now: Milliseconds) => QueueState): Promise<KeptQueue> =>
    withLock(`${base}.queue.lock`, host, async () => {
      const known = await read();
      const state = next(known.state, known.now);
      await writePrivate(`${base}.queue`, summedLine(state));
      return { state, now: known.now };
    });
  const read = async () => {
    const [bytes, now] = [await readBytes(`${base}.queue`), clock.now()];
    const { json, isSummed, isWhole } = lineIn(bytes?.toString('utf8').replace(/\n$/, '') ?? '');
    const kept = !bytes ? emptyQueue : isSummed && isWhole ? json?.value : undefined;
    const lost = { left: [{ by: 'unknown', posts: 1, others: 0, settle: 0 }], since: Infinity, decided: 0 };
    // A moment in the future, after the clock was set, and one that is not known, count as now.
    const { left, since, decided } = isQueueState(kept) ? kept : lost;
    const state: QueueState = { left, since: Math.min(since, now), decided: Math.min(decided, now) };
    return { state, now, isOdd: Math.max(since, decided) > now };
  };
  return {
    change,
    async read() {
      const { isOdd, ...kept } = await read();
      // Written once, else it would be now for every reader.
      return isOdd ? change((state) => state) : kept;
    },
    async takeTurn() {
      try {
        return await acquireLock(`${base}.turn.lock`, host, { wait: 0 });
      } catch (cause) {
        // Held by another run; an error of the disk has a cause.
        if (cause instanceof Failure && cause.kind === 'unavailable' && !cause.cause) return undefined;
        throw cause;
      }
    },
    async findDead(settle) {
      for (const name of await orFailure(`read ${folder}`, readdir(folder))) {
        const [, by = ''] = name.split('.');
        const width = widthIn(by, origin);
        if (width === 0 || !name.endsWith('.holder')) continue;
        const path = join(folder, name);
        const owner = await ownerOf(path);
        // One lock, which is there before and after its owner was not.
        if ((await lockHolder(path, system)) || !owner || (await ownerOf(path))?.token !== owner.token) continue;
        const { boot } = await thisOwner(system);
        // A power cut may have taken the file that tells it.
        const sending = boot !== undefined && owner.boot === boot ? await sendingOf(base, by, width) : width;
        await change((state, now) => {
          const known = state.left.find((one) => one.by === by)?.posts ?? 0;
          const posts = Math.min(width, known + sending);
          return posts > 0 ? queueAfter(state, now, { by, posts, others: 0, settle }, 'left') : state;
        });
        await remove(path);
        await remove(sendingPath(base, by));
      }
      const ended = await sendersIn(folder, base, 'ended');
      // Read again: a folder that changes may show what a run made later, and not its holder.
      const still = ended.length > 0 ? await sendersIn(folder, base, 'ended') : [];
      for (const by of ended.filter((one) => still.includes(one))) await remove(sendingPath(base, by));
    },
  };
}

/** Runs that have sent to that server: those that may still do so, or those that left the file that says so. */
async function sendersIn(folder: string, base: string, which: 'live' | 'ended'): Promise<string[]> {
  const names = (await orFailure(`read ${folder}`, readdir(folder))).map((name) => name.split('.'));
  const holders = new Set(names.flatMap(([, by, end]) => (end === 'holder' ? [by] : [])));
  const senders = names.flatMap(([of, by = '', end]) => (of === basename(base) && end === 'sending' ? [by] : []));
  return senders.filter((by) => holders.has(by) === (which === 'live'));
}

function sendingPath(base: string, by: string): string {
  return `${base}.${by}.sending`;
}

/** How many POSTs that run has under way at most; an earlier version left an empty file. */
async function sendingOf(base: string, by: string, width: number): Promise<number> {
  const path = sendingPath(base, by);
  const file = await ifThere(`read ${path}`, stat(path));
  return file ? Math.min(width, file.size || width) : 0;
}

/** A run that sends has a file `ORIGIN.BY.sending` meanwhile, with a byte for each POST. */
export async function localUnderWay(origin: string, by: string, { system }: Surroundings): Promise<UnderWay> {
  const folder = await lockFolder(system);
  const base = join(folder, hashOf(origin));
  const path = sendingPath(base, by);
  const oneTurn = inSequence();
  let [sending, told] = [0, 0];
  const tell = async (): Promise<void> => {
    const more = '.'.repeat(Math.max(0, sending - told));
    // Forgotten first: after an error the file may be there, or not.
    if (sending === 0) told = 0;
    if (sending === 0) return remove(path);
    if (more) await orFailure(`write ${path}`, writeFile(path, more, { flag: 'a', mode: 0o600 }));
    told += more.length;
  };
  return {
    async during(send) {
      sending += 1;
      try {
        await oneTurn(tell);
        return await send();
      } finally {
        sending -= 1;
        await oneTurn(tell).catch(() => undefined);
      }
    },
    stay: () => void (sending += 1),
    async ofOthers() {
      const others = (await sendersIn(folder, base, 'live')).filter((one) => one !== by);
      const counts = await Promise.all(others.map((one) => sendingOf(base, one, widthIn(one, origin))));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
