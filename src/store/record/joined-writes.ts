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
import type { UserLock, LicenseUser, WriteEnd } from './writes.ts';

interface StoreWorld extends LockWorld {
  /** The beginning of the id of each write. */
  readonly token: string;
  readonly settle: Milliseconds;
  readonly alarm: Alarm;
}

/** A request whose line is older than this when it is about to be sent gets another line first. */
const oldestLine: Milliseconds = 1000;
/** How long the end of a write waits for another line, to share its sync. */
const longestDelay: Milliseconds = 20;

/** Joins all places of an origin; a dry run has none. Locks are taken in their order, and each line goes to all. */
export class LicenseWrites {
  readonly #places: readonly WritePlace[];
  readonly #world: StoreWorld;
  readonly #inTurn = limiter(1);
  /** The writes of this run that are under way or pending, each with its `settle`. */
  readonly #counted = new Map<number, Milliseconds>();
  /** The same writes, and those that ended but are still needed, such as open ones; a large run has many. */
  readonly #needed = new Set<number>();
  readonly #lines: JoinedItems<(place: WritePlace) => WriteLine>;
  /** Writes whose ends are not on disk yet, and need to be before their users are unlocked. */
  readonly #ending = new Map<number, Promise<void>>();
  /** The records of other runs that each place had when it was last read. */
  readonly #seen = new Map<WritePlace, readonly RunRecord[]>();
  #releasing: Promise<void> = Promise.resolve();
  /** Why a place could not record a line: nothing more is sent. */
  failure: Error | undefined;
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

  /** Locks the users; undefined where one of them is locked by others. @throws Failure of a place */
  async lockNow(users: readonly LicenseUser[]): Promise<UserLock | undefined> {
    const lock = await this.#tryLock(users);
    return 'release' in lock ? lock : undefined;
  }

  /** Locks the users, waiting while the holder writes lines. @throws Failure unavailable naming the holder */
  async lock(users: readonly LicenseUser[]): Promise<UserLock> {
    await this.#releasing;
    return untilLocked(users, this.#world, () => this.#tryLock(users));
  }

  async #tryLock(users: readonly LicenseUser[]): Promise<UserLock | LockHolder> {
    if (this.failure) throw this.failure;
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

  /** The writes of other runs for a user; certainly all of them only under the user's lock. */
  async known(user: LicenseUser): Promise<KnownWrites> {
    return (await this.allKnown([user]))[0] ?? noWrites;
  }

  async allKnown(users: readonly LicenseUser[]): Promise<readonly KnownWrites[]> {
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

  /** Reads other runs, and ends writes of ended runs. In turn: a read beside such an end would miss its record. */
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

  /** Records an end, with the current n, for writes that ended runs had under way. False if there was none. */
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

  /** Records an attempt; all attempts of a write have one id. @throws Failure of a place: then nothing may be sent */
  async begin(id: string, users: readonly LicenseUser[], asked: AskedWrite): Promise<void> {
    if (this.failure) throw this.failure;
    const begin = numberIn(id);
    this.#needed.add(begin);
    this.#counted.set(begin, asked.settle);
    // A slow disk or ledger must not make a line old before its request is sent.
    for (let isFresh = false; !isFresh;) {
      let began = 0;
      await this.#lines.addNow((place) => {
        began = this.#world.clock.elapsed();
        return { begin, users: users.map((user) => hashesOf(place.salt, user)), asked };
      });
      isFresh = this.#world.clock.elapsed() - began <= oldestLine;
    }
  }

  /** Records how a write of this or an earlier run ended, or was settled; on disk with the next line, or soon. */
  async end(id: string, what: WriteEnd): Promise<void> {
    const line = { end: numberIn(id), ...what };
    if (!id.startsWith(`${this.#world.token}-`)) return this.#inTurn(() => this.#endOfEnded(id, line));
    const isKept = what.is === 'answered' || what.is === 'no answer';
    if (what.is !== 'no answer' || what.n === 0) this.#counted.delete(line.end);
    if (!isKept) this.#needed.delete(line.end);
    const written = this.#lines.add(() => line);
    // Nobody waits for the line of a settled write: if it is lost with this run, other runs settle the write again.
    if (!isKept) return written;
    this.#ending.set(line.end, written);
    return written.finally(() => this.#ending.delete(line.end));
  }

  /** Resolves when the answer to that write is on disk, which it has to be before its key is printed. */
  async recorded(id: string): Promise<void> {
    const ending = this.#ending.get(numberIn(id));
    if (!ending) return;
    void this.#lines.hurry();
    await ending.catch(() => undefined);
  }

  /** Tells if this run still holds its users, by writing the lines that wait. */
  async holdsUsers(): Promise<boolean> {
    await this.#lines.hurry().catch(() => undefined);
    return !this.#places.some(({ isCut }) => isCut);
  }

  async #append(lines: readonly ((place: WritePlace) => WriteLine)[]): Promise<void> {
    const writing = this.#places.map((place) => place.append(lines.map((lineFor) => lineFor(place))));
    // A line goes to each place, although another place fails.
    for (const one of await Promise.allSettled(writing))
      if (one.status === 'rejected') throw (this.failure ??= errorOf(one.reason));
  }

  async #endOfEnded(id: string, line: EndLine): Promise<void> {
    for (const [place, records] of this.#seen)
      for (const record of records)
        if (record.isGone && id === `${record.token}-${line.end}`) await place.endOfEnded(record, [line]);
  }

  /** Counts a request of this run without an answer, which the server may still process. */
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

  /** The load of the server; other runs that cannot be read any more count as they were last read. */
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
        isOf: (other: LicenseUser) => hashesOf(place.salt, other).exact === user.exact,
      })),
    );
    return [...new Map(open.map((one) => [one.id, one])).values()];
  }

  async close(): Promise<void> {
    await this.#lines.hurry().catch(() => undefined);
    await this.#releasing;
    await this.#inTurn(async () => {
      for (const place of this.#places) await place.close(this.#needed);
    });
    const cause = this.#unreleased ?? this.failure;
    // A line that could not be recorded was reported at once.
    if (cause && (cause !== this.failure || !(cause instanceof Failure))) throw cause;
  }
}

function numberIn(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}
