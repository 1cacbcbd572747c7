/**
 * The records of all runs of all machines that share a ledger (docs/exactly-once.md, The shared ledger). It lives as
 * long as the run, whose one connection holds the locks of its users. Moments are the database's.
 */
import { JoinedItems } from '../../core/batch.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure, ifAnswered } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import type { Alarm } from '../../core/system.ts';
import type { Surroundings } from '../lock/lock.ts';
import { hashOf, RunRecord, type EndLine, type UserHashes, type WriteLine } from '../record/run-record.ts';
import type { LockHolder, WritePlace } from '../record/run-record.ts';
import type { PendingWrite, UserLock, LicenseUser, WritingRun } from '../record/writes.ts';
import { isExchanged, keyOf, statements } from './ledger-sql.ts';
import type { LedgerRow, RecordedLines } from './ledger-sql.ts';

export interface RecordedRun extends WritingRun {
  /** The beginning of the id of each write of this run. */
  readonly token: string;
  readonly settle: Milliseconds;
  /** The longest time of a request. */
  readonly requestLimit: Milliseconds;
  readonly note: (text: string) => void;
}

/** An entry of the history, by the salted hash of its user. */
interface SharedEntry {
  readonly exact: string;
  readonly entry: object;
}

/** The ledger's own data, which a run reads when it connects. */
export interface LedgerState {
  readonly salt: string;
  /** Milliseconds since it was made or restored. */
  readonly age: Milliseconds;
}

/** How long a lock that is given back waits for a more urgent statement, to be sent with it. */
const longestDelay: Milliseconds = 20;
/** The longest time of a statement that a request waits for. */
const shortLimit: Milliseconds = 5000;

export type Ask = (text: string, values: readonly unknown[], limit?: Milliseconds) => Promise<readonly LedgerRow[]>;

/** A lock that a worker wants. */
interface Wish {
  readonly key: string;
  /** The hash of the user in the history. */
  readonly exact: string;
  isTaken: boolean;
}

/** The part of one statement that a caller waits for; each statement also reads what other runs have added. */
interface LedgerExchange {
  readonly wish?: Wish;
  readonly lines?: readonly { readonly number: number; readonly keys?: readonly string[]; readonly line: WriteLine }[];
  readonly entries?: readonly SharedEntry[];
}

/** A run of this or another machine, as far as its lines were read. */
interface ReadRun {
  readonly record: RunRecord;
  readonly limit: Milliseconds;
  seq: number;
}

export class LedgerWrites implements WritePlace {
  readonly salt: string;
  readonly #ask: Ask;
  readonly #state: LedgerState;
  readonly #origin: string;
  readonly #run: RecordedRun;
  readonly #host: Surroundings;
  readonly #key: string;
  /** Locks that are given back with the next statement. */
  #given: string[] = [];
  readonly #runs = new Map<string, ReadRun>();
  /** Users whose writes were read with their locks: nobody else writes for them, so the next read can be skipped. */
  readonly #fresh = new Set<string>();
  readonly #entriesAtLock = new Map<string, readonly unknown[]>();
  readonly #exchanges: JoinedItems<LedgerExchange>;
  isCut = false;
  /** Until this time on the run's clock every user has a pending write: the ledger may lack the lines written last. */
  #restored = -Infinity;

  constructor(ask: Ask, state: LedgerState, origin: string, run: RecordedRun, host: Surroundings, alarm: Alarm) {
    this.salt = `${state.salt} ${origin}`;
    this.#ask = ask;
    this.#state = state;
    this.#origin = origin;
    this.#run = run;
    this.#host = host;
    this.#key = keyOf(hashOf(`${state.salt} run ${run.token}`));
    this.#exchanges = new JoinedItems((all) => this.#exchangeAll(all), alarm, longestDelay);
  }

  async open(): Promise<void> {
    const { token, run, command, note, requestLimit, settle } = this.#run;
    const { hostname, pid } = this.#host.system;
    const limit = requestLimit + shortLimit;
    await this.#ask(statements.open, [this.#key, token, this.#origin, run, command, hostname, pid, limit]);
    const asked = limit - this.#state.age;
    if (asked + settle <= 0) return;
    this.#restored = this.#host.clock.elapsed() + asked;
    const wait = formatDuration(Math.ceil((asked + settle) / 1000) * 1000);
    note(`the ledger is new or was restored, or a replica took over: no license is created in the next ${wait}`);
  }

