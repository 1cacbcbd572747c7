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
import { historyOf, unanswered, wasPosted, type AnsweredRow, type RowState } from './roster-journal.ts';
import { lookUpRow, type PlannedRow } from './plan-roster.ts';
import { decidingBy, type Applying, type RosterResults } from './roster-results.ts';
import { recordedChange } from './recorded-change.ts';
import { endsRun, circuitBreaker } from './run-end.ts';

/** The work on one row: from what is to be done to its result, or to another look (docs/exactly-once.md, States of a row). */
export class RowWork {
  /** The rows that wait for another look. */
  readonly waiting = new Map<LicenseFields, RowState>();
  /** How many POSTs are on their way. */
  sending = 0;
  readonly run: ReturnType<typeof circuitBreaker>;
  readonly #applying: Applying;
  readonly #results: RosterResults;
  readonly #limit: ReturnType<typeof limiter>;
  /** Rows are claimed in their order, so that they are recorded and sent in it. */
  readonly #inOrder = limiter(1);
  readonly #proof: ReturnType<typeof listProof>;

  constructor(applying: Applying, results: RosterResults) {
    this.#applying = applying;
    this.#results = results;
    this.run = circuitBreaker(applying);
    this.#proof = listProof(applying, this.run);
    this.#limit = limiter(applying.concurrency);
  }

  async apply({ row, decision }: PlannedRow): Promise<void> {
    const state = this.waiting.get(row) ?? ({ row, is: 'new', posted: -Infinity } as const);
    this.waiting.delete(row);
    try {
      await this.#carryOut(state, decision);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      await this.#handleFailure(state, cause);
    }
  }

