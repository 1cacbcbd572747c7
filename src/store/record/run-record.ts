/** The writes of a run, as the lines of its record describe them. Pure: no clock, no file, no database. */
import { hash } from 'node:crypto';
import type { Milliseconds } from '../../core/duration.ts';
import { foldName } from '../../core/fold-name.ts';
import type {
  AskedWrite,
  KeptEnd,
  KnownWrites,
  OpenWrite,
  PendingWrite,
  UserLock,
  LicenseUser,
  WriteEnd,
  WritingRun,
} from './writes.ts';

/** A user is recorded as two hashes: of the exact name, and of the folded form that all similar names share. */
export interface UserHashes {
  readonly exact: string;
  readonly folded: string;
}

/** `begin`: a request is about to be sent; `end`: how it ended, or what is known of it since. */
export type WriteLine =
  { readonly begin: number; readonly users: readonly UserHashes[]; readonly asked: AskedWrite } | EndLine;

export type EndLine = { readonly end: number } & WriteEnd;

/** A write that is under way, pending or open. `time`: by the clock of the place where it is recorded. */
export interface RecordedWrite extends WritingRun {
  readonly id: string;
  readonly users: readonly UserHashes[];
  readonly asked: AskedWrite;
  readonly time: Milliseconds;
  end?: KeptEnd & { readonly time: Milliseconds };
  /** When it ended, on the clock of whoever reads it. */
  endedAt?: Milliseconds;
}

/** Where runs see one another's writes: the files of this machine, or a ledger. */
export interface WritePlace {
  /** The salt of the hashes of users. */
  readonly salt: string;
  /** Takes the lock of that name by the hash of its folded form. */
  tryLock(user: LicenseUser, folded: string): Promise<UserLock | LockHolder>;
  /** The records of other runs; for these users at least as complete as when the users were locked. */
  read(users: readonly UserHashes[]): Promise<readonly RunRecord[]>;
  /** Adds lines of this run, on disk when this resolves. @throws Failure: then nothing may be sent */
  append(lines: readonly WriteLine[]): Promise<void>;
  /** Adds ends to the record of a run that has ended, and removes it once nothing in it is needed. */
  endOfEnded(record: RunRecord, ends: readonly EndLine[]): Promise<void>;
  /** Ends the run; its record stays for later runs if writes are left. */
  close(needed: ReadonlySet<number>): Promise<void>;
  /** A pending write of every user, in place of those that a restored ledger may lack. */
  lacking?(): PendingWrite | undefined;
  /** Set once a line could not be written: other runs may have this run's users by now. */
  readonly isCut?: boolean;
}

export interface LockHolder {
  /** Such as `license apply, process 4711 on vm, since 16:02`. */
  readonly holder: string;
  /** Changes whenever the holder writes a line. */
  readonly progress: string;
  /** The way out where it cannot be seen from here whether the holder still runs: nobody waits for it. */
  readonly remedy?: string | undefined;
}

const day: Milliseconds = 86_400_000;

export class RunRecord {
  readonly token: string;
  readonly run: WritingRun;
  /** The process of the run has ended, so other runs record how its writes ended. */
  isGone = false;
  /** The process of the run has ended, and each of its writes has an end. */
  isClosed = false;
  /** The writes that are needed, by their numbers. */
  readonly all = new Map<number, RecordedWrite>();
  readonly #byName = new Map<string, Set<RecordedWrite>>();

  constructor(token: string, { run, command }: WritingRun) {
    this.token = token;
    this.run = { run, command };
  }

  /** Applies a line to its write, which is removed once nobody needs it. `at`: `time` on the reader's clock. */
  apply(line: WriteLine, time: Milliseconds, at: Milliseconds): void {
    if ('begin' in line) {
      const write = { id: `${this.token}-${line.begin}`, ...this.run, users: line.users, asked: line.asked, time };
      this.#forget(line.begin);
      this.isClosed = false;
      this.all.set(line.begin, write);
      for (const { folded } of write.users)
        this.#byName.set(folded, (this.#byName.get(folded) ?? new Set()).add(write));
      return;
    }
    const write = this.all.get(line.end);
    if (!write) return;
    if (line.is !== 'answered' && line.is !== 'no answer') {
      this.#forget(line.end);
      return;
    }
    const { end: _number, ...end } = line;
    // Two runs that found a dead run at once have both written an end: the larger n counts.
    const before = write.end?.is === 'no answer' ? write.end.n : 0;
    write.end = end.is === 'no answer' && end.n > 0 ? { ...end, n: Math.max(end.n, before), time } : { ...end, time };
    write.endedAt = at;
  }

