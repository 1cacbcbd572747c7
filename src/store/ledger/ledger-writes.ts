/**
 * The writes of all runs of all machines that share a ledger (docs/exactly-once.md, The shared ledger). It lives as
 * long as the run, whose one connection holds the locks of its users. Moments are the database's.
 */
import { batched, paced } from '../../core/batch.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { foldName } from '../../core/fold-name.ts';
import { writeJson } from '../../core/json.ts';
import type { Surroundings } from '../lock/lock.ts';
import type {
  BegunWrite,
  KnownWrites,
  LockHolder,
  OpenFirst,
  OtherWrites,
  UserLock,
  UserName,
  WriteEnd,
  WritePlace,
} from '../record/writes.ts';
import {
  isSameBytes,
  keyOf,
  knownIn,
  lackingWrite,
  openIn,
  saltedHash,
  type AskedUsers,
  type KeptWrite,
  type LedgerRow,
  type LedgerState,
  type Locking,
  type RecordedRun,
  type SettledWrite,
} from './ledger-rows.ts';
import { statements } from './ledger-sql.ts';

/** What a statement that a request or a known key waits for may take. */
export const shortLimit: Milliseconds = 5000;

export type Ask = (text: string, values: readonly unknown[], limit?: Milliseconds) => Promise<readonly LedgerRow[]>;

/** @throws Failure of a statement */
export async function ledgerWrites(
  ask: Ask,
  state: LedgerState,
  origin: string,
  run: RecordedRun,
  host: Surroundings,
): Promise<WritePlace> {
  const place = new LedgerWrites(ask, state, { ...run, origin }, host);
  await place.open();
  return place;
}

class LedgerWrites implements WritePlace {
  readonly #ask: Ask;
  readonly #state: LedgerState;
  readonly #run: RecordedRun & { readonly origin: string };
  readonly #host: Surroundings;
  readonly #key: string;
  /** A connection may take its own lock twice: its workers exclude one another here. */
  readonly #held = new Set<string>();
  readonly #ends = new Map<string, Milliseconds>();
  readonly #begin: (write: BegunWrite) => Promise<void>;
  readonly #keep: (end: KeptWrite) => Promise<void>;
  readonly #settle: (end: SettledWrite) => Promise<void>;
  readonly #lock: (locking: Locking) => Promise<void>;
  readonly #unlock: (keys: readonly string[]) => Promise<void>;
  readonly #known: (asked: AskedUsers) => Promise<void>;
  /** Until then, on this run's clock, each user counts as asked for: the ledger may lack what was written last. */
  #restored = -Infinity;
  #failure: Failure | undefined;
  #settling: Promise<void> = Promise.resolve();

