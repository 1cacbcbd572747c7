import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import {
  knownOf,
  noWrites,
  openOf,
  takeAll,
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
  readonly say: (text: string) => void;
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
    const { elapsed, random, sleep, say } = this.#writing;
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
      if (!isSaid && elapsed() - began > quietWait) say(`waiting: ${held}`);
      isSaid ||= elapsed() - began > quietWait;
      await sleep(Math.min(20 * round, longestPause) * (0.5 + random()));
    }
  }

  async #tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    return takeAll(this.#writing.isDry ? [] : this.#places, (place) => place.tryLock(users));
  }

  async known(user: UserName): Promise<KnownWrites> {
    return (await this.allKnown([user]))[0] ?? noWrites;
  }

  /** In the order of the users. */
  async allKnown(users: readonly UserName[]): Promise<readonly KnownWrites[]> {
    const places = await Promise.all(this.#places.map((place) => place.known(users)));
    const now = this.#writing.elapsed();
    return users.map((_user, index) =>
      knownOf(
        places.flatMap((place) => place[index] ?? []),
        now,
      ),
    );
  }

  /** @throws Failure where a place cannot record it: then nothing may be sent */
  async begin(write: BegunWrite): Promise<void> {
    if (this.#writing.isDry) return;
    // The lock of a slow disk or ledger must not make a line old before its request is sent.
    for (let isFresh = false; !isFresh;) {
      const began = this.#writing.elapsed();
      for (const place of this.#places) await place.begin(write);
      isFresh = this.#writing.elapsed() - began <= oldestLine;
    }
  }

  async end(id: string, what: WriteEnd): Promise<void> {
    if (this.#writing.isDry) return;
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
    for (const place of this.#places) {
      const writes = await place.underWay();
      for (const [id, settle] of writes.counted) counted.set(id, settle);
      latest.push(writes.latest);
    }
    const settle = Math.max(this.#writing.settle, ...counted.values());
    return { n: counted.size + this.#silent, settle, latest };
  }

  async openFirsts(): Promise<readonly OpenFirst[]> {
    const firsts = (await Promise.all(this.#places.map((place) => place.openFirsts()))).flat();
    const open = firsts.flatMap((first) => {
      const { asked, isOf } = first;
      const write = openOf(first);
      return write ? [{ ...write, app_code: asked.app_code, isOf }] : [];
    });
    return [...new Map(open.map((one) => [one.id, one])).values()];
  }

  async close(): Promise<void> {
    for (const place of this.#places) await place.close();
  }
}

/** A request whose line is older when it is about to be sent gets another line first. */
const oldestLine: Milliseconds = 1000;
