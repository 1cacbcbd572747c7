import type { ChatApi } from '../../api/chat/chat.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { privateSearch } from '../messages/messages-by-ids.ts';
import { isFatal } from '../work/each.ts';
import { refuseNewer, type Naming } from './named-topics.ts';
import type { PurgeRun } from './purge-run.ts';
import type { PurgeParts } from './delete-rounds.ts';
import type { PurgeOutcome } from './purge-failures.ts';
import { openTopicPurge, type TopicLimits, type TopicPurge } from './purge-topic.ts';
import { deletable } from './standings.ts';
import { hasMessages, type Doomed } from './survey-topics.ts';
import { earlierPurges } from './topic-archives.ts';

/** What the purges of a run may delete. */
interface PurgeLimits extends Omit<TopicLimits, 'maxMessages'> {
  readonly naming: Naming;
  readonly run: PurgeRun;
  readonly max_messages: number | undefined;
  readonly missing_ok: boolean | undefined;
}

/** Their archives are open meanwhile, each with some files. */
const mostTogether = 25;

/**
 * Purges topics, some together: what they miss is looked for in private channels before the first of them ends.
 * @throws Failure usage where the surveyed messages are more than `max_messages`
 */
export function openPurges(
  chat: ChatApi,
  surveys: readonly Doomed[],
  { archives, holds, naming, run, max_messages: most = Infinity, missing_ok }: PurgeLimits,
  context: PurgeParts,
) {
  const purges = new Map<Doomed, TopicPurge>();
  /** How each that was begun failed; undefined where it did not. */
  const failures = new Map<Doomed, Failure | undefined>();
  const search = privateSearch(chat);
  /** Messages of all topics, those that earlier runs deleted included. */
  let total = surveys.reduce((sum, survey) => sum + survey.ids.length + (run.endOf(survey)?.deleted ?? 0), 0);
  if (total > most)
    throw usage(
      `${quantity(total, 'message')} would be deleted, more than --max-messages ${most}: nothing was deleted`,
    );
  const begin = async (survey: Doomed): Promise<void> => {
    refuseNewer(survey, naming);
    const isBegun = async () => archives.isKept && (await earlierPurges(survey, archives)).isBegun;
    if (!hasMessages(survey) && !(await isBegun())) return;
    await run.begin(survey);
    const { length: count } = survey.ids;
    const purge = openTopicPurge(chat, survey, { archives, holds, maxMessages: most - total + count }, context);
    purges.set(survey, purge);
    await purge.run();
    total += deletable(purge.outcome().tally) - count;
  };
  const beginAll = async (some: readonly Doomed[]): Promise<void> => {
    let end: Failure | undefined;
    for (const survey of some) {
      const failure = await failureOf(begin(survey));
      failures.set(survey, failure);
      end = failure && isFatal(failure) ? failure : undefined;
      if (end) break;
    }
    end ??= await failureOf(findInPrivate(some));
    for (const survey of some) {
      // What was not looked for everywhere is not at its end.
      const failure = failures.has(survey) ? (failures.get(survey) ?? end) : undefined;
      if (failure) failures.set(survey, (await purges.get(survey)?.leave(failure)) ?? failure);
    }
  };
  /** Looks in private channels for what these purges miss. */
  const findInPrivate = async (some: readonly Doomed[]): Promise<void> => {
    const all = some.flatMap((survey) => purges.get(survey)?.gone ?? []);
    const ids = new Set(all.flatMap((gone) => gone.missing()));
    const unsearched = await search.find(chat.raw, { apply_markdown: false }, [...ids], (message) =>
      all.forEach((gone) => gone.take(message)),
    );
    for (const gone of all) gone.searched(unsearched);
  };
  return {
    /** What has become of a topic so far; undefined where its purge did not begin. */
    outcomeOf: (survey: Doomed): PurgeOutcome | undefined => purges.get(survey)?.outcome(),
    /** Archives, deletes and checks a topic; undefined where there was nothing to purge. @throws Failure incomplete */
    async purge(survey: Doomed): Promise<PurgeOutcome | undefined> {
      if (!failures.has(survey)) {
        const place = surveys.indexOf(survey);
        const isSearched = surveys.length > 1 && (await search.channels()).length > 0;
        await beginAll(surveys.slice(place, place + (isSearched ? mostTogether : 1)));
      }
      const failure = failures.get(survey);
      if (failure) throw failure;
      return purges.get(survey)?.finish(run, missing_ok);
    },
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
