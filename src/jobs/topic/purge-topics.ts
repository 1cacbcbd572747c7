import type { ChatApi } from '../../api/chat/chat.ts';
import { quantity, type Milliseconds } from '../../core/duration.ts';
import { type Failure, usage } from '../../core/failure.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { Journal, JournalContent, JournalHeader } from '../../store/journal.ts';
import type { PurgeEvent } from '../../store/record/history.ts';
import { privateSearch } from '../messages/private-channels.ts';
import type { Progress, WorkMessages } from '../work/work-messages.ts';
import { topicKeeper, type Keeper } from './keep-topic.ts';
import { heldTopic, holdOf, type TopicHold } from './holds.ts';
import { isSeveral, type Naming } from './named-topics.ts';
import { countOf } from './purge-failures.ts';
import { openPurgeRun, type PurgeRun } from './purge-run.ts';
import { findInPrivate, openTopicPurge, type PurgeOutcome, type TopicPurge } from './purge-topic.ts';
import { deletable } from './standings.ts';
import { shownName, type Topic, type TopicSurvey } from './survey-topic.ts';
import { earlierPurges, type EarlierPurges, type Keeping } from './topic-archives.ts';

export type Purge = ReturnType<typeof openPurges>;

/** Their archives are open meanwhile, each with some files. */
const mostTogether = 25;

/** What the purges of one run use of it. */
interface PurgeParts extends WorkMessages {
  readonly signal: AbortSignal;
  interactive(): boolean;
  again(): string;
  now(): Milliseconds;
  sleep(span: Milliseconds): Promise<void>;
  archive(folder: string): Promise<OpenArchive>;
  journal(header: JournalHeader): Promise<Journal>;
  readJournal(header: JournalHeader): Promise<JournalContent | undefined>;
  record(event: PurgeEvent): Promise<void>;
}

interface PurgeArchives extends Pick<Keeping, 'root' | 'site' | 'account' | 'maxFileSize'> {
  /** Whether archives are made at all. */
  readonly isKept: boolean;
}

/** Archives, deletes and checks the topics of one run. */
export function openPurges(
  chat: ChatApi,
  { isKept, ...place }: PurgeArchives,
  holds: readonly TopicHold[],
  context: PurgeParts,
) {
  const opened = new Map<TopicSurvey, { readonly purge: TopicPurge; readonly keeper: Keeper | undefined }>();
  const held = new Set<TopicSurvey>();
  const search = privateSearch(chat);
  const isHeld = (survey: TopicSurvey) => held.has(survey) && opened.get(survey)?.purge.outcome().tally.deleted === 0;
  const { tell, isOpen } = openTelling(context, place, (survey) => {
    const { purge, keeper } = opened.get(survey) ?? {};
    return purge && { ...purge.outcome(), ...(isHeld(survey) && { status: 'held' }), archive: keeper?.folder() };
  });
  /** What ended a purge says more than an archive that cannot be closed after it. */
  const close = async (survey: TopicSurvey): Promise<void> => {
    if (isOpen(survey)) await tell(survey, 'left');
    const { keeper } = opened.get(survey) ?? {};
    await keeper?.close().catch(() => undefined);
  };
  return {
    isHeld,
    /** The record of this command's runs over several topics. */
    async openRun(named: object, naming: Naming): Promise<PurgeRun> {
      if (!isSeveral(naming)) return openPurgeRun();
      const header = { job: 'topic delete', site: place.site, account: place.account, ...named };
      return openPurgeRun({
        find: async () => ((await context.readJournal(header)) ? context.journal(header) : undefined),
        make: () => context.journal(header),
      });
    },
    earlier: async (topic: Topic): Promise<EarlierPurges> =>
      isKept ? earlierPurges(topic, place) : { isBegun: false, ended: undefined },
    /** How many topics are purged before their messages are looked for in private channels, together. */
    together: async (): Promise<number> => ((await search.channels()).length > 0 ? mostTogether : 1),
    /** Deletes a topic of at most `maxMessages`, or looks at one that is empty. @throws Failure incomplete */
    async run(survey: TopicSurvey, maxMessages: number | undefined): Promise<PurgeOutcome> {
      const total = survey.ids.length;
      const keeper = isKept ? topicKeeper(chat, { ...place, ...keepingFor(context, total) }) : undefined;
      const { left, end } = leftLine(context, survey, isKept ? `archived ${total}, gone` : 'gone');
      const refuseHeld = (ids: readonly number[]): void => {
        const hold = holdOf(holds, survey, ids);
        if (!hold) return;
        held.add(survey);
        throw heldTopic(survey, hold);
      };
      const begins = () => tell(survey, 'purging');
      const purge = openTopicPurge(chat, survey, { ...context, left, keeper, maxMessages, refuseHeld, begun: begins });
      opened.set(survey, { purge, keeper });
      try {
        await purge.run();
        return purge.outcome();
      } catch (cause) {
        await close(survey);
        throw cause;
      } finally {
        end();
      }
    },
    /** Looks in private channels for what the purges of these topics miss. */
    search: (surveys: readonly TopicSurvey[]) =>
      findInPrivate(
        chat,
        search,
        surveys.flatMap((survey) => opened.get(survey)?.purge ?? []),
      ),
    /** Leaves the purge of a topic open after a failure; what that means for it. */
    async leave(survey: TopicSurvey, cause: Failure): Promise<Failure> {
      await close(survey);
      return opened.get(survey)?.purge.inPart(cause) ?? cause;
    },
    /**
     * Ends the purge of a topic; undefined where there was none.
     * @throws Failure incomplete for all but `deleted`, and with `missing_ok` `unseen`
     */
    async end(survey: TopicSurvey, run: PurgeRun, missing_ok: boolean | undefined): Promise<PurgeOutcome | undefined> {
      const { purge, keeper } = opened.get(survey) ?? {};
      if (!purge) return undefined;
      try {
        const [outcome, failure] = [purge.outcome(), await purge.failure()];
        for (const text of warningsOf(survey, outcome)) context.warn(text);
        if (failure && !(outcome.status === 'unseen' && missing_ok)) throw failure;
        if (failure) context.warn(failure.message);
        const status = outcome.status === 'unseen' ? outcome.status : undefined;
        const end = { deleted: outcome.tally.deleted, status };
        await run.end(survey, end, {
          finish: async () => keeper?.finish(outcome.tally),
          close: async () => keeper?.close(),
        });
        await tell(survey, 'purged');
        return outcome;
      } catch (cause) {
        await close(survey);
        throw cause;
      }
    },
    /** What has become of a topic so far; undefined where its purge did not begin. */
    outcomeOf: (survey: TopicSurvey) => opened.get(survey)?.purge.outcome(),
  };
}

