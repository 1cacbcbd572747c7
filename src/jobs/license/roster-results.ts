import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { InOrder } from '../work/pool.ts';
import { openAnswer, sendAgainHint } from './decide.ts';
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
  readonly #applying: Pick<Applying, 'journal' | 'claims' | 'now' | 'finished' | 'warn'>;
  readonly #ready = new InOrder<LicenseFields, RowResult>();
  readonly #writing = new Set<Promise<void>>();
  /** Rows whose POST was answered, and which wait for a look. */
  readonly #answered = new Map<LicenseFields, AnsweredCreation>();
  /** Rows that only `--send-again` goes on with. */
  readonly open: LicenseFields[] = [];

  constructor(applying: Pick<Applying, 'journal' | 'claims' | 'now' | 'finished' | 'warn'>) {
    this.#applying = applying;
  }

  /** Records an outcome, then reports it. The worker continues meanwhile; what it records next shares the sync. */
  end(row: LicenseFields, outcome: Outcome, status: RecordedStatus): void {
    this.#inBackground(this.record(row, status).then(() => this.finish(row, outcome)));
  }

  /** Records that the server answered a POST: its row is reported once a list has confirmed it. */
  answered(row: LicenseFields, creation: AnsweredCreation): void {
    const { journal, claims, finished, now } = this.#applying;
    const answer = openAnswer(creation, now());
    // For the progress its work is done: the look at the end takes no time of its own.
    if (!this.#answered.has(row)) finished();
    this.#answered.set(row, creation);
    // The claims first: what the journal of one job knows, every later run knows.
    this.#inBackground(claims.answered(row, answer).then(() => orBroken(journal.answered(row, answer))));
  }

  fail(row: LicenseFields, status: 'failed' | 'unknown', error: string): void {
    this.end(row, { status, license: null, error }, status);
  }

  /** Looks are over, and none shows the license of a POST that was answered, by this run or an earlier one. */
  leaveOpen(row: LicenseFields, error: string): void {
    this.open.push(row);
    this.fail(row, 'unknown', error);
  }

  /** Reports an outcome that needs no record. */
  async finish(row: LicenseFields, reached: Outcome): Promise<void> {
    const outcome = this.#withAnswer(row, reached);
    this.#ready.put(row, outcomeOf(row, outcome));
    if (!this.#answered.delete(row)) this.#applying.finished();
    // A row whose request is unconfirmed is given back at the end, with the time of that request.
    if (outcome.status !== 'unknown') await this.#applying.claims.release(row);
  }

  /** What a POST of this run was answered is not `failed` unless a list shows the license, and the answered key is printed in every case. */
  #withAnswer(row: LicenseFields, { status, license, error }: Outcome): Outcome {
    const creation = this.#answered.get(row);
    if (!creation) return { status, license, error };
    const { license_is, license: answered, failure } = creation;
    const printed = license_is === 'as asked' ? (answered ?? license) : license;
    if (error === null && answered?.key !== undefined && answered.key !== printed?.key)
      this.#applying.warn(failure.message);
    return {
      status: status === 'failed' && !license ? 'unknown' : status,
      license: printed,
      error: error === null ? null : [failure.message, error].filter(Boolean).join('; '),
    };
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
  /**
   * The failure that the run ends with; undefined where each row has its license.
   * @param open rows whose answer is open: of those that are unknown, only these stay so when the command is repeated
   */
  verdict(total: number, stopped: Failure | undefined, open: readonly LicenseFields[]): Failure | undefined;
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
    verdict(total, stopped, open) {
      if (!stopped && counts.failed + counts.unknown + total - inAll() === 0) return undefined;
      if (stopped && ownVerdicts.has(stopped.kind)) return stopped;
      const answered = new Set(open.map(({ remote_user }) => remote_user));
      const parts = [
        named(
          'answered, and shown by no list',
          unknown.filter((user) => answered.has(user)),
        ),
        named(
          'sent, and not yet known to be carried out',
          unknown.filter((user) => !answered.has(user)),
        ),
        named('failed', failed),
      ];
      const message = [stopped?.message, summary(total), ...parts].filter(Boolean).join('; ');
      const kind = counts.unknown > 0 ? 'unknown' : 'incomplete';
      const retryable =
        stopped !== undefined || open.length < total - counts.created - counts.resized - counts.unchanged;
      const resumes = retryable ? `The same command resumes where this run stopped: ${resume}` : undefined;
      const details = { hint: [resumes, wayOut(open)].filter(Boolean).join('. '), retryable };
      if (!stopped) return new Failure(kind, message, details);
      return stopped.as(stopped.isInterruption ? stopped.kind : kind, message, details);
    },
  };
}

/** How to go on with rows whose answer is open. */
function wayOut([first, ...others]: readonly LicenseFields[]): string | undefined {
  if (!first) return undefined;
  const rest =
    others.length > 0 ? ` The same holds for ${others.length} more, each with its own --send-again USER.` : '';
  return `${sendAgainHint(first)}${rest}`;
}

function named(what: string, users: readonly string[]): string | undefined {
  if (users.length === 0) return undefined;
  const rest = users.length - maxNamedUsers;
  return `${what}: ${users.slice(0, maxNamedUsers).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
