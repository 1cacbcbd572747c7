import { identityOf, keyOf, type License, type UnfilteredList } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { limiter } from '../work/pool.ts';
import { endOf, lookUp } from './license-user.ts';
import {
  decide,
  needsClaim,
  openInWords,
  ownOf,
  retriesFor,
  severalWarning,
  similarTo,
  sizeOf,
  times,
  type Decision,
  type Undecided,
} from './decide.ts';
import { recordedChange } from './history.ts';
import { listAfterPost } from './list-users.ts';
import { historyOf, wasPosted, type RowState } from './roster-journal.ts';
import type { PlannedRow } from './plan-roster.ts';
import { decidingBy, unconfirmed, type Applying, type RowOutcome, type RosterResults } from './roster-results.ts';
import { endsRun, type CircuitBreaker } from './run-end.ts';

/** A state that waits for another lookup, or an outcome. Undefined: another run has the row, or this run has ended. */
type Turn = RowState | RowOutcome | undefined;

/** The work on one row, to its outcome or another lookup (docs/exactly-once.md, States of a row). */
export class RowWork {
  readonly waiting = new Map<LicenseFields, RowState>();
  sending = 0;
  readonly #run: CircuitBreaker;
  readonly #applying: Applying;
  readonly #results: RosterResults;
  readonly #limit: ReturnType<typeof limiter>;
  /** Rows are claimed in their order, so that they are recorded and sent in it. */
  readonly #inOrder = limiter(1);
  /** Applications whose list holds what this run creates. */
  readonly #conclusive = new Set<number>();
  readonly #oneAtATime = limiter(1);

  constructor(applying: Applying, run: CircuitBreaker, results: RosterResults) {
    this.#applying = applying;
    this.#run = run;
    this.#results = results;
    this.#limit = limiter(applying.concurrency);
  }