type ToldOutcome = Pick<PurgeOutcome, 'tally' | 'arrived'> & Pick<PurgeEvent, 'status' | 'archive'>;

/** Tells the history when a purge begins and when it, or its run, ends. */
function openTelling(
  { record }: Pick<PurgeParts, 'record'>,
  { account: email }: Pick<PurgeArchives, 'account'>,
  outcomeOf: (survey: TopicSurvey) => ToldOutcome | undefined,
) {
  const open = new Set<TopicSurvey>();
  return {
    isOpen: (survey: TopicSurvey) => open.has(survey),
    async tell(survey: TopicSurvey, event: PurgeEvent['event']): Promise<void> {
      const outcome = outcomeOf(survey);
      if (!outcome) return;
      const { tally, arrived, status, archive } = outcome;
      const { channel, topic_name, spellings } = survey;
      const what = { email, stream_id: channel.stream_id, channel: channel.name, topic_name, spellings, archive };
      const counts = { deleted: tally.deleted, unseen: tally.gone + tally.goneOutOfOrder, arrived, status };
      await record({ event, ...what, messages: countOf(tally), ...(event !== 'purging' && counts) });
      open[event === 'purging' ? 'add' : 'delete'](survey);
    },
  };
}

/** What the archive may lack, if there is one, and what is in no count. */
function warningsOf(survey: TopicSurvey, { arrived, deeper, tally, unsearched }: PurgeOutcome): string[] {
  const topic = `topic '${shownName(survey)}'`;
  const hidden = `${topic}: at least ${quantity(tally.deleted, 'message was', 'messages were')} deleted; those that the plan hid are in no count and no archive`;
  const texts = deeper.map(
    ({ first, last, seen }) =>
      `${topic}: a delete call went deeper than the look before it: messages ${first} to ${last} were last looked at ${seen}; ` +
      'what was edited, or moved in between them, since then was deleted without being archived',
  );
  if (survey.isLimited) texts.push(hidden);
  if (unsearched > 0)
    texts.push(
      `${topic}: its messages were not looked for in ${quantity(unsearched, 'private channel')} (too many requests): if they were moved there, they are not deleted`,
    );
  if (arrived === 0) return texts;
  const came = `${topic}: ${quantity(arrived, 'message')} arrived during the deletion`;
  return [...texts, `${came}; others that arrived during a delete call may have been deleted without being archived`];
}

function keepingFor(context: PurgeParts, total: number): Pick<Keeping, 'open' | 'now' | 'note' | 'archived'> {
  const archiving = progressLine(context, 'archived', total);
  return {
    open: (folder) => context.archive(folder),
    now: () => context.now(),
    note(text) {
      archiving.end();
      context.note(text);
    },
    archived: (count) => archiving.upTo(count),
  };
}

/** How many messages are left: a line of progress, or without a person a note for each number. */
function leftLine(context: PurgeParts, survey: TopicSurvey, label: string) {
  const total = survey.ids.length;
  const line = progressLine(context, label, total);
  let last = total;
  const left = (count: number): void => {
    if (context.interactive()) line.upTo(total - count);
    else if (count !== last && count > 0)
      context.note(`topic '${shownName(survey)}': ${count} of ${Math.max(total, count)} messages are left`);
    last = count;
  };
  return { left, end: line.end };
}

/** A line of progress, whose time counts from its first number on. */
function progressLine({ progress }: PurgeParts, label: string, total: number): Pick<Progress, 'upTo' | 'end'> {
  let line: Progress | undefined;
  return {
    upTo(count) {
      line ??= progress(label, total);
      line.upTo(count);
    },
    end: () => line?.end(),
  };
}

export type Budget = ReturnType<typeof budgetOf>;

/**
 * How many messages the topics of one command may take together, those that its earlier runs deleted included.
 * @throws Failure usage where the surveyed ones alone are too many
 */
export function budgetOf(surveys: readonly TopicSurvey[], run: Pick<PurgeRun, 'endOf'>, most: number | undefined) {
  let count = surveys.reduce((sum, survey) => sum + survey.ids.length + (run.endOf(survey)?.deleted ?? 0), 0);
  if (most !== undefined && count > most)
    throw usage(
      `${quantity(count, 'message')} would be deleted, more than --max-messages ${most}: nothing was deleted`,
    );
  return {
    /** Maximum number of messages that the deletion of this topic may take. */
    of: ({ ids }: TopicSurvey) => (most === undefined ? undefined : most - count + ids.length),
    take: ({ ids }: TopicSurvey, { tally }: PurgeOutcome): void => void (count += deletable(tally) - ids.length),
  };
}
