/**
 * What all runs know of the writes of one licensing server: a lock for each user, and a record of each POST, PATCH and
 * PUT (docs/exactly-once.md, The four parts). A run opens it once for an origin, and it lives as long as the run.
 */
import { inSequence } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import { countedIn, knownOf, openFirstsIn } from './run-record.ts';
import type { EndLine, LockHolder, RunRecord, UserHashes, WriteLine, WritePlace } from './run-record.ts';
import { noWrites, type BegunWrite, type KnownWrites, type OpenFirst, type WriteEnd } from './writes.ts';
import type { UserLock, UserName } from './writes.ts';

/** How many writes are pending or under way in all runs, with other requests of this run without an answer. */
export interface ServerLoad {
  readonly n: number;
  readonly settle: Milliseconds;
  /** Of each place: numbers that only grow, of the latest write that began, and that was answered or shown. */
  readonly latest: readonly { readonly begun: number; readonly passed: number }[];
}

interface StoreWorld extends Pick<Clock, 'elapsed' | 'random'> {
  /** The start of each id. */
  readonly token: string;
  readonly settle: Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly say: (text: string) => void;
}

/** So long a lock is waited for whose holder writes no line. */
const longestWait: Milliseconds = 120_000;
const quietWait: Milliseconds = 10_000;
const longestPause: Milliseconds = 400;
/** A request whose line is older when it is about to be sent gets another line first. */
const oldestLine: Milliseconds = 1000;
/** How many lines more than twice those that are needed a record may have. */
const maxGrowth = 1000;

/** All places of an origin as one; a dry run has none. Locks are taken in their order, lines go to each. */
export class LicenseWrites {
  readonly #places: readonly WritePlace[];
  readonly #world: StoreWorld;
  readonly #inTurn = inSequence();
  /** The writes of this run that are under way or pending, each with its `settle`. */
  readonly #counted = new Map<number, Milliseconds>();
  /** Those, and the ones that are open or not forgotten; a large run has many. */
  readonly #left = new Set<number>();
  readonly #seen: ReadonlyMap<WritePlace, { records: readonly RunRecord[]; begun: number; passed: number }>;
  #count = 0;
  #grown = 0;
  #silent = 0;
  #onSilence: (load: ServerLoad) => void = () => undefined;

  constructor(places: readonly WritePlace[], world: StoreWorld) {
    this.#places = places;
    this.#world = world;
    this.#seen = new Map(places.map((place) => [place, { records: [], begun: 0, passed: 0 }]));
  }

  newId(): string {
    this.#count += 1;
    return `${this.#world.token}-${this.#count}`;
  }

  /** Undefined where somebody has one of them. @throws Failure of a place */
  async lockNow(users: readonly UserName[]): Promise<UserLock | undefined> {
    const lock = await this.#tryLock(users);
    return 'release' in lock ? lock : undefined;
  }