  #forget(number: number): void {
    const write = this.all.get(number);
    this.all.delete(number);
    for (const { folded } of write?.users ?? []) {
      const writes = this.#byName.get(folded);
      if (write) writes?.delete(write);
      if (writes?.size === 0) this.#byName.delete(folded);
    }
  }

  /** The writes for a user, by the folded name. */
  of({ folded }: UserHashes): readonly RecordedWrite[] {
    return [...(this.#byName.get(folded) ?? [])];
  }

  /** The numbers of writes without an end: they are under way, or were when the run was killed. */
  cut(): readonly number[] {
    return [...this.all].flatMap(([number, { end }]) => (end ? [] : [number]));
  }

  isNeeded(now: Milliseconds): boolean {
    return [...this.all.values()].some((write) => !isForgotten(write, now));
  }
}

/**
 * Whether nobody needs a write any more. A list may show a rename late, but not later than `settle`; a write that was
 * not processed counts against `--retries` for a day.
 */
function isForgotten({ asked, end, endedAt = Infinity }: RecordedWrite, now: Milliseconds): boolean {
  if (end?.is === 'answered') return asked.kind === 'change' && now >= endedAt + asked.settle;
  return end?.n === 0 && now >= endedAt + day;
}

/** Counts writes that the server may still process; those of ended runs until n times `settle` after their end. */
export function countedIn(records: Iterable<RunRecord>, now: Milliseconds): Map<string, Milliseconds> {
  const counted = new Map<string, Milliseconds>();
  for (const { isGone, all } of records)
    for (const { id, asked, end, endedAt = now } of all.values()) {
      if (end?.is === 'answered' || end?.n === 0) continue;
      if (isGone && end && now >= endedAt + end.n * asked.settle) continue;
      counted.set(id, asked.settle);
    }
  return counted;
}

/** Joins the writes for a user in all places. If a write has two ends, the later time and the larger n count. */
export function knownOf(
  writes: readonly RecordedWrite[],
  exact: readonly string[],
  lacking: readonly PendingWrite[],
  now: Milliseconds,
): KnownWrites {
  const pending = new Map(lacking.map((one) => [one.id, one]));
  const open: OpenWrite[] = [];
  for (const write of writes) {
    const { id, run, command, asked, end, endedAt } = write;
    const isExact = write.users.some((user) => exact.includes(user.exact));
    const answered = openOf(write);
    if (answered && isExact) open.push(answered);
    // A creation of a similar name is pending for a while: a server that stores both names as one may list it late.
    const isSimilar = answered !== undefined && !isExact && now < answered.answered + asked.settle;
    if (!end || endedAt === undefined || (answered && !isSimilar) || isForgotten(write, now)) continue;
    const known = pending.get(id);
    const ended = Math.max(endedAt, known?.ended ?? endedAt);
    const n = Math.max(end.is === 'answered' ? 1 : end.n, known?.n ?? 0);
    const leaves = !write.users.slice(-1).some((user) => exact.includes(user.exact));
    pending.set(id, { id, run, command, asked, ended, n, isAnswered: end.is === 'answered', leaves });
  }
  return {
    pending: [...pending.values()].sort((one, other) => one.ended - other.ended),
    open: open.sort((one, other) => one.time - other.time).at(-1),
  };
}

/** The open write of an answered creation; undefined for any other write. */
function openOf({ id, run, command, asked, end, endedAt }: RecordedWrite): OpenWrite | undefined {
  if (end?.is !== 'answered' || asked.kind !== 'creation' || endedAt === undefined) return undefined;
  const { status, time, key_end } = end;
  return { id, run, command, status, time, answered: endedAt, key_end };
}

/** First creations that are open and younger than a day. */
export function openFirstsIn(records: readonly RunRecord[], now: Milliseconds) {
  const writes = records.flatMap(({ all }) => [...all.values()]).filter(({ asked }) => asked.isFirst);
  return writes.flatMap((write) => {
    const open = openOf(write);
    const [user] = write.users;
    const { app_code, licenses = 0 } = write.asked;
    return open && user && open.answered > now - day ? [{ ...open, app_code, licenses, user }] : [];
  });
}

export function hashesOf(salt: string, { app_code, remote_user }: LicenseUser): UserHashes {
  return {
    exact: hashOf(`${salt} ${app_code} ${remote_user}`),
    folded: hashOf(`${salt} ${app_code} folded ${foldName(remote_user)}`),
  };
}

/** Made from ten bytes: a slice of the whole hexadecimal text would keep all of it in memory. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}