  async #carryOut(state: RowState, decision: Decision | Undecided): Promise<void> {
    if ('license' in decision) {
      const own = ownOf(decision, state.is === 'answered' ? state.creation : undefined);
      if (!own) return this.#results.keepUnconfirmed(state, 'the list shows the user, and no license with that key');
      this.#results.noteSeveral(state, decision.licenses);
      return decision.step === 'resize' ? this.#resize(state, decision.license) : this.#keep(state, own);
    }
    if (state.is === 'answered') return this.#confirm(state, decision);
    if (isCreation(decision) || isOpen(decision)) return this.#create(state, decision);
    if (decision.step === 'refused') await this.#fail(state, decision.failure.message, decision.similar);
  }

  async #keep(state: RowState, license: License): Promise<void> {
    const { claims, journal } = this.#applying;
    claims.confirmed(state.row);
    if (wasPosted(state, journal)) return this.#results.end(state, 'created', license, null);
    await this.#results.finish(state, journal.history(state.row).outcome ?? 'unchanged', license, null);
  }

  /** The look does not show what was answered, or not everything. */
  async #confirm(state: AnsweredRow, decision: Decision | Undecided): Promise<void> {
    const seen = await this.#lookUp(state, decision);
    if ('license' in seen) return this.#carryOut(state, seen);
    if (seen.step === 'refused' && !isLook.has(seen.failure.kind))
      return this.#results.acceptAnswer(state, seen.failure);
    if (state.looks === 'none yet') return void this.waiting.set(state.row, { ...state, looks: 'one' });
    const why = seen.step === 'refused' ? (seen.similar ?? seen.failure.message) : 'the list does not show it';
    await this.#results.keepUnconfirmed(state, why);
  }

  async #resize(state: RowState, listed: License): Promise<void> {
    const { claims, licensing, journal, record, differs } = this.#applying;
    const { row } = state;
    claims.confirmed(row);
    if (differs) {
      const found = await this.#limit(() => licensing(row.app_code).view(keyOf(listed)));
      if (sizeOf(found) !== sizeOf(listed))
        return this.#fail(state, `it was resized to ${sizeOf(found) ?? '?'} meanwhile`);
    }
    await this.#inOrder(() => undefined);
    await this.#results.resizing(row, sizeOf(listed));
    const fields = { size_allowance: row.size_allowance };
    const key = keyOf(listed);
    const send = () => recordedChange(listed, fields, record, () => licensing(row.app_code).update(key, fields));
    try {
      const license = await this.#limit(async () => (this.run.stopped() ? undefined : send()));
      if (license) {
        this.run.answered();
        await this.#results.end(state, 'resized', license, null);
      } else this.#requeue(state);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      await this.#handleFailure(state, cause, wasPosted(state, journal) ? listed : null);
    }
  }

  /** Nothing is sent before a look after the claim, and `settle` after the last POST, shows no license, and while an answer is open. */
  async #create(state: RowState, decision: Decision | Undecided): Promise<void> {
    const { claims, journal, answerOf, sendAgain } = this.#applying;
    const { row } = state;
    const isNew = state.is === 'new';
    if (isNew && (await this.#inOrder(() => claims.claim(row))) === 'held') return;
    const seen = await this.#lookUp(state, decision);
    if ('license' in seen || (seen.step === 'refused' && !seen.answer)) return this.#carryOut(state, seen);
    const { posted: known = -Infinity } = historyOf(row, this.#applying);
    const posted = isNew ? Math.max(known, journal.missingUntil) : -Infinity;
    if (posted > -Infinity) return void this.waiting.set(row, { is: 'asked', row, posted });
    if (seen.step === 'refused') return this.#results.keepUnconfirmed(state, seen.failure.message);
    // Another machine may have been answered between the look and the claim.
    const answer = sendAgain.has(row.remote_user) ? undefined : answerOf(row);
    if (answer) return this.#results.keepUnconfirmed(state, openInWords(row, answer));
    if (state.is === 'unanswered') {
      const added = seen.near?.find((license) => !state.near.has(identityOf(license)));
      if (added) return this.#fail(state, similarTo(added, row.remote_user));
      if (state.posts > retriesFor(row, this.#applying))
        return this.#fail(state, `sent ${times(state.posts)}, and the list does not show it`);
    }
    const post = () => this.#post(state, new Set(seen.near?.map(identityOf)));
    const list = await this.#proof(row, seen.unfiltered, () => post().then(() => this.waiting.has(row)));
    const sent = list && this.waiting.get(row);
    if (!sent || (!list.result && sent.is !== 'answered')) return;
    this.waiting.delete(row);
    if (list.result) await this.#carryOut(sent, decide(list.result, row, this.#applying));
    else await this.#results.keepUnconfirmed(sent, 'the list does not show it');
  }

  /** Decides what the list leaves open; a look that fails creates nothing. */
  async #lookUp(state: RowState, decision: Decision | Undecided): Promise<Decision> {
    const applying = this.#applying;
    if (decision.step !== 'look up') return decision;
    const looking = state.is === 'new' ? applying : decidingBy(applying, state);
    try {
      return await this.#limit(() => lookUpRow(state.row, decision.near, looking));
    } catch (failure) {
      if (!(failure instanceof Failure) || endsRun(failure, applying)) throw failure;
      if (failure.kind === 'unavailable') this.run.failed(failure);
      return { step: 'refused', failure };
    }
  }

  async #post(state: RowState, near: ReadonlySet<string>): Promise<void> {
    const { journal, claims, licensing, now, elapsed } = this.#applying;
    const { row } = state;
    // Once `--retries` are used up, each run sends one.
    const before = state.is === 'unanswered' ? state.posts : (historyOf(row, this.#applying).unanswered ?? 0);
    const posts = Math.min(before, retriesFor(row, this.#applying)) + 1;
    await journal.record(row, { event: 'sent', time: now() });
    const creation = await this.#limit(async () => {
      await this.run.ready();
      return this.run.stopped() ? undefined : this.#send(state, { posts, near });
    });
    if (!creation) return this.#leaveUnsent(state);
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
    state: RowState,
    sent: { readonly posts: number; readonly near: ReadonlySet<string> },
  ): Promise<Creation> {
    const { licensing, claims, signal, now, elapsed } = this.#applying;
    const { row } = state;
    this.sending += 1;
    try {
      return await licensing(row.app_code).create(row, () => claims.posting(row));
    } catch (cause) {
      if (cause === claims.lost() || cause === signal.reason) await this.#leaveUnsent(state);
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
  async #leaveUnsent(state: RowState): Promise<void> {
    if (!this.#requeue(state)) await this.#results.record(state.row, 'unsent');
  }

  /** A row that may have a license waits on where its turn ended early, unless more is known by now. @returns whether it is such a row */
  #requeue(state: RowState): boolean {
    const isSent = state.is !== 'new' && wasPosted(state, this.#applying.journal);
    if (isSent && !this.waiting.has(state.row)) this.waiting.set(state.row, state);
    return isSent;
  }

  /** A refused row fails alone. Where the run ends, a row whose POST was sent is reported with those that wait. */
  async #handleFailure(state: RowState, cause: Failure, license: License | null = null): Promise<void> {
    const isEnd = endsRun(cause, this.#applying);
    if (cause.kind === 'unavailable') this.run.failed(cause);
    else this.run.answered();
    if (isEnd) this.run.stop(cause);
    if (isEnd && this.#requeue(state)) return;
    if (!isEnd || cause.kind === 'auth' || cause.kind === 'config')
      await this.#fail(state, cause.message, cause.message, license);
  }

  /** A row that may have a license is `unknown`, and never `failed`. `why`: a similar name is the reason, in words. */
  async #fail(state: RowState, message: string, why = message, license: License | null = null): Promise<void> {
    if (license || !wasPosted(state, this.#applying.journal))
      return this.#results.end(state, 'failed', license, message);
    const sent =
      state.is === 'unanswered'
        ? (state.failure?.message ?? unanswered)
        : state.is !== 'answered' && 'an earlier run asked for a license';
    // What was answered is said by the result.
    await this.#results.end(state, 'unknown', null, [sent, why].filter(Boolean).join('; '));
  }
}
