/**
 * What all runs know of the writes of one licensing server: a lock for each user, and a record of each POST, PATCH and
 * PUT (docs/exactly-once.md, The four parts). A run opens it once for an origin, and it lives as long as the run.
 */
import type { Milliseconds } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';

export type UserName = Pick<LicenseFields, 'app_code' | 'remote_user'>;

/** Where runs see one another's writes: the files of this machine, or a ledger. */
export interface WritePlace {
  /** Takes the locks of all these names by their folded form, in the order of their hashes, or none. */
  tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder>;
  /** Writes of other runs for each user. With the user's lock all of them; without it (a dry run) it locks nothing. */
  known(users: readonly UserName[]): Promise<readonly (readonly RecordedWrite[])[]>;
  /** A line before each attempt of a write, on disk when this resolves. @throws Failure: then nothing may be sent */
  begin(write: BegunWrite): Promise<void>;
  /** How a write ended, or what is known of it since. `id` may be of an earlier run (`known`). */
  end(id: string, what: WriteEnd): Promise<void>;
  /** The writes of all runs of the origin. */
  underWay(): Promise<OtherWrites>;
  /** First creations of the origin that are open and younger than a day. */
  openFirsts(): Promise<readonly FirstWrite[]>;
  /** The run ends: what is pending or open stays for the next one. */
  close(): Promise<void>;
}

export interface UserLock {
  release(): Promise<void>;
}

export interface LockHolder {
  /** Such as `license apply, process 4711 on vm, since 16:02`. */
  readonly holder: string;
  /** Changes whenever the holder writes a line. */
  readonly progress: string;
  /** The way out where it cannot be seen from here whether the holder still runs: nobody waits for it. */
  readonly remedy?: string | undefined;
}

/** Takes locks one after the other, or none of them. */
export async function takeAll<T>(
  wanted: readonly T[],
  take: (one: T) => Promise<UserLock | LockHolder>,
): Promise<UserLock | LockHolder> {
  const taken: UserLock[] = [];
  const release = async (): Promise<void> => {
    for (const lock of taken.splice(0).reverse()) await lock.release();
  };
  try {
    for (const one of wanted) {
      const lock = await take(one);
      if ('release' in lock) taken.push(lock);
      else {
        await release();
        return lock;
      }
    }
    return { release };
  } catch (cause) {
    await release();
    throw cause;
  }
}

/** The contents of a write. */
export interface AskedWrite {
  readonly kind: 'creation' | 'change';
  /** Of a creation. */
  readonly app_code?: number | undefined;
  readonly size_allowance?: number | undefined;
  /** Of a change: the last four characters of the key. */
  readonly key_end?: string | undefined;
  /** How many licenses the user was seen to have; undefined: that is not known. */
  readonly licenses?: number | undefined;
  readonly settle: Milliseconds;
  /** So many writes in a row for the user had no answer before this one. */
  readonly unanswered: number;
  /** It is sent alone, and looked up before another creation is sent. */
  readonly isFirst?: boolean | undefined;
}

export interface BegunWrite {
  /** The run, and a number. Each attempt of one write has the same id. */
  readonly id: string;
  /** Of a change that gives a name: the old and the new one. */
  readonly users: readonly UserName[];
  readonly asked: AskedWrite;
}

export type WriteEnd =
  /** Nothing was changed. */
  { readonly is: 'refused' } | { readonly is: 'shown' } | { readonly is: 'not carried out' } | KeptEnd;

export type KeptEnd =
  /** A creation is open until it is `shown`; a change that gives a name is pending for its `settle`. */
  | { readonly is: 'answered'; readonly status: number; readonly key_end?: string | undefined }
  /** Pending until it is `shown`, or counts as `not carried out`; n is 0: it was not, and was not sent again. */
  | { readonly is: 'no answer'; readonly n: number };

/** The writes for one user. Moments are on the clock `elapsed` of this run; one in the future counts as now. */
export interface KnownWrites {
  /** Without an answer, and nobody knows what became of it: of all names of one folded form, the latest last. */
  readonly pending: readonly PendingWrite[];
  /** Answered, and shown by no list: of the exact name, the latest. */
  readonly open?: OpenWrite | undefined;
}

