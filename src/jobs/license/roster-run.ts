import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { pool } from '../work/pool.ts';
import { watchAvailability } from './availability.ts';
import { isCreation, planRoster, type Plan, type PlannedRow } from './plan-roster.ts';
import { endsRun, isUnchanged, newTally, RosterResults, type Applying, type RowResult } from './roster-results.ts';
import { RowWork } from './row-work.ts';
import { postedAt, WaitingRows, wasPosted } from './waiting-rows.ts';

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
  const failure = tally.verdict(rows.length, run.stopped(), results.open);
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
  readonly #waiting = new WaitingRows();
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
    const { journal, note } = this.#applying;
    if (journal.isResumed) note('Resuming an interrupted run');
    try {
      await this.#each(await this.#releaseUnchanged());
      while (!this.#isOver() && (await this.#lookAgain()));
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#stop ??= cause;
    }
    await this.#leaveOpen();
    this.#warnOfUnlooked();
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
   * What was answered is looked at once at once, with the rows that other runs had; then all that is left, when the server must have carried
   * it out. False: no row is left.
   */
  async #lookAgain(): Promise<boolean> {
    const { claims } = this.#applying;
    const waiting = this.#waiting.all().map(({ row }) => row);
    const held = this.#waiting.areAnswered() ? await claims.othersDone(waiting) : [];
    const answered = this.#waiting.unlooked().map(({ row }) => row);
    if (answered.length + held.length > 0) await this.#lookAtOnce(answered, held);
    else if (this.#waiting.isEmpty()) return false;
    else await this.#each((await this.#waiting.lookAgain(this.#applying)).rows);
    return true;
  }

  async #lookAtOnce(answered: readonly LicenseFields[], held: readonly LicenseFields[]): Promise<void> {
    try {
      const { rows, listedAt } = await planRoster([...answered, ...held], this.#applying);
      if (held.length > 0) {
        const missing = rows.flatMap(({ row, decision }) => (isCreation(decision) ? [row] : []));
        this.#applying.claims.listed({ listedAt, missing });
        this.#work.listed(listedAt);
      }
      await this.#each(rows);
    } catch (cause) {
      if (!(cause instanceof Failure) || endsRun(cause, this.#applying)) throw cause;
      for (const waiting of this.#waiting.unlooked()) {
        this.#waiting.take(waiting.row);
        await this.#work.trust(waiting, cause);
      }
      if (held.length > 0) throw cause;
    }
  }

  #warnOfUnlooked(): void {
    const [why] = this.#work.unlooked;
    const count = this.#work.unlooked.length;
    if (count === 0) return;
    const said = `${count} ${count === 1 ? 'license was' : 'licenses were'} created, as the server answered`;
    this.#applying.warn(`${said}; no list confirmed it: ${why?.message ?? 'none was read'}`);
  }

  /** The next run settles these first; its wait counts from their last request. */
  async #leaveOpen(): Promise<void> {
    for (const waiting of this.#waiting.all()) {
      const { row } = waiting;
      if (waiting.is === 'answered') {
        if (waiting.looks === 'none yet') await this.#work.trust(waiting, this.stopped());
        else this.#results.fail(row, 'unknown', '');
      } else if (wasPosted(row, waiting, this.#applying)) {
        if (!this.#applying.journal.broken())
          await this.#results.record(row, 'unknown', postedAt(waiting, this.#applying));
        const failure = waiting.is === 'unanswered' ? waiting.failure : undefined;
        const error = failure?.message ?? this.stopped()?.message ?? 'the request was not answered';
        await this.#results.finish(row, { status: 'unknown', license: null, error });
      }
    }
    await this.#results.written();
  }
}
