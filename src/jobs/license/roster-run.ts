import { Failure } from '../../core/failure.ts';
import { formatDuration } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { pool } from '../work/pool.ts';
import { isCreation } from './decide.ts';
import { inWords, planRoster, type Plan, type PlannedRow, type RowResult } from './plan-roster.ts';
import { unanswered, wasPosted, type AnsweredRow, type RowState } from './roster-journal.ts';
import { decidingBy, isUnchanged, RosterResults, type Applying, type RowOutcome } from './roster-results.ts';
import { RowWork } from './row-work.ts';
import type { KnownLicense } from './list-users.ts';
import { circuitBreaker, endsRun, countOutcomes, type CircuitBreaker } from './run-end.ts';

/**
 * One license of the asked size for each row, never two (docs/exactly-once.md, States of a row); rows in their order.
 * A slow reader does not slow the work; one who leaves ends it once what is in progress has ended. @throws Failure
 * auth at once; unknown where a row may have its license; incomplete where rows failed or were not reached
 */
export async function* applyRoster(plan: Plan, applying: Applying): AsyncGenerator<RowResult> {
  const outcomes = countOutcomes(applying, plan.rows.length);
  const run = circuitBreaker(applying);
  const results = new RosterResults(applying);
  const working = new RosterRun(applying, run, results).carryOut(plan).finally(() => results.close());
  // Awaited below: until then a bug must not end the process.
  working.catch(() => undefined);
  try {
    for (const planned of plan.rows) {
      const result = await results.of(planned);
      if (!result) continue;
      outcomes.add(result, results.answeredOnly.get(planned.row));
      yield result;
    }
  } finally {
    run.abandon();
    await working;
    applying.progress.end();
  }
  const stopped = run.stopped();
  const failure = outcomes.failureOf(stopped);
  // Any other failure says the counts itself.
  if (!failure || failure === stopped) applying.conclude(outcomes.summary());
  if (failure) throw failure;
}

/** Rows that are recorded while others are sent: many share a sync (docs/exactly-once.md, Journal). */
const ahead = 16;

/** The order of a run. A row without a result waits, or was not begun because the run stopped. */
class RosterRun {
  readonly #applying: Applying;
  readonly #run: CircuitBreaker;
  readonly #results: RosterResults;
  readonly #work: RowWork;

  constructor(applying: Applying, run: CircuitBreaker, results: RosterResults) {
    this.#applying = applying;
    this.#run = run;
    this.#results = results;
    this.#work = new RowWork(applying, run, results);
  }