  async apply({ row, decision }: PlannedRow): Promise<void> {
    if (this.#run.isOver()) return;
    const state = this.waiting.get(row) ?? ({ row, is: 'new', posted: -Infinity } as const);
    this.waiting.delete(row);
    const turn = await this.#carryOut(state, decision).catch((cause: unknown) => this.#handleFailure(state, cause));
    if (turn && 'is' in turn) this.waiting.set(row, turn);
    else if (turn) await this.#results.end(turn);
  }

  /** Sends only after the claim, once a lookup `settle` after the last POST shows no license, and no answer is open. */
  async #carryOut(state: RowState, planned: Decision | Undecided): Promise<Turn> {
    const { claims, journal, answerOf, sendAgain } = this.#applying;
    const { row } = state;
    const isNew = state.is === 'new';
    if (isNew && needsClaim(planned)) {
      if ((await this.#inOrder(() => claims.claim(row))) === 'held') return undefined;
      const { posted = -Infinity } = historyOf(row, this.#applying);
      const asked = Math.max(posted, journal.missingUntil);
      // A lookup decides only `--settle` after that POST: an earlier one would be wasted.
      if (asked > -Infinity) return { is: 'asked', row, posted: asked };
    }
    const seen = planned.step === 'look up' ? await this.#lookUp(state, planned.near) : planned;
    if ('license' in seen) return this.#keep(state, seen);
    if (state.is === 'answered') {
      const failure = seen.step === 'refused' ? seen.failure : undefined;
      // With a similar name, or a list that is not whole, the lookup was answered.
      if (failure && failure.kind !== 'rejected' && failure.kind !== 'incomplete')
        return this.#results.acceptAnswer(state, failure);
      if (state.listed === 'not yet') return { ...state, listed: 'once' };
      const similar = seen.step === 'refused' ? seen.similar : undefined;
      return unconfirmed(state, similar ?? failure?.message ?? 'the list does not show the license');
    }
    if (seen.step === 'refused' && !seen.answer)
      return this.#results.failed(state, seen.failure.message, { why: seen.similar });
    if (seen.step === 'refused') return unconfirmed(state, seen.failure.message);
    const { unfiltered } = seen;
    if (planned.step === 'look up' && unfiltered) {
      // The POSTs of this run move the pages of such a list: it is read twice once they have ended.
      if (isNew) return { is: 'asked', row, posted: -Infinity };
      return this.#results.failed(state, 'the server ignores the filter by user, as only now was seen');
    }
    // Another machine may have been answered between the lookup and the claim.
    const answer = sendAgain.has(row.remote_user) ? undefined : answerOf(row);
    if (answer) return unconfirmed(state, openInWords(row, answer));
    if (state.is === 'unanswered') {
      const added = seen.near?.find((license) => !state.near.has(identityOf(license)));
      if (added) return this.#results.failed(state, similarTo(added, row.remote_user));
      if (state.posts > retriesFor(row, this.#applying))
        return this.#results.failed(state, `sent ${times(state.posts)}, and the list does not show the license`);
    }
    const near = new Set(seen.near?.map(identityOf));
    if (!unfiltered || this.#conclusive.has(row.app_code)) return this.#post(state, near);
    return this.#oneAtATime(() => this.#postAndList(state, near, unfiltered));
  }

  /** The lookup shows licenses of the user: one is created, kept or resized. */
  async #keep(state: RowState, decision: Extract<Decision, { license: License }>): Promise<Turn> {
    const own = ownOf(decision, state.is === 'answered' ? state.creation : undefined);
    if (!own) return unconfirmed(state, 'the list shows the user, and no license with that key');
    const { row } = state;
    const { claims, journal, doubled, warn } = this.#applying;
    const { outcome = 'unchanged', size_before } = journal.history(row);
    const isCreated = wasPosted(state, journal);
    // A user for whom the run creates a license, and who has several, is its result.
    if (decision.licenses.length > 1 && (isCreated || outcome === 'created')) doubled(row, decision.licenses);
    else if (decision.licenses.length > 1) warn(severalWarning(row));
    claims.confirmed(row);
    if (decision.step === 'resize') return this.#resize(state, decision.license);
    if (isCreated) return { state, status: 'created', license: own };
    return { state, status: outcome, license: own, size_before, recordedIn: 'neither' };
  }

  async #resize(state: RowState, listed: License): Promise<Turn> {
    const { licensing, journal, record, differs, now } = this.#applying;
    const { row } = state;
    const key = keyOf(listed);
    if (differs) {
      const found = await this.#limit(() => licensing(row.app_code).view(key));
      if (sizeOf(found) !== sizeOf(listed))
        return this.#results.failed(state, `somebody resized it to ${sizeOf(found) ?? '?'} meanwhile`);
    }
    await this.#inOrder(() => undefined);
    const size_before = sizeOf(listed);
    await journal.record(row, { event: 'resizing', time: now(), size_before });
    const fields = { size_allowance: row.size_allowance };
    const send = () => recordedChange(listed, fields, record, () => licensing(row.app_code).update(key, fields));
    try {
      const license = await this.#limit(async () => (this.#run.stopped() ? undefined : send()));
      if (!license) return this.#waitsOn(state);
      this.#run.answered();
      return { state, status: 'resized', license, size_before: size_before ?? journal.history(row).size_before };
    } catch (cause) {
      return this.#handleFailure(state, cause, wasPosted(state, journal) ? listed : null);
    }
  }

  /** Decides what the list leaves open; a lookup that fails creates nothing. */
  async #lookUp(state: RowState, near: Undecided['near']): Promise<Decision> {
    const applying = this.#applying;
    const { row } = state;
    const looking = state.is === 'new' ? applying : decidingBy(applying, state);
    try {
      const result = await this.#limit(() => lookUp(looking.licensing(row.app_code), row, near));
      this.#run.listed();
      return decide(result, row, looking);
    } catch (failure) {
      if (!(failure instanceof Failure) || endsRun(failure, applying)) throw failure;
      if (failure.kind === 'unavailable') this.#run.failed(failure);
      return { step: 'refused', failure };
    }
  }

  /**
   * POSTs go one at a time until a list holds all earlier licenses and a new one; else the run stops
   * (docs/exactly-once.md, A list is a hint).
   */
  async #postAndList(state: RowState, near: ReadonlySet<string>, earlier: UnfilteredList): Promise<Turn> {
    const { row } = state;
    const sent = await this.#post(state, near);
    if (!sent || this.#conclusive.has(row.app_code) || this.#run.stopped()) return sent;
    const list = await listAfterPost(this.#applying.licensing(row.app_code), row, earlier, this.#applying);
    const failure = list instanceof Failure ? list : list.failure;
    if (failure) this.#run.stop(failure);
    else this.#conclusive.add(row.app_code);
    if (list instanceof Failure) return sent;
    if (list.result) return this.#carryOut(sent, decide(list.result, row, this.#applying));
    return sent.is === 'answered' ? unconfirmed(sent, 'the list does not show the license') : sent;
  }

  /** A request that an interruption cut may have been sent; before a request it is the signal's own reason. */
  async #post(state: RowState, near: ReadonlySet<string>): Promise<RowState | undefined> {
    const { journal, claims, licensing, signal, now, elapsed } = this.#applying;
    const { row } = state;
    const api = licensing(row.app_code);
    const posts = (state.is === 'unanswered' ? state.posts : (historyOf(row, this.#applying).unanswered ?? 0)) + 1;
    await journal.record(row, { event: 'sent', time: now() });
    try {
      const creation = await this.#limit(async () => {
        await this.#run.ready();
        if (this.#run.stopped()) return undefined;
        this.sending += 1;
        return api.create(row, () => claims.posting(row)).finally(() => (this.sending -= 1));
      });
      if (!creation) return await this.#leaveUnsent(state);
      const posted = elapsed();
      if (creation.state === 'answered') {
        this.#run.answered();
        this.#results.answered(row, creation);
        // Written out: of a copy by spread V8 keeps a shape for each object, 300 bytes.
        return { row, posted, is: 'answered', creation, listed: 'not yet' };
      }
      await claims.ended(row, endOf(creation, now(), posts));
      // A server that is gone must not leave every row unconfirmed.
      if (creation.heard === 'nothing') this.#run.unanswered(() => api.ofUser(row));
      return { row, posted, is: 'unanswered', posts, near, failure: creation.failure };
    } catch (cause) {
      const isUnsent = cause === claims.lost() || cause === signal.reason;
      if (!(cause instanceof Failure) || !(isUnsent || signal.aborted)) throw cause;
      this.#run.stop(cause);
      if (isUnsent) return this.#leaveUnsent(state);
      await claims.ended(row, { event: 'ended', time: now(), unanswered: posts });
      return { row, posted: elapsed(), is: 'unanswered', posts, near, failure: undefined };
    }
  }

  /** A request that is not sent does not undo what is known of an earlier one. */
  async #leaveUnsent(state: RowState): Promise<RowState | undefined> {
    const { journal, now } = this.#applying;
    const waits = this.#waitsOn(state);
    if (!waits) await journal.recordDone(state.row, { event: 'unsent', time: now() });
    return waits;
  }

  /** A row that may have a license waits on where its turn ended early. */
  #waitsOn(state: RowState): RowState | undefined {
    return state.is !== 'new' && wasPosted(state, this.#applying.journal) ? state : undefined;
  }

  /** A refused row fails alone. Where the run ends, a row whose POST was sent is reported with those that wait. */
  #handleFailure(state: RowState, cause: unknown, license: License | null = null): Turn {
    if (!(cause instanceof Failure)) throw cause;
    const isEnd = endsRun(cause, this.#applying);
    if (cause.kind === 'unavailable') this.#run.failed(cause);
    else this.#run.answered();
    if (isEnd) this.#run.stop(cause);
    const waits = isEnd ? this.#waitsOn(state) : undefined;
    const isReported = !isEnd || cause.kind === 'auth' || cause.kind === 'config';
    return waits ?? (isReported ? this.#results.failed(state, cause.message, { license }) : undefined);
  }
}
