import type { LicenseFields } from '../../schema/license.ts';
import { noRequests } from '../../store/request-history.ts';
import { caseOf, type Case } from './case.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import type { Ports } from './perform.ts';
import type { Plan, PlannedRow, Planning } from './plan.ts';
import { countOutcomes, resultOf, rosterReport, type RowResult } from './report.ts';
import { requestsOf } from './roster-job.ts';
import { settle } from './settle.ts';

export interface Applying extends Ports, Pick<Planning, 'answerOf'> {
  /** Takes the counts, which are for below the rows. */
  readonly conclude: (text: string) => void;
  readonly where: string;
  readonly resume: string;
  readonly progress: { step(): void; end(): void };
}

/**
 * One license of the asked size for each row, never two (docs/exactly-once.md, States of a row); rows in their order.
 * A slow reader does not slow the work; one who leaves ends it once what is in progress has ended. @throws Failure
 * auth at once; unknown where a row may have its license; incomplete where rows failed or were not reached
 */
export async function* applyRoster({ rows }: Plan, applying: Applying): AsyncGenerator<RowResult> {
  const { job, note, progress, conclude } = applying;
  const outcomes = countOutcomes(applying, rows.length);
  const breaker = circuitBreaker(applying);
  const report = rosterReport(applying, keysIn(rows));
  if (job.isResumed) note('Resuming an interrupted run');
  const changing = rows.filter((planned) => !isUnchanged(planned, applying));
  for (let done = changing.length; done < rows.length; done += 1) progress.step();
  const working = settle(casesOf(changing, applying), applying, breaker, report).finally(() => report.close());
  // Awaited below: until then a bug must not end the process.
  working.catch(() => undefined);
  try {
    for (const planned of rows) {
      const { row, step } = planned;
      const isDone = isUnchanged(planned, applying) && 'license' in step && step.license;
      const result = isDone ? resultOf(row, 'unchanged' as const, step.license) : await report.of(row);
      if (!result) continue;
      outcomes.add(result, report.answeredOnly.get(row));
      yield result;
    }
  } finally {
    breaker.abandon();
    await working;
    report.warnOfAccepted();
    progress.end();
  }
  const stopped = breaker.stopped();
  const failure = outcomes.failureOf(stopped);
  // Any other failure says the counts itself.
  if (!failure || failure === stopped) conclude(outcomes.summary());
  if (failure) throw failure;
}

function* keysIn(rows: Plan['rows']): Generator<string> {
  for (const { step } of rows) if ('license' in step && step.license?.key !== undefined) yield step.license.key;
}

/** Whether a row needs neither a request nor a record, as most rows of a roster that is applied again. */
function isUnchanged({ row, step }: PlannedRow, { job, answerOf }: Pick<Applying, 'job' | 'answerOf'>): boolean {
  const isRight = step.do === 'end' && 'licenses' in step && step.licenses?.length === 1;
  return isRight && !step.license.isPart && job.history(row) === noRequests && !answerOf(row);
}

function* casesOf(rows: readonly PlannedRow[], applying: Applying): Generator<Case> {
  for (const { row, seen } of rows) yield caseOf(row, requestsBefore(row, applying), seen);
}

function requestsBefore(row: LicenseFields, applying: Applying): Case['requests'] {
  const requests = requestsOf(row, { job: { ...applying.job, missingUntil: undefined }, claims: applying.claims });
  const answer = applying.answerOf(row);
  return answer && !requests.answer ? { ...requests, answer } : requests;
}
