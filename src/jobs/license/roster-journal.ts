import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
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
import type { Requests } from './case.ts';
import { userKey, type LicenseUser } from './license-user.ts';
import type { RosterClaims } from './share-roster.ts';

/** What is recorded of a row's requests: by this job and its earlier runs, and by all jobs that share its claims. */
export function requestsOf(
  row: LicenseUser,
  {
    journal,
    claims,
  }: {
    readonly journal: Pick<LicenseJournal, 'history' | 'missingUntil'>;
    readonly claims: Pick<RosterClaims, 'history'>;
  },
): Requests {
  const own = journal.history(row);
  const { outcome, ...all } = joinHistories(own, claims.history(row));
  // Where records may be missing, any row may have been sent last.
  const posted = Math.max(all.posted ?? -Infinity, journal.missingUntil);
  if (posted === -Infinity && all.answer === undefined && own === noRequests) return noRequests;
  const job = isUnconfirmed(own) ? 'asked' : outcome;
  return { ...all, posted: posted > -Infinity ? posted : undefined, job };
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
