import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { JournalContent } from '../../store/journal.ts';
import { afterLine, hashOf, isRecordLine, type RecordLine, type UserRecord } from '../../store/lock/request-record.ts';
import {
  afterEvent,
  isRequestEvent,
  isUnconfirmed,
  joinHistories,
  later,
  noRequests,
  onElapsed,
  type OpenAnswer,
  type RecordedHistory,
  type RequestHistory,
} from '../../store/request-history.ts';
import type { Requests } from './case.ts';
import type { PastChange } from './history.ts';
import { userKey, usersOfEachApp, type LicenseUser } from './license-user.ts';
import type { RosterClaims } from './share-roster.ts';

/** What is recorded of a row's requests: by this job and its earlier runs, and by all jobs that share its claims. */
export function requestsOf(
  row: LicenseUser,
  { job, claims }: { readonly job: Omit<RosterJob, 'isResumed'>; readonly claims: Pick<RosterClaims, 'history'> },
): Requests {
  const own = job.history(row);
  const { outcome, ...all } = joinHistories(own, claims.history(row));
  // Where records may be missing, any row may have been sent last.
  const posted = later(all.posted, job.missingUntil);
  if (posted === undefined && all.answer === undefined && own === noRequests) return noRequests;
  return { ...all, posted, job: isUnconfirmed(own) ? 'asked' : outcome };
}

/** The interrupted runs of a job (docs/exactly-once.md, Jobs). */
export interface RosterJob {
  readonly isResumed: boolean;
  /** Where records may be missing, when any row may have been sent last, on the clock `elapsed`. */
  readonly missingUntil: Milliseconds | undefined;
  readonly history: (row: LicenseUser) => RequestHistory;
}

/** A run of one user has nothing to resume but what the record has. */
export const noJob: RosterJob = { isResumed: false, missingUntil: undefined, history: () => noRequests };

export interface JobSources {
  readonly begun: Milliseconds | undefined;
  /** The requests for a user whom the job held last, by the record of this computer. */
  readonly recorded: (row: LicenseUser) => RequestHistory | undefined;
  /** Changes that the history has since the job began. */
  readonly changes: readonly PastChange[];
  readonly nameOf: (app_code: number) => string;
}

/**
 * The age of all times is taken once: the clock may be set later in the run.
 * @throws Failure config where a line of the journal is none of such a job
 */
export function rosterJob(
  journal: JournalContent | undefined,
  { begun, recorded, changes, nameOf }: JobSources,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): RosterJob {
  const { path = '', records = [] } = journal ?? {};
  const users = new Map<string, UserRecord>();
  let lost: Milliseconds | undefined;
  for (const [index, line] of records.entries()) {
    const former = formerLine(line, nameOf);
    if (isCopiedLine(line)) {
      for (const user of line.users) users.set(line.record + user, afterLine(users.get(line.record + user), line));
    } else if (former) users.set(former.key, { history: former.after(users.get(former.key)?.history), until: 0 });
    else if (isObject(line) && typeof line['lost'] === 'number') lost = later(lost, line['lost']);
    else if (!isObject(line) || !('begun' in line))
      throw new Failure('config', `the journal ${path} is damaged: line ${index + 2} is not a step of a roster`, {
        hint: 'Check the licenses with license audit, then name another file with --journal or move this one away.',
      });
  }
  const copied = new Map<string, RequestHistory>();
  for (const [key, { hold, history }] of users)
    copied.set(key, onElapsed(hold ? { ...history, posted: 'end not recorded' } : history, clock));
  const resized = new Map(changes.map((change) => [`${change.app_code ?? ''} ${change.remote_user}`, change]));
  return {
    isResumed: begun !== undefined,
    missingUntil: onElapsed({ posted: lost }, clock).posted,
    history(row) {
      const copy = copied.size > 0 ? copied.get(hashOf(nameOf(row.app_code)) + hashOf(row.remote_user)) : undefined;
      const own = recorded(row);
      const known = copy && own ? joinHistories(copy, own) : (copy ?? own ?? noRequests);
      const size_before = resized.get(userKey(row))?.size_allowance_before;
      return size_before === undefined || isUnconfirmed(known) ? known : { outcome: 'resized', ...known, size_before };
    },
  };
}

function isCopiedLine(line: unknown): line is RecordLine & { readonly record: string } {
  return isObject(line) && typeof line['record'] === 'string' && isRecordLine(line);
}

/** A line of a journal of version 0.1, which names its user. */
function formerLine(line: unknown, nameOf: JobSources['nameOf']) {
  const { remote_user, app_code } = isObject(line) ? line : {};
  if (typeof remote_user !== 'string' || typeof app_code !== 'number' || !isRequestEvent(line)) return undefined;
  const after = (known: RecordedHistory = noRequests): RecordedHistory => afterEvent(known, line);
  return { key: hashOf(nameOf(app_code)) + hashOf(remote_user), after };
}

export interface EarlierAnswers {
  readonly job: Pick<RosterJob, 'history'>;
  readonly openAnswers: (app_code: number, users: readonly string[]) => Promise<ReadonlyMap<string, OpenAnswer>>;
}

/** What was answered before, for a plan of which nothing is claimed. @throws Failure of the claims */
export async function answersBefore(rows: readonly LicenseUser[], { job, openAnswers }: EarlierAnswers) {
  const answers = new Map<number, ReadonlyMap<string, OpenAnswer>>();
  for (const [app_code, users] of usersOfEachApp(rows)) answers.set(app_code, await openAnswers(app_code, users));
  return (row: LicenseUser) => {
    const answer = answers.get(row.app_code)?.get(row.remote_user);
    return joinHistories(job.history(row), { answer }).answer;
  };
}
