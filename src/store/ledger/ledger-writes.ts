/**
 * The writes of all runs of all machines that share a ledger (docs/exactly-once.md, The shared ledger). It lives as
 * long as the run, whose one connection holds the locks of its users. Moments are the database's.
 */
import { batched } from '../../core/batch.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, writeJson } from '../../core/json.ts';
import { nextTurn } from '../../core/outside.ts';
import type { Surroundings } from '../lock/lock.ts';
import type {
  BegunWrite,
  FirstWrite,
  LockHolder,
  OtherWrites,
  RecordedWrite,
  UserLock,
  UserName,
  WriteEnd,
  WritePlace,
} from '../record/writes.ts';
import {
  hashedUser,
  keyOf,
  lackingWrite,
  listOf,
  recordedRows,
  type FreshUser,
  type HashedUser,
  type LedgerRow,
  type LedgerState,
  type RecordedRow,
  type RecordedRun,
  type ToldEntry,
  type WaitingLines,
} from './ledger-rows.ts';
import { statements } from './ledger-sql.ts';

/** What a statement that a request or a known key waits for may take. */
export const shortLimit: Milliseconds = 5000;

/** What is settled waits so long for a line that it can be written with. */
const longestDelay: Milliseconds = 100;

export type Ask = (text: string, values: readonly unknown[], limit?: Milliseconds) => Promise<readonly LedgerRow[]>;

/** The locks that a worker wants, with what is known of their users once they are taken. */
interface Wish {
  readonly users: readonly HashedUser[];
  readonly taken: Set<string>;
}

export class LedgerWrites implements WritePlace {
  readonly #ask: Ask;
  readonly #state: LedgerState;
  readonly #origin: string;
  readonly #run: RecordedRun;
  readonly #host: Surroundings;
  readonly #key: string;
  /** A connection may take its own lock twice: its workers exclude one another here. */
  readonly #held = new Set<string>();
  /** Locks that are given back with the next question. */
  #given: string[] = [];
  /** As long as the lock is held, nobody else changes it. */
  readonly #fresh = new Map<string, FreshUser>();
  readonly #ends = new Map<string, Milliseconds>();
  readonly #take: (wish: Wish) => Promise<void>;
  /** Lines that are written at once. */
  readonly #waiting: WaitingLines = { begun: [], ended: [], told: [] };
  readonly #note: (all: undefined) => Promise<void>;
  /** Until then, on this run's clock, each user counts as asked for: the ledger may lack what was written last. */
  #restored = -Infinity;
  #failure: Failure | undefined;

  constructor(ask: Ask, state: LedgerState, origin: string, run: RecordedRun, host: Surroundings) {
    this.#ask = ask;
    this.#state = state;
    this.#origin = origin;
    this.#run = run;
    this.#host = host;
    this.#key = keyOf(state.salt, `run ${run.token}`);
    this.#take = batched((wishes) => this.#takeAll(wishes), nextTurn);
    this.#note = batched(() => this.#writeAll(), nextTurn);
  }

