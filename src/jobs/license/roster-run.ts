import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { KnownWrites } from '../../store/record/writes.ts';
import { caseOf, type Case } from './case.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { give } from './give.ts';
import type { GivePorts } from './give-ports.ts';
import type { Plan, PlannedRow } from './plan.ts';
import { countOutcomes, rosterReport, type Reporting, type RowResult } from './report.ts';

export interface Applying extends GivePorts, Reporting {
  /** Writes of earlier runs for rows that need no request. */
  readonly recorded: ReadonlyMap<LicenseFields, KnownWrites>;
  /** Takes the counts, which are for below the rows. */
  readonly conclude: (text: string) => void;
  readonly where: string;
  readonly again: string;
}

/**
 * One license of the asked size for each row, never two; rows in their order. A slow reader does not slow the work; one
 * who leaves ends it once what is in progress has ended. @throws Failure auth at once; unknown where a row may have its
 * license; incomplete where rows failed or were not reached
 */
export async function* applyRoster({ rows }: Plan, applying: Applying): AsyncGenerator<RowResult> {
  const { progress, conclude, signal, recorded } = applying;
  const outcomes = countOutcomes(applying, rows.length);
  const breaker = circuitBreaker(signal);
  const report = rosterReport(applying, keysIn(rows));
  const working = give(casesOf(rows, applying), applying, breaker, report).finally(() => report.close());
  // Awaited below: until then a bug must not end the process.
  working.catch(() => undefined);
  try {
    for (const planned of rows) {
      const { row } = planned;
      const license = unchangedIn(planned, recorded);
      if (license) progress.step();
      const result = await (license ? report.unchanged(row, license) : report.of(row)).catch((cause: unknown) => {
        // What other rows were answered is reported all the same.
        if (!(cause instanceof Failure)) throw cause;
        breaker.stop(cause);
      });
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

/** The license of a row that needs neither a request nor a record, as most rows of a roster that is applied again. */
function unchangedIn({ row, step }: PlannedRow, recorded: Applying['recorded']) {
  const isRight = step.do === 'end' && 'licenses' in step && step.licenses?.length === 1 && !recorded.has(row);
  return isRight ? step.license : undefined;
}

function* casesOf(rows: Plan['rows'], { recorded }: Applying): Generator<Case> {
  for (const planned of rows) {
    if (unchangedIn(planned, recorded)) continue;
    const { row, seen, status } = planned;
    // Of a license that is as it should be, what is recorded is closed without a lock.
    yield { ...caseOf(row, hintOf(seen)), recorded: status === 'unchanged' ? recorded.get(row) : undefined };
  }
}

/** A lookup for the plan is older than the lock. */
function hintOf(seen: PlannedRow['seen']): PlannedRow['seen'] {
  return { ...seen, by: 'hint', isSettled: false };
}
