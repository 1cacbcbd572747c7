import type { Creation } from '../../api/licensing/creation.ts';
import { keyOf } from '../../api/licensing/license-key.ts';
import type { License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { limiter, sequence } from '../work/workers.ts';
import type { Availability } from './availability.ts';
import { decide, openAnswer, openInWords, severalWarning, times, type Decision } from './decide.ts';
import { earlierOutcome, lastPost, openAnswerOf } from './past.ts';
import { isCreation, type PlannedRow } from './plan-roster.ts';
import { endsRun, type Applying, type RosterResults } from './roster-results.ts';
import { lookUp } from './sight.ts';
import { wasPosted, type AnsweredRow, type WaitingRow, type WaitingRows } from './waiting-rows.ts';

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
  readonly #applying: Applying;
  readonly #results: RosterResults;
  readonly #waiting: WaitingRows;
  readonly #server: Availability;
  #listedAt: Milliseconds;
  readonly #stopped: WorkingRun['stopped'];
  readonly #stop: WorkingRun['stop'];
  readonly #limit: ReturnType<typeof limiter>;
  /** Rows are claimed in their order, so that they are recorded and sent in it. */
  readonly #inOrder = sequence();
  /** Rows that count as created without a look, and why there was none. */
  readonly #unlooked: (Failure | undefined)[] = [];

  constructor({ applying, results, waiting, server, listedAt, stopped, stop }: WorkingRun) {
    this.#applying = applying;
    this.#results = results;
    this.#waiting = waiting;
    this.#server = server;
    this.#listedAt = listedAt;
    this.#stopped = stopped;
    this.#stop = stop;
    this.#limit = limiter(applying.concurrency);
  }

  /** A later list decides from now on. */
  listed(listedAt: Milliseconds): void {
    this.#listedAt = listedAt;
  }

  async apply({ row, decision }: PlannedRow): Promise<void> {
    const waiting = this.#waiting.take(row);
    if ('hasSeveral' in decision && decision.hasSeveral) this.#applying.warn(severalWarning(row));
    try {
      await this.#carryOut(row, decision, waiting);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#judge(row, cause);
    }
  }

  async #carryOut(row: LicenseFields, decision: Decision, waiting: WaitingRow | undefined): Promise<void> {
    if (decision.step === 'resize') return this.#resize(row, keyOf(decision.license));
    if (decision.step === 'unchanged') return this.#keep(row, decision.license, waiting);
    if (waiting?.is === 'answered') return this.#confirm(row, decision, waiting);
    if (isCreation(decision)) return this.#create(row, decision, waiting);
    if (decision.step === 'refused') await this.#refuse(row, decision.failure, waiting);
  }

  async #keep(row: LicenseFields, license: License, waiting: WaitingRow | undefined): Promise<void> {
    const { journal, claims } = this.#applying;
    const isOwn = wasPosted(row, waiting, this.#applying);
    claims.shown(row);
    const status = isOwn ? 'created' : (earlierOutcome(journal.past(row)) ?? 'unchanged');
    const answered = waiting?.is === 'answered' ? waiting.creation.license : undefined;
    await this.#results.finish(row, {
      status,
      license: answered?.key === license.key ? (answered ?? license) : license,
      error: null,
    });
  }

  /** The look does not show what was answered, or not everything. */
  async #confirm(row: LicenseFields, decision: Decision, waiting: AnsweredRow): Promise<void> {
    const { creation, looks } = waiting;
    const seen = decision.step === 'look up' ? await this.#lookUp(row) : decision;
    if ('license' in seen) return this.#carryOut(row, seen, waiting);
    if (seen.step === 'refused' && seen.failure.kind !== 'rejected') return this.trust(waiting, seen.failure);
    if (looks === 'none yet') {
      this.#waiting.add({ ...waiting, looks: 'one' });
      return;
    }
    const why = seen.step === 'refused' ? seen.failure.message : 'the list does not show it';
    this.#open(row, `${creation.failure.message}; ${why}`, printed(creation));
  }

  /** Where no look was answered, what the server said counts. */
  async trust({ row, creation }: AnsweredRow, why: Failure | undefined): Promise<void> {
    const { license, license_is, failure } = creation;
    if (license_is !== 'as asked' || !license) {
      this.#open(row, [failure.message, why?.message].filter(Boolean).join('; '), license);
      return;
    }
    this.#unlooked.push(why);
    await this.#results.finish(row, { status: 'created', license, error: null });
  }

  /** A POST was answered, and no list shows the license: it is not sent again. */
  #open(row: LicenseFields, error: string, license: License | undefined): void {
    this.#results.end(row, { status: 'unknown', license: license ?? null, error }, 'unknown');
  }

  /** A near name is what the server may have made of a license that was answered: who sends again has looked at it. */
  async #refuse(row: LicenseFields, { kind, message }: Failure, waiting: WaitingRow | undefined): Promise<void> {
    const answer = kind === 'rejected' ? openAnswerOf(row, this.#applying) : undefined;
    const isAgain = waiting?.is !== 'unanswered' && this.#applying.sendAgain.has(row.remote_user);
    if (answer && isAgain) await this.#create(row, { step: 'create' }, waiting);
    else if (answer) this.#open(row, `${openInWords(row, answer)}; ${message}`, undefined);
    else this.#results.fail(row, wasPosted(row, waiting, this.#applying) ? 'unknown' : 'failed', message);
  }

  async #resize(row: LicenseFields, key: string): Promise<void> {
    const { journal, claims, licensing, now } = this.#applying;
    claims.shown(row);
    await this.#inOrder(() => undefined);
    await journal.before(row, 'resize', now());
    const { app_code, size_allowance } = row;
    const send = async () => (this.#stopped() ? undefined : licensing(app_code).update(key, { size_allowance }));
    const license = await this.#limit(send);
    if (!license) return;
    this.#server.answered();
    this.#results.end(row, { status: 'resized', license, error: null }, 'resized');
  }

  /** Nothing is sent before a look, `settle` after the last POST, proves that there is no license, and while an answer is open. */
  async #create(row: LicenseFields, decision: Decision, waiting: WaitingRow | undefined): Promise<void> {
    const { claims, settle, retries, sendAgain } = this.#applying;
    if (!waiting && (await this.#inOrder(() => claims.claim(row))) === 'held') return;
    const posted = waiting ? -Infinity : lastPost(row, this.#listedAt, this.#applying);
    if (posted + settle > this.#listedAt) {
      this.#waiting.add({ is: 'asked', row, posted });
      return;
    }
    const seen = decision.step === 'look up' ? await this.#lookUp(row) : decision;
    if (seen.step !== 'create') return this.#carryOut(row, seen, waiting);
    const open =
      waiting?.is === 'unanswered' || sendAgain.has(row.remote_user) ? undefined : openAnswerOf(row, this.#applying);
    if (open) {
      this.#open(row, openInWords(row, open), undefined);
      return;
    }
    const posts = waiting?.is === 'unanswered' ? waiting.posts : 0;
    if (waiting?.is === 'unanswered' && posts > retries) {
      this.#results.fail(row, 'unknown', exhausted(waiting));
      return;
    }
    await this.#post(row, posts + 1);
  }

  /** One user, right before the POST; a look that fails creates nothing. */
  async #lookUp(row: LicenseFields): Promise<Decision> {
    const { licensing, similar } = this.#applying;
    try {
      const { sight } = await this.#limit(() => lookUp(licensing(row.app_code), row));
      const decision = decide(sight, row, similar);
      return decision.step === 'look up' ? { step: 'create' } : decision;
    } catch (failure) {
      if (!(failure instanceof Failure) || endsRun(failure, this.#applying)) throw failure;
      if (failure.kind === 'unavailable') this.#server.failed(failure);
      return { step: 'refused', failure };
    }
  }

  async #post(row: LicenseFields, posts: number): Promise<void> {
    const { journal, claims, licensing, now, elapsed } = this.#applying;
    await journal.before(row, 'create', now());
    const creation = await this.#limit(async () => {
      await this.#server.ready();
      return this.#stopped() ? undefined : this.#send(row, posts);
    });
    if (!creation) return this.#results.record(row, 'not sent');
    claims.posted(row, now());
    const sent = { row, posted: elapsed() };
    if (creation.state === 'answered') {
      this.#server.answered();
      this.#results.answered(row, openAnswer(creation, now()));
      this.#waiting.add({ ...sent, is: 'answered', creation, looks: 'none yet' });
      return;
    }
    this.#waiting.add({ ...sent, is: 'unanswered', posts, failure: creation.failure });
    // A server that is gone must not leave every row unconfirmed.
    if (creation.heard === 'nothing') this.#server.unanswered(() => licensing(row.app_code).ofUser(row));
  }

  /** A request that an interruption cut may have been sent; before a request, an interruption is the reason of the signal itself. */
  async #send(row: LicenseFields, posts: number): Promise<Creation> {
    const { licensing, claims, signal, now, elapsed } = this.#applying;
    try {
      return await licensing(row.app_code).create(row, () => claims.posting(row));
    } catch (cause) {
      if (cause === claims.lost() || cause === signal.reason) await this.#results.record(row, 'not sent');
      else if (signal.aborted) {
        claims.posted(row, now());
        this.#waiting.add({ is: 'unanswered', row, posts, posted: elapsed(), failure: undefined });
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
    if (isEnd) this.#stop(cause);
    if (!isEnd || isRefused) this.#results.fail(row, 'failed', cause.message);
  }

  /** The look after `settle` did not come: what was answered stays open. */
  leaveOpen({ row, creation }: AnsweredRow): void {
    this.#open(row, creation.failure.message, printed(creation));
  }

  warnOfUnlooked(): void {
    const [why] = this.#unlooked;
    const count = this.#unlooked.length;
    if (count === 0) return;
    const said = `${count} ${count === 1 ? 'license was' : 'licenses were'} created, as the server answered`;
    this.#applying.warn(`${said}; no list confirmed it: ${why?.message ?? 'none was read'}`);
  }
}

/** The license of an answer, where it is the one that was asked for. */
function printed({ license, license_is }: AnsweredRow['creation']): License | undefined {
  return license_is === 'as asked' ? license : undefined;
}

function exhausted({ failure, posts }: WaitingRow & { readonly is: 'unanswered' }): string {
  return `${failure?.message ?? 'the request was not answered'}; sent ${times(posts)}, and the list does not show it`;
}
