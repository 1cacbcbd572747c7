import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/messages-by-ids.ts';
import type { PrivateSearch } from '../messages/private-channels.ts';
import { deleteRounds, lookAt, type Purging, type PurgeWork } from './delete-rounds.ts';
import {
  ascending,
  countsOf,
  expecting,
  leftIn,
  statusOf,
  withStandings,
  type Deeper,
  type PurgeStatus,
  type StandingCounts,
} from './standings.ts';
import { inPart, placesOf, remaining, survivorFailure, unseen, type Survivor } from './purge-failures.ts';
import type { TopicSurvey } from './survey-topic.ts';

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
  const state: PurgeWork['state'] = { standings: expecting(survey.ids) };
  const purge: PurgeWork = { ...purging, chat, survey, state };
  /** Messages that exist although they left the topic: they were renamed, resolved or moved meanwhile. */
  const survivors = new Map<number, Survivor>();
  /** Messages that left the topic, and were found nowhere so far; `untested`: for which a sample was asked. */
  let missing: readonly number[] = [];
  let untested: readonly number[] = [];
  let unsearched = 0;
  const outcome = (): PurgeOutcome => {
    const { deeper, of, start } = state.standings;
    const isGone = (id: number): boolean => of.get(id) !== 'present';
    // Of the untested ones nobody knows whether they were deleted, once one of the others was not.
    const unknown = survivors.size > 0 ? untested.filter(isGone) : [];
    const elsewhere = [...survivors.keys()].filter(isGone);
    const tally = countsOf(withStandings(state.standings, [unknown, 'goneOutOfOrder'], [elsewhere, 'elsewhere']));
    const isLeast = state.last === 'open' || state.last === 'answered';
    return { status: statusOf(tally), tally, arrived: of.size - start.size, deeper, unsearched, isLeast };
  };
  const take = (message: MessageHead, channel?: number): void => {
    if (state.standings.of.has(message.id)) survivors.set(message.id, { message, channel });
  };
  /** Below level 300 a sample is asked for, the oldest included, since servers delete the oldest message last. */
  const findGone = async (): Promise<void> => {
    const left = [...state.standings.of].filter(([, standing]) => !/^(waiting|present)$/.test(standing));
    const gone = ascending(left.map(([id]) => id));
    const asked = new Set((await findsByIds(chat)) ? gone : sampleOf(gone));
    [missing, untested] = [[...asked], gone.filter((id) => !asked.has(id))];
    const { stream_id } = survey.channel;
    for (const [narrow, channel] of [[inChannel(stream_id), stream_id], [inPublicChannels], [received]] as const) {
      const query = { narrow, apply_markdown: false };
      for await (const message of messagesOfIds({ ...chat.raw, level: chat.level }, query, missing))
        if (asked.delete(message.id)) take(message, channel);
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
        if (purging.keeper) state.standings = await purging.keeper.begin(survey);
        await purging.begun();
        if (survey.ids.length > 0 || survey.isLimited) await deleteRounds(purge);
        else await lookAt(purge, 'whole');
        await findGone();
        await lookAt(purge, 'whole');
      } catch (cause) {
        // What was renamed meanwhile is not deleted; a server that does not answer is not asked again.
        if (isAnswering(cause) && !purging.signal.aborted) await findGone().catch(() => undefined);
        throw cause instanceof Failure ? inPart(cause, purge) : cause;
      } finally {
        if (state.last) purging.left?.(leftIn(state.standings));
      }
    },
    /** The failure of a purge that ended as it did; undefined where all is deleted. */
    async failure(): Promise<Failure | undefined> {
      const { status, tally } = outcome();
      if (status === 'deleted') return undefined;
      if (tally.elsewhere > 0)
        return survivorFailure(survey, tally, {
          places: await placesOf(chat, survey, [...survivors.values()]),
          isSample: untested.length > 0,
        });
      return status === 'unseen' ? unseen(survey, tally, state.standings.lastCall) : remaining(purge);
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
  const take = (message: MessageHead, channel: number): void => purges.forEach((purge) => purge.take(message, channel));
  const unsearched = await search.find(raw, { apply_markdown: false }, [...ids], take);
  for (const purge of purges) purge.searched(unsearched);
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
