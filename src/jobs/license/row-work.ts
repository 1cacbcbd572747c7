import type { Creation } from '../../api/licensing/license-writes.ts';
import { identityOf, keyOf, type License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { limiter } from '../work/pool.ts';
import type { Availability } from './availability.ts';
import { decide, openInWords, severalWarning, type Decision } from './decide.ts';
import { earlierOutcome, lastPost, openAnswerOf } from './past.ts';
import { isCreation, type PlannedRow } from './plan-roster.ts';
import { endsRun, type Applying, type RosterResults } from './roster-results.ts';
import { lookUp } from './sight.ts';
import {
  endOfRepeats,
  unreached,
  wasPosted,
  type RowKnown,
  type AnsweredRow,
  type WaitingRow,
  type WaitingRows,
} from './waiting-rows.ts';

/** What the work on one row needs of its run. */
export interface WorkingRun {
  readonly applying: Applying;
  readonly results: RosterResults;
  readonly waiting: WaitingRows;
  readonly server: Availability;
  /** When the first list was begun. */
  readonly listedAt: Milliseconds;
  /** What ended the run; undefined while it goes on. */
  readonly stopped: () => Failure | undefined;
  readonly stop: (failure: Failure) => void;
}

/** The work on one row: from what is to be done to its result, or to another look (docs/exactly-once.md, States of a row). */
export class RowWork {
  #listedAt: Milliseconds;
  readonly #run: WorkingRun;
  readonly #limit: ReturnType<typeof limiter>;
  /** Rows are claimed in their order, so that they are recorded and sent in it. */
  readonly #inOrder = limiter(1);
  readonly unlooked: (Failure | undefined)[] = [];

  constructor(run: WorkingRun) {
    this.#listedAt = run.listedAt;
    this.#run = run;
    this.#limit = limiter(run.applying.concurrency);
  }

  /** A later list decides from now on. */
  listed(listedAt: Milliseconds): void {
    this.#listedAt = listedAt;
  }

  async apply({ row, decision }: PlannedRow): Promise<void> {
    const waiting = this.#run.waiting.take(row);
    if ('hasSeveral' in decision && decision.hasSeveral) this.#run.applying.warn(severalWarning(row));
    try {
      await this.#carryOut(row, decision, waiting);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#judge(row, cause, waiting);
    }
  }

  async #carryOut(row: LicenseFields, decision: Decision, waiting: WaitingRow | undefined): Promise<void> {
    if (decision.step === 'resize') return this.#resize(row, decision.license, waiting);
    if (decision.step === 'unchanged') return this.#keep(row, decision.license, waiting);
    if (waiting?.is === 'answered') return this.#confirm(row, decision, waiting);
    if (isCreation(decision)) return this.#create(row, decision, waiting);
    if (decision.step === 'refused') await this.#refuse(row, decision, waiting);
  }

  async #keep(row: LicenseFields, license: License, waiting: WaitingRow | undefined): Promise<void> {
    const { journal, claims } = this.#run.applying;
    const isOwn = wasPosted(row, waiting, this.#run.applying);
    claims.shown(row);
    const status = isOwn ? 'created' : (earlierOutcome(journal.past(row)) ?? 'unchanged');
    await this.#run.results.finish(row, { status, license, error: null });
  }

  /** The look does not show what was answered, or not everything. */
  async #confirm(row: LicenseFields, decision: Decision, waiting: AnsweredRow): Promise<void> {
    const seen = decision.step === 'look up' ? await this.#lookUp(row) : decision;
    if ('license' in seen) return this.#carryOut(row, seen, waiting);
    if (seen.step === 'refused' && !isLook.has(seen.failure.kind)) return this.trust(waiting, seen.failure);
    if (waiting.looks === 'none yet') {
      this.#run.waiting.add({ ...waiting, looks: 'one' });
      return;
    }
    const why = seen.step === 'refused' ? (seen.similar ?? seen.failure.message) : 'the list does not show it';
    this.#run.results.leaveOpen(row, why);
  }

  /** Where no look was answered, what the server said counts. */
  async trust({ row, creation }: AnsweredRow, why: Failure | undefined): Promise<void> {
    const { license, license_is } = creation;
    if (license_is !== 'as asked' || !license) {
      this.#run.results.fail(row, 'unknown', why?.message ?? '');
      return;
    }
    this.unlooked.push(why);
    await this.#run.results.finish(row, { status: 'created', license, error: null });
  }

  /** A near name is what the server may have made of a license that was answered: who sends again has looked at it. */
  async #refuse(
    row: LicenseFields,
    { failure, similar }: Extract<Decision, { readonly step: 'refused' }>,
    waiting: WaitingRow | undefined,
  ): Promise<void> {
    const answer = failure.kind === 'rejected' ? openAnswerOf(row, this.#run.applying) : undefined;
    const isAgain = waiting?.is !== 'unanswered' && this.#run.applying.sendAgain.has(row.remote_user);
    if (answer && isAgain) await this.#create(row, { step: 'create' }, waiting);
    else if (answer) this.#run.results.leaveOpen(row, `${openInWords(row, answer)}; ${similar ?? failure.message}`);
    else this.#fail(row, failure.message, { waiting, similar });
  }

  #fail(row: LicenseFields, message: string, known: RowKnown): void {
    const outcome = unreached(row, message, known, this.#run.applying);
    this.#run.results.end(row, outcome, outcome.status);
  }

  async #resize(row: LicenseFields, listed: License, waiting: WaitingRow | undefined): Promise<void> {
    const { journal, claims, licensing, now } = this.#run.applying;
    claims.shown(row);
    await this.#inOrder(() => undefined);
    await journal.before(row, 'resize', now());
    const { app_code, size_allowance } = row;
    const key = keyOf(listed);
    const send = async () => (this.#run.stopped() ? undefined : licensing(app_code).update(key, { size_allowance }));
    try {
      const license = await this.#limit(send);
      if (license) {
        this.#run.server.answered();
        this.#run.results.end(row, { status: 'resized', license, error: null }, 'resized');
      } else if (waiting) this.#run.waiting.putBack(waiting);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#judge(row, cause, waiting, wasPosted(row, waiting, this.#run.applying) ? listed : undefined);
    }
  }

  /** Nothing is sent before a look, `settle` after the last POST, proves that there is no license, and while an answer is open. */
  async #create(row: LicenseFields, decision: Decision, waiting: WaitingRow | undefined): Promise<void> {
    const { claims, settle, retries, sendAgain } = this.#run.applying;
    if (!waiting && (await this.#inOrder(() => claims.claim(row))) === 'held') return;
    const posted = waiting ? -Infinity : lastPost(row, this.#listedAt, this.#run.applying);
    if (posted + settle > this.#listedAt) {
      this.#run.waiting.add({ is: 'asked', row, posted });
      return;
    }
    const seen = decision.step === 'look up' ? await this.#lookUp(row) : decision;
    if (seen.step !== 'create') return this.#carryOut(row, seen, waiting);
    const open =
      waiting?.is === 'unanswered' || sendAgain.has(row.remote_user)
        ? undefined
        : openAnswerOf(row, this.#run.applying);
    if (open) {
      this.#run.results.leaveOpen(row, openInWords(row, open));
      return;
    }
    const near = [decision, seen].flatMap((one) => ('near' in one ? one.near : []));
    if (waiting?.is === 'unanswered') {
      const error = endOfRepeats(waiting, near, retries);
      if (error !== undefined) {
        this.#fail(row, error, { waiting });
        return;
      }
    }
    await this.#post(row, waiting, new Set(near.map(identityOf)));
  }

  /** One user, right before the POST; a look that fails creates nothing. */
  async #lookUp(row: LicenseFields): Promise<Decision> {
    const { licensing, similar } = this.#run.applying;
    try {
      const { sight } = await this.#limit(() => lookUp(licensing(row.app_code), row));
      const decision = decide(sight, row, similar);
      return decision.step === 'look up' ? { ...decision, step: 'create' } : decision;
    } catch (failure) {
      if (!(failure instanceof Failure) || endsRun(failure, this.#run.applying)) throw failure;
      if (failure.kind === 'unavailable') this.#run.server.failed(failure);
      return { step: 'refused', failure };
    }
  }

  async #post(row: LicenseFields, waiting: WaitingRow | undefined, near: ReadonlySet<string>): Promise<void> {
    const { journal, claims, licensing, now, elapsed } = this.#run.applying;
    const posts = waiting?.is === 'unanswered' ? waiting.posts + 1 : 1;
    await journal.before(row, 'create', now());
    const creation = await this.#limit(async () => {
      await this.#run.server.ready();
      return this.#run.stopped() ? undefined : this.#send(row, waiting, { posts, near });
    });
    if (!creation) return this.#leaveUnsent(row, waiting);
    claims.posted(row, now());
    const sent = { row, posted: elapsed() };
    if (creation.state === 'answered') {
      this.#run.server.answered();
      this.#run.results.answered(row, creation);
      this.#run.waiting.add({ ...sent, is: 'answered', creation, looks: 'none yet' });
      return;
    }
    this.#run.waiting.add({ ...sent, is: 'unanswered', posts, near, failure: creation.failure });
    // A server that is gone must not leave every row unconfirmed.
    if (creation.heard === 'nothing') this.#run.server.unanswered(() => licensing(row.app_code).ofUser(row));
  }

  /** A request that an interruption cut may have been sent; before a request, an interruption is the reason of the signal itself. */
  async #send(
    row: LicenseFields,
    waiting: WaitingRow | undefined,
    sent: { readonly posts: number; readonly near: ReadonlySet<string> },
  ): Promise<Creation> {
    const { licensing, claims, signal, now, elapsed } = this.#run.applying;
    try {
      return await licensing(row.app_code).create(row, () => claims.posting(row));
    } catch (cause) {
      if (cause === claims.lost() || cause === signal.reason) await this.#leaveUnsent(row, waiting);
      else if (signal.aborted) {
        claims.posted(row, now());
        this.#run.waiting.add({ ...sent, is: 'unanswered', row, posted: elapsed(), failure: undefined });
      }
      throw cause;
    }
  }

  /** A request that is not sent does not undo what is known of an earlier one. */
  async #leaveUnsent(row: LicenseFields, waiting: WaitingRow | undefined): Promise<void> {
    if (waiting && wasPosted(row, waiting, this.#run.applying)) this.#run.waiting.putBack(waiting);
    else await this.#run.results.record(row, 'not sent');
  }

  /** A refused row fails alone. Where the run ends, a row whose POST was sent is reported with those that wait. */
  #judge(row: LicenseFields, cause: Failure, waiting: WaitingRow | undefined, license?: License): void {
    const isRefused = cause.kind === 'auth' || cause.kind === 'config';
    const isEnd = endsRun(cause, this.#run.applying);
    if (cause.kind === 'unavailable') this.#run.server.failed(cause);
    else this.#run.server.answered();
    if (isEnd) this.#run.stop(cause);
    if (isEnd && waiting && wasPosted(row, waiting, this.#run.applying)) this.#run.waiting.putBack(waiting);
    else if (!isEnd || isRefused) this.#fail(row, cause.message, { waiting, license });
  }
}

/** A look was answered, with a similar name, or with a list that is not whole. */
const isLook: ReadonlySet<FailureKind> = new Set(['rejected', 'incomplete']);
