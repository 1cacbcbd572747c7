import type { Plan } from './plan-roster.ts';
import { newTally, RowOutcomes, type AppliedRow, type Applying } from './roster-outcome.ts';
import { RosterRun } from './roster-run.ts';

/**
 * Carries out a plan: one license of the asked size for each row, never two (docs/exactly-once.md, States of a row). Yields the rows
 * in their order. A slow reader does not slow the work; one who leaves ends it once what is in progress has ended.
 * @throws Failure auth at once; unknown where a row may or may not have its license; incomplete where rows failed or were not reached
 */
export async function* applyRoster(plan: Plan, applying: Applying): AsyncGenerator<AppliedRow> {
  const { tasks } = plan;
  const tally = newTally(applying.where, applying.resume);
  const outcomes = new RowOutcomes(applying);
  const run = new RosterRun(plan, applying, outcomes);
  const working = run.carryOut().finally(() => outcomes.close());
  // Awaited below: until then a bug must not end the process.
  working.catch(() => undefined);
  try {
    for (const task of tasks) {
      const outcome = await outcomes.of(task);
      if (!outcome) continue;
      tally.add(outcome);
      yield outcome;
    }
  } finally {
    run.abandon();
    await working;
  }
  const failure = tally.verdict(tasks.length, run.stopped());
  // Any other failure says the counts itself.
  if (!failure || failure === run.stopped()) applying.conclude(tally.summary(tasks.length));
  if (failure) throw failure;
}
