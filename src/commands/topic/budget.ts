import { usage } from '../../core/failure.ts';
import type { TopicSurvey } from '../../jobs/topic/survey-topic.ts';

/** How many messages the topics of one run may take together. */
export interface Budget {
  /** Maximum number of messages that the deletion of this topic may take. */
  of(survey: TopicSurvey): number | undefined;
  take(survey: TopicSurvey, deleted: number): void;
}

/** @throws Failure usage where the surveyed messages alone are too many */
export function budgetOf(surveys: readonly TopicSurvey[], most: number | undefined): Budget {
  let count = surveys.reduce((sum, { ids }) => sum + ids.length, 0);
  if (most !== undefined && count > most)
    throw usage(`${count} messages would be deleted, more than --max-messages ${most}: nothing was deleted`);
  return {
    of: ({ ids }) => (most === undefined ? undefined : most - count + ids.length),
    take: ({ ids }, deleted) => void (count += deleted - ids.length),
  };
}