  constructor(ask: Ask, state: LedgerState, run: RecordedRun & { readonly origin: string }, host: Surroundings) {
    this.#ask = ask;
    this.#state = state;
    this.#run = run;
    this.#host = host;
    this.#key = keyOf(state.salt, `run ${run.token}`);
    this.#begin = batched((all) => this.#writeBegun(all));
    this.#keep = batched(async (all) => void (await this.#query('end', [this.#key, writeJson(all)], shortLimit)));
    this.#lock = batched((all) => this.#lockAll(all));
    this.#unlock = batched(async (all) => void (await this.#query('unlock', [all.flat()])));
    this.#known = batched((all) => this.#readKnown(all));
    const settle = async (all: readonly SettledWrite[]) =>
      void (await this.#query('settled', [this.#key, writeJson(all)]));
    this.#settle = batched(settle, paced(host.clock, 100));
  }

  async open(): Promise<void> {
    const { origin, run, command, note, requestLimit, settle } = this.#run;
    const { hostname, pid } = this.#host.system;
    await this.#query('forget', []);
    await this.#query('clean', []);
    await this.#query('open', [this.#key, origin, run, command, hostname, pid]);
    await this.#query('sweep', [origin, this.#key]);
    const asked = requestLimit + shortLimit - (this.#state.age ?? Infinity);
    if (asked + settle <= 0) return;
    this.#restored = this.#host.clock.elapsed() + asked;
    const wait = formatDuration(Math.ceil((asked + settle) / 1000) * 1000);
    note(`the ledger is new or was restored, or a replica took over: no license is created in the next ${wait}`);
  }

  async tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    const keys = [...new Set(users.map((user) => this.#lockOf(user)))].sort();
    if (keys.some((key) => this.#held.has(key)))
      return { holder: 'this run', progress: `${this.#host.clock.elapsed()}` };
    for (const key of keys) this.#held.add(key);
    const locking: Locking = { keys, taken: [] };
    await this.#lock(locking);
    const { taken } = locking;
    if (taken.length === keys.length) return { release: () => this.#release(keys, taken) };
    await this.#release(keys, taken);
    const [other] = await this.#query('holder', [keys]);
    if (!other) return { holder: 'another run', progress: `${this.#host.clock.elapsed()}` };
    const { command, host, pid, since, progress } = other;
    const time = new Date(Number(since)).toISOString().slice(11, 16);
    return {
      holder: `${String(command)}, process ${String(pid)} on ${String(host)}, since ${time}Z`,
      progress: String(progress),
    };
  }

  async known(users: readonly UserName[]): Promise<readonly KnownWrites[]> {
    const asked: AskedUsers = { users, known: [] };
    await this.#known(asked);
    return asked.known;
  }

  async begin(write: BegunWrite): Promise<void> {
    if (this.#failure) throw this.#failure;
    await this.#begin(write);
  }

  async end(id: string, what: WriteEnd): Promise<void> {
    if (what.is === 'answered' || what.is === 'no answer') return this.#keep({ id, ...what });
    // What is lost with this run others settle once more.
    this.#settling = this.#settle({ id, passed: what.is === 'shown' }).catch(() => undefined);
  }

  async underWay(): Promise<OtherWrites> {
    const values = [this.#run.origin, this.#key];
    await this.#query('sweep', values);
    const counted = await this.#query('counted', values);
    const [latest] = await this.#query('latest', values);
    return {
      counted: counted.map(({ id, settle }) => ({ id: String(id), settle: Number(settle) })),
      latest: { begun: Number(latest?.['begun'] ?? 0), passed: Number(latest?.['passed'] ?? 0) },
    };
  }

  async openFirsts(): Promise<readonly OpenFirst[]> {
    const rows = await this.#query('firsts', [this.#run.origin]);
    return rows.map((row) => ({
      ...openIn(row, this.#endOf(row)),
      app_code: Number(row['app_code']),
      isOf: (user) => user.app_code === row['app_code'] && isSameBytes(row['exact'], this.#hashesOf(user).exact),
    }));
  }

  async close(): Promise<void> {
    await this.#settling;
    if (!this.#failure) await this.#query('close', [this.#key]);
  }

  async #lockAll(all: readonly Locking[]): Promise<void> {
    const rows = await this.#query('lock', [all.flatMap(({ keys }) => keys)]);
    const taken = new Set(rows.flatMap(({ key, taken }) => (taken === true ? [String(key)] : [])));
    for (const one of all) one.taken = one.keys.filter((key) => taken.has(key));
  }

  async #readKnown(all: readonly AskedUsers[]): Promise<void> {
    const { origin, settle } = this.#run;
    const users = all.flatMap((one) => one.users);
    const hashes = users.map((user) => this.#hashesOf(user));
    const columns = [hashes.map(({ exact }) => exact), hashes.map(({ folded }) => folded)];
    const values = [origin, this.#key, users.map(({ app_code }) => app_code), ...columns];
    let rows = await this.#query('known', values);
    if (rows.some(({ is_dead, state }) => is_dead === true && state === 'begun')) {
      await this.#query('sweep', [origin, this.#key]);
      rows = await this.#query('known', values);
    }
    const now = this.#host.clock.elapsed();
    const lacking = this.#restored + settle > now ? [lackingWrite(settle, this.#restored)] : [];
    const known = knownIn(rows, users.length, now, (row) => this.#endOf(row));
    for (const one of known) one.pending.push(...lacking);
    for (const one of all) one.known = known.splice(0, one.users.length);
  }

  async #writeBegun(all: readonly BegunWrite[]): Promise<void> {
    const rows = all.flatMap(({ id, users, asked }) =>
      users.map((user) => {
        const { exact, folded } = this.#hashesOf(user);
        const hashes = { exact: exact.toString('hex'), folded: folded.toString('hex') };
        return { id, ...hashes, app_code: user.app_code, asked, key: this.#lockOf(user) };
      }),
    );
    const values = [this.#key, this.#run.origin, this.#run.requestLimit + shortLimit, writeJson(rows)];
    const [row] = await this.#query('begin', values, shortLimit);
    if (row?.['written'] === rows.length) return;
    this.#failure = new Failure('unavailable', 'the connection of this run to the ledger no longer holds its users', {
      hint: 'Run the command again. A pooler in front of the database has to keep one connection for one client (session pooling).',
    });
    throw this.#failure;
  }

  async #release(keys: readonly string[], taken: readonly string[]): Promise<void> {
    // Where the connection is gone, so are its locks.
    if (taken.length > 0) await this.#unlock(taken).catch(() => undefined);
    for (const key of keys) this.#held.delete(key);
  }

  /** A statement that fails leaves open what the ledger holds: nothing more is sent by this run. */
  async #query(
    name: keyof typeof statements,
    values: readonly unknown[],
    limit?: Milliseconds,
  ): Promise<readonly LedgerRow[]> {
    try {
      return await this.#ask(statements[name], values, limit);
    } catch (cause) {
      if (cause instanceof Failure) this.#failure ??= cause;
      throw cause;
    }
  }

  #hashesOf({ remote_user }: UserName) {
    const { salt } = this.#state;
    return { exact: saltedHash(salt, remote_user), folded: saltedHash(salt, foldName(remote_user)) };
  }

  #lockOf({ app_code, remote_user }: UserName): string {
    return keyOf(this.#state.salt, `${this.#run.origin} ${app_code} ${foldName(remote_user)}`);
  }

  /** When it ended, on the clock of this run; it stays what it was when it was first read. */
  #endOf({ id, ended, now }: LedgerRow): Milliseconds {
    const key = `${String(id)} ${String(ended)}`;
    const known = this.#ends.get(key) ?? this.#host.clock.elapsed() - (Number(now) - Number(ended));
    this.#ends.set(key, known);
    return known;
  }
}
