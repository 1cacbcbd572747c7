/** What a run has recorded of its writes, as its lines say it. Pure: no clock, no file, no database. */
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
  UserName,
  WriteEnd,
  WritingRun,
} from './writes.ts';

/** A name is kept as two hashes: exactly, and folded as all names that are similar. */
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
  /** Of the hashes of users. */
  readonly salt: string;
  /** Takes the lock of that name by the hash of its folded form. */
  tryLock(user: UserName, folded: string): Promise<UserLock | LockHolder>;
  /** What other runs have recorded by now; of these users at least what they had when they were locked. */
  read(users: readonly UserHashes[]): Promise<readonly RunRecord[]>;
  /** Lines of this run, on disk when this resolves. @throws Failure: then nothing may be sent */
  append(lines: readonly WriteLine[]): Promise<void>;
  /** Adds ends to the record of a run that has ended, and removes it once nothing in it is needed. */
  endOfEnded(record: RunRecord, ends: readonly EndLine[]): Promise<void>;
  /** The run ends; what it leaves stays for the next one. */
  close(left: ReadonlySet<number>): Promise<void>;
  /** Takes the place of the writes that a restored ledger may lack, of every user. */
  lacking?(): PendingWrite | undefined;
  /** A line could not be written: by now another run may have its users. */
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
  /** Its process has ended: others write what became known of it. */
  isGone = false;
  /** It is, and each of its writes has an end. */
  isClosed = false;
  /** By their numbers. */
  readonly all = new Map<number, RecordedWrite>();
  readonly #byName = new Map<string, Set<RecordedWrite>>();

  constructor(token: string, { run, command }: WritingRun) {
    this.token = token;
    this.run = { run, command };
  }

  /** Changes the write that a line is about, which leaves once nobody needs to know it. `at`: on the reader's clock. */
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
    // Two that found a dead run at once have both written its end.
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

  /** Those for a user, by the folded name. */
  of({ folded }: UserHashes): readonly RecordedWrite[] {
    return [...(this.#byName.get(folded) ?? [])];
  }

  /** What is under way by its lines: in a run that has ended, these lack an end. */
  cut(): readonly number[] {
    return [...this.all].flatMap(([number, { end }]) => (end ? [] : [number]));
  }

  isNeeded(now: Milliseconds): boolean {
    return [...this.all.values()].some((write) => !isForgotten(write, now));
  }
}

/**
 * Whether nobody needs to know of it: a name that was given may be shown late, but not later than `settle`; what was
 * not processed counts among the requests without a response for a day.
 */
function isForgotten({ asked, end, endedAt = Infinity }: RecordedWrite, now: Milliseconds): boolean {
  if (end?.is === 'answered') return asked.kind === 'change' && now >= endedAt + asked.settle;
  return end?.n === 0 && now >= endedAt + day;
}

/** Writes that the server may still process: of a run that has ended, until n times `settle` after the end. */
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

/** What all places say of one user. Of two ends of one write the later counts, and the greater n. */
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
    // Of a similar name: a server that stores both as one may list it late.
    const isSimilar = answered !== undefined && !isExact && now < answered.answered + asked.settle;
    if (!end || endedAt === undefined || (answered && !isSimilar) || isForgotten(write, now)) continue;
    const known = pending.get(id);
    const ended = Math.max(endedAt, known?.ended ?? endedAt);
    const n = Math.max(end.is === 'answered' ? 1 : end.n, known?.n ?? 0);
    pending.set(id, { id, run, command, asked, ended, n, isAnswered: end.is === 'answered' });
  }
  return {
    pending: [...pending.values()].sort((one, other) => one.ended - other.ended),
    open: open.sort((one, other) => one.time - other.time).at(-1),
  };
}

/** Undefined for anything but an answered creation. */
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

export function hashesOf(salt: string, { app_code, remote_user }: UserName): UserHashes {
  return {
    exact: hashOf(`${salt} ${app_code} ${remote_user}`),
    folded: hashOf(`${salt} ${app_code} folded ${foldName(remote_user)}`),
  };
}

/** Made of its bytes: a slice of the whole hash would keep all of it in memory. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}
