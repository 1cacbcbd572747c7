import type { UnconfirmedCreation } from '../../api/licensing/creation.ts';
import type { License } from '../../api/licensing/license.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { mayRepeat, times } from '../license/create-license.ts';
import type { RosterClaims } from '../license/claim-users.ts';
import type { PastRow, LicenseJournal } from '../license/license-journal.ts';
import { inWords, type Plan, type Planning } from './plan-roster.ts';

/** What carrying out a plan needs. */
export interface Applying extends Planning {
  readonly journal: LicenseJournal;
  readonly claims: RosterClaims;
  /** How long after an unconfirmed request the server may still carry it out. */
  readonly settle: Milliseconds;
  /** How often the POST of one row may be repeated. */
  readonly retries: number;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Host and applications, for the summary. */
  readonly where: string;
  /** The command that resumes the run. */
  readonly resume: string;
  /** A row has its outcome. */
  readonly finished: (row: AppliedRow) => Promise<void>;
}

/** What came of a row. */
export interface AppliedRow extends LicenseFields {
  readonly status: 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown';
  /** As the server returned it; null where it is not known. */
  readonly license: License | null;
  /** Why a row failed or is unknown. */
  readonly error: string | null;
}

/** A row whose license must not be asked for before a list, read `settle` after `posted`, has not shown it. */
export interface PendingRow {
  readonly row: LicenseFields;
  /** POSTs of this run. */
  readonly posts: number;
  /** When the last POST ended, of this run or an earlier one. */
  readonly posted: Milliseconds;
  /** What the last POST of this run left open. */
  readonly creation?: UnconfirmedCreation;
}

/**
 * When a license of the row was last asked for, by the journal and the claims; -Infinity: long ago. A time in the future, and one that
 * is not recorded, count as the time of the plan.
 */
export function lastPost(
  row: LicenseFields,
  { listedAt }: Pick<Plan, 'listedAt'>,
  { journal, claims }: Pick<Applying, 'journal' | 'claims'>,
): Milliseconds {
  const recorded = journal.isDamaged ? Infinity : (journal.past(row).posted ?? -Infinity);
  return Math.min(Math.max(recorded, claims.lastPost(row) ?? -Infinity), listedAt);
}

/** Why a row has no license of the asked size. */
export interface Trouble {
  readonly status: 'failed' | 'unknown';
  readonly error: string;
}

/**
 * Why the license of a row may not be asked for (again), though a list that was read `settle` after the last POST does not show it;
 * undefined where it may.
 */
export function obstacle(earlier: PendingRow | undefined, past: PastRow, retries: number): Trouble | undefined {
  const { creation, posts = 0 } = earlier ?? {};
  if (past.status === 'created' || past.status === 'acknowledged')
    return { status: 'unknown', error: 'an earlier run created the license, and the list does not show it' };
  if (!creation) return undefined;
  const { message } = creation.failure;
  if (creation.reason === 'redirect') return { status: 'failed', error: message };
  if (!mayRepeat(creation)) return { status: 'unknown', error: `${message}; the list does not show it` };
  if (posts <= retries) return undefined;
  return { status: 'unknown', error: `${message}; sent ${times(posts)}, and the list does not show it` };
}

/** Counts outcomes, and says how the run ended. */
export interface Tally {
  add(row: AppliedRow): void;
  /** The counts in words; `total` rows were wanted. */
  summary(total: number): string;
  /** The failure that the run ends with; undefined where each row has its license. */
  verdict(total: number, stopped: Failure | undefined): Failure | undefined;
}

/** These end a run with their own exit code. */
export const endsRun: ReadonlySet<FailureKind> = new Set([
  'auth',
  'config',
  'internal',
  'usage',
  'cancelled',
  'terminated',
]);

const maxNamedUsers = 20;

/**
 * @param where the host and the applications, for the summary
 * @param resume the command that resumes the run
 */
export function newTally(where: string, resume: string): Tally {
  const counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  const users = { failed: [] as string[], unknown: [] as string[] };
  const inAll = (): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
  const summary = (total: number): string => {
    const rows = Object.entries(counts).map(([status, count]) => [count, status] as const);
    return `${inWords([...rows, [total - inAll(), 'not done']])} on ${where}`;
  };
  return {
    add({ status, remote_user }) {
      counts[status] += 1;
      if (status === 'failed' || status === 'unknown') users[status].push(remote_user);
    },
    summary,
    verdict(total, stopped) {
      if (!stopped && counts.failed + counts.unknown + total - inAll() === 0) return undefined;
      if (stopped && ['auth', 'config', 'internal', 'usage'].includes(stopped.kind)) return stopped;
      const open = named('sent, and not yet known to be carried out', users.unknown);
      const message = [stopped?.message, summary(total), open, named('failed', users.failed)]
        .filter(Boolean)
        .join('; ');
      const isInterrupted = stopped?.isInterruption === true;
      const kind = counts.unknown > 0 ? 'unknown' : 'incomplete';
      return new Failure(isInterrupted ? stopped.kind : kind, message, {
        ...stopped?.details,
        hint: `The same command resumes where this run stopped: ${resume}`,
        retryable: true,
        cause: stopped,
      });
    },
  };
}

function named(what: string, users: readonly string[]): string | undefined {
  if (users.length === 0) return undefined;
  const rest = users.length - maxNamedUsers;
  return `${what}: ${users.slice(0, maxNamedUsers).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
