import { join } from 'node:path';
import { inSequence } from '../../core/batch.ts';
import { readdir, writeFile } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, ifAnswered } from '../../core/failure.ts';
import { lineIn, summedLine } from '../disk/records.ts';
import { orFailure, readBytes, remove, writePrivate } from '../disk/files.ts';
import type { System } from '../../core/system.ts';
import {
  emptyQueue,
  isQueueState,
  queueAfter,
  type KeptQueue,
  type QueuePlace,
  type QueueState,
  type UnderWay,
} from '../queue.ts';
import { acquireLock, lockFolder, lockHolder, withLock, type Surroundings } from './lock.ts';
import { hashOf, readRecord, widthIn } from './request-record.ts';

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
    const state = !bytes ? emptyQueue : isSummed && isWhole ? json?.value : undefined;
    // A moment in the future, after the clock was set, and one that is not known, count as now.
    if (isQueueState(state)) {
      const isAhead = Math.max(state.since, state.decided) > now;
      const past = { since: Math.min(state.since, now), decided: Math.min(state.decided, now) };
      return { state: { ...state, ...past }, now, isOdd: isAhead };
    }
    return {
      state: { left: [{ by: 'unknown', posts: 1, others: 0, settle: 0 }], since: now, decided: 0 },
      now,
      isOdd: true,
    };
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
        const [of = '', by = ''] = name.split('.');
        const width = widthIn(by, origin);
        if (width === 0 || !name.endsWith('.holder')) continue;
        const path = join(folder, name);
        const owner = await readBytes(path);
        // One lock, which is there before and after its owner was not.
        if ((await lockHolder(path, system)) || !owner || !(await readBytes(path))?.equals(owner)) continue;
        const held = await heldBy(by, join(folder, of), system);
        await change((state, now) => {
          const known = state.left.find((one) => one.by === by)?.posts ?? 0;
          const posts = Math.min(width, known + (held ?? width));
          return queueAfter(state, now, { by, posts, others: 0, settle }, 'left');
        });
        await remove(path);
        await remove(sendingPath(base, by));
      }
    },
  };
}

function sendingPath(base: string, by: string): string {
  return `${base}.${by}.sending`;
}

/** A run that sends has a file `ORIGIN.BY.sending` meanwhile; one without a holder was left by a power cut. */
export async function localUnderWay(origin: string, by: string, { system }: Surroundings): Promise<UnderWay> {
  const folder = await lockFolder(system);
  const path = sendingPath(join(folder, hashOf(origin)), by);
  const oneTurn = inSequence();
  let [sending, isTold] = [0, false];
  const tell = async (): Promise<void> => {
    if (isTold === sending > 0) return;
    await (isTold ? remove(path) : orFailure(`write ${path}`, writeFile(path, '', { flag: 'w', mode: 0o600 })));
    isTold = !isTold;
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
      const names = (await orFailure(`read ${folder}`, readdir(folder))).map((name) => name.split('.'));
      const holders = new Set(names.flatMap(([, holder = '', end]) => (end === 'holder' ? [holder] : [])));
      const others = names.filter(([, one = '', end]) => end === 'sending' && one !== by && holders.has(one));
      return others.reduce((sum, [, one = '']) => sum + widthIn(one, origin), 0);
    },
  };
}

/** How many users without an answer a run holds; undefined where its record does not tell. */
async function heldBy(by: string, base: string, system: System): Promise<number | undefined> {
  const record = await ifAnswered(readRecord(base, system));
  const held = [...(record?.users.values() ?? [])].filter(({ hold, history }) => hold?.by === by && !history.answer);
  return record?.lostEnd === undefined && held.length > 0 ? held.length : undefined;
}
