import { Failure } from '../../core/failure.ts';
import { formatDuration } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { pool } from '../work/pool.ts';
import { inWords, listRoster, type Plan, type PlannedRow, type RowResult } from './plan-roster.ts';
import { unanswered, wasPosted, type AnsweredRow, type RowState } from './roster-journal.ts';
import { decidingBy, isUnchanged, RosterResults, type Applying, type RowOutcome } from './roster-results.ts';
import { RowWork } from './row-work.ts';
import type { KnownLicense } from './list-users.ts';
import { circuitBreaker, endsRun, countOutcomes, type CircuitBreaker } from './run-end.ts';

/**
 * One license of the asked size for each row, never two (docs/exactly-once.md, States of a row); rows in their order.
 * A slow reader does not slow the work; one who leaves ends it once what is in progress has ended. @throws Failure
 * auth at once; unknown where a row may have its license; incomplete where rows failed or were not reached
 */
export async function* applyRoster(plan: Plan, applying: Applying): AsyncGenerator<RowResult> {
  const outcomes = countOutcomes(applying, plan.rows.length);
  const breaker = circuitBreaker(applying);
  const results = new RosterResults(applying);
  const run = { applying, breaker, results, work: new RowWork(applying, breaker, results) };
  const working = carryOut(plan, run).finally(() => results.close());
  // Awaited below: until then a bug must not end the process.
  working.catch(() => undefined);
  try {
    for (const planned of plan.rows) {
      const result = await results.of(planned);
      if (!result) continue;
      outcomes.add(result, results.answeredOnly.get(planned.row));
      yield result;
    }
  } finally {
    breaker.abandon();
    await working;
    applying.progress.end();
  }
  const stopped = breaker.stopped();
  const failure = outcomes.failureOf(stopped);
  // Any other failure says the counts itself.
  if (!failure || failure === stopped) applying.conclude(outcomes.summary());
  if (failure) throw failure;
}

/** Rows that are recorded while others are sent: many share a sync (docs/exactly-once.md, Journal). */
const ahead = 16;

interface Run {
  readonly applying: Applying;
  readonly breaker: CircuitBreaker;
  readonly results: RosterResults;
  readonly work: RowWork;
}

/** A row without a result waits, or was not begun. Never rejects with a Failure: what ended the run is `stopped`. */
async function carryOut(plan: Plan, run: Run): Promise<void> {
  const { applying, breaker, results, work } = run;
  const { journal, note, signal, progress, concurrency } = applying;
  if (journal.isResumed) note('Resuming an interrupted run');
  const sayWait = (): void => {
    if (work.sending > 0) note('Waiting for the answers of requests under way; the same signal again ends at once');
  };
  signal.addEventListener('abort', sayWait);
  try {
    const changing = plan.rows.filter((planned) => !isUnchanged(planned, applying));
    for (let done = changing.length; done < plan.rows.length; done += 1) progress.step();
    let rows: Iterable<PlannedRow> | undefined = changing;
    while (rows) {
      for await (const _ of pool(rows, concurrency + ahead, (planned) => work.apply(planned))) continue;
      await results.flush();
      rows = breaker.isOver() ? undefined : await nextRows(run);
    }
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    breaker.stop(cause);
  }
  signal.removeEventListener('abort', sayWait);
  await reportUnconfirmed(run);
  results.warnOfAccepted();
}

/**
 * Lists answered rows, and those that other runs had, at once; then all that are left, when the server must have
 * carried their requests out. Undefined: no row is left.
 */
async function nextRows(run: Run): Promise<Iterable<PlannedRow> | undefined> {
  const { applying, work } = run;
  const waiting = [...work.waiting.values()];
  const areAnswered = waiting.every(({ is }) => is === 'answered');
  const held = areAnswered ? await applying.claims.othersDone(waiting.map(({ row }) => row)) : [];
  // A list at once confirms most of those for which none was read since they were answered.
  const answered = waiting.flatMap((one) => (one.is === 'answered' && one.listed === 'not yet' ? [one] : []));
  if (answered.length + held.length > 0) return listAtOnce(answered, held, run);
  return waiting.length > 0 ? whenSettled(waiting, applying) : undefined;
}

async function listAtOnce(
  answered: readonly AnsweredRow[],
  held: readonly LicenseFields[],
  { applying, results, work }: Run,
): Promise<Iterable<PlannedRow>> {
  const known = (app_code: number): KnownLicense => {
    const own = answered.filter(({ row }) => row.app_code === app_code);
    const licenses = new Map(own.map(({ row, creation }) => [row.remote_user, creation.license]));
    return (user) => licenses.get(user);
  };
  try {
    const posted = answered.at(-1)?.posted ?? -Infinity;
    const looking = decidingBy(applying, { is: 'answered', posted });
    const { planned, listedAt } = await listRoster([...answered.map(({ row }) => row), ...held], looking, known);
    if (held.length === 0) return planned();
    const rows = [...planned()];
    const missing = rows.flatMap(({ row, decision }) => ('license' in decision ? [] : [row]));
    applying.claims.listed({ listedAt, missing });
    return rows;
  } catch (cause) {
    if (!(cause instanceof Failure) || endsRun(cause, applying)) throw cause;
    for (const waiting of answered) {
      work.waiting.delete(waiting.row);
      await results.end(results.acceptAnswer(waiting, cause));
    }
    if (held.length > 0) throw cause;
    return [];
  }
}

/** Waits until a list can decide all rows, and plans them by it. @throws Failure of the list, or an interruption */
async function whenSettled(waiting: readonly RowState[], applying: Applying): Promise<Iterable<PlannedRow>> {
  const { journal, settle, elapsed, sleep, note } = applying;
  const latest = waiting.reduce((last, { posted }) => Math.max(last, posted), -Infinity);
  const wait = latest + settle - elapsed();
  const counts = { unanswered: 0, answered: 0, asked: 0, unfiltered: 0 };
  for (const one of waiting) {
    const posted = one.is === 'answered' ? 'answered' : 'unanswered';
    counts[wasPosted(one, journal) ? posted : one.posted > -Infinity ? 'asked' : 'unfiltered'] += 1;
  }
  const kinds = inWords([
    [counts.unanswered, 'unconfirmed'],
    [counts.answered, 'answered and not listed yet'],
    [counts.asked, 'requested by other runs'],
    [counts.unfiltered, 'not found by a filter that the server ignores'],
  ]);
  note(`${kinds}: listing again${wait > 0 ? ` in ${formatDuration(wait)}` : ''}`);
  if (wait > 0) await sleep(wait);
  const rows = waiting.map(({ row }) => row);
  return (await listRoster(rows, decidingBy(applying, { is: 'unanswered', posted: latest }))).planned();
}

/** The next run settles these first; its wait counts from their last request. */
async function reportUnconfirmed({ applying, breaker, results, work }: Run): Promise<void> {
  const { journal, elapsed, now } = applying;
  const stopped = breaker.stopped();
  const outcomeOf = (state: RowState): RowOutcome => {
    if (state.is === 'answered' && state.listed === 'not yet') return results.acceptAnswer(state, stopped);
    if (state.is === 'answered') return { state, status: 'unknown', error: '' };
    const error = ((state.is === 'unanswered' && state.failure) || stopped)?.message ?? unanswered;
    return { state, status: 'unknown', error, time: state.posted - elapsed() + now() };
  };
  for (const state of work.waiting.values()) if (wasPosted(state, journal)) await results.end(outcomeOf(state));
  await results.flush();
}
