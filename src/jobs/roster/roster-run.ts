import type { License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { turns } from '../work/pool.ts';
import type { RosterJournal } from './roster-journal.ts';

export type Status = 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown';

/** What came of a row. */
export interface AppliedRow extends LicenseFields {
  readonly status: Status;
  /** As the server returned it; null where it is not known. */
  readonly license: License | null;
  /** Why a row failed or is unknown. */
  readonly error?: string;
}

export interface Applying {
  readonly licensing: (app_code: number) => LicensingApi;
  readonly journal: RosterJournal;
  /** Whether another job died while it was at work on one of the rows. */
  readonly abandoned: boolean;
  readonly concurrency: number;
  /** How long after an unanswered request the server may still carry it out. */
  readonly settle: Milliseconds;
  readonly now: () => Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** What the run has come to so far. */
export interface Run {
  readonly counts: Record<Status, number>;
  readonly troubled: string[];
  /** Rows whose license was asked for without an answer, by `rowKey`. */
  readonly doubtful: Map<string, LicenseFields>;
  /** Rows that the server said it created without showing them: they are never asked for again. */
  readonly acknowledged: Set<string>;
  /** When the last doubtful request ended. */
  lastDoubt: Milliseconds;
  /** Calls in a row that found the server unavailable. */
  outages: number;
  /** Licenses in a row that were asked for without an answer. */
  silences: number;
  /** Resolves when the server has shown that it is there, or the run is stopped. */
  presence: Promise<void>;
  /** Lets as many requests as workers be under way: while one is, others may be put on record. */
  readonly turn: ReturnType<typeof turns>;
  stopped: Failure | undefined;
}

export function newRun({ concurrency }: Applying): Run {
  return {
    counts: { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 },
    troubled: [],
    doubtful: new Map(),
    acknowledged: new Set(),
    lastDoubt: 0,
    outages: 0,
    silences: 0,
    presence: Promise.resolve(),
    turn: turns(concurrency),
    stopped: undefined,
  };
}

/** Counts the rows that pass. */
export async function* counted(run: Run, rows: AsyncGenerator<AppliedRow>): AsyncGenerator<AppliedRow> {
  for await (const row of rows) {
    run.counts[row.status] += 1;
    if (row.status === 'failed' || row.status === 'unknown') run.troubled.push(row.remote_user);
    yield row;
  }
}

/** Whether nothing more is to be begun. */
export function isHalted(run: Run, { signal }: Applying): boolean {
  if (signal.aborted && signal.reason instanceof Failure) run.stopped ??= signal.reason;
  return run.stopped !== undefined;
}

/** These end the run with their own exit code. */
export const endsRun: ReadonlySet<FailureKind> = new Set([
  'auth',
  'config',
  'internal',
  'usage',
  'cancelled',
  'terminated',
]);

/** How many rows came to what. */
export function summaryOf({ counts }: Run, left: number): string {
  const parts = Object.entries(counts).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []));
  return [...parts, ...(left > 0 ? [`${left} not done`] : [])].join(', ');
}

const mostNamed = 20;

/** The failure that the run ends with, if any; `left` rows were not done. */
export function verdict(run: Run, left: number): Failure | undefined {
  const { counts, stopped, troubled } = run;
  if (stopped && endsRun.has(stopped.kind)) return stopped;
  if (counts.failed + counts.unknown + left === 0) return undefined;
  const named =
    troubled.slice(0, mostNamed).join(', ') +
    (troubled.length > mostNamed ? ` and ${troubled.length - mostNamed} more` : '');
  const why = stopped ? `${stopped.message}; ` : '';
  const message = `${why}${summaryOf(run, left)}${named === '' ? '' : `; not certain or failed: ${named}`}`;
  return new Failure(counts.unknown > 0 ? 'unknown' : 'incomplete', message, {
    ...stopped?.details,
    hint: 'Run the same command again: it goes on where this run stopped.',
    retryable: true,
    cause: stopped,
  });
}