  /** Waits while the holder writes lines. @throws Failure unavailable naming the holder */
  async lock(users: readonly UserName[]): Promise<UserLock> {
    const { elapsed, random, sleep, say } = this.#world;
    let [progress, end, sayAt] = ['', elapsed() + longestWait, elapsed() + quietWait];
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
      if (elapsed() > sayAt) say(`waiting: ${held}`);
      if (elapsed() > sayAt) sayAt = Infinity;
      await sleep(Math.min(20 * round, longestPause) * (0.5 + random()));
    }
  }

  /** In the order of the places and of the hashes, or none of them. */
  async #tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    const taken: UserLock[] = [];
    const release = async (): Promise<void> => {
      for (const lock of taken.splice(0).reverse()) await lock.release();
    };
    for (const place of this.#places) {
      const byHash = new Map(users.map((user) => [place.hashesOf(user).folded, user]));
      for (const [, user] of [...byHash].sort(([one], [other]) => (one < other ? -1 : 1))) {
        const lock = await place.tryLock(user).catch(async (cause: unknown) => {
          await release();
          throw cause;
        });
        if ('release' in lock) taken.push(lock);
        else return release().then(() => lock);
      }
    }
    return { release };
  }

  /** The writes of other runs. With the user's lock all of them. */
  async known(user: UserName): Promise<KnownWrites> {
    return (await this.allKnown([user]))[0] ?? noWrites;
  }

  /** In the order of the users. */
  async allKnown(users: readonly UserName[]): Promise<readonly KnownWrites[]> {
    await this.#read((place) => users.map((user) => place.hashesOf(user)));
    const lacking = this.#places.flatMap((place) => place.lacking?.() ?? []);
    const now = this.#world.elapsed();
    return users.map((user) => {
      const exact: string[] = [];
      const writes = [...this.#seen].flatMap(([place, { records }]) => {
        const hashes = place.hashesOf(user);
        exact.push(hashes.exact);
        return records.flatMap((record) => record.of(hashes));
      });
      return knownOf(writes, exact, lacking, now);
    });
  }

  /** Reads the records of other runs; what an ended one had under way gets its end first: nobody sees it without. */
  #read(usersIn: (place: WritePlace) => readonly UserHashes[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const [place, seen] of this.#seen) {
        do seen.records = await place.read(usersIn(place));
        while (await this.#closeEnded(place, seen.records));
        seen.begun = Math.max(seen.begun, ...seen.records.map(({ latest }) => latest.begun));
        seen.passed = Math.max(seen.passed, ...seen.records.map(({ latest }) => latest.passed));
      }
    });
  }

  /** Once, with the n of now. False: nothing had to be written. */
  async #closeEnded(place: WritePlace, records: readonly RunRecord[]): Promise<boolean> {
    const now = this.#world.elapsed();
    const ended = records.filter(({ isGone, isClosed }) => isGone && !isClosed);
    for (const record of ended) record.isClosed = true;
    const open = ended.filter((record) => record.cut().length > 0 || !record.isNeeded(now));
    const n = open.length > 0 ? this.#countedIn(records).size : 0;
    for (const record of open) {
      const ends = record.cut().map((end) => ({ end, is: 'no answer', n }) as const);
      await place.endOfEnded(record, ends);
    }
    return open.length > 0;
  }

  #countedIn(records: readonly RunRecord[]): ReadonlyMap<string, Milliseconds> {
    const counted = countedIn(records, this.#world.elapsed());
    for (const [number, settle] of this.#counted) counted.set(`${this.#world.token}-${number}`, settle);
    return counted;
  }

  /** @throws Failure where a place cannot record it: then nothing may be sent */
  async begin({ id, users, asked }: BegunWrite): Promise<void> {
    const begin = numberIn(id);
    this.#left.add(begin);
    this.#counted.set(begin, asked.settle);
    // The lock of a slow disk or ledger must not make a line old before its request is sent.
    for (let isFresh = false; !isFresh;) {
      const began = this.#world.elapsed();
      await this.#append((place) => ({ begin, users: users.map((user) => place.hashesOf(user)), asked }));
      isFresh = this.#world.elapsed() - began <= oldestLine;
    }
  }

  /** How a write ended, or what is known of it since. `id` may be of an earlier run (`known`). */
  async end(id: string, what: WriteEnd): Promise<void> {
    const line = { end: numberIn(id), ...what };
    if (!id.startsWith(`${this.#world.token}-`)) return this.#endOfEnded(id, line);
    if (what.is !== 'no answer' || what.n === 0) this.#counted.delete(line.end);
    if (what.is !== 'no answer' && what.is !== 'answered') this.#left.delete(line.end);
    await this.#append(() => line);
    if (this.#grown <= 2 * this.#left.size + maxGrowth) return;
    this.#grown = 0;
    for (const place of this.#places) await place.shorten(this.#left);
  }

  async #append(lineFor: (place: WritePlace) => WriteLine): Promise<void> {
    this.#grown += 1;
    const written = await Promise.allSettled(this.#places.map((place) => place.append(lineFor(place))));
    for (const one of written) if (one.status === 'rejected') throw one.reason;
  }

  async #endOfEnded(id: string, line: EndLine): Promise<void> {
    for (const [place, { records }] of this.#seen)
      for (const record of records)
        if (record.isGone && id === `${record.token}-${line.end}`) await place.endOfEnded(record, [line]);
  }

  /** Another request of this run had no answer: the server may still be at it. */
  unanswered(): void {
    this.#silent += 1;
    this.#onSilence(this.#seenLoad());
  }

  /** Called whenever a request has no answer, also one that is sent again; with what is known then of other runs. */
  watchSilences(heard: (load: ServerLoad) => void): void {
    this.#onSilence = heard;
  }

  answered(): void {
    this.#silent = 0;
  }

  async load(): Promise<ServerLoad> {
    await this.#read(() => []);
    return this.#seenLoad();
  }

  #seenLoad(): ServerLoad {
    const seen = [...this.#seen.values()];
    const counted = this.#countedIn(seen.flatMap(({ records }) => records));
    const settle = Math.max(this.#world.settle, ...counted.values());
    return { n: counted.size + this.#silent, settle, latest: seen.map(({ begun, passed }) => ({ begun, passed })) };
  }

  async openFirsts(): Promise<readonly OpenFirst[]> {
    await this.#read(() => []);
    const open = [...this.#seen].flatMap(([place, { records }]) =>
      openFirstsIn(records, this.#world.elapsed()).map(({ user, ...first }) => ({
        ...first,
        isOf: (other: UserName) => place.hashesOf(other).exact === user.exact,
      })),
    );
    return [...new Map(open.map((one) => [one.id, one])).values()];
  }

  async close(): Promise<void> {
    for (const place of this.#places) await place.close(this.#left);
  }
}

function numberIn(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}
