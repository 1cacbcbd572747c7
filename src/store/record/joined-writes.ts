/**
 * What all runs know of the writes of one licensing server: a lock for each user, and a record of each POST, PATCH and
 * PUT (docs/exactly-once.md, The four parts). A run opens it once for an origin, and it lives as long as the run.
 */
import { JoinedItems, limiter } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { errorOf, Failure, orWarn } from '../../core/failure.ts';
import type { Alarm } from '../../core/system.ts';
import { countedIn, hashesOf, knownOf, openFirstsIn } from './run-record.ts';
import type { EndLine, LockHolder, RunRecord, UserHashes, WriteLine, WritePlace } from './run-record.ts';
import { lockInAll, untilLocked, type LockWorld } from './user-locks.ts';
import { noWrites, type AskedWrite, type KnownWrites, type OpenFirst, type ServerLoad } from './writes.ts';
import type { UserLock, UserName, WriteEnd } from './writes.ts';

interface StoreWorld extends LockWorld {
  /** The start of each id. */
  readonly token: string;
  readonly settle: Milliseconds;
  readonly alarm: Alarm;
}

/** A request whose line is older when it is about to be sent gets another line first. */
const oldestLine: Milliseconds = 1000;
/** So long the end of a write waits for another line, whose sync it shares. */
const longestDelay: Milliseconds = 20;

/** All places of an origin as one; a dry run has none. Locks are taken in their order, lines go to each. */
export class LicenseWrites {
  readonly #places: readonly WritePlace[];
  readonly #world: StoreWorld;
  readonly #inTurn = limiter(1);
  /** The writes of this run that are under way or pending, each with its `settle`. */
  readonly #counted = new Map<number, Milliseconds>();
  /** Those, and the ones that are open or not forgotten; a large run has many. */
  readonly #left = new Set<number>();
  readonly #lines: JoinedItems<(place: WritePlace) => WriteLine>;
  /** Writes whose ends are not on disk yet, and need to be before their users are unlocked. */
  readonly #ending = new Map<number, Promise<void>>();
  /** What each place had of other runs when it was last read. */
  readonly #seen = new Map<WritePlace, readonly RunRecord[]>();
  #releasing: Promise<void> = Promise.resolve();
  /** Why a place could not record a line: nothing more is sent. */
  #failure: Error | undefined;
  #unreleased: Error | undefined;
  #count = 0;
  #silent = 0;
  #onSilence: (load: ServerLoad) => void = () => undefined;

  constructor(places: readonly WritePlace[], world: StoreWorld) {
    this.#places = places;
    this.#world = world;
    this.#lines = new JoinedItems((lines) => this.#append(lines), world.alarm, longestDelay);
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
    await this.#releasing;
    return untilLocked(users, this.#world, () => this.#tryLock(users));
  }

  async #tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    if (this.#failure) throw this.#failure;
    const lock = await lockInAll(this.#places, users);
    return 'release' in lock ? { release: () => this.#releaseRecorded(lock) } : lock;
  }

  #releaseRecorded(lock: UserLock): Promise<void> {
    const released = Promise.allSettled(this.#ending.values())
      .then(() => lock.release())
      .catch((cause: unknown) => void (this.#unreleased ??= errorOf(cause)));
    this.#releasing = this.#releasing.then(() => released);
    return released;
  }

  /** The writes of other runs. With the user's lock all of them. */
  async known(user: UserName): Promise<KnownWrites> {
    return (await this.allKnown([user]))[0] ?? noWrites;
  }

  async allKnown(users: readonly UserName[]): Promise<readonly KnownWrites[]> {
    await this.#read((place) => users.map((user) => hashesOf(place.salt, user)));
    const lacking = this.#places.flatMap((place) => place.lacking?.() ?? []);
    const now = this.#world.clock.elapsed();
    return users.map((user) => {
      const exact: string[] = [];
      const writes = [...this.#seen].flatMap(([place, records]) => {
        const hashes = hashesOf(place.salt, user);
        exact.push(hashes.exact);
        return records.flatMap((record) => record.of(hashes));
      });
      return knownOf(writes, exact, lacking, now);
    });
  }

  /** Reads other runs, and ends what ended ones had under way. In turn: a read beside that end misses its record. */
  #read(usersIn: (place: WritePlace) => readonly UserHashes[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const place of this.#places) {
        let records: readonly RunRecord[];
        do records = await place.read(usersIn(place));
        while (await this.#closeEnded(place, records));
        this.#seen.set(place, records);
      }
    });
  }

