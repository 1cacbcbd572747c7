import type { Milliseconds } from '../../core/duration.ts';
import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OpenAnswer } from '../../store/claims.ts';
import type { Journal } from '../../store/journal.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
import { userKey, type LicenseUser, type RosterClaims } from './claim-users.ts';

/**
 * What is known of earlier POSTs for a user (docs/exactly-once.md, What a POST needs). `posted`: when the last one ended, on the clock
 * `elapsed`; Infinity where its end is not recorded, as after a kill.
 */
type Past =
  | { readonly is: 'untouched' }
  /** A license of the asked size was shown, after a request of this job; `posted`: no later than that was recorded. */
  | {
      readonly is: 'done';
      readonly as: 'created' | 'resized';
      readonly posted: Milliseconds;
      /** The size before the first resize. */
      readonly size_before?: number | undefined;
    }
  /** `posts`: how many of them were not answered. */
  | { readonly is: 'asked'; readonly posted: Milliseconds; readonly posts: number }
  | { readonly is: 'answered'; readonly posted: Milliseconds; readonly answer: OpenAnswer };

/** Whether a POST may have created a license that no list has shown. */
export function wasAsked(past: Past): past is Extract<Past, { readonly is: 'asked' | 'answered' }> {
  return past.is === 'asked' || past.is === 'answered';
}

/** What is recorded of requests: by this job and its earlier runs, and by all jobs that share its claims. */
interface RequestRecords {
  readonly journal: Pick<LicenseJournal, 'past' | 'isDamaged'>;
  readonly claims: Pick<RosterClaims, 'past'>;
}

/**
 * When a license of the row was last asked for, on the clock `elapsed`; -Infinity: long ago. One record never overrules another: the
 * later one counts. In the journal a time in the future, and one that is not recorded, count as the time of the list. Claims may say that
 * a POST of another machine ends in the future.
 */
export function lastPost(
  row: LicenseFields,
  listedAt: Milliseconds,
  { journal, claims }: RequestRecords,
): Milliseconds {
  const past = journal.past(row);
  const recorded = journal.isDamaged ? Infinity : 'posted' in past ? past.posted : -Infinity;
  return Math.max(Math.min(recorded, listedAt), claims.past(row).posted ?? -Infinity);
}

/** The answer to an earlier POST, whose license no list has shown. */
export function openAnswerOf(
  row: LicenseFields,
  { journal, claims }: Pick<RequestRecords, 'claims'> & { readonly journal: Pick<LicenseJournal, 'past'> },
): OpenAnswer | undefined {
  const past = journal.past(row);
  return past.is === 'answered' ? past.answer : claims.past(row).answer;
}

/** A row that another look decides (docs/exactly-once.md, States of a row). `posted`: when its last POST ended, on the clock `elapsed`. */
export type WaitingRow = { readonly row: LicenseFields; readonly posted: Milliseconds } & (
  | /** An earlier run, or another one, asked for it. */ { readonly is: 'asked' }
    /** A POST of this run ended without an answer of the API; `failure` is undefined where an interruption cut it. */
  | {
      readonly is: 'unanswered';
      readonly posts: number;
      readonly failure: Failure | undefined;
      /** The licenses of near names that were there before. */
      readonly near: ReadonlySet<string>;
    }
  /** A POST of this run was answered, and a list is to confirm it. */
  | { readonly is: 'answered'; readonly creation: AnsweredCreation; readonly looks: 'none yet' | 'one' }
);

/** Why a row is unknown whose POST an interruption cut. */
export const unanswered = 'the request was not answered';

export type AnsweredRow = Extract<WaitingRow, { readonly is: 'answered' }>;

/** Whether a POST of this job, in this run or an earlier one, may have created the license. */
export function wasPosted(
  row: LicenseFields,
  waiting: WaitingRow | undefined,
  journal: Pick<LicenseJournal, 'past'>,
): boolean {
  return (waiting !== undefined && waiting.is !== 'asked') || wasAsked(journal.past(row));
}

/** How many POSTs of the row had no answer, those of earlier runs included. */
export function postsBefore(
  row: LicenseFields,
  waiting: WaitingRow | undefined,
  { journal, claims }: Pick<RequestRecords, 'claims'> & { readonly journal: Pick<LicenseJournal, 'past'> },
): number {
  if (waiting?.is === 'unanswered') return waiting.posts;
  const past = journal.past(row);
  return Math.max(past.is === 'asked' ? past.posts : 0, claims.past(row).unanswered ?? 0);
}

export type RecordedStatus = 'created' | 'resized' | 'failed' | 'unknown' | 'not sent';

export type LicenseJournal = ReturnType<typeof licenseJournal>;

/**
 * The steps of an application of a roster, on disk before and after each request (docs/exactly-once.md, Journal). A record holds no license code. Its times are of the clock of the
 * machine; their age is taken once, so that a clock that is set later in the run does not change it.
 * @throws Failure config where a record is not one of such a journal
 */
