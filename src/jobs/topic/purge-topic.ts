import { Failure } from '../../core/failure.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/messages-by-ids.ts';
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
import type { TopicSurvey } from './survey-topic.ts';

export interface PurgeOutcome {
  readonly status: PurgeStatus;
  /** Messages of the survey and of earlier, interrupted runs, and those that came later. */
  readonly tally: StandingCounts;
  /** Messages that came into the topic during this run. */
  readonly arrived: number;
  readonly deeper: readonly Deeper[];
}

export type TopicPurge = ReturnType<typeof openTopicPurge>;

/** A purge of one surveyed topic; nothing is sent before `run`. */
export function openTopicPurge(chat: PurgeWork['chat'], survey: TopicSurvey, purging: Purging) {
  const standings = openStandings();
  const purge: PurgeWork = { ...purging, chat, survey, state: { standings } };
  let survivors: Survivors = { places: [], isSample: false };
  const outcome = (): PurgeOutcome => {
    const tally = standings.counts();
    return { status: statusOf(tally), tally, arrived: standings.arrived.size, deeper: standings.deeper };
  };
  standings.expect(survey.ids);
  const findGone = async (): Promise<void> => {
    const left = [...standings.of].filter(([, standing]) => !/^(waiting|present)$/.test(standing));
    const gone = ascending(left.map(([id]) => id));
    survivors = await lookElsewhere(purge, gone);
  };
  return {
    outcome,
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
        throw inPart(cause, purge);
      } finally {
        if (purge.state.last) purging.left?.(standings.left());
      }
    },
    /** The failure of a purge that ended as it did; undefined where all is deleted. */
    failure(): Failure | undefined {
      const { status, tally } = outcome();
      if (status === 'deleted') return undefined;
      if (tally.elsewhere > 0) return survived(survey, tally, survivors);
      return status === 'unseen' ? unseen(survey, tally, standings.lastCall()) : remaining(purge);
    },
  };
}

/** Messages that exist although their topic was deleted: it was renamed or resolved, or they were moved, meanwhile. */
interface Survivors {
  readonly places: readonly string[];
  /** Only some of the ids were asked for: there may be more survivors. */
  readonly isSample: boolean;
}

/** Messages that are asked for one by one where the server does not know `message_ids`. */
const sampleSize = 8;

/**
 * Asks for messages by ids, ascending: in their channel, all public channels, what the account received. Below level
 * 300 a sample of them, the oldest included, since servers delete the oldest message last.
 */
async function lookElsewhere(
  { chat: { raw, level }, survey: { channel }, state: { standings } }: PurgeWork,
  ids: readonly number[],
): Promise<Survivors> {
  const isSample = !(await findsByIds({ level }));
  const places = new Set<string>();
  let open = isSample ? sampleOf(ids) : ids;
  const asked = new Set(open);
  for (const narrow of [inChannel(channel.stream_id), inPublicChannels, received]) {
    const wanted = new Set(open);
    const query = { narrow, apply_markdown: false };
    for await (const message of messagesOfIds({ ...raw, level }, query, open)) {
      if (!wanted.delete(message.id)) continue;
      const { id, display_recipient, subject } = message;
      // At once: a later request may fail.
      standings.found([id], []);
      const channelName = typeof display_recipient === 'string' ? `#${display_recipient}` : 'a direct conversation';
      places.add(`${channelName} > ${String(subject)}`);
    }
    open = [...wanted];
  }
  // Of the others nobody knows whether they were deleted.
  if (places.size > 0) standings.found([], isSample ? ids.filter((id) => !asked.has(id)) : []);
  return { places: [...places], isSample };
}

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
function inPart(cause: unknown, { survey, state }: PurgeWork): unknown {
  if (!(cause instanceof Failure) || !state.last) return cause;
  const { topic_name, ids } = survey;
  const left = state.standings.left();
  const message = `${cause.message}; ${left} of ${ids.length} messages of '${topic_name}' were left ${sinceThen[state.last]}`;
  switch (cause.kind) {
    case 'unavailable':
    case 'config':
      return cause.as('incomplete', message, { hint: continues, retryable: true });
    case 'rejected':
    case 'not_found':
      // A refused check is no refused deletion.
      return left < ids.length ? cause.as('incomplete', message, { hint: continues, retryable: false }) : cause;
    case 'auth':
    case 'hangup':
    case 'cancelled':
    case 'terminated':
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

const continues = 'Run the same command again: it continues.';

function survived({ topic_name }: TopicSurvey, tally: StandingCounts, { places, isSample }: Survivors): Failure {
  const few = places.slice(0, 10).map((place) => `'${place}'`);
  const more = places.length > few.length ? ` and ${places.length - few.length} other topics` : '';
  const hidden = tally.gone + tally.goneOutOfOrder;
  const others = `; ${tally.deleted} were deleted${hidden > 0 ? `, ${hidden} are no longer visible to this account` : ''}`;
  return new Failure(
    'incomplete',
    `topic '${topic_name}': ${isSample ? 'at least ' : ''}${tally.elsewhere} of ${countOf(tally)} messages were not deleted and are in ${few.join(', ')}${more}${isSample ? '' : others}`,
    { hint: 'They were renamed or moved during the deletion: delete them under that name.', retryable: false },
  );
}

function unseen({ topic_name }: TopicSurvey, tally: StandingCounts, call: LastCall | undefined): Failure {
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
    `topic '${topic_name}': ${gone + goneOutOfOrder} of ${countOf(tally)} messages are no longer visible to this account, and nothing proves that ` +
      `they were deleted: ${before || 'they may have been moved out of sight'}${deleted > 0 ? `; at least ${deleted} were deleted` : ''}`,
    {
      hint: 'Look for them with an account that sees more channels. The same command checks again; with --missing-ok it ends the purge.',
      retryable: false,
    },
  );
}

function remaining({ survey: { topic_name, ids }, state: { standings } }: PurgeWork): Failure {
  const left = standings.left();
  const newer = standings.present.length - left;
  const start =
    left > 0
      ? `${left} of the ${ids.length} messages of the start are left`
      : `the ${ids.length} messages of the start are gone`;
  const arrived =
    newer > 0
      ? `; ${newer} newer ${newer === 1 ? 'message is' : 'messages are'} left, which arrived during the deletion`
      : '';
  return new Failure('incomplete', `topic '${topic_name}': ${start}${arrived}`, {
    hint: 'Look at them; the same command deletes them too.',
  });
}

function countOf(tally: StandingCounts): number {
  return Object.values(tally).reduce((sum, count) => sum + count, 0);
}
