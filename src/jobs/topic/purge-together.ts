import { Failure } from '../../core/failure.ts';
import { isFatal } from '../work/each.ts';
import { refuseNewer, type Naming } from './named-topics.ts';
import type { PurgeRun } from './purge-run.ts';
import type { Budget, Purge } from './purge-topics.ts';
import { hasMessages, type Doomed } from './survey-topics.ts';

export interface PurgeLimits {
  readonly naming: Naming;
  readonly run: PurgeRun;
  readonly budget: Budget;
  readonly missing_ok: boolean | undefined;
}

/**
 * Purges some topics, and looks for what they miss in private channels, before it ends the first of them. The purge of
 * each, undefined where there was none.
 */
export function purgeTogether(
  purge: Purge,
  surveys: readonly Doomed[],
  { naming, run, budget, missing_ok }: PurgeLimits,
) {
  /** How each purge that was begun failed; undefined where it did not. */
  const failures = new Map<Doomed, Failure | undefined>();
  const begin = async (survey: Doomed): Promise<void> => {
    refuseNewer(survey, naming);
    if (!hasMessages(survey) && !(await purge.earlier(survey)).isBegun) return;
    await run.begin(survey);
    budget.take(survey, await purge.run(survey, budget.of(survey)));
  };
  const beginAll = async (some: readonly Doomed[]): Promise<void> => {
    let end: Failure | undefined;
    for (const survey of some) {
      const failure = await failureOf(begin(survey));
      failures.set(survey, failure);
      end = failure && isFatal(failure) ? failure : undefined;
      if (end) break;
    }
    end ??= await failureOf(purge.search(some));
    if (!end) return;
    // What was not looked for everywhere is not at its end.
    for (const survey of some)
      if (failures.has(survey)) failures.set(survey, failures.get(survey) ?? (await purge.leave(survey, end)));
  };
  return async (survey: Doomed) => {
    const place = surveys.indexOf(survey);
    if (!failures.has(survey))
      await beginAll(surveys.slice(place, place + (surveys.length > 1 ? await purge.together() : 1)));
    const failure = failures.get(survey);
    if (failure) throw failure;
    return purge.end(survey, run, missing_ok);
  };
}

async function failureOf(work: Promise<void>): Promise<Failure | undefined> {
  try {
    await work;
    return undefined;
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
}
