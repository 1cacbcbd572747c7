import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import type { PurgeEvent } from '../../store/record/history.ts';
import type { Progress } from '../work/work-messages.ts';
import { deleteRounds, lookAt, type PurgeParts, type PurgeWork } from './delete-rounds.ts';
import { goneMessages } from './gone-messages.ts';
import { heldTopic, holdOf, type TopicHold } from './holds.ts';
import { openKeeper } from './keep-topic.ts';
import { countOf, failureOf, inPart, warningsOf, type PurgeOutcome } from './purge-failures.ts';
import type { PurgeRun } from './purge-run.ts';
import { expecting, leftIn, statusOf } from './standings.ts';
import { shownName, type TopicSurvey } from './survey-topic.ts';
import type { ArchivePlace } from './topic-archives.ts';

/** Where archives are made, unless --no-archive forbids it. */
export interface PurgeArchives extends ArchivePlace {
  readonly isKept: boolean;
}

export interface TopicLimits {
  readonly archives: PurgeArchives;
  readonly holds: readonly TopicHold[];
  /** Infinity for any number. */
  readonly maxMessages: number;
}

export type TopicPurge = ReturnType<typeof openTopicPurge>;

/** A purge of one surveyed topic; nothing is sent before `run`. */
export function openTopicPurge(
  chat: PurgeWork['chat'] & Pick<ChatApi, 'organization' | 'upload'>,
  survey: TopicSurvey,
  { archives, holds, maxMessages }: TopicLimits,
  context: PurgeParts,
) {
  const { archived, left, note, end } = progressOf(context, survey, archives);
  const state: PurgeWork['state'] = { standings: expecting(survey.ids) };
  let isHeld = false;
  const refuseHeld = (ids: readonly number[]): void => {
    const hold = holdOf(holds, survey, ids);
    isHeld ||= hold !== undefined;
    if (hold) throw heldTopic(survey, hold);
  };
  const purge: PurgeWork = { ...context, chat, survey, state, maxMessages, refuseHeld, left };
  const gone = goneMessages(purge);
  /** Whether what is gone was looked for everywhere, and the record has the end: before it nothing is `deleted`. */
  let isEnded = false;
  const outcome = (): PurgeOutcome => {
    const { deeper, of, start } = state.standings;
    const tally = gone.tally();
    const { deleted } = tally;
    const known = statusOf(tally);
    const status = isHeld && deleted === 0 ? 'held' : known === 'deleted' && !isEnded ? 'incomplete' : known;
    const isLeast = state.last === 'open' || state.last === 'answered';
    return { status, tally, deleted, arrived: of.size - start.size, deeper, unsearched: gone.unsearched(), isLeast };
  };
  /** Whether the history knows of its begin, and of no end. */
  let isTold = false;
  const tell = async (event: PurgeEvent['event']): Promise<void> => {
    const { tally, deleted, arrived, status } = outcome();
    const { channel, topic_name, spellings } = survey;
    const { stream_id, name } = channel;
    const what = { email: archives.account, stream_id, channel: name, topic_name, spellings };
    const counts = { deleted, unseen: tally.gone + tally.goneOutOfOrder, arrived, status };
    const ended = event === 'purging' ? {} : counts;
    await context.record({ event, ...what, archive: state.keeper?.folder, messages: countOf(tally), ...ended });
    isTold = event === 'purging';
  };
  /** Leaves the purge open, since it or its run failed, and all was looked for; what that means for it. */
  const leave = async <T>(cause: T): Promise<T | Failure> => {
    if (isTold) await tell('left');
    // What ended a purge says more than an archive that cannot be closed after it.
    await state.keeper?.close().catch(() => undefined);
    return cause instanceof Failure ? inPart(cause, purge) : cause;
  };
  return {
    outcome,
    gone,
    leave,
    /**
     * Keeps the messages, deletes in rounds, and looks at the end for what is left here or under another name. An empty
     * topic is only looked at: nothing of it was confirmed.
     * @throws Failure, after which the purge is to be left
     */
    async run(): Promise<void> {
      try {
        if (archives.isKept) {
          state.keeper = await openKeeper(chat, survey, { ...context, ...archives, archived, note });
          state.standings = state.keeper.known;
        }
        await tell('purging');
        if (survey.ids.length > 0 || survey.isLimited) await deleteRounds(purge);
        else await lookAt(purge, 'whole');
        await gone.find();
        await lookAt(purge, 'whole');
      } catch (cause) {
        // What was renamed meanwhile is not deleted; a server that does not answer is not asked again.
        if (isAnswering(cause) && !context.signal.aborted) await gone.find().catch(() => undefined);
        throw cause instanceof Failure ? cause : await leave(cause);
      } finally {
        if (state.last) left(leftIn(state.standings));
        end();
      }
    },
    /** @throws Failure incomplete for all but `deleted`, and with `missing_ok` `unseen` */
    async finish(run: PurgeRun, missing_ok: boolean | undefined): Promise<PurgeOutcome> {
      const { deleted, tally, ...now } = outcome();
      const status = now.status === 'unseen' ? now.status : undefined;
      try {
        const failure = await failureOf(purge, gone);
        for (const text of warningsOf(survey, outcome())) context.warn(text);
        if (failure && !(status && missing_ok)) throw failure;
        if (failure) context.warn(failure.message);
        const record = { finish: async () => state.keeper?.finish(tally), close: async () => state.keeper?.close() };
        await run.end(survey, { deleted, status }, record);
        isEnded = true;
        await tell('purged');
        return outcome();
      } catch (cause) {
        throw await leave(cause);
      }
    },
  };
}

/** Whether a failure says nothing of the server's further answers. */
function isAnswering(cause: unknown): boolean {
  return cause instanceof Failure && !cause.isInterruption && !(cause.kind === 'unavailable' && cause.details.http);
}

/** How many messages are archived, and are left: a line of progress, or without a person a note of each number. */
function progressOf(context: PurgeParts, survey: TopicSurvey, { isKept }: PurgeArchives) {
  const total = survey.ids.length;
  let shown: { readonly label: string; readonly line: Progress } | undefined;
  let last = total;
  const end = (): void => {
    shown?.line.end();
    shown = undefined;
  };
  // The time of a line counts from its first number on.
  const upTo = (label: string, count: number): void => {
    if (shown?.label !== label) end();
    shown ??= { label, line: context.progress(label, total) };
    shown.line.upTo(count);
  };
  return {
    archived: (count: number) => upTo('archived', count),
    left(count: number): void {
      if (context.interactive()) upTo(isKept ? `archived ${total}, gone` : 'gone', total - count);
      else if (count !== last && count > 0)
        context.note(`topic '${shownName(survey)}': ${count} of ${Math.max(total, count)} messages are left`);
      last = count;
    },
    note(text: string): void {
      end();
      context.note(text);
    },
    end,
  };
}
