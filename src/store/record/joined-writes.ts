import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import {
  noWrites,
  type AskedWrite,
  type BegunWrite,
  type KnownWrites,
  type Latest,
  type LockHolder,
  type OpenFirst,
  type UserLock,
  type UserName,
  type WriteEnd,
  type WritePlace,
} from './writes.ts';

/** How many writes are pending or under way in all runs, with other requests of this run without an answer. */
export interface ServerLoad {
  readonly n: number;
  readonly settle: Milliseconds;
  /** Of each place. */
  readonly latest: readonly Latest[];
}

interface StoreWorld extends Pick<Clock, 'elapsed' | 'random'> {
  /** The start of each id. */
  readonly token: string;
  readonly settle: Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
  /** A dry run locks nothing and writes nothing. */
  readonly isDry: boolean;
}

/** So long a lock is waited for whose holder writes no line. */
const longestWait: Milliseconds = 120_000;
const quietWait: Milliseconds = 10_000;
const longestPause: Milliseconds = 400;

/** All places of an origin as one: locks are taken in their order, lines go to each, and what they know is joined. */
export class LicenseWrites {
  readonly #places: readonly WritePlace[];
  readonly #writing: StoreWorld;
  /** Writes of this run that are pending or under way. */
  readonly #own = new Map<string, AskedWrite>();
  #count = 0;
  #silent = 0;
  #onSilence: () => void = () => undefined;

  constructor(places: readonly WritePlace[], writing: StoreWorld) {
    this.#places = places;
    this.#writing = writing;
  }

  newId(): string {
    this.#count += 1;
    return `${this.#writing.token}-${this.#count}`;
  }

  /** Undefined where somebody has one of them. @throws Failure of a place */
  async lockNow(users: readonly UserName[]): Promise<UserLock | undefined> {
    const lock = await this.#tryLock(users);
    return 'release' in lock ? lock : undefined;
  }

  /** Waits while the holder writes lines. @throws Failure unavailable naming the holder */
  async lock(users: readonly UserName[]): Promise<UserLock> {
    const { elapsed, random, sleep, note } = this.#writing;
    const began = elapsed();
    let [progress, end, isSaid] = ['', began + longestWait, false];
    for (let round = 1; ; round += 1) {
      const lock = await this.#tryLock(users);
      if ('release' in lock) return lock;
      const held = `the license of '${users[0]?.remote_user ?? ''}' is in use by ${lock.holder}`;
      if (lock.remedy !== undefined) throw new Failure('unavailable', held, { hint: lock.remedy });
      if (lock.progress !== progress) end = elapsed() + longestWait;
      progress = lock.progress;
      if (elapsed() > end)
        throw new Failure('unavailable', `${held}, which has done nothing for two minutes`, {
          hint: 'Continue or end that process, then run the command again.',
        });
      if (!isSaid && elapsed() - began > quietWait) note(`waiting: ${held}`);
      isSaid ||= elapsed() - began > quietWait;
      await sleep(Math.min(20 * round, longestPause) * (0.5 + random()));
    }
  }

  async #tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    const taken: UserLock[] = [];
    const release = async (): Promise<void> => {
      for (const lock of taken.splice(0).reverse()) await lock.release();
    };
    if (this.#writing.isDry) return { release };
    try {
      for (const place of this.#places) {
        const lock = await place.tryLock(users);
        if ('release' in lock) taken.push(lock);
        else {
          await release();
          return lock;
        }
      }
    } catch (cause) {
      await release();
      throw cause;
    }
    return { release };
  }

  async known(user: UserName): Promise<KnownWrites> {
    return (await this.allKnown([user]))[0] ?? noWrites;
  }

  /** In the order of the users. */
  async allKnown(users: readonly UserName[]): Promise<readonly KnownWrites[]> {
    const places = await Promise.all(this.#places.map((place) => place.known(users)));
    return users.map((_user, index) =>
      places.reduce<KnownWrites>((joined, place) => join(joined, place[index] ?? noWrites), noWrites),
    );
  }

  /** @throws Failure where a place cannot record it: then nothing may be sent */
  async begin(write: BegunWrite): Promise<void> {
    if (this.#writing.isDry) return;
    this.#own.set(write.id, write.asked);
    // The lock of a slow disk or ledger must not make a line old before its request is sent.
    for (let isFresh = false; !isFresh;) {
      const began = this.#writing.elapsed();
      for (const place of this.#places) await place.begin(write);
      isFresh = this.#writing.elapsed() - began <= oldestLine;
    }
  }

  async end(id: string, what: WriteEnd): Promise<void> {
    if (this.#writing.isDry) return;
    if (what.is !== 'no answer' || what.n === 0) this.#own.delete(id);
    const written = await Promise.allSettled(this.#places.map((place) => place.end(id, what)));
    for (const one of written) if (one.status === 'rejected') throw one.reason;
  }

  /** Another request of this run had no answer: the server may still be at it. */
  unanswered(): void {
    this.#silent += 1;
    this.#onSilence();
  }

  /** Calls `slowDown` whenever a request has no answer, also one that is sent again. */
  watchSilences(slowDown: () => void): void {
    this.#onSilence = slowDown;
  }

  answered(): void {
    this.#silent = 0;
  }

  async load(): Promise<ServerLoad> {
    const counted = new Map<string, Milliseconds>();
    const latest: Latest[] = [];
    for (const [id, { settle }] of this.#own) counted.set(id, settle);
    for (const place of this.#places) {
      const others = await place.underWay();
      for (const { id, settle } of others.counted) counted.set(id, settle);
      latest.push(others.latest);
    }
    const settle = Math.max(this.#writing.settle, ...counted.values());
    return { n: counted.size + this.#silent, settle, latest };
  }

  async openFirsts(): Promise<readonly OpenFirst[]> {
    const firsts = await Promise.all(this.#places.map((place) => place.openFirsts()));
    return [...new Map(firsts.flat().map((first) => [first.id, first])).values()];
  }

  async close(): Promise<void> {
    for (const place of this.#places) await place.close();
  }
}

/** A request whose line is older when it is about to be sent gets another line first. */
const oldestLine: Milliseconds = 1000;

/** Of two ends of one write the later counts, and the greater n. */
function join(one: KnownWrites, other: KnownWrites): KnownWrites {
  const pending = new Map(one.pending.map((write) => [write.id, write]));
  for (const write of other.pending) {
    const known = pending.get(write.id) ?? write;
    const [ended, n] = [Math.max(known.ended, write.ended), Math.max(known.n, write.n)];
    pending.set(write.id, { ...write, ended, n });
  }
  const open = (one.open?.time ?? -Infinity) > (other.open?.time ?? -Infinity) ? one.open : other.open;
  return { pending: [...pending.values()].sort((first, second) => first.ended - second.ended), open };
}