  /** Never rejects with a Failure: what ended the run is in `stopped`. */
  async carryOut(plan: Plan): Promise<void> {
    const { journal, note, signal, progress, concurrency } = this.#applying;
    if (journal.isResumed) note('Resuming an interrupted run');
    const sayWait = (): void => {
      if (this.#work.sending > 0)
        note('Ending once the requests on their way are answered; the same signal again ends at once');
    };
    signal.addEventListener('abort', sayWait);
    try {
      const changing = plan.rows.filter((planned) => !isUnchanged(planned, this.#applying));
      for (let done = changing.length; done < plan.rows.length; done += 1) progress.step();
      let rows: readonly PlannedRow[] | undefined = changing;
      while (rows) {
        for await (const _ of pool(rows, concurrency + ahead, (planned) => this.#work.apply(planned))) continue;
        await this.#results.flush();
        rows = this.#run.isOver() ? undefined : await this.#nextRows();
      }
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#run.stop(cause);
    }
    signal.removeEventListener('abort', sayWait);
    await this.#reportUnconfirmed();
    this.#results.warnOfAccepted();
  }

  /**
   * Another look at once for what was answered, and the rows that other runs had; then for all that is left, when
   * the server must have carried it out. Undefined: no row is left.
   */
  async #nextRows(): Promise<readonly PlannedRow[] | undefined> {
    const waiting = [...this.#work.waiting.values()];
    const areAnswered = waiting.every(({ is }) => is === 'answered');
    const held = areAnswered ? await this.#applying.claims.othersDone(waiting.map(({ row }) => row)) : [];
    // A look at once confirms most of those that no list was read for since they were answered.
    const answered = waiting.flatMap((one) => (one.is === 'answered' && one.listed === 'not yet' ? [one] : []));
    if (answered.length + held.length > 0) return this.#lookAtOnce(answered, held);
    return waiting.length > 0 ? this.#whenSettled(waiting) : undefined;
  }

  async #lookAtOnce(answered: readonly AnsweredRow[], held: readonly LicenseFields[]): Promise<readonly PlannedRow[]> {
    const known = (app_code: number): KnownLicense => {
      const own = answered.filter(({ row }) => row.app_code === app_code);
      const licenses = new Map(own.map(({ row, creation }) => [row.remote_user, creation.license]));
      return (user) => licenses.get(user);
    };
    try {
      const looked = [...answered.map(({ row }) => row), ...held];
      const posted = answered.at(-1)?.posted ?? -Infinity;
      const looking = decidingBy(this.#applying, { is: 'answered', posted });
      const { rows, listedAt } = await planRoster(looked, looking, known);
      if (held.length > 0) {
        const missing = rows.flatMap(({ row, decision }) => (isCreation(decision) ? [row] : []));
        this.#applying.claims.listed({ listedAt, missing });
      }
      return rows;
    } catch (cause) {
      if (!(cause instanceof Failure) || endsRun(cause, this.#applying)) throw cause;
      for (const waiting of answered) {
        this.#work.waiting.delete(waiting.row);
        await this.#results.end(this.#results.acceptAnswer(waiting, cause));
      }
      if (held.length > 0) throw cause;
      return [];
    }
  }

  /** Waits until a look can decide all rows, and plans them by it. @throws Failure of the look, or an interruption */
  async #whenSettled(waiting: readonly RowState[]): Promise<readonly PlannedRow[]> {
    const { settle, elapsed, sleep, note } = this.#applying;
    const latest = waiting.reduce((last, { posted }) => Math.max(last, posted), -Infinity);
    const wait = latest + settle - elapsed();
    note(`${this.#inKinds(waiting)}: listing again${wait > 0 ? ` in ${formatDuration(wait)}` : ''}`);
    if (wait > 0) await sleep(wait);
    const rows = waiting.map(({ row }) => row);
    return (await planRoster(rows, decidingBy(this.#applying, { is: 'unanswered', posted: latest }))).rows;
  }

  #inKinds(waiting: readonly RowState[]): string {
    const own = waiting.filter((one) => wasPosted(one, this.#applying.journal));
    const answered = own.filter(({ is }) => is === 'answered').length;
    const asked = waiting.filter((one) => !own.includes(one) && one.posted > -Infinity);
    return inWords([
      [own.length - answered, 'unconfirmed'],
      [answered, 'answered and not listed yet'],
      [asked.length, 'asked for by other runs'],
      [waiting.length - own.length - asked.length, 'not found by a filter that the server ignores'],
    ]);
  }

  /** The next run settles these first; its wait counts from their last request. */
  async #reportUnconfirmed(): Promise<void> {
    const { journal, elapsed, now } = this.#applying;
    const stopped = this.#run.stopped();
    const outcomeOf = (state: RowState): RowOutcome => {
      if (state.is !== 'answered') {
        const error =
          (state.is === 'unanswered' ? state.failure : undefined)?.message ?? stopped?.message ?? unanswered;
        return { state, status: 'unknown', error, time: state.posted - elapsed() + now() };
      }
      if (state.listed === 'not yet') return this.#results.acceptAnswer(state, stopped);
      return { state, status: 'unknown', error: '' };
    };
    for (const state of this.#work.waiting.values())
      if (wasPosted(state, journal)) await this.#results.end(outcomeOf(state));
    await this.#results.flush();
  }
}
