import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/messages-by-ids.ts';
import type { PrivateSearch } from '../messages/private-channels.ts';
import { deleteRounds, lookAt, type Purging, type PurgeWork } from './delete-rounds.ts';
import {
  ascending,
  openStandings,
  statusOf,
  type Deeper,
  type LastCall,
  type PurgeStatus,
  type StandingCounts,
} from './standings.ts';
import { shownName, type TopicSurvey } from './survey-topic.ts';

export interface PurgeOutcome {
  readonly status: PurgeStatus;
  /** Messages of the survey and of earlier, interrupted runs, and those that came later. */
  readonly tally: StandingCounts;
  /** Messages that came into the topic during this run. */
  readonly arrived: number;
  readonly deeper: readonly Deeper[];
  /** Private channels in which messages that are gone were not looked for. */
  readonly unsearched: number;
  /** Whether nobody looked after the last call: more may be deleted. */
  readonly isLeast: boolean;
}

export type TopicPurge = ReturnType<typeof openTopicPurge>;

/** A purge of one surveyed topic; nothing is sent before `run`. */
export function openTopicPurge(chat: PurgeWork['chat'], survey: TopicSurvey, purging: Purging) {
  const standings = openStandings();
  const purge: PurgeWork = { ...purging, chat, survey, state: { standings } };
  const survivors = { places: new Set<string>(), isSample: false };
  /** Messages that left the topic, and were found nowhere so far; `untested`: for which a sample was asked. */
  let missing: readonly number[] = [];
  let untested: readonly number[] = [];
  let unsearched = 0;
  const outcome = (): PurgeOutcome => {
    const tally = standings.counts();
    const isLeast = purge.state.last === 'open' || purge.state.last === 'answered';
    const { arrived, deeper } = standings;
    return { status: statusOf(tally), tally, arrived: arrived.size, deeper, unsearched, isLeast };
  };
  standings.expect(survey.ids);
  /** At once: a later request may fail. Of the untested ones nobody knows then whether they were deleted. */
  const take = ({ id, display_recipient, subject }: MessageHead): void => {
    if (!standings.of.has(id)) return;
    standings.found([id], untested);
    const channelName = typeof display_recipient === 'string' ? `#${display_recipient}` : 'a direct conversation';
    survivors.places.add(`${channelName} > ${String(subject)}`);
  };
  /** Below level 300 a sample is asked for, the oldest included, since servers delete the oldest message last. */
  const findGone = async (): Promise<void> => {
    const left = [...standings.of].filter(([, standing]) => !/^(waiting|present)$/.test(standing));
    const gone = ascending(left.map(([id]) => id));
    survivors.isSample = !(await findsByIds(chat));
    const asked = new Set(survivors.isSample ? sampleOf(gone) : gone);
    [missing, untested] = [[...asked], gone.filter((id) => !asked.has(id))];
    for (const narrow of [inChannel(survey.channel.stream_id), inPublicChannels, received]) {
      const query = { narrow, apply_markdown: false };
      for await (const message of messagesOfIds({ ...chat.raw, level: chat.level }, query, missing))
        if (asked.delete(message.id)) take(message);
      missing = [...asked];
    }
  };
  return {
    outcome,
    take,
    missing: () => missing,
    /** Of messages that are gone: in how many private channels they were not looked for. */
    searched(channels: ReadonlyMap<number, number>): void {
      unsearched = missing.reduce((most, id) => Math.max(most, channels.get(id) ?? 0), 0);
    },
    /** What a failure of this purge means. */
    inPart: (cause: Failure) => inPart(cause, purge),
    /**
     * Keeps the messages, deletes in rounds, and looks at the end for what is left here or under another name. An empty
     * topic is only looked at: nothing of it was confirmed.
     * @throws Failure incomplete with what is left, and where, if that is known; auth, rejected, usage, cancelled
     */
    async run(): Promise<void> {
      try {
        await purging.keeper?.begin(survey, standings);
        if (survey.ids.length > 0 || survey.isLimited) await deleteRounds(purge);
        else await lookAt(purge, 'whole');
        await findGone();
        await lookAt(purge, 'whole');
      } catch (cause) {
        // What was renamed meanwhile is not deleted; a server that does not answer is not asked again.
        if (isAnswering(cause) && !purging.signal.aborted) await findGone().catch(() => undefined);
        throw cause instanceof Failure ? inPart(cause, purge) : cause;
      } finally {
        if (purge.state.last) purging.left?.(standings.left());
      }
    },
    /** The failure of a purge that ended as it did; undefined where all is deleted. */
    failure(): Failure | undefined {
      const { status, tally } = outcome();
      if (status === 'deleted') return undefined;
      if (tally.elsewhere > 0) return survivorFailure(survey, tally, survivors);
      return status === 'unseen' ? unseen(survey, tally, standings.lastCall()) : remaining(purge);
    },
  };
}

/** Looks for what purges miss in private channels, for all of them together. */
export async function findInPrivate(
  { raw }: PurgeWork['chat'],
  search: PrivateSearch,
  purges: readonly TopicPurge[],
): Promise<void> {
  const ids = new Set(purges.flatMap((purge) => purge.missing()));
  const take = (message: MessageHead): void => purges.forEach((purge) => purge.take(message));
  const unsearched = await search.find(raw, { apply_markdown: false }, [...ids], take);
  for (const purge of purges) purge.searched(unsearched);
}

/** Messages that exist although their topic was deleted: it was renamed or resolved, or they were moved, meanwhile. */
interface Survivors {
  readonly places: ReadonlySet<string>;
  /** Only some of the ids were asked for: there may be more survivors. */
  readonly isSample: boolean;
}

/** Messages that are asked for one by one where the server does not know `message_ids`. */
const sampleSize = 8;

function sampleOf(ids: readonly number[]): number[] {
  const step = Math.max(1, (ids.length - 1) / (sampleSize - 1));
  const places = Array.from({ length: Math.min(sampleSize, ids.length) }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => ids[place] ?? []);
}

/** Whether a failure says nothing of the server's further answers. */
function isAnswering(cause: unknown): boolean {
  return cause instanceof Failure && !cause.isInterruption && !(cause.kind === 'unavailable' && cause.details.http);
}

/** A failure in the middle says how many messages were left when the topic was last seen. */
function inPart(cause: Failure, { survey, state, again }: PurgeWork): Failure {
  if (!state.last) return cause;
  const { ids } = survey;
  const left = state.standings.left();
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

function survivorFailure(survey: TopicSurvey, tally: StandingCounts, { places, isSample }: Survivors): Failure {
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
  const left = standings.left();
  const newer = standings.present.length - left;
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

function countOf(tally: StandingCounts): number {
  return Object.values(tally).reduce((sum, count) => sum + count, 0);
}
