import type { License } from '../../api/licensing/license.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OpenAnswer } from '../../store/claims.ts';
import { InOrder } from '../work/in-order.ts';
import type { RecordedStatus } from './past.ts';
import { inWords, type PlannedRow } from './plan-roster.ts';
import type { LookingAgain } from './waiting-rows.ts';

/** What carrying out a plan needs. */
export interface Applying extends LookingAgain {
  /** Users whose POST is sent, once, although an earlier one was answered. */
  readonly sendAgain: ReadonlySet<string>;
  /** How often the POST of one row may be repeated. */
  readonly retries: number;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  /** Takes the counts, which are for below the rows. */
  readonly conclude: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Host and applications, for the summary. */
  readonly where: string;
  /** The command that resumes the run. */
  readonly resume: string;
  /** A row has its outcome. */
  readonly finished: () => void;
}

/** What came of a row. */
export interface RowResult extends LicenseFields {
  readonly status: 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown';
  /** As the server returned it; null where it is not known. */
  readonly license: License | null;
  /** Why a row failed or is unknown. */
  readonly error: string | null;
}

/** Whether a row needs neither a request nor a record, as most rows of a roster that is applied again. */
export function isUnchanged({ row, decision }: PlannedRow, { journal }: Pick<Applying, 'journal'>): boolean {
  return decision.step === 'unchanged' && !decision.hasSeveral && journal.past(row).is === 'untouched';
}

/** A result without its row. */
export type Outcome = Pick<RowResult, 'status' | 'license' | 'error'>;

/** Written out, since a copy by spread of an object that is a key of a Map takes 600 bytes: 60 MB for 100,000 rows. */
function outcomeOf(row: LicenseFields, { status, license, error }: Outcome): RowResult {
  const { remote_user, app_code, size_allowance } = row;
  return { remote_user, app_code, size_allowance, status, license, error };
}

/** The results of the rows, on their way to the journal and then to the reader. */
export class RosterResults {
  readonly #applying: Pick<Applying, 'journal' | 'claims' | 'now' | 'finished'>;
  readonly #ready = new InOrder<LicenseFields, RowResult>();
  readonly #writing = new Set<Promise<void>>();
  /** Rows whose POST was answered, and which wait for a look. */
  readonly #answered = new Set<LicenseFields>();

  constructor(applying: Pick<Applying, 'journal' | 'claims' | 'now' | 'finished'>) {
    this.#applying = applying;
  }

  /** Records an outcome, then reports it. The worker continues meanwhile; what it records next shares the sync. */
  end(row: LicenseFields, outcome: Outcome, status: RecordedStatus): void {
    this.#inBackground(this.record(row, status).then(() => this.finish(row, outcome)));
  }

  /** Records that the server answered a POST: its row is reported once a list has confirmed it. */
  answered(row: LicenseFields, answer: OpenAnswer): void {
    const { journal, claims, finished } = this.#applying;
    // For the progress its work is done: the look at the end takes no time of its own.
    if (!this.#answered.has(row)) finished();
    this.#answered.add(row);
    // The claims first: what the journal of one job knows, every later run knows.
    this.#inBackground(claims.answered(row, answer).then(() => orBroken(journal.answered(row, answer))));
  }

  fail(row: LicenseFields, status: 'failed' | 'unknown', error: string): void {
    this.end(row, { status, license: null, error }, status);
  }

  /** Reports an outcome that needs no record. */
  async finish(row: LicenseFields, outcome: Outcome): Promise<void> {
    this.#ready.put(row, outcomeOf(row, outcome));
    if (!this.#answered.delete(row)) this.#applying.finished();
    // A row whose request is unconfirmed is given back at the end, with the time of that request.
    if (outcome.status !== 'unknown') await this.#applying.claims.release(row);
  }

  async record(row: LicenseFields, status: RecordedStatus, time = this.#applying.now()): Promise<void> {
    await orBroken(this.#applying.journal.after(row, status, time));
  }

  /** Resolves when each outcome so far is recorded and reported. */
  async written(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** No more outcomes come. */
  close(): void {
    this.#ready.close();
  }

  /** Resolves when the row has a result; undefined where the run ended without one. */
  of(planned: PlannedRow): RowResult | Promise<RowResult | undefined> {
    const { row, decision } = planned;
    if (decision.step === 'unchanged' && isUnchanged(planned, this.#applying))
      return outcomeOf(row, { status: 'unchanged', license: decision.license, error: null });
    return this.#ready.take(row);
  }

  /** What rejects stays, and is thrown by `written`. */
  #inBackground(writing: Promise<void>): void {
    this.#writing.add(writing);
    writing.then(
      () => this.#writing.delete(writing),
      () => undefined,
    );
  }
}

/** What cannot be recorded was done all the same; `journal.broken` says so, and ends the run. */
async function orBroken(recording: Promise<void>): Promise<void> {
  try {
    await recording;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
}

/** Counts outcomes, and says how the run ended. */
export interface Tally {
  add(row: RowResult): void;
  /** The counts in words; `total` rows were wanted. */
  summary(total: number): string;
  /** The failure that the run ends with; undefined where each row has its license. */
  verdict(total: number, stopped: Failure | undefined): Failure | undefined;
}

/** These end a run. */
const fatal: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'internal', 'usage', 'cancelled', 'terminated']);

/** Whether a failure of one row ends the run: a refused key, a full disk, lost claims and an interruption do. */
export function endsRun(cause: Failure, { journal, claims, signal }: Applying): boolean {
  return fatal.has(cause.kind) || cause === journal.broken() || cause === claims.lost() || signal.aborted;
}

/** These end a run with their own exit code, whatever was done before. */
const ownVerdicts: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'internal', 'usage']);

const maxNamedUsers = 20;

/**
 * @param where the host and the applications, for the summary
 * @param resume the command that resumes the run
 */
export function newTally(where: string, resume: string): Tally {
  const counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  const failed: string[] = [];
  const unknown: string[] = [];
  const inAll = (): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
  const summary = (total: number): string => {
    const rows = Object.entries(counts).map(([status, count]) => [count, status] as const);
    return `${inWords([...rows, [total - inAll(), 'not done']])} on ${where}`;
  };
  return {
    add({ status, remote_user }) {
      counts[status] += 1;
      if (status === 'failed') failed.push(remote_user);
      if (status === 'unknown') unknown.push(remote_user);
    },
    summary,
    verdict(total, stopped) {
      if (!stopped && counts.failed + counts.unknown + total - inAll() === 0) return undefined;
      if (stopped && ownVerdicts.has(stopped.kind)) return stopped;
      const open = named('sent, and not yet known to be carried out', unknown);
      const message = [stopped?.message, summary(total), open, named('failed', failed)].filter(Boolean).join('; ');
      const kind = counts.unknown > 0 ? 'unknown' : 'incomplete';
      const details = { hint: `The same command resumes where this run stopped: ${resume}`, retryable: true };
      if (!stopped) return new Failure(kind, message, details);
      return stopped.as(stopped.isInterruption ? stopped.kind : kind, message, details);
    },
  };
}

function named(what: string, users: readonly string[]): string | undefined {
  if (users.length === 0) return undefined;
  const rest = users.length - maxNamedUsers;
  return `${what}: ${users.slice(0, maxNamedUsers).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
