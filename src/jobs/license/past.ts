import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OpenAnswer } from '../../store/claims.ts';
import type { Journal } from '../../store/journal.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/world.ts';
import { userKey, type LicenseUser, type RosterClaims } from './claim-users.ts';

/**
 * What earlier runs of a job recorded of a row (docs/exactly-once.md, What a POST needs). `posted`: when the last POST ended, on the clock
 * `elapsed`; Infinity where its end is not recorded, as after a kill.
 */
export type Past =
  | { readonly is: 'untouched' }
  | { readonly is: 'resized' }
  | { readonly is: 'asked'; readonly posted: Milliseconds }
  | { readonly is: 'answered'; readonly posted: Milliseconds; readonly answer: OpenAnswer };

/** What an earlier run did for a row whose license is as it was asked for; undefined: it did not touch it. */
export function earlierOutcome({ is }: Past): 'created' | 'resized' | undefined {
  if (is === 'asked' || is === 'answered') return 'created';
  return is === 'resized' ? is : undefined;
}

/** What is recorded of requests: by this job and its earlier runs, and by all jobs that share its claims. */
export interface RequestRecords {
  readonly journal: LicenseJournal;
  readonly claims: RosterClaims;
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
export function openAnswerOf(row: LicenseFields, { journal, claims }: RequestRecords): OpenAnswer | undefined {
  const past = journal.past(row);
  return past.is === 'answered' ? past.answer : claims.past(row).answer;
}

export type RecordedStatus = 'resized' | 'failed' | 'unknown' | 'not sent';

/** The steps of an application of a roster, on disk before and after each request (docs/exactly-once.md, Journal). */
export interface LicenseJournal {
  /** Whether an earlier run of this job was interrupted. */
  readonly isResumed: boolean;
  /** Whether records may be missing: any row may have been sent just now. */
  readonly isDamaged: boolean;
  past(row: LicenseUser): Past;
  /** Why nothing more can be recorded, such as a full disk. */
  broken(): Failure | undefined;
  before(row: LicenseFields, step: 'create' | 'resize', time: Milliseconds): Promise<void>;
  after(row: LicenseUser, status: RecordedStatus, time: Milliseconds): Promise<void>;
  answered(row: LicenseUser, answer: OpenAnswer): Promise<void>;
}

/**
 * Reads what earlier runs recorded, and records the steps of this one. A record holds no license code. Its times are of the clock of the
 * machine; their age is taken once, so that a clock that is set later in the run does not change it.
 * @throws Failure config where a record is not one of such a journal
 */
export function licenseJournal(
  journal: Pick<Journal, 'path' | 'records' | 'append' | 'isDamaged'>,
  { now, elapsed }: Pick<Clock, 'now' | 'elapsed'>,
): LicenseJournal {
  let broken: Failure | undefined;
  const past = replay(journal, now() - elapsed());
  const append = async (entry: Entry): Promise<void> => {
    try {
      await journal.append(entry);
    } catch (cause) {
      if (cause instanceof Failure) broken = cause;
      throw cause;
    }
  };
  return {
    isResumed: past.size > 0 || journal.isDamaged,
    isDamaged: journal.isDamaged,
    past: (row) => (past.size > 0 && past.get(userKey(row))) || untouched,
    broken: () => broken,
    before: ({ remote_user, app_code, size_allowance }, step, time) =>
      append({ remote_user, app_code, size_allowance, step, time }),
    after: ({ remote_user, app_code }, status, time) => append({ remote_user, app_code, status, time }),
    answered: ({ remote_user, app_code }, { status, time, key_end }) =>
      append({ remote_user, app_code, status: 'answered', answered: status, key_end, time }),
  };
}

const untouched: Past = { is: 'untouched' };

interface Entry extends LicenseUser {
  readonly size_allowance?: number;
  readonly step?: 'create' | 'resize';
  /** The first version of journals has `created` and `acknowledged` in place of `answered`. */
  readonly status?: RecordedStatus | 'answered' | 'created' | 'acknowledged';
  /** The HTTP status of an answer. */
  readonly answered?: number;
  readonly key_end?: string | undefined;
  readonly time: Milliseconds;
}

/** A license that was asked for stays so until an outcome is recorded. A resize that was interrupted is simply done again. */
function replay({ path, records }: Pick<Journal, 'path' | 'records'>, ahead: Milliseconds): Map<string, Past> {
  const past = new Map<string, Past>();
  for (const [index, record] of records.entries()) {
    if (!isEntry(record)) throw damaged(path, index);
    const key = userKey(record);
    past.set(key, afterEntry(past.get(key) ?? untouched, record, record.time - ahead));
  }
  return past;
}

function afterEntry(known: Past, { step, status, answered = 201, key_end, time }: Entry, posted: Milliseconds): Past {
  switch (status) {
    case 'answered':
    case 'created':
    case 'acknowledged':
      return { is: 'answered', posted, answer: { status: answered, time, key_end } };
    case 'resized':
      return known.is === 'answered' || known.is === 'asked' ? known : { is: 'resized' };
    case 'unknown':
      return 'posted' in known ? { ...known, posted } : known;
    case 'failed':
    case 'not sent':
      return known.is === 'asked' ? untouched : known;
    default:
      return step === 'create' ? asking(known) : known;
  }
}

/** A POST that is sent although an earlier one was answered may end without an answer: the earlier answer stays. */
function asking(known: Past): Past {
  return known.is === 'answered' ? { ...known, posted: Infinity } : { is: 'asked', posted: Infinity };
}

const steps: readonly unknown[] = [undefined, 'create', 'resize'];
const statuses: readonly unknown[] = [
  ...['resized', 'failed', 'unknown', 'not sent', 'answered', 'created', 'acknowledged'],
  undefined,
];

function isEntry(record: unknown): record is Entry {
  if (!isObject(record)) return false;
  const { remote_user, app_code, step, status, time } = record;
  return (
    typeof remote_user === 'string' &&
    typeof app_code === 'number' &&
    typeof time === 'number' &&
    steps.includes(step) &&
    statuses.includes(status) &&
    (step === undefined) !== (status === undefined)
  );
}

function damaged(path: string, index: number): Failure {
  return new Failure('config', `the journal ${path} is damaged: line ${index + 2} is not a step of a roster`, {
    hint: 'Check the licenses with license audit, then name another file with --journal or move this one away.',
  });
}
