import { Failure } from '../../core/failure.ts';
import { formatDuration } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { pool } from '../work/pool.ts';
import { inWords, isCreation, planRoster, type Plan, type PlannedRow } from './plan-roster.ts';
import { wasPosted, type AnsweredRow, type WaitingRow } from './past.ts';
import { isUnchanged, RosterResults, type Applying, type RowResult } from './roster-results.ts';
import { RowWork } from './row-work.ts';
import type { KnownLicense } from './sight.ts';
import { endsRun, newTally, watchAvailability } from './run-end.ts';

/**
 * Carries out a plan: one license of the asked size for each row, never two (docs/exactly-once.md, States of a row). Yields the rows
 * in their order. A slow reader does not slow the work; one who leaves ends it once what is in progress has ended.
 * @throws Failure auth at once; unknown where a row may or may not have its license; incomplete where rows failed or were not reached
 */
export async function* applyRoster(plan: Plan, applying: Applying): AsyncGenerator<RowResult> {
  const { rows } = plan;
  const tally = newTally(applying.where, applying.resume);
  const results = new RosterResults(applying);
  const run = new RosterRun(plan, applying, results);
  const working = run.carryOut().finally(() => results.close());
  // Awaited below: until then a bug must not end the process.
  working.catch(() => undefined);
  try {
    for (const planned of rows) {
      const result = await results.of(planned);
      if (!result) continue;
      tally.add(result);
      yield result;
    }
  } finally {
    run.abandon();
    await working;
  }
  const failure = tally.verdict(rows.length, run.stopped(), results.answeredOnly);
  // Any other failure says the counts itself.
  if (!failure || failure === run.stopped()) applying.conclude(tally.summary(rows.length));
  if (failure) throw failure;
}

/** Rows that are recorded while others are sent: many share a sync (docs/exactly-once.md, Journal). */
const ahead = 16;

/** Owns the state of a run. A row without a result waits, or was not begun because the run stopped. */
class RosterRun {
  readonly #plan: Plan;
  readonly #applying: Applying;
  readonly #results: RosterResults;
  readonly #work: RowWork;
  readonly #server = watchAvailability();
  /** The rows that wait for another look. */
  readonly #waiting = new Map<LicenseFields, WaitingRow>();
  #stop: Failure | undefined;
  #isAbandoned = false;

