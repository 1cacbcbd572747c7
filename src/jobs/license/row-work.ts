import type { Creation } from '../../api/licensing/license-writes.ts';
import { identityOf, keyOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { limiter } from '../work/pool.ts';
import { endOf } from './claim-users.ts';
import {
  decide,
  isCreation,
  isLook,
  isOpen,
  openInWords,
  ownOf,
  retriesFor,
  similarTo,
  sizeOf,
  times,
  type Decision,
  type Undecided,
} from './decide.ts';
import { listProof } from './list-proof.ts';
import { historyOf, unanswered, wasPosted, type AnsweredRow, type WaitingRow } from './roster-journal.ts';
import { lookUpRow, type PlannedRow } from './plan-roster.ts';
import { decidingBy, type Applying, type RosterResults } from './roster-results.ts';
import { recordedChange } from './recorded-change.ts';
import { endsRun, watchRun } from './run-end.ts';

/** The work on one row: from what is to be done to its result, or to another look (docs/exactly-once.md, States of a row). */
export class RowWork {
  /** The rows that wait for another look. */
  readonly waiting = new Map<LicenseFields, WaitingRow>();
  /** How many POSTs are on their way. */
  sending = 0;
  readonly run: ReturnType<typeof watchRun>;
  readonly #applying: Applying;
  readonly #results: RosterResults;
  readonly #limit: ReturnType<typeof limiter>;
  /** Rows are claimed in their order, so that they are recorded and sent in it. */
  readonly #inOrder = limiter(1);
  readonly #proof: ReturnType<typeof listProof>;

  constructor(applying: Applying, results: RosterResults) {
    this.#applying = applying;
    this.#results = results;
    this.run = watchRun(applying);
    this.#proof = listProof(applying, this.run);
    this.#limit = limiter(applying.concurrency);
  }

  async apply({ row, decision }: PlannedRow): Promise<void> {
    const waiting = this.waiting.get(row);
    this.waiting.delete(row);
    try {
      await this.#carryOut(row, decision, waiting);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      await this.#judge(row, cause, waiting);
    }
  }

  async #carryOut(row: LicenseFields, decision: Decision | Undecided, waiting: WaitingRow | undefined): Promise<void> {
    if ('license' in decision) {
      const own = ownOf(decision, waiting?.is === 'answered' ? waiting.creation : undefined);
      if (!own) return this.#results.leaveOpen(row, 'the list shows the user, and no license with that key', waiting);
      this.#results.noteSeveral(row, decision.licenses, waiting);
      return decision.step === 'resize' ? this.#resize(row, decision.license, waiting) : this.#keep(row, own, waiting);
    }
    if (waiting?.is === 'answered') return this.#confirm(row, decision, waiting);
    if (isCreation(decision) || isOpen(decision)) return this.#create(row, decision, waiting);
    if (decision.step === 'refused') await this.#fail(row, decision.failure.message, waiting, decision.similar);
  }

  async #keep(row: LicenseFields, license: License, waiting: WaitingRow | undefined): Promise<void> {
    const { claims, journal } = this.#applying;
    claims.confirmed(row);
    if (wasPosted(row, waiting, journal)) return this.#results.end(row, 'created', license, null, waiting);
    await this.#results.finish(row, journal.history(row).outcome ?? 'unchanged', license, null, waiting);
  }

  /** The look does not show what was answered, or not everything. */
  async #confirm(row: LicenseFields, decision: Decision | Undecided, waiting: AnsweredRow): Promise<void> {
    const seen = await this.#lookUp(row, decision, waiting);
    if ('license' in seen) return this.#carryOut(row, seen, waiting);
    if (seen.step === 'refused' && !isLook.has(seen.failure.kind)) return this.#results.trust(waiting, seen.failure);
    if (waiting.looks === 'none yet') return void this.waiting.set(row, { ...waiting, looks: 'one' });
    const why = seen.step === 'refused' ? (seen.similar ?? seen.failure.message) : 'the list does not show it';
    await this.#results.leaveOpen(row, why, waiting);
  }

  async #resize(row: LicenseFields, listed: License, waiting: WaitingRow | undefined): Promise<void> {
    const { claims, licensing, journal, record } = this.#applying;
    claims.confirmed(row);
    await this.#inOrder(() => undefined);
    await this.#results.resizing(row, sizeOf(listed));
    const fields = { size_allowance: row.size_allowance };
    const key = keyOf(listed);
    const send = () => recordedChange(listed, fields, record, () => licensing(row.app_code).update(key, fields));
    try {
      const license = await this.#limit(async () => (this.run.stopped() ? undefined : send()));
      if (license) {
        this.run.answered();
        await this.#results.end(row, 'resized', license, null, waiting);
      } else if (waiting) this.#putBack(waiting);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      await this.#judge(row, cause, waiting, wasPosted(row, waiting, journal) ? listed : null);
    }
  }

  /** Nothing is sent before a look after the claim, and `settle` after the last POST, shows no license, and while an answer is open. */
  async #create(row: LicenseFields, decision: Decision | Undecided, waiting: WaitingRow | undefined): Promise<void> {
    const { claims, journal, answerOf, sendAgain } = this.#applying;
    if (!waiting && (await this.#inOrder(() => claims.claim(row))) === 'held') return;
    const seen = await this.#lookUp(row, decision, waiting);
    if ('license' in seen || (seen.step === 'refused' && !seen.answer)) return this.#carryOut(row, seen, waiting);
    const { posted: known = -Infinity } = historyOf(row, this.#applying);
    const posted = waiting ? -Infinity : Math.max(known, journal.missingUntil);
    if (posted > -Infinity) return void this.waiting.set(row, { is: 'asked', row, posted });
    if (seen.step === 'refused') return this.#results.leaveOpen(row, seen.failure.message, waiting);
    // Another machine may have been answered between the look and the claim.
    const answer = sendAgain.has(row.remote_user) ? undefined : answerOf(row);
    if (answer) return this.#results.leaveOpen(row, openInWords(row, answer), waiting);
    if (waiting?.is === 'unanswered') {
      const added = seen.near?.find((license) => !waiting.near.has(identityOf(license)));
      if (added) return this.#fail(row, similarTo(added, row.remote_user), waiting);
      if (waiting.posts > retriesFor(row, this.#applying))
        return this.#fail(row, `sent ${times(waiting.posts)}, and the list does not show it`, waiting);
    }
    const post = () => this.#post(row, waiting, new Set(seen.near?.map(identityOf)));
    const list = await this.#proof(row, seen.unfiltered, () => post().then(() => this.waiting.has(row)));
    const sent = list && this.waiting.get(row);
    if (!sent || (!list.sight && sent.is !== 'answered')) return;
    this.waiting.delete(row);
    if (list.sight) await this.#carryOut(row, decide(list.sight, row, this.#applying), sent);
    else await this.#results.leaveOpen(row, 'the list does not show it', sent);
  }

  /** Decides what the list leaves open; a look that fails creates nothing. */
  async #lookUp(
    row: LicenseFields,
    decision: Decision | Undecided,
    waiting: WaitingRow | undefined,
  ): Promise<Decision> {
    const applying = this.#applying;
    if (decision.step !== 'look up') return decision;
    try {
      return await this.#limit(() => lookUpRow(row, decision.near, waiting ? decidingBy(applying, waiting) : applying));
    } catch (failure) {
      if (!(failure instanceof Failure) || endsRun(failure, applying)) throw failure;
      if (failure.kind === 'unavailable') this.run.failed(failure);
      return { step: 'refused', failure };
    }
  }

  async #post(row: LicenseFields, waiting: WaitingRow | undefined, near: ReadonlySet<string>): Promise<void> {
    const { journal, claims, licensing, now, elapsed } = this.#applying;
    // Once `--retries` are used up, each run sends one.
    const before = waiting?.is === 'unanswered' ? waiting.posts : (historyOf(row, this.#applying).unanswered ?? 0);
    const posts = Math.min(before, retriesFor(row, this.#applying)) + 1;
    await journal.record(row, { event: 'sent', time: now() });
    const creation = await this.#limit(async () => {
      await this.run.ready();
      return this.run.stopped() ? undefined : this.#send(row, waiting, { posts, near });
    });
    if (!creation) return this.#leaveUnsent(row, waiting);
    const posted = elapsed();
    if (creation.state === 'answered') {
      this.run.answered();
      this.#results.answered(row, creation);
      // Written out: of a copy by spread V8 keeps a shape for each object, 300 bytes.
      this.waiting.set(row, { row, posted, is: 'answered', creation, looks: 'none yet' });
      return;
    }
    await claims.ended(row, endOf(creation, now(), posts));
    this.waiting.set(row, { row, posted, is: 'unanswered', posts, near, failure: creation.failure });
    // A server that is gone must not leave every row unconfirmed.
    if (creation.heard === 'nothing') this.run.unanswered(() => licensing(row.app_code).ofUser(row));
  }

  /** A request that an interruption cut may have been sent; before a request, an interruption is the reason of the signal itself. */
  async #send(
    row: LicenseFields,
    waiting: WaitingRow | undefined,
    sent: { readonly posts: number; readonly near: ReadonlySet<string> },
  ): Promise<Creation> {
    const { licensing, claims, signal, now, elapsed } = this.#applying;
    this.sending += 1;
    try {
      return await licensing(row.app_code).create(row, () => claims.posting(row));
    } catch (cause) {
      if (cause === claims.lost() || cause === signal.reason) await this.#leaveUnsent(row, waiting);
      else if (signal.aborted) {
        await claims.ended(row, { event: 'ended', time: now(), unanswered: sent.posts });
        this.waiting.set(row, { ...sent, is: 'unanswered', row, posted: elapsed(), failure: undefined });
      }
      throw cause;
    } finally {
      this.sending -= 1;
    }
  }

  /** A request that is not sent does not undo what is known of an earlier one. */
  async #leaveUnsent(row: LicenseFields, waiting: WaitingRow | undefined): Promise<void> {
    if (waiting && wasPosted(row, waiting, this.#applying.journal)) this.#putBack(waiting);
    else await this.#results.record(row, 'unsent');
  }

  /** What is known of a row stays so where its turn ended early, unless more is known by now. */
  #putBack(waiting: WaitingRow): void {
    if (!this.waiting.has(waiting.row)) this.waiting.set(waiting.row, waiting);
  }

  /** A refused row fails alone. Where the run ends, a row whose POST was sent is reported with those that wait. */
  async #judge(
    row: LicenseFields,
    cause: Failure,
    waiting: WaitingRow | undefined,
    license: License | null = null,
  ): Promise<void> {
    const isEnd = endsRun(cause, this.#applying);
    if (cause.kind === 'unavailable') this.run.failed(cause);
    else this.run.answered();
    if (isEnd) this.run.stop(cause);
    if (isEnd && waiting && wasPosted(row, waiting, this.#applying.journal)) this.#putBack(waiting);
    else if (!isEnd || cause.kind === 'auth' || cause.kind === 'config')
      await this.#fail(row, cause.message, waiting, cause.message, license);
  }

  /** A row that may have a license is `unknown`, and never `failed`. `why`: a similar name is the reason, in words. */
  async #fail(
    row: LicenseFields,
    message: string,
    waiting: WaitingRow | undefined,
    why = message,
    license: License | null = null,
  ): Promise<void> {
    if (license || !wasPosted(row, waiting, this.#applying.journal))
      return this.#results.end(row, 'failed', license, message, waiting);
    const sent =
      waiting?.is === 'unanswered'
        ? (waiting.failure?.message ?? unanswered)
        : waiting?.is !== 'answered' && 'an earlier run asked for a license';
    // What was answered is said by the result.
    await this.#results.end(row, 'unknown', null, [sent, why].filter(Boolean).join('; '), waiting);
  }
}