  /** Once, with the n of now. False: nothing had to be written. */
  async #closeEnded(place: WritePlace, records: readonly RunRecord[]): Promise<boolean> {
    const now = this.#world.clock.elapsed();
    const ended = records.filter(({ isGone, isClosed }) => isGone && !isClosed);
    const open = ended.filter((record) => record.cut().length > 0 || !record.isNeeded(now));
    for (const record of ended) record.isClosed = !open.includes(record);
    const n = open.length > 0 ? this.#countedIn(records).size : 0;
    for (const record of open) {
      const ends = record.cut().map((end) => ({ end, is: 'no answer', n }) as const);
      await place.endOfEnded(record, ends);
    }
    return open.length > 0;
  }

  #countedIn(records: readonly RunRecord[]): ReadonlyMap<string, Milliseconds> {
    const counted = countedIn(records, this.#world.clock.elapsed());
    for (const [number, settle] of this.#counted) counted.set(`${this.#world.token}-${number}`, settle);
    return counted;
  }

  /** Each attempt of one write has the same id. @throws Failure where a place cannot record it: nothing may be sent */
  async begin(id: string, users: readonly UserName[], asked: AskedWrite): Promise<void> {
    if (this.#failure) throw this.#failure;
    const begin = numberIn(id);
    this.#left.add(begin);
    this.#counted.set(begin, asked.settle);
    // The lock of a slow disk or ledger must not make a line old before its request is sent.
    for (let isFresh = false; !isFresh;) {
      let began = 0;
      await this.#lines.addNow((place) => {
        began = this.#world.clock.elapsed();
        return { begin, users: users.map((user) => hashesOf(place.salt, user)), asked };
      });
      isFresh = this.#world.clock.elapsed() - began <= oldestLine;
    }
  }

  /** How a write ended, or what is known of it since, also of an earlier run: on disk with the next line, or soon. */
  async end(id: string, what: WriteEnd): Promise<void> {
    const line = { end: numberIn(id), ...what };
    if (!id.startsWith(`${this.#world.token}-`)) return this.#inTurn(() => this.#endOfEnded(id, line));
    const isKept = what.is === 'answered' || what.is === 'no answer';
    if (what.is !== 'no answer' || what.n === 0) this.#counted.delete(line.end);
    if (!isKept) this.#left.delete(line.end);
    const written = this.#lines.add(() => line);
    // What is settled nobody waits for: where it is lost with this run, others settle it once more.
    if (!isKept) return written;
    this.#ending.set(line.end, written);
    return written.finally(() => this.#ending.delete(line.end));
  }

  /** Resolves when the answer to that write is on disk: before its key is printed. */
  async recorded(id: string): Promise<void> {
    const ending = this.#ending.get(numberIn(id));
    if (!ending) return;
    void this.#lines.hurry();
    await ending.catch(() => undefined);
  }

  /** Whether the users that it locked are locked still, by the lines that wait to be written. */
  async holdsUsers(): Promise<boolean> {
    await this.#lines.hurry().catch(() => undefined);
    return !this.#places.some(({ isCut }) => isCut);
  }

  async #append(lines: readonly ((place: WritePlace) => WriteLine)[]): Promise<void> {
    const writing = this.#places.map((place) => place.append(lines.map((lineFor) => lineFor(place))));
    // One place records what another cannot.
    for (const one of await Promise.allSettled(writing))
      if (one.status === 'rejected') throw (this.#failure ??= errorOf(one.reason));
  }

  async #endOfEnded(id: string, line: EndLine): Promise<void> {
    for (const [place, records] of this.#seen)
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

  /** Where other runs cannot be seen any more, with what was seen of them. */
  async load(): Promise<ServerLoad> {
    await orWarn(
      this.#read(() => []),
      () => undefined,
    );
    return this.#seenLoad();
  }

  #seenLoad(): ServerLoad {
    const counted = this.#countedIn([...this.#seen.values()].flat());
    return { n: counted.size + this.#silent, settle: Math.max(this.#world.settle, ...counted.values()) };
  }

  async openFirsts(): Promise<readonly OpenFirst[]> {
    await this.#read(() => []);
    const open = [...this.#seen].flatMap(([place, records]) =>
      openFirstsIn(records, this.#world.clock.elapsed()).map(({ user, ...first }) => ({
        ...first,
        isOf: (other: UserName) => hashesOf(place.salt, other).exact === user.exact,
      })),
    );
    return [...new Map(open.map((one) => [one.id, one])).values()];
  }

  async close(): Promise<void> {
    await this.#lines.hurry().catch(() => undefined);
    await this.#releasing;
    await this.#inTurn(async () => {
      for (const place of this.#places) await place.close(this.#left);
    });
    const cause = this.#unreleased ?? this.#failure;
    // That a line could not be recorded was said then.
    if (cause && (cause !== this.#failure || !(cause instanceof Failure))) throw cause;
  }
}

function numberIn(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}