  constructor(plan: Plan, applying: Applying, results: RosterResults) {
    this.#plan = plan;
    this.#applying = applying;
    this.#results = results;
    this.#work = new RowWork({
      applying,
      results,
      waiting: this.#waiting,
      server: this.#server,
      listedAt: plan.listedAt,
      stopped: () => this.stopped(),
      stop: (failure) => void (this.#stop ??= failure),
    });
  }

  /** Never rejects with a Failure: what ended the run is in `stopped`. */
  async carryOut(): Promise<void> {
    const { journal, note, signal } = this.#applying;
    if (journal.isResumed) note('Resuming an interrupted run');
    const sayWait = (): void => {
      if (this.#work.isSending)
        note('Ending once the requests on their way are answered; the same signal again ends at once');
    };
    signal.addEventListener('abort', sayWait);
    try {
      let rows: readonly PlannedRow[] | undefined = await this.#releaseUnchanged();
      while (rows) {
        await this.#each(rows);
        rows = this.#isOver() ? undefined : await this.#nextRows();
      }
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#stop ??= cause;
    }
    signal.removeEventListener('abort', sayWait);
    await this.#leaveOpen();
    this.#results.warnOfUnlooked();
  }

  /** Nothing more is begun. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** What ended the run before each row had a result. */
  stopped(): Failure | undefined {
    const { journal, signal } = this.#applying;
    const interruption = signal.aborted && signal.reason instanceof Failure ? signal.reason : undefined;
    return this.#stop ?? journal.broken() ?? this.#server.gone() ?? interruption;
  }

  #isOver(): boolean {
    return this.#isAbandoned || this.stopped() !== undefined;
  }

  /** Gives rows back that need nothing, and returns the others. */
  async #releaseUnchanged(): Promise<PlannedRow[]> {
    const { claims, finished } = this.#applying;
    const open: PlannedRow[] = [];
    for (const planned of this.#plan.rows) {
      const { row } = planned;
      if (!isUnchanged(planned, this.#applying)) open.push(planned);
      else {
        finished();
        if (claims.past(row).answer) claims.shown(row);
        await claims.release(row);
      }
    }
    return open;
  }

  async #each(rows: readonly PlannedRow[]): Promise<void> {
    const apply = async (planned: PlannedRow): Promise<void> => {
      if (!this.#isOver()) await this.#work.apply(planned);
    };
    for await (const _ of pool(rows, this.#applying.concurrency + ahead, apply)) continue;
    await this.#results.written();
  }

  /**
   * What another look decides: at once what was answered, with the rows that other runs had; then all that is left, when the server must
   * have carried it out. Undefined: no row is left.
   */
  async #nextRows(): Promise<readonly PlannedRow[] | undefined> {
    const waiting = [...this.#waiting.values()];
    const areAnswered = waiting.every(({ is }) => is === 'answered');
    const held = areAnswered ? await this.#applying.claims.othersDone(waiting.map(({ row }) => row)) : [];
    const answered = this.#unlooked();
    if (answered.length + held.length > 0) return this.#lookAtOnce(answered, held);
    return waiting.length > 0 ? this.#whenSettled(waiting) : undefined;
  }

  /** Rows that no list was read for since they were answered: a look at once confirms most of them. */
  #unlooked(): AnsweredRow[] {
    return [...this.#waiting.values()].flatMap((one) =>
      one.is === 'answered' && one.looks === 'none yet' ? [one] : [],
    );
  }

  async #lookAtOnce(answered: readonly AnsweredRow[], held: readonly LicenseFields[]): Promise<readonly PlannedRow[]> {
    const known = (app_code: number): KnownLicense => {
      const licenses = answered.flatMap(({ row, creation }) =>
        row.app_code === app_code ? [[row.remote_user, creation.license] as const] : [],
      );
      const ofUsers = new Map(licenses);
      return (user) => ofUsers.get(user);
    };
    try {
      const looked = [...answered.map(({ row }) => row), ...held];
      const { rows, listedAt } = await planRoster(looked, this.#applying, known);
      if (held.length > 0) {
        const missing = rows.flatMap(({ row, decision }) => (isCreation(decision) ? [row] : []));
        this.#applying.claims.listed({ listedAt, missing });
        this.#work.listed(listedAt);
      }
      return rows;
    } catch (cause) {
      if (!(cause instanceof Failure) || endsRun(cause, this.#applying)) throw cause;
      for (const waiting of this.#unlooked()) {
        this.#waiting.delete(waiting.row);
        await this.#results.trust(waiting, cause);
      }
      if (held.length > 0) throw cause;
      return [];
    }
  }

  /** Waits until a look can decide all rows, and plans them by it. @throws Failure of the look, or of an interruption */
  async #whenSettled(waiting: readonly WaitingRow[]): Promise<readonly PlannedRow[]> {
    const { settle, elapsed, sleep, note } = this.#applying;
    const latest = waiting.reduce((last, { posted }) => Math.max(last, posted), -Infinity);
    const wait = latest + settle - elapsed();
    note(`${this.#inKinds(waiting)}: listing again${wait > 0 ? ` in ${formatDuration(wait)}` : ''}`);
    if (wait > 0) await sleep(wait);
    const rows = waiting.map(({ row }) => row);
    return (await planRoster(rows, this.#applying)).rows;
  }

  /** How many rows wait, by what was asked for and by whom. */
  #inKinds(waiting: readonly WaitingRow[]): string {
    const own = waiting.filter((one) => wasPosted(one.row, one, this.#applying));
    const answered = own.filter(({ is }) => is === 'answered').length;
    return inWords([
      [own.length - answered, 'unconfirmed'],
      [answered, 'answered and not listed yet'],
      [waiting.length - own.length, 'asked for by other runs'],
    ]);
  }

  /** The next run settles these first; its wait counts from their last request. */
  async #leaveOpen(): Promise<void> {
    const { journal, elapsed, now } = this.#applying;
    for (const waiting of this.#waiting.values()) {
      const { row, posted } = waiting;
      if (waiting.is === 'answered') {
        if (waiting.looks === 'none yet') await this.#results.trust(waiting, this.stopped());
        else await this.#results.end(row, 'unknown', null, '', waiting);
      } else if (wasPosted(row, waiting, this.#applying)) {
        if (!journal.broken()) await this.#results.record(row, 'unknown', posted - elapsed() + now());
        const failure = waiting.is === 'unanswered' ? waiting.failure : undefined;
        const error = failure?.message ?? this.stopped()?.message ?? 'the request was not answered';
        await this.#results.finish(row, 'unknown', null, error, waiting);
      }
    }
    await this.#results.written();
  }
}