export const noWrites: KnownWrites = { pending: [] };

/** The run that sent a write, by its name in the history. */
export interface WritingRun {
  readonly run: string;
  readonly command: string;
}

export interface PendingWrite extends WritingRun {
  readonly id: string;
  readonly asked: AskedWrite;
  readonly ended: Milliseconds;
  readonly n: number;
}

/** When a write of an earlier run is shown, if it was processed. `settle`: this run's; the longer one counts. */
export function settledAt({ ended, n, asked }: PendingWrite, settle: Milliseconds): Milliseconds {
  return ended + n * Math.max(settle, asked.settle);
}

/** An answered creation that no list shows: it is kept, and never sent again. */
export interface OpenWrite extends WritingRun {
  readonly id: string;
  readonly status: number;
  /** When it was answered, by the clock of the place, for people. */
  readonly time: Milliseconds;
  readonly answered: Milliseconds;
  /** The last four characters of the answered key; undefined where the answer had none. */
  readonly key_end?: string | undefined;
}

export interface OpenFirst extends OpenWrite {
  readonly app_code?: number | undefined;
  readonly isOf: (user: UserName) => boolean;
}

/** A write that is under way, pending or open, as a place has recorded it. */
export interface RecordedWrite extends WritingRun {
  readonly id: string;
  readonly asked: AskedWrite;
  /** Whether it is of the exact name, and not of a similar one. */
  readonly isExact: boolean;
  /** Undefined while it is under way. `time`: by the clock of the place. */
  readonly end?: (KeptEnd & { readonly time: Milliseconds }) | undefined;
  /** When it ended, on the clock of this run. */
  readonly endedAt?: Milliseconds | undefined;
}

export interface FirstWrite extends RecordedWrite {
  readonly isOf: (user: UserName) => boolean;
}

const day: Milliseconds = 86_400_000;

/**
 * Whether nobody needs to know of it: a name that was given may be shown late, but not later than `settle`; what was
 * not processed counts among the requests without a response for a day.
 */
export function isForgotten(
  { asked, end, endedAt = Infinity }: Pick<RecordedWrite, 'asked' | 'end' | 'endedAt'>,
  now: Milliseconds,
): boolean {
  if (end?.is === 'answered') return asked.kind === 'change' && now >= endedAt + asked.settle;
  return end?.n === 0 && now >= endedAt + day;
}

/** What the records of all places say of one user. Of two ends of one write the later counts, and the greater n. */
export function knownOf(writes: readonly RecordedWrite[], now: Milliseconds): KnownWrites {
  const pending = new Map<string, PendingWrite>();
  const open = writes.flatMap((write) => (write.isExact ? (openOf(write) ?? []) : []));
  for (const write of writes) {
    const { id, run, command, asked, end, endedAt } = write;
    if (!end || endedAt === undefined || openOf(write) || isForgotten(write, now)) continue;
    const known = pending.get(id);
    const ended = Math.max(endedAt, known?.ended ?? endedAt);
    const n = Math.max(end.is === 'answered' ? 1 : end.n, known?.n ?? 0);
    pending.set(id, { id, run, command, asked, ended, n });
  }
  return {
    pending: [...pending.values()].sort((one, other) => one.ended - other.ended),
    open: open.sort((one, other) => one.time - other.time).at(-1),
  };
}

/** Undefined for anything but an answered creation. */
export function openOf({ id, run, command, asked, end, endedAt }: RecordedWrite): OpenWrite | undefined {
  if (end?.is !== 'answered' || asked.kind !== 'creation' || endedAt === undefined) return undefined;
  const { status, time, key_end } = end;
  return { id, run, command, status, time, answered: endedAt, key_end };
}

export interface OtherWrites {
  /** Those that are pending or under way, each with its `settle`; of an ended run, until n times that after the end. */
  readonly counted: ReadonlyMap<string, Milliseconds>;
  readonly latest: Latest;
}

/** Of other runs, numbers that only grow: of the latest write that began, and that was answered or shown. */
export interface Latest {
  readonly begun: number;
  readonly passed: number;
}
