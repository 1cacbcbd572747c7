import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Journal } from '../../store/journal.ts';
import {
  afterEvent,
  isRequestEvent,
  isUnconfirmed,
  joinHistories,
  noRequests,
  onElapsed,
  type RequestEvent,
  type RequestHistory,
} from '../../store/request-history.ts';
import { userKey, type LicenseUser } from './license-user.ts';

/** What is recorded of a row's requests: by this job and its earlier runs, and by all jobs that share its claims. */
export function historyOf(
  row: LicenseUser,
  { journal, claims }: Readonly<Record<'journal' | 'claims', Pick<LicenseJournal, 'history'>>>,
): RequestHistory {
  return joinHistories(journal.history(row), claims.history(row));
}

/** A row in its run (docs/exactly-once.md, States of a row). `posted`: its last POST's end, on the clock `elapsed`. */
export type RowState = { readonly row: LicenseFields; readonly posted: Milliseconds } &
  /** `asked`: an earlier run, or another one, asked for it; without `posted`, the server ignores the filter. */
  (
    | { readonly is: 'new' | 'asked' }
    /** A POST of this run ended without an answer of the API; `failure` is undefined where an interruption cut it. */
    | {
        readonly is: 'unanswered';
        readonly posts: number;
        readonly failure: Failure | undefined;
        /** The licenses of near names that were there before. */
        readonly near: ReadonlySet<string>;
      }
    /** A POST of this run was answered, and a list is to confirm it. */
    | { readonly is: 'answered'; readonly creation: AnsweredCreation; readonly listed: 'not yet' | 'once' }
  );

/** Why a row is unknown whose POST an interruption cut. */
export const unanswered = 'the request was not answered';

export type AnsweredRow = Extract<RowState, { readonly is: 'answered' }>;

/** Whether a POST of this job, in this run or an earlier one, may have created the license. */
export function wasPosted({ row, is }: RowState, journal: Pick<LicenseJournal, 'history'>): boolean {
  return is === 'unanswered' || is === 'answered' || isUnconfirmed(journal.history(row));
}

export type LicenseJournal = ReturnType<typeof licenseJournal>;

/** A roster's steps, on disk before and after each request (docs/exactly-once.md, Journal). @throws Failure config */
export function licenseJournal(
  journal: Pick<Journal, 'path' | 'records' | 'append' | 'isDamaged'>,
  clock: Pick<Clock, 'now' | 'elapsed'>,
) {
  let broken: Failure | undefined;
  const record = async ({ remote_user, app_code }: LicenseUser, event: RequestEvent): Promise<void> => {
    try {
      await journal.append({ remote_user, app_code, ...event } satisfies JournalLine);
    } catch (cause) {
      if (cause instanceof Failure) broken = cause;
      throw cause;
    }
  };
  return {
    /** Whether an earlier run of this job was interrupted. */
    isResumed: journal.records.length > 0 || journal.isDamaged,
    /** Where records may be missing, when any row may have been sent last, on the clock `elapsed`. */
    missingUntil: journal.isDamaged ? clock.elapsed() : -Infinity,
    history: recordedHistories(journal, clock),
    /** Why nothing more can be recorded, such as a full disk. */
    broken: () => broken,
    /** Before a request. @throws Failure where nothing may be sent */
    record,
    /** After a request: what cannot be recorded was done all the same; `broken` says so, and ends the run. */
    async recordDone(row: LicenseUser, event: RequestEvent): Promise<void> {
      await record(row, event).catch((cause: unknown) => {
        if (!(cause instanceof Failure)) throw cause;
      });
    },
  };
}

type JournalLine = LicenseUser & RequestEvent;

/**
 * What earlier runs recorded. The age of its times is taken once: the clock may be set later in the run.
 * @throws Failure config where a record is not one of such a journal
 */
export function recordedHistories(
  { path, records }: Pick<Journal, 'path' | 'records'>,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): (row: LicenseUser) => RequestHistory {
  const histories = new Map<string, RequestHistory>();
  for (const [index, record] of records.entries()) {
    if (!isJournalLine(record))
      throw new Failure('config', `the journal ${path} is damaged: line ${index + 2} is not a step of a roster`, {
        hint: 'Check the licenses with license audit, then name another file with --journal or move this one away.',
      });
    const key = userKey(record);
    histories.set(key, afterEvent(histories.get(key) ?? noRequests, record));
  }
  for (const [key, history] of histories) histories.set(key, onElapsed(history, clock));
  return (row) => (histories.size > 0 && histories.get(userKey(row))) || noRequests;
}

function isJournalLine(record: unknown): record is JournalLine {
  if (!isObject(record)) return false;
  return typeof record['remote_user'] === 'string' && typeof record['app_code'] === 'number' && isRequestEvent(record);
}
