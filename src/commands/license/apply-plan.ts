import { Failure } from '../../core/failure.ts';
import {
  changesIn,
  planInWords,
  planRequests,
  type DryRow,
  type Plan,
  type Planning,
} from '../../jobs/license/plan-roster.ts';
import { plannedRows, type ApplyingParts } from './apply-rows.ts';
import { inTargets, type Target } from './target.ts';

/**
 * The rows of a dry run; with -o curl there are none, and its requests are noted.
 * @throws Failure incomplete where a row cannot be applied; differences where they were asked for
 */
export async function* planned(
  plan: Plan,
  planning: Planning,
  { targets, tellsChanges }: { readonly targets: readonly Target[]; readonly tellsChanges: boolean | undefined },
  { conclude, warn, options }: Pick<ApplyingParts, 'conclude' | 'warn' | 'options'>,
): AsyncGenerator<DryRow> {
  if (options.output === 'curl') await planRequests(plan, planning);
  else yield* plannedRows(plan, warn);
  conclude(`${planInWords(plan)} on ${inTargets(targets)}`);
  const refused = plan.rows.filter(({ decision }) => decision.step === 'refused').length;
  if (refused > 0) throw new Failure('incomplete', `${refused} of ${plan.rows.length} rows cannot be applied`);
  const changes = changesIn(plan);
  if (tellsChanges && changes > 0) throw new Failure('differences', `${changes} licenses would change`);
}