export function licenseJournal(
  journal: Pick<Journal, 'path' | 'records' | 'append' | 'isDamaged'>,
  clock: Pick<Clock, 'now' | 'elapsed'>,
) {
  let broken: Failure | undefined;
  const append = async (entry: Entry): Promise<void> => {
    try {
      await journal.append(entry);
    } catch (cause) {
      if (cause instanceof Failure) broken = cause;
      throw cause;
    }
  };
  return {
    /** Whether an earlier run of this job was interrupted. */
    isResumed: journal.records.length > 0 || journal.isDamaged,
    /** Whether records may be missing: any row may have been sent just now. */
    isDamaged: journal.isDamaged,
    past: recordedPast(journal, clock),
    /** Why nothing more can be recorded, such as a full disk. */
    broken: () => broken,
    /** `size_allowance_before`: of a license that is resized. */
    before: (row: LicenseFields, step: 'create' | 'resize', time: Milliseconds, size_allowance_before?: number) =>
      append({ ...userOf(row), size_allowance: row.size_allowance, size_allowance_before, step, time }),
    after: (row: LicenseUser, status: RecordedStatus, time: Milliseconds) => append({ ...userOf(row), status, time }),
    answered: (row: LicenseUser, { status, time, key_end }: OpenAnswer) =>
      append({ ...userOf(row), status: 'answered', answered: status, key_end, time }),
  };
}

function userOf({ remote_user, app_code }: LicenseUser): LicenseUser {
  return { remote_user, app_code };
}

const untouched: Past = { is: 'untouched' };

interface Entry extends LicenseUser {
  readonly size_allowance?: number;
  readonly size_allowance_before?: number | undefined;
  readonly step?: 'create' | 'resize';
  readonly status?: RecordedStatus | 'answered';
  /** The HTTP status of an answer. */
  readonly answered?: number;
  readonly key_end?: string | undefined;
  readonly time: Milliseconds;
}

/**
 * A license that was asked for stays so until an outcome is recorded. A resize that was interrupted is simply done again.
 * @throws Failure config where a record is not one of such a journal
 */
export function recordedPast(
  { path, records }: Pick<Journal, 'path' | 'records'>,
  { now, elapsed }: Pick<Clock, 'now' | 'elapsed'>,
): (row: LicenseUser) => Past {
  const ahead = now() - elapsed();
  const past = new Map<string, Past>();
  const sizes = new Map<string, number>();
  for (const [index, record] of records.entries()) {
    if (!isEntry(record))
      throw new Failure('config', `the journal ${path} is damaged: line ${index + 2} is not a step of a roster`, {
        hint: 'Check the licenses with license audit, then name another file with --journal or move this one away.',
      });
    const key = userKey(record);
    const { size_allowance_before: size } = record;
    if (size !== undefined && !sizes.has(key)) sizes.set(key, size);
    const next = afterEntry(past.get(key) ?? untouched, record, record.time - ahead);
    past.set(key, next.is === 'done' && next.as === 'resized' ? { ...next, size_before: sizes.get(key) } : next);
  }
  return (row) => (past.size > 0 && past.get(userKey(row))) || untouched;
}

function afterEntry(known: Past, { step, status, answered = 201, key_end, time }: Entry, posted: Milliseconds): Past {
  switch (status) {
    case 'answered':
      return { is: 'answered', posted, answer: { status: answered, time, key_end } };
    case 'created':
      return { is: 'done', as: 'created', posted };
    case 'resized':
      return {
        is: 'done',
        as: wasAsked(known) || (known.is === 'done' && known.as === 'created') ? 'created' : 'resized',
        posted,
      };
    case 'unknown':
      return wasAsked(known) ? { ...known, posted } : known;
    case 'failed':
      return known.is === 'asked' ? untouched : known;
    case 'not sent':
      if (known.is !== 'asked') return known;
      return known.posts > 1 ? { is: 'asked', posted, posts: known.posts - 1 } : untouched;
    default:
      if (step !== 'create') return known;
      // A POST that is sent although an earlier one was answered may end without an answer: the earlier answer stays.
      if (known.is === 'answered') return { ...known, posted: Infinity };
      return { is: 'asked', posted: Infinity, posts: known.is === 'asked' ? known.posts + 1 : 1 };
  }
}

const steps: readonly unknown[] = [undefined, 'create', 'resize'];
const statuses: readonly unknown[] = ['created', 'resized', 'failed', 'unknown', 'not sent', 'answered', undefined];

function isEntry(record: unknown): record is Entry {
  if (!isObject(record)) return false;
  const { remote_user, app_code, size_allowance_before: size, step, status, time } = record;
  return (
    typeof remote_user === 'string' &&
    typeof app_code === 'number' &&
    typeof time === 'number' &&
    (size === undefined || typeof size === 'number') &&
    steps.includes(step) &&
    statuses.includes(status) &&
    (step === undefined) !== (status === undefined)
  );
}