  async open(): Promise<void> {
    const { run, command, note, requestLimit, settle } = this.#run;
    const { hostname, pid } = this.#host.system;
    await this.#query('open', [this.#key, this.#origin, run, command, hostname, pid]);
    const asked = requestLimit + shortLimit - (this.#state.age ?? Infinity);
    if (asked + settle <= 0) return;
    this.#restored = this.#host.clock.elapsed() + asked;
    const wait = formatDuration(Math.ceil((asked + settle) / 1000) * 1000);
    note(`the ledger is new or was restored, or a replica took over: no license is created in the next ${wait}`);
  }

  async tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    const wish: Wish = {
      users: users.map((user) => hashedUser(this.#state.salt, this.#origin, user)),
      taken: new Set(),
    };
    const keys = [...new Set(wish.users.map(({ key }) => key))].sort();
    const progress = String(this.#host.clock.elapsed());
    if (keys.some((key) => this.#held.has(key))) return { holder: 'this run', progress };
    for (const key of keys) this.#held.add(key);
    await this.#take(wish);
    const release = (): void => this.#release(wish, keys);
    if (wish.taken.size === keys.length) return { release: async () => release() };
    release();
    const [other] = await this.#query('holder', [keys]);
    if (!other) return { holder: 'another run', progress };
    const { command, host, pid, since, progress: written } = other;
    const time = new Date(Number(since)).toISOString().slice(11, 16);
    const holder = `${String(command)}, process ${String(pid)} on ${String(host)}, since ${time}Z`;
    return { holder, progress: String(written) };
  }

  async known(users: readonly UserName[]): Promise<readonly (readonly RecordedWrite[])[]> {
    const hashed = users.map((user) => hashedUser(this.#state.salt, this.#origin, user));
    const fresh = hashed.flatMap(({ key, exact }) => {
      const user = this.#fresh.get(exact);
      if (!user?.writes || user.key !== key) return [];
      this.#fresh.set(exact, { ...user, writes: undefined });
      return [user.writes];
    });
    const isFresh = fresh.length === users.length;
    const values = [this.#key, this.#origin, hashed.map(({ key }) => key), hashed.map(({ exact }) => exact)];
    const rows = isFresh ? fresh : (await this.#query('known', values)).map(({ writes }) => listOf(writes));
    const isLacking = this.#restored + this.#run.settle > this.#host.clock.elapsed();
    const lacking = isLacking ? [lackingWrite(this.#run.settle, this.#restored)] : [];
    return hashed.map((user, index) => [
      ...recordedRows(rows[index] ?? []).map((row) => this.#recorded(row, user)),
      ...lacking,
    ]);
  }

  async begin({ id, users, asked }: BegunWrite): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#waiting.begun.push(
      ...users.map((user) => ({ id, asked, ...hashedUser(this.#state.salt, this.#origin, user) })),
    );
    await this.#note(undefined);
  }

  async end(id: string, what: WriteEnd): Promise<void> {
    this.#waiting.ended.push({ id, what });
    if (what.is === 'answered' || what.is === 'no answer') return this.#note(undefined);
    // It is written with the next line; what is lost with this run others settle once more.
    const delay = this.#host.clock.sleep(longestDelay);
    delay.then(() => this.#note(undefined)).catch(() => undefined);
  }

  /** What the history said of a user when this run took the lock; undefined where it has to be asked. */
  freshlyTold(exact: string): readonly unknown[] | undefined {
    const user = this.#fresh.get(exact);
    if (user) this.#fresh.set(exact, { ...user, told: undefined });
    return user?.told;
  }

  /** Adds to the history of the ledger. */
  async tell(entries: readonly ToldEntry[]): Promise<void> {
    this.#waiting.told.push(...entries);
    await this.#note(undefined);
  }

  async underWay(): Promise<OtherWrites> {
    await this.#note(undefined);
    const [row] = await this.#query('underWay', [this.#key, this.#origin]);
    const { counted, begun, passed } = row ?? {};
    const settles = isObject(counted) ? Object.entries(counted) : [];
    return {
      counted: new Map(settles.map(([id, settle]) => [id, Number(settle)])),
      latest: { begun: Number(begun ?? 0), passed: Number(passed ?? 0) },
    };
  }

  async openFirsts(): Promise<readonly FirstWrite[]> {
    const rows = await this.#query('firsts', [this.#origin]);
    return recordedRows(rows.map(({ write }) => write)).map((row) => ({
      ...this.#recorded(row),
      isOf: (user) =>
        user.app_code === row.app_code && row.exact === hashedUser(this.#state.salt, this.#origin, user).exact,
    }));
  }

  async close(): Promise<void> {
    await this.#note(undefined).catch(() => undefined);
    if (!this.#failure) await this.#query('close', [this.#key]);
  }

  /** Where the connection is gone, so are its locks. */
  #release({ users, taken }: Wish, keys: readonly string[]): void {
    for (const { exact } of users) this.#fresh.delete(exact);
    for (const key of keys) this.#held.delete(key);
    this.#given.push(...taken);
    this.#take({ users: [], taken: new Set() }).catch(() => undefined);
  }

  /** One round trip gives locks back, takes others, and reads what is known of their users. */
  async #takeAll(wishes: readonly Wish[]): Promise<void> {
    const users = wishes.flatMap((wish) => wish.users.map((user) => ({ user, wish })));
    const keys = users.map(({ user }) => user.key);
    const given = this.#given.splice(0);
    if (given.length === 0 && keys.length === 0) return;
    const hashes = users.map(({ user }) => user.exact);
    const rows = await this.#query('take', [this.#key, this.#origin, given, [...new Set(keys)], keys, hashes]);
    for (const row of rows) {
      const one = users[Number(row['at']) - 1];
      if (!one) continue;
      one.wish.taken.add(one.user.key);
      const { key, exact } = one.user;
      this.#fresh.set(exact, { key, writes: listOf(row['writes']), told: listOf(row['told']) });
    }
  }

  async #writeAll(): Promise<void> {
    const [begun, told] = [this.#waiting.begun.splice(0), this.#waiting.told.splice(0)];
    const ended = this.#waiting.ended.splice(0);
    if (begun.length + ended.length + told.length === 0) return;
    const limit = this.#run.requestLimit + shortLimit;
    const values = [this.#key, this.#origin, limit, ...[begun, ended, told].map(writeJson)];
    const [row] = await this.#query('note', values, shortLimit);
    if (begun.length === 0 || row?.['written'] === begun.length) return;
    this.#failure = new Failure('unavailable', 'the connection of this run to the ledger no longer holds its users', {
      hint: 'Run the command again. A pooler in front of the database has to keep one connection for one client (session pooling).',
    });
    throw this.#failure;
  }

  /** A statement that fails leaves open what the ledger holds: nothing more is sent by this run. */
  async #query(name: keyof typeof statements, values: readonly unknown[], limit?: Milliseconds) {
    try {
      return await this.#ask(statements[name], values, limit);
    } catch (cause) {
      if (cause instanceof Failure) this.#failure ??= cause;
      throw cause;
    }
  }

  /** When it ended is on the clock of this run; it stays what it was when it was first read. */
  #recorded({ id, run, command, asked, exact, what, ended, now }: RecordedRow, user?: HashedUser): RecordedWrite {
    const isExact = user !== undefined && exact === user.exact;
    if (!what || ended === null) return { id, run, command, asked, isExact };
    const key = `${id} ${ended}`;
    const endedAt = this.#ends.get(key) ?? this.#host.clock.elapsed() - (now - ended);
    this.#ends.set(key, endedAt);
    return { id, run, command, asked, isExact, end: { ...what, time: ended }, endedAt };
  }
}
