/** The requests that change licenses, as runs record them (docs/exactly-once.md, A record a server). */
import type { Milliseconds } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';

/** A user of an application, who has a license or is to have one. */
export type LicenseUser = Pick<LicenseFields, 'app_code' | 'remote_user'>;

export interface UserLock {
  /** Unlocks the users once the ends of their writes are on disk; a worker need not wait for it. */
  release(): Promise<void>;
}

/** The contents of a write. */
export interface AskedWrite {
  readonly kind: 'creation' | 'change';
  /** The application of a creation. */
  readonly app_code?: number | undefined;
  readonly size_allowance?: number | undefined;
  /** The last four characters of the key of a changed license. */
  readonly key_end?: string | undefined;
  /** How many licenses the user was seen to have; undefined: that is not known. */
  readonly licenses?: number | undefined;
  readonly settle: Milliseconds;
  /** How many writes in a row for the user had no answer before this one. */
  readonly unanswered: number;
  /** The write is sent alone, and looked up before another creation is sent. */
  readonly isFirst?: boolean | undefined;
}

export type WriteEnd =
  /** Nothing was changed. */
  { readonly is: 'refused' } | { readonly is: 'shown' } | { readonly is: 'not processed' } | KeptEnd;

export type KeptEnd =
  /** A creation is open until it is `shown`; a change that gives a name is pending for its `settle`. */
  | { readonly is: 'answered'; readonly status: number; readonly key_end?: string | undefined }
  /** Pending until it is `shown`, or counts as `not processed`; with n 0 it was not processed, and not sent again. */
  | { readonly is: 'no answer'; readonly n: number };

/** The writes for one user. Moments are on the clock `elapsed` of this run. */
export interface KnownWrites {
  /** Writes that may have been processed, for all names of one folded form, the latest last. */
  readonly pending: readonly PendingWrite[];
  /** The latest creation for the exact name that was answered, and that no list has shown. */
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
  /** A change that the server has made, or a creation of a similar name: only a list may show it late. */
  readonly isAnswered?: boolean;
  /** A change that gives the license of this user to another one. */
  readonly leaves?: boolean;
}

/** The writes of which nobody knows whether they were processed. */
export function unsettled(pending: readonly PendingWrite[] = []): readonly PendingWrite[] {
  return pending.filter(({ isAnswered }) => !isAnswered);
}

/** Whether the server may still give the license with that key another size, or another user, than it shows. */
export function mayChange({ asked, leaves, isAnswered }: PendingWrite, size?: number, key?: string): boolean {
  const { kind, size_allowance = size, key_end = '' } = asked;
  return kind === 'change' && (!isAnswered || ((leaves || size_allowance !== size) && key?.endsWith(key_end) === true));
}

/** From when on a processed write of an earlier run is shown. `settle`: this run's; the longer of the two counts. */
export function settledAt({ ended, n, asked }: PendingWrite, settle: Milliseconds): Milliseconds {
  // The server may still process a write that a run with a shorter `--settle` gave up.
  const rounds = settle > asked.settle ? Math.max(n, 1) : n;
  return ended + rounds * Math.max(settle, asked.settle);
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
  /** How many licenses the user had before. */
  readonly licenses: number;
  readonly isOf: (user: LicenseUser) => boolean;
}

/** How many writes are pending or under way in all runs, with other requests of this run without an answer. */
export interface ServerLoad {
  readonly n: number;
  readonly settle: Milliseconds;
}
