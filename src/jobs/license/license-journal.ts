import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Journal } from '../../store/journal.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/world.ts';
import { userKey, type LicenseUser } from './claim-users.ts';

/** What earlier runs of the same job recorded of one row. */
export interface PastRow {
  /** When the last POST ended, on the clock `elapsed`; Infinity where its end is not recorded, as after a kill. */
  readonly posted?: Milliseconds;
  /** The last recorded outcome; `acknowledged`: the server said that it created the license, without returning its key. */
  readonly status?: 'created' | 'resized' | 'acknowledged';
}

/** What earlier runs did for a row whose license is as it was asked for; undefined: they did not touch it. */
export function earlierOutcome({ posted, status }: PastRow): 'created' | 'resized' | undefined {
  if (posted !== undefined) return 'created';
  return status === 'resized' ? status : undefined;
}

export type RecordedStatus = 'created' | 'resized' | 'failed' | 'unknown' | 'acknowledged' | 'not sent';

/** The steps of an application of a roster, on disk before and after each request (docs/exactly-once.md, Journal). */
export interface LicenseJournal {
  /** Whether an earlier run of this job was interrupted. */
  readonly isResumed: boolean;
  /** Whether records may be missing: any row may have been sent just now. */
  readonly isDamaged: boolean;
  past(row: LicenseUser): PastRow;
  /** Why nothing more can be recorded, such as a full disk. */
  broken(): Failure | undefined;
  before(row: LicenseFields, step: 'create' | 'resize', time: Milliseconds): Promise<void>;
  after(row: LicenseUser, status: RecordedStatus, time: Milliseconds): Promise<void>;
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
    past: (row) => (past.size > 0 && past.get(userKey(row))) || nothing,
    broken: () => broken,
    before: ({ remote_user, app_code, size_allowance }, step, time) =>
      append({ remote_user, app_code, size_allowance, step, time }),
    after: ({ remote_user, app_code }, status, time) => append({ remote_user, app_code, status, time }),
  };
}

const nothing: PastRow = {};

interface Entry extends LicenseUser {
  readonly size_allowance?: number;
  readonly step?: 'create' | 'resize';
  readonly status?: RecordedStatus;
  readonly time: Milliseconds;
}

/** A license that was asked for stays so until an outcome is recorded. A resize that was interrupted is simply done again. */
function replay({ path, records }: Pick<Journal, 'path' | 'records'>, ahead: Milliseconds): Map<string, PastRow> {
  const past = new Map<string, PastRow>();
  for (const [index, record] of records.entries()) {
    if (!isEntry(record)) throw damaged(path, index);
    const key = userKey(record);
    past.set(key, afterEntry(past.get(key) ?? {}, { ...record, time: record.time - ahead }));
  }
  return past;
}

function afterEntry(known: PastRow, { step, status, time }: Entry): PastRow {
  switch (status) {
    case 'created':
    case 'acknowledged':
      return { posted: time, status };
    case 'resized':
      return { ...known, status: known.status === 'created' ? 'created' : status };
    case 'unknown':
      return known.posted === undefined ? known : { ...known, posted: time };
    case 'failed':
    case 'not sent':
      return known.status === undefined ? {} : { status: known.status };
    default:
      return step === 'create' ? { ...known, posted: Infinity } : known;
  }
}

const steps: readonly unknown[] = [undefined, 'create', 'resize'];
const statuses: readonly unknown[] = ['created', 'resized', 'failed', 'unknown', 'acknowledged', 'not sent', undefined];

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
