import { userKey } from '../license/claim-users.ts';
import { inOrder } from '../work/in-order.ts';
import type { Plan } from './plan-roster.ts';
import { newTally, type AppliedRow, type Applying } from './roster-outcome.ts';
import { beginRun } from './roster-run.ts';

/**
 * Carries out a plan: one license of the asked size for each row, never two (docs/exactly-once.md, States of a row). Yields the rows
 * in their order. A reader who leaves does not stop the work.
 * @throws Failure auth at once; unknown where a row may or may not have its license; incomplete where rows failed or were not reached
 */
export async function* applyRoster(plan: Plan, applying: Applying): AsyncGenerator<AppliedRow> {
  const keys = plan.tasks.map(({ row }) => userKey(row));
  const tally = newTally(applying.where, applying.resume);
  const run = beginRun(plan, applying);
  async function* counted(): AsyncGenerator<AppliedRow> {
    for await (const row of run.outcomes()) {
      tally.add(row);
      await applying.finished(row);
      yield row;
    }
  }
  yield* inOrder(keys, counted(), userKey);
  applying.note(tally.summary(keys.length));
  const failure = tally.verdict(keys.length, run.stopped());
  if (failure) throw failure;
}
