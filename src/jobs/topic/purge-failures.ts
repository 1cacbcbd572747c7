import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { PurgeWork } from './delete-rounds.ts';
import type { GoneMessages } from './gone-messages.ts';
import {
  leftIn,
  presentIn,
  statusOf,
  type Deeper,
  type LastCall,
  type PurgeStatus,
  type StandingCounts,
} from './standings.ts';
import { shownName, type TopicSurvey } from './survey-topic.ts';

export interface PurgeOutcome {
  readonly status: PurgeStatus | 'held';
  /** Messages of the survey and of earlier, interrupted runs, and those that came later. */
  readonly tally: StandingCounts;
  readonly deleted: number;
  /** Messages that came into the topic during this run. */
  readonly arrived: number;
  readonly deeper: readonly Deeper[];
  /** Private channels in which messages that are gone were not looked for. */
  readonly unsearched: number;
  /** Whether nobody looked after the last call: more may be deleted. */
  readonly isLeast: boolean;
}

/** A failure in the middle says how many messages were left when the topic was last seen. */
export function inPart(cause: Failure, { survey, state, again }: PurgeWork): Failure {
  if (!state.last) return cause;
  const { ids } = survey;
  const left = leftIn(state.standings);
  const message = `${cause.message}; ${left} of ${Math.max(left, ids.length)} messages of '${shownName(survey)}' were left ${sinceThen[state.last]}`;
  const hint = `To continue: ${again()}`;
  switch (cause.kind) {
    case 'unavailable':
    case 'config':
      return cause.as('incomplete', message, { hint, retryable: true });
    case 'rejected':
    case 'not_found':
      // A refused check is no refused deletion.
      return left < ids.length ? cause.as('incomplete', message, { hint, retryable: false }) : cause;
    case 'hangup':
    case 'cancelled':
    case 'terminated':
      return cause.as(cause.kind, message, { hint });
    case 'auth':
      return cause.as(cause.kind, message);
    default:
      return cause;
  }
}

const sinceThen = {
  open: 'when last seen, and the server goes on with the delete request that it has',
  answered: 'when last seen, before the last call, which was answered',
  seen: 'when last seen',
};

/** The failure of a purge that ended as it did; undefined where all is deleted. */
export async function failureOf(purge: PurgeWork, gone: GoneMessages): Promise<Failure | undefined> {
  const { survey, state } = purge;
  const tally = gone.tally();
  const status = statusOf(tally);
  if (status === 'deleted') return undefined;
  if (tally.elsewhere > 0) return survivorFailure(survey, tally, { places: gone.places(), isSample: gone.isSample() });
  return status === 'unseen' ? unseen(survey, tally, state.standings.lastCall) : remaining(purge);
}

function survivorFailure(
  survey: TopicSurvey,
  tally: StandingCounts,
  { places, isSample }: { readonly places: ReadonlySet<string>; readonly isSample: boolean },
): Failure {
  const few = [...places].slice(0, 10).map((place) => `'${place}'`);
  const more = places.size > few.length ? ` and ${places.size - few.length} other topics` : '';
  const hidden = tally.gone + tally.goneOutOfOrder;
  const others = `; ${tally.deleted} were deleted${hidden > 0 ? `, ${hidden} are no longer visible to this account` : ''}`;
  return new Failure(
    'incomplete',
    `topic '${shownName(survey)}': ${isSample ? 'at least ' : ''}${tally.elsewhere} of ${countOf(tally)} messages were not deleted and are in ${few.join(', ')}${more}${isSample ? '' : others}`,
    { hint: 'They were renamed or moved during the deletion: delete them under that name.', retryable: false },
  );
}

function unseen(survey: TopicSurvey, tally: StandingCounts, call: LastCall | undefined): Failure {
  const { deleted, gone, goneOutOfOrder } = tally;
  const without = {
    asked: 'of an earlier run has no answer',
    crossed: 'failed',
    failed: 'failed',
    part: '',
    whole: '',
  };
  const how = call && without[call.end];
  const before = how ? `the last delete call ${how}; ${call.left} messages were left before it` : '';
  return new Failure(
    'incomplete',
    `topic '${shownName(survey)}': ${gone + goneOutOfOrder} of ${countOf(tally)} messages are no longer visible to this account, and nothing proves that ` +
      `they were deleted: ${before || 'they may have been moved out of sight'}${deleted > 0 ? `; at least ${deleted} were deleted` : ''}`,
    {
      hint: 'Look for them with an account that sees more channels. The same command checks again; with --missing-ok it ends the purge.',
      retryable: false,
    },
  );
}

function remaining({ survey, state: { standings } }: PurgeWork): Failure {
  const left = leftIn(standings);
  const newer = presentIn(standings).length - left;
  const start =
    left > 0
      ? `${left} of the ${Math.max(left, survey.ids.length)} messages of the start are left`
      : `the ${survey.ids.length} messages of the start are gone`;
  const arrived =
    newer > 0
      ? `; ${newer} newer ${newer === 1 ? 'message is' : 'messages are'} left, which arrived during the deletion`
      : '';
  return new Failure('incomplete', `topic '${shownName(survey)}': ${start}${arrived}`, {
    hint: 'Look at them; the same command deletes them too.',
  });
}

export function countOf(tally: StandingCounts): number {
  return Object.values(tally).reduce((sum, count) => sum + count, 0);
}

/** What the archive may lack, if there is one, and what is in no count. */
export function warningsOf(survey: TopicSurvey, { arrived, deeper, deleted, unsearched }: PurgeOutcome): string[] {
  const topic = `topic '${shownName(survey)}'`;
  const texts = deeper.map(
    ({ first, last, seen }) =>
      `${topic}: a delete call went deeper than the look before it: messages ${first} to ${last} were last looked at ${seen}; ` +
      'what was edited, or moved in between them, since then was deleted without being archived',
  );
  if (survey.isLimited)
    texts.push(
      `${topic}: at least ${quantity(deleted, 'message was', 'messages were')} deleted; those that the plan hid are in no count and no archive`,
    );
  if (unsearched > 0)
    texts.push(
      `${topic}: its messages were not looked for in ${quantity(unsearched, 'private channel')} (too many requests): if they were moved there, they are not deleted`,
    );
  if (arrived > 0)
    texts.push(
      `${topic}: ${quantity(arrived, 'message')} arrived during the deletion; others that arrived during a delete call may have been deleted without being archived`,
    );
  return texts;
}
