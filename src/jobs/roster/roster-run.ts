import type { Creation } from '../../api/licensing/creation.ts';
import { keyOf } from '../../api/licensing/license-key.ts';
import type { License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { watchAvailability } from '../license/availability.ts';
import { severalWarning } from '../license/decide.ts';
import { earlierOutcome } from '../license/license-journal.ts';
import { limiter, sequence, until, workOn } from '../work/workers.ts';
import { lastPost, obstacle, PendingRows, postedAt, wasPosted, type PendingRow } from './pending-row.ts';
import type { Plan, Task } from './plan-roster.ts';
import { endsRun, isUnchanged, type Applying, type RowOutcomes } from './roster-outcome.ts';

/** Rows that are recorded while others are sent: many share a sync (docs/exactly-once.md, Journal). */
const ahead = 16;

/** Owns the state of a run. A row without an outcome is pending, or was not begun because the run stopped. */
export class RosterRun {
  readonly #plan: Plan;
  readonly #applying: Applying;
  readonly #outcomes: RowOutcomes;
  readonly #limit: ReturnType<typeof limiter>;
  /** Rows are claimed in their order, so that they are recorded and sent in it. */
  readonly #inOrder = sequence();
  readonly #server = watchAvailability();
  readonly #pending = new PendingRows();
  #stop: Failure | undefined;
  #isAbandoned = false;

  constructor(plan: Plan, applying: Applying, outcomes: RowOutcomes) {
    this.#plan = plan;
    this.#applying = applying;
    this.#outcomes = outcomes;
    this.#limit = limiter(applying.concurrency);
  }

  /** Never rejects with a Failure: what ended the run is in `stopped`. */
  async carryOut(): Promise<void> {
    if (this.#applying.journal.isResumed) this.#applying.note('Resuming an interrupted run');
    try {
      await this.#each(await this.#releaseUnchanged());
      do
        while (!this.#pending.isEmpty() && !this.#isOver())
          await this.#each((await this.#pending.planAgain(this.#applying)).tasks);
      while (!this.#isOver() && (await this.#takeHeld()));
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#stop ??= cause;
    }
    await this.#leaveOpen();
  }

  /** Nothing more is begun. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** What ended the run before each row had an outcome. */
  stopped(): Failure | undefined {
    const { journal, signal } = this.#applying;
    const interruption = signal.aborted && signal.reason instanceof Failure ? signal.reason : undefined;
    return this.#stop ?? journal.broken() ?? this.#server.gone() ?? interruption;
  }

  #isOver(): boolean {
    return this.#isAbandoned || this.stopped() !== undefined;
  }

  /** Gives rows back that need nothing, and returns the others. */
  async #releaseUnchanged(): Promise<Task[]> {
    const { journal, claims, finished } = this.#applying;
    const open: Task[] = [];
    for (const task of this.#plan.tasks) {
      if (!isUnchanged(task, journal)) open.push(task);
      else {
        finished();
        await claims.release(task.row);
      }
    }
    return open;
  }

  async #each(tasks: readonly Task[]): Promise<void> {
    const open = until(tasks, () => this.#isOver());
    await workOn(open, this.#applying.concurrency + ahead, (task) => this.#apply(task));
    await this.#outcomes.written();
  }

  async #apply({ row, decision }: Task): Promise<void> {
    const earlier = this.#pending.take(row);
    const refused = wasPosted(row, earlier, this.#applying) ? 'unknown' : 'failed';
    if ('hasSeveral' in decision && decision.hasSeveral) this.#applying.warn(severalWarning(row));
    try {
      if (decision.step === 'create') await this.#create(row, earlier);
      else if (decision.step === 'resize') await this.#resize(row, keyOf(decision.license));
      else if (decision.step === 'unchanged') await this.#keep(row, decision.license, earlier);
      else this.#outcomes.fail(row, refused, decision.failure.message);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#judge(row, cause);
    }
  }

  async #keep(row: LicenseFields, license: License, earlier?: PendingRow): Promise<void> {
    const past = this.#applying.journal.past(row);
    const status = wasPosted(row, earlier, this.#applying) ? 'created' : (earlierOutcome(past) ?? 'unchanged');
    if (status === 'created' && past.status !== status)
      this.#outcomes.end(row, { status, license, error: null }, status);
    else await this.#outcomes.finish(row, { status, license, error: null });
  }

  async #resize(row: LicenseFields, key: string): Promise<void> {
    const { journal, licensing, now } = this.#applying;
    await this.#inOrder(() => undefined);
    await journal.before(row, 'resize', now());
    const { app_code, size_allowance } = row;
    const send = async () => (this.stopped() ? undefined : licensing(app_code).update(key, { size_allowance }));
    const license = await this.#limit(send);
    if (!license) return;
    this.#server.answered();
    this.#outcomes.end(row, { status: 'resized', license, error: null }, 'resized');
  }

  async #create(row: LicenseFields, earlier?: PendingRow): Promise<void> {
    const { journal, claims, settle, retries } = this.#applying;
    if ((await this.#inOrder(() => (earlier ? 'claimed' : claims.claim(row)))) === 'held') return;
    const posted = earlier ? -Infinity : lastPost(row, this.#plan.listedAt, this.#applying);
    const reason = obstacle(earlier, journal.past(row), retries);
    if (posted + settle > this.#plan.listedAt) this.#pending.addAsked(row, posted);
    else if (reason) this.#outcomes.fail(row, reason.status, reason.error);
    else await this.#post(row, (earlier?.posts ?? 0) + 1);
  }

  async #post(row: LicenseFields, posts: number): Promise<void> {
    const { journal, licensing, now, elapsed } = this.#applying;
    await journal.before(row, 'create', now());
    const creation = await this.#limit(async () => {
      await this.#server.ready();
      return this.stopped() ? undefined : this.#send(row, posts);
    });
    if (!creation) return this.#outcomes.record(row, 'not sent');
    if (creation.state === 'confirmed') {
      this.#server.answered();
      this.#outcomes.end(row, { status: 'created', license: creation.license, error: null }, 'created');
      return;
    }
    if (creation.reason === 'empty answer') await this.#outcomes.record(row, 'acknowledged');
    this.#pending.add({ row, posts, posted: elapsed(), creation });
    // A server that is gone must not leave every row unconfirmed.
    if (creation.reason === 'no answer') this.#server.unanswered(() => licensing(row.app_code).ofUser(row));
  }

  /** A request that an interruption cut may have been sent; before a request, an interruption is the reason of the signal itself. */
  async #send(row: LicenseFields, posts: number): Promise<Creation> {
    const { licensing, claims, signal, now, elapsed } = this.#applying;
    try {
      const creation = await licensing(row.app_code).create(row, () => claims.posting(row));
      claims.posted(row, now());
      return creation;
    } catch (cause) {
      if (cause === claims.lost() || cause === signal.reason) await this.#outcomes.record(row, 'not sent');
      else if (signal.aborted) {
        claims.posted(row, now());
        this.#pending.add({ row, posts, posted: elapsed() });
      }
      throw cause;
    }
  }

  /** A refused row fails alone. */
  #judge(row: LicenseFields, cause: Failure): void {
    const isRefused = cause.kind === 'auth' || cause.kind === 'config';
    const isEnd = endsRun(cause, this.#applying);
    if (cause.kind === 'unavailable') this.#server.failed(cause);
    else this.#server.answered();
    if (isEnd) this.#stop ??= cause;
    if (!isEnd || isRefused) this.#outcomes.fail(row, 'failed', cause.message);
  }

  /** Rows that other runs held: a license is created only after a list that is read from now on. */
  async #takeHeld(): Promise<boolean> {
    const rows = await this.#applying.claims.claimHeld();
    for (const row of rows) this.#pending.addHeld(row, this.#applying);
    return rows.length > 0;
  }

  /** The next run settles these first; its wait counts from their last request. */
  async #leaveOpen(): Promise<void> {
    for (const earlier of this.#pending.all()) {
      const { row, creation } = earlier;
      if (!wasPosted(row, earlier, this.#applying)) continue;
      const time = postedAt(earlier, this.#applying);
      if (!this.#applying.journal.broken()) await this.#outcomes.record(row, 'unknown', time);
      const error = creation?.failure.message ?? this.stopped()?.message ?? 'the request was not answered';
      await this.#outcomes.finish(row, { status: 'unknown', license: null, error });
    }
  }
}