  async tryLock(user: LicenseUser, folded: string): Promise<UserLock | LockHolder> {
    const wish: Wish = { key: keyOf(folded), exact: hashOf(`${this.#state.salt} ${user.remote_user}`), isTaken: false };
    await this.#exchanges.addNow({ wish });
    if (wish.isTaken) {
      this.#fresh.add(folded);
      return { release: async () => this.#release(wish, folded) };
    }
    const [other] = await this.#ask(statements.holder, [wish.key]);
    if (!other) return { holder: 'another run', progress: '' };
    const { command, host, pid, since, progress } = other;
    const time = new Date(Number(since)).toISOString().slice(11, 16);
    const holder = `${String(command)}, process ${String(pid)} on ${String(host)}, since ${time}Z`;
    return { holder, progress: String(progress) };
  }

  async read(users: readonly UserHashes[]): Promise<readonly RunRecord[]> {
    const isFresh = users.length > 0 && users.every(({ folded }) => this.#fresh.delete(folded));
    if (!isFresh) await this.#exchanges.addNow({});
    return [...this.#runs.values()].map(({ record }) => record);
  }

  async append(lines: readonly WriteLine[]): Promise<void> {
    const added = lines.map((line) => {
      if ('end' in line) return { number: line.end, line };
      return { number: line.begin, keys: line.users.map(({ folded }) => keyOf(folded)), line };
    });
    await this.#exchanges.addNow({ lines: added }).catch((cause: unknown) => {
      this.isCut = true;
      throw cause;
    });
  }

  /** Adds to the history of the ledger. */
  tell(entries: readonly SharedEntry[]): Promise<void> {
    return this.#exchanges.addNow({ entries });
  }

  /** Adds ends. The request of a lost connection may go on, so its write ends no earlier than its time limit. */
  async endOfEnded({ token }: RunRecord, ends: readonly EndLine[]): Promise<void> {
    const run = this.#runs.get(token);
    if (!run) return;
    const now = this.#host.clock.elapsed();
    const lines = ends.map((line) => {
      const write = run.record.all.get(line.end);
      const isCut = write && !write.end;
      return { number: line.end, line, ...(isCut && { latest: write.time + run.limit }) };
    });
    for (const line of ends) run.record.apply(line, 0, now);
    if (run.record.isNeeded(now)) await this.#ask(statements.ended, [token, writeJson(lines)]);
    else await this.#ask(statements.remove, [token]);
  }

  async close(needed: ReadonlySet<number>): Promise<void> {
    // If the connection is lost, a later run that reads the record removes it.
    if (needed.size === 0) await ifAnswered(this.#ask(statements.remove, [this.#run.token]));
  }

  lacking(): PendingWrite | undefined {
    const { settle } = this.#run;
    if (this.#restored + settle <= this.#host.clock.elapsed()) return undefined;
    const asked = { kind: 'creation', settle, unanswered: 0 } as const;
    return { id: 'restored', run: '', command: '', asked, ended: this.#restored, n: 1 };
  }

  /** The history of a user, read with the user's lock; undefined where it has to be queried. */
  entriesAtLock(exact: string): readonly unknown[] | undefined {
    return this.#entriesAtLock.get(exact);
  }

  /** Gives a lock back with the next statement; none once a line failed, since the end of a write may be missing. */
  #release({ key, exact }: Wish, folded: string): void {
    if (this.isCut) return;
    this.#fresh.delete(folded);
    this.#entriesAtLock.delete(exact);
    this.#given.push(key);
    this.#exchanges.add({}).catch(() => undefined);
  }

  /** Does the work of all callers that came together in one round trip. */
  async #exchangeAll(all: readonly LedgerExchange[]): Promise<void> {
    const wishes = all.flatMap(({ wish }) => wish ?? []);
    const [lines, entries] = [all.flatMap((one) => one.lines ?? []), all.flatMap((one) => one.entries ?? [])];
    const wanted = [wishes.map(({ key }) => key), wishes.map(({ exact }) => exact)];
    const known = writeJson(Object.fromEntries([...this.#runs].map(([token, { seq }]) => [token, seq])));
    const given = this.#given.splice(0);
    const values = [this.#key, this.#origin, writeJson(lines), writeJson(entries), given, ...wanted, known];
    const limit = lines.length > 0 ? shortLimit : undefined;
    const answer = (await this.#ask(statements.exchange, values, limit))[0]?.['exchange'];
    if (!isExchanged(answer) || answer.written !== lines.length) throw lockLost();
    for (const wish of wishes) {
      wish.isTaken = answer.taken?.includes(wish.key) === true;
      const shared = answer.told?.flatMap(([exact, entry]) => (exact === wish.exact ? [entry] : []));
      if (wish.isTaken) this.#entriesAtLock.set(wish.exact, shared ?? []);
    }
    const runs = (answer.runs ?? []).map((run) => [run.token, this.#readOn(run, answer.now)] as const);
    this.#runs.clear();
    for (const [token, run] of runs) this.#runs.set(token, run);
  }

  /** Applies the lines that a run has added. Each time is converted to this run's clock once, when it is first read. */
  #readOn({ token, limit, isGone, lines, ...run }: RecordedLines, now: Milliseconds): ReadRun {
    const read = this.#runs.get(token) ?? { record: new RunRecord(token, run), limit, seq: 0 };
    for (const [seq, at, line] of lines ?? []) {
      if (seq > read.seq) read.record.apply(line, at, this.#host.clock.elapsed() - (now - at));
      read.seq = Math.max(read.seq, seq);
    }
    read.record.isGone = isGone;
    return read;
  }
}

function lockLost(): Failure {
  return new Failure('unavailable', 'the connection of this run to the ledger no longer holds its users', {
    hint: 'Run the command again. A pooler in front of the database has to keep one connection for one client (session pooling).',
  });
}
