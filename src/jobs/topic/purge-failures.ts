import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { Failure, ifAnswered } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { isSameName } from '../../schema/topic.ts';
import { truePlaces } from '../archive/true-places.ts';
import type { PurgeWork } from './delete-rounds.ts';
import { leftIn, presentIn, type LastCall, type StandingCounts } from './standings.ts';
import { shownName, type TopicSurvey } from './survey-topic.ts';

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

/** `isSample`: only some of the ids were asked for, and there may be more survivors. */
export function survivorFailure(
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

export function unseen(survey: TopicSurvey, tally: StandingCounts, call: LastCall | undefined): Failure {
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

export function remaining({ survey, state: { standings } }: PurgeWork): Failure {
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

/** A message, and the channel in which it was found, if one was asked. */
export interface Survivor {
  readonly message: MessageHead;
  readonly channel: number | undefined;
}

/** The places of survivors: one that names the topic which it left is an old copy (docs/apis.md, Old copies). */
export async function placesOf(
  chat: PurgeWork['chat'],
  { channel: own, topic_name }: TopicSurvey,
  survivors: readonly Survivor[],
): Promise<ReadonlySet<string>> {
  const isLeft = ({ message: { stream_id, subject } }: Survivor): boolean =>
    stream_id === own.stream_id && isSameName(String(subject), topic_name);
  const gone = new Map(survivors.filter(isLeft).map(({ message, channel }) => [message.id, channel]));
  const messages = survivors.map(({ message }) => message);
  const places = await ifAnswered(truePlaces(chat, [])(messages, gone));
  const names = new Map((await ifAnswered(chat.channels()))?.map(({ stream_id, name }) => [stream_id, name]));
  return new Set(
    messages.map((message) => {
      const named = gone.has(message.id) ? { stream_id: gone.get(message.id), subject: undefined } : message;
      const { stream_id, subject } = places?.get(message.id) ?? named;
      const name = stream_id === message.stream_id ? message.display_recipient : (names.get(stream_id) ?? stream_id);
      const channel = name === undefined ? 'another channel' : `#${textOf(name)}`;
      return `${channel} > ${subject === undefined ? 'a topic that the server does not show' : textOf(subject)}`;
    }),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : writeJson(value);
}
