import type { Milliseconds } from '../../core/duration.ts';

/** A write without an answer, as far as is known (docs/exactly-once.md, A place for each write). */
export interface PendingRequest {
  readonly sent: Milliseconds;
  readonly ended: Milliseconds;
  /** The most that was counted at its end and since. */
  readonly n: number;
  /** The longest `--settle` of those counted. */
  readonly settle: Milliseconds;
  /** The first moment since its end at which a write that was sent later was answered or shown. */
  readonly laterPassed: Milliseconds | undefined;
}

/** The writes of this run. */
export interface OwnWrites {
  /** When one last ended or was shown. */
  readonly last: Milliseconds;
  /** How many are waiting for an answer. */
  readonly underWay: number;
}

/** A connection that breaks at once breaks because of the network, and not because the server is slow. */
const earlyBreak: Milliseconds = 250;

/** Whether it ran out of time: then nothing says how far the server has come. */
export function isLate({ sent, ended }: Pick<PendingRequest, 'sent' | 'ended'>): boolean {
  return ended - sent >= earlyBreak;
}

/** A lookup that is sent from then on and does not show it proves that it was not processed; `not yet`: none does. */
export function dueAt(request: PendingRequest, own: OwnWrites): Milliseconds | 'not yet' {
  const { ended, n, settle, laterPassed } = request;
  if (isLate(request)) return own.underWay > 0 ? 'not yet' : own.last + n * settle;
  if (n <= 1) return ended + settle;
  return Math.min(ended + n * settle, (laterPassed ?? Infinity) + settle);
}

const firstPause: Milliseconds = 100;

/** How long to wait between two lookups, the first few of which are likely to show it. */
export function pauseAfter(lookups: number, settle: Milliseconds): Milliseconds {
  return lookups < 10 ? Math.min(firstPause * 2 ** lookups, settle / 4) : Math.min(firstPause * 2 ** lookups, settle);
}
