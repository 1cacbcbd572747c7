import { notShown, otherKey, type AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { hasKeyOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { InOrder } from '../work/pool.ts';
import { endOf, type LicenseUser, type RosterClaims } from './claim-users.ts';
import { decidingOn, type Settling } from './create-license.ts';
import type { RecordEvent } from './recorded-change.ts';
import { severalWarning } from './decide.ts';
import { wasPosted, type AnsweredRow, type LicenseJournal, type RowState } from './roster-journal.ts';
import { resultOf, type Looking, type PlannedRow, type Planning, type RowResult } from './plan-roster.ts';

/** What carrying out a plan needs. */
export interface Applying extends Planning, Pick<Settling, 'settle' | 'retries' | 'now' | 'sleep' | 'note' | 'warn'> {
  readonly journal: LicenseJournal;
  readonly claims: RosterClaims;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  /** Takes the counts, which are for below the rows. */
  readonly conclude: (text: string) => void;
  /** Host and applications, for the summary. */
  readonly where: string;
  /** Tells the history of this computer what was done. */
  readonly record: RecordEvent;
  /** The command that resumes the run. */
  readonly resume: string;
  /** A user for whom this run created a license has several. */
  readonly doubled: (user: LicenseUser, licenses: readonly License[]) => void;
  /** A row has its outcome. */
  readonly finished: () => void;
}

/** Looks that decide about a row that waits. */
export function decidingBy(applying: Applying, { is, posted }: Pick<RowState, 'is' | 'posted'>): Looking {
  const deciding = decidingOn(is, posted, applying.settle);
  // What the run itself has sent is within the plan.
  return { ...applying, differs: undefined, licensing: (app_code) => applying.licensing(app_code).deciding(deciding) };
}

/** Whether a row needs neither a request nor a record, as most rows of a roster that is applied again. */
export function isUnchanged({ row, decision }: PlannedRow, { journal }: Pick<Applying, 'journal'>): boolean {
  return decision.step === 'unchanged' && decision.licenses.length === 1 && journal.history(row).posted === undefined;
}

/** Outcomes that are recorded while others are reached; beyond, whoever reaches one waits. */
const maxUnwritten = 500;

type Reporting = Pick<Applying, 'journal' | 'claims' | 'now' | 'finished' | 'warn' | 'record' | 'doubled'>;

/** The results of the rows, on their way to the journal and then to the reader. */
export class RosterResults {
  readonly #applying: Reporting;
  readonly #ready = new InOrder<LicenseFields, RowResult>();
  readonly #writing = new Set<Promise<void>>();
  /** The sizes of licenses that are resized, before that. */
  readonly #sizes = new Map<LicenseFields, number>();
  /** Rows that are unknown though a POST was answered. `open`: looks are over, and only `--send-again` goes on with them. */
  readonly answeredOnly = new Map<LicenseFields, 'open' | 'unconfirmed'>();
  /** The keys that were answered, and for how many users: a key of several is nobody's until a list says whose. */
  readonly #keys = new Map<string, 'one' | 'several'>();
  readonly #unlooked: (Failure | undefined)[] = [];

  constructor(applying: Reporting) {
    this.#applying = applying;
  }

  /** Records that a license of that size is about to be resized. */
  resizing(row: LicenseFields, size_before: number | undefined): Promise<void> {
    const { journal, now } = this.#applying;
    if (size_before !== undefined) this.#sizes.set(row, size_before);
    return journal.record(row, { event: 'resizing', time: now(), size_before });
  }

  /** A user for whom the run creates a license, and who has several, is its result. */
  noteSeveral(state: RowState, licenses: readonly License[]): void {
    const { row } = state;
    const { journal, doubled, warn } = this.#applying;
    if (licenses.length < 2) return;
    const isCreated = wasPosted(state, journal) || journal.history(row).outcome === 'created';
    if (isCreated) doubled(row, licenses);
    else warn(severalWarning(row));
  }

  /** Records an outcome, then reports it. The worker continues meanwhile; what it records next shares the sync. */
  async end(
    state: RowState,
    status: Exclude<RowResult['status'], 'unchanged'>,
    license: License | null,
    error: string | null,
  ): Promise<void> {
    const { row } = state;
    await this.tell(row, status, license ?? (state.is === 'answered' ? state.creation.license : undefined));
    this.#inBackground(this.record(row, eventOf[status]).then(() => this.finish(state, status, license, error)));
    if (this.#writing.size > maxUnwritten) await this.written();
  }

  /** Records that the server answered a POST: its row is reported once a list has confirmed it. */
  answered(row: LicenseFields, creation: AnsweredCreation): void {
    const { journal, claims, finished, now } = this.#applying;
    const end = endOf(creation, now(), 0);
    const key = creation.license?.key;
    if (key !== undefined) this.#keys.set(key, this.#keys.has(key) ? 'several' : 'one');
    // For the progress its work is done: the look at the end takes no time of its own.
    finished();
    // The claims first: what the journal of one job knows, every later run knows.
    this.#inBackground(claims.ended(row, end).then(() => orBroken(journal.record(row, end))));
  }

  #keyChecked(creation: AnsweredCreation): AnsweredCreation {
    const isOfSeveral = this.#keys.get(creation.license?.key ?? '') === 'several';
    return isOfSeveral ? { ...creation, license_is: 'of several users' } : creation;
  }

  /** Looks are over, and none shows the license of a POST that was answered, by this run or an earlier one. */
  async keepUnconfirmed(state: RowState, error: string): Promise<void> {
    this.answeredOnly.set(state.row, 'open');
    await this.end(state, 'unknown', null, error);
  }

  /** Where no look was answered, what the server said counts. */
  async acceptAnswer(state: AnsweredRow, why: Failure | undefined): Promise<void> {
    const creation = this.#keyChecked(state.creation);
    if (creation.license_is !== 'as asked' || !creation.license)
      return this.end(state, 'unknown', null, why?.message ?? '');
    this.#unlooked.push(why);
    await this.tell(state.row, 'created', creation.license);
    await this.finish(state, 'created', creation.license, null);
  }

  warnOfUnlooked(): void {
    const [why] = this.#unlooked;
    const count = this.#unlooked.length;
    if (count === 0) return;
    const said = `${count} ${count === 1 ? 'license was' : 'licenses were'} created, as the server answered`;
    const unread = why && !why.isInterruption ? why.message : 'none was read';
    this.#applying.warn(`${said}; no list confirmed it: ${unread}`);
  }

  /** Tells the history of a creation; a change is recorded where it is sent. */
  async tell(row: LicenseFields, status: RowResult['status'], license: License | null | undefined): Promise<void> {
    if (status !== 'created' && status !== 'unknown') return;
    const { remote_user, app_code, size_allowance } = row;
    const license_code_end = license?.key?.slice(-4);
    await this.#applying.record({ event: status, remote_user, app_code, size_allowance, license_code_end });
  }

  /** Reports an outcome that needs no record. */
  async finish(
    state: RowState,
    status: RowResult['status'],
    license: License | null,
    error: string | null,
  ): Promise<void> {
    const { row } = state;
    const creation = state.is === 'answered' ? this.#keyChecked(state.creation) : undefined;
    const result = this.#withAnswer(resultOf(row, status, license, error, this.#sizeBefore(row, status)), creation);
    if (!creation) this.#applying.finished();
    else if (result.status === 'unknown' && !this.answeredOnly.has(row)) this.answeredOnly.set(row, 'unconfirmed');
    this.#ready.put(row, result);
    // A row whose request is unconfirmed is given back at the end, with the time of that request.
    if (result.status !== 'unknown') await this.#applying.claims.release(row);
  }

  #sizeBefore(row: LicenseFields, status: RowResult['status']): number | null {
    if (status !== 'resized') return null;
    return this.#sizes.get(row) ?? this.#applying.journal.history(row).size_before ?? null;
  }

  /** What a POST of this run was answered is not `failed` unless a list shows the license, and the answered key is printed in every case. */
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

  async record(row: LicenseFields, event: RowEvent, time = this.#applying.now()): Promise<void> {
    await orBroken(this.#applying.journal.record(row, { event, time }));
  }

  /** Resolves when each outcome so far is recorded and reported. */
  async written(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** No more outcomes come. */
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

  /** What rejects stays, and is thrown by `written`. */
  #inBackground(writing: Promise<void>): void {
    this.#writing.add(writing);
    writing.then(
      () => this.#writing.delete(writing),
      () => undefined,
    );
  }
}

type RowEvent = 'confirmed' | 'resized' | 'refused' | 'ended' | 'unsent';

const eventOf = { created: 'confirmed', resized: 'resized', failed: 'refused', unknown: 'ended' } as const;

/** What cannot be recorded was done all the same; `journal.broken` says so, and ends the run. */
async function orBroken(recording: Promise<void>): Promise<void> {
  try {
    await recording;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
}
