import { notShown, otherKey, type AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { hasKeyOf, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { InOrder } from '../work/pool.ts';
import { endOf, type LicenseUser } from './license-user.ts';
import { decidingOn, type Settling } from './create-license.ts';
import type { RecordEvent } from './history.ts';
import { unanswered, wasPosted, type AnsweredRow, type LicenseJournal, type RowState } from './roster-journal.ts';
import { resultOf, type PlannedRow, type Planning, type RowResult } from './plan-roster.ts';
import type { RosterClaims } from './share-roster.ts';

export interface Applying extends Planning, Settling {
  readonly licensing: (app_code: number) => LicensingApi;
  readonly journal: LicenseJournal;
  readonly claims: RosterClaims;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  /** Takes the counts, which are for below the rows. */
  readonly conclude: (text: string) => void;
  readonly where: string;
  /** Tells the history of this computer what was done. */
  readonly record: RecordEvent;
  readonly resume: string;
  /** A user for whom this run created a license has several. */
  readonly doubled: (user: LicenseUser, licenses: readonly License[]) => void;
  /** Counts the rows that need no more work. */
  readonly progress: { step(): void; end(): void };
}

/** Plans with lists that decide about a waiting row. */
export function decidingBy(applying: Applying, { is, posted }: Pick<RowState, 'is' | 'posted'>): Planning {
  const deciding = decidingOn(is, posted, applying.settle);
  // What the run itself has sent is within the plan.
  return { ...applying, differs: undefined, licensing: (app_code) => applying.licensing(app_code).deciding(deciding) };
}

/** Whether a row needs neither a request nor a record, as most rows of a roster that is applied again. */
export function isUnchanged({ row, decision }: PlannedRow, { journal }: Pick<Applying, 'journal'>): boolean {
  return decision.step === 'unchanged' && decision.licenses.length === 1 && journal.history(row).posted === undefined;
}

export interface RowOutcome extends Pick<RowResult, 'status'>, Partial<Pick<RowResult, 'license' | 'error'>> {
  readonly state: RowState;
  readonly size_before?: number | undefined;
  /** No list has shown what was answered, now or earlier, and none is read again: only `--send-again` goes on. */
  readonly isOpen?: true;
  /** Where it is recorded; default: in the journal and the history. */
  readonly recordedIn?: 'neither' | 'history';
  /** When the last POST ended; default: now. */
  readonly time?: Milliseconds;
}

/** The outcome of a row whose POST was answered, in this run or an earlier one, and whose license no list shows. */
export function unconfirmed(state: RowState, error: string): RowOutcome {
  return { state, status: 'unknown', error, isOpen: true };
}

/** Outcomes that are recorded while others are reached; beyond, whoever reaches one waits. */
const maxUnwritten = 500;

/** An unknown row whose POST was answered. `open`: no list shows it, and only `--send-again` goes on with it. */
export type AnsweredOnly = 'open' | 'unconfirmed';

type Reporting = Pick<Applying, 'journal' | 'claims' | 'now' | 'progress' | 'warn' | 'record'>;

/** The results of the rows, on their way to the journal and then to the reader. */
export class RosterResults {
  readonly #applying: Reporting;
  readonly #ready = new InOrder<LicenseFields, RowResult>();
  readonly #writing = new Set<Promise<void>>();
  readonly answeredOnly = new Map<LicenseFields, AnsweredOnly>();
  /** The keys that were answered, and for how many users: a key of several is nobody's until a list says whose. */
  readonly #keys = new Map<string, 'one' | 'several'>();
  readonly #accepted: (Failure | undefined)[] = [];

  constructor(applying: Reporting) {
    this.#applying = applying;
  }

  /** Records that the server answered a POST: its row is reported once a list has confirmed it. */
  answered(row: LicenseFields, creation: AnsweredCreation): void {
    const { journal, claims, progress, now } = this.#applying;
    const end = endOf(creation, now(), 0);
    const key = creation.license?.key;
    if (key !== undefined) this.#keys.set(key, this.#keys.has(key) ? 'several' : 'one');
    // The progress counts the row as done: one list at the end confirms all rows.
    progress.step();
    // The claims first: what the journal of one job knows, every later run knows.
    this.#inBackground(claims.ended(row, end).then(() => journal.recordDone(row, end)));
  }

  #keyChecked(creation: AnsweredCreation): AnsweredCreation {
    const isOfSeveral = this.#keys.get(creation.license?.key ?? '') === 'several';
    return isOfSeveral ? { ...creation, license_is: 'of several users' } : creation;
  }

  /** The answer of the server is the outcome, since no list could be read. */
  acceptAnswer(state: AnsweredRow, why: Failure | undefined): RowOutcome {
    const { license, license_is } = this.#keyChecked(state.creation);
    if (license_is !== 'as asked' || !license) return { state, status: 'unknown', error: why?.message ?? '' };
    this.#accepted.push(why);
    return { state, status: 'created', license, recordedIn: 'history' };
  }

  /** A row that may have a license is `unknown`, and never `failed`. `why`: a similar name is the reason, in words. */
  failed(
    state: RowState,
    message: string,
    { why = message, license = null }: { readonly why?: string | undefined; readonly license?: License | null } = {},
  ): RowOutcome {
    if (license || !wasPosted(state, this.#applying.journal))
      return { state, status: 'failed', license, error: message };
    const sent =
      state.is === 'unanswered'
        ? (state.failure?.message ?? unanswered)
        : state.is !== 'answered' && 'an earlier run requested a license';
    // What was answered is said by the result.
    return { state, status: 'unknown', error: [sent, why].filter(Boolean).join('; ') };
  }

  warnOfAccepted(): void {
    const [why] = this.#accepted;
    const count = this.#accepted.length;
    if (count === 0) return;
    const said = `${count} ${count === 1 ? 'license was' : 'licenses were'} created, as the server answered`;
    const isTried = why && !why.isInterruption;
    const unread = isTried ? `no list confirmed it: ${why.message}` : 'no list was read yet: the next run confirms it';
    this.#applying.warn(`${said}; ${unread}`);
  }

  /** Records an outcome, then reports it. The worker continues meanwhile; what it records next shares the sync. */
  async end(outcome: RowOutcome): Promise<void> {
    const { state, status, license, recordedIn, time } = outcome;
    const { remote_user, app_code, size_allowance } = state.row;
    const { journal, now, record } = this.#applying;
    // A change is recorded where it is sent.
    if (recordedIn !== 'neither' && (status === 'created' || status === 'unknown')) {
      const told = license ?? (state.is === 'answered' ? state.creation.license : undefined);
      const license_code_end = told?.key?.slice(-4);
      // Of an earlier run's POST only an answer in the journal shows that it was sent.
      const { answer } = journal.history(state.row);
      const isAnswered = answer !== undefined && (answer.key_end ?? license_code_end) === license_code_end;
      const isOwn = state.is === 'answered' || state.is === 'unanswered' || isAnswered;
      const event = status === 'created' && !isOwn ? 'found' : status;
      await record({ event, remote_user, app_code, size_allowance, license_code_end });
    }
    if (recordedIn || status === 'unchanged') return this.#report(outcome);
    const recorded = journal.recordDone(state.row, { event: eventOf[status], time: time ?? now() });
    this.#inBackground(recorded.then(() => this.#report(outcome)));
    if (this.#writing.size > maxUnwritten) await this.flush();
  }

  async #report({ state, status, license = null, error, size_before, isOpen }: RowOutcome): Promise<void> {
    const { row } = state;
    const creation = state.is === 'answered' ? this.#keyChecked(state.creation) : undefined;
    const before = status === 'resized' ? (size_before ?? null) : null;
    const result = this.#withAnswer(resultOf(row, status, license, error, before), creation);
    if (!creation) this.#applying.progress.step();
    if (isOpen) this.answeredOnly.set(row, 'open');
    else if (creation && result.status === 'unknown') this.answeredOnly.set(row, 'unconfirmed');
    this.#ready.put(row, result);
    // A row whose request is unconfirmed is given back at the end, with the time of that request.
    if (result.status !== 'unknown') await this.#applying.claims.release(row);
  }

  /** What was answered is not `failed` unless a list shows the license, and the answered key is always printed. */
  #withAnswer(result: RowResult, creation: AnsweredCreation | undefined): RowResult {
    if (!creation) return result;
    const { status, license, error, size_allowance_before: before } = result;
    const { license_is, license: answered } = creation;
    const other =
      answered && license && hasKeyOf(answered, license) === false ? otherKey(result, answered, license) : undefined;
    const printed = license_is === 'as asked' && other === undefined ? (answered ?? license) : license;
    const isPrinted = answered?.key === undefined || answered.key === printed?.key;
    if (error === null && isPrinted) return resultOf(result, status, printed, null, before);
    const { message } = notShown(creation, result);
    if (error === null) this.#applying.warn((license_is === 'as asked' && other) || message);
    const why = error === null ? null : [message, error].filter(Boolean).join('; ');
    return resultOf(result, status === 'failed' && !license ? 'unknown' : status, printed, why);
  }

  /** Resolves when each outcome so far is recorded and reported. */
  async flush(): Promise<void> {
    await Promise.all(this.#writing);
  }

  close(): void {
    this.#ready.close();
  }

  /** Resolves when the row has a result; undefined where the run ended without one. */
  of(planned: PlannedRow): RowResult | Promise<RowResult | undefined> {
    const { row, decision } = planned;
    if (decision.step === 'unchanged' && isUnchanged(planned, this.#applying))
      return resultOf(row, 'unchanged', decision.license);
    return this.#ready.take(row);
  }

  /** What rejects stays, and is thrown by `flush`. */
  #inBackground(writing: Promise<void>): void {
    this.#writing.add(writing);
    writing.then(
      () => this.#writing.delete(writing),
      () => undefined,
    );
  }
}

const eventOf = { created: 'confirmed', resized: 'resized', failed: 'refused', unknown: 'ended' } as const;
