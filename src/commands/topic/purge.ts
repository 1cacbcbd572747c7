import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import { usage } from '../../core/failure.ts';
import { topicKeeper, type Keeper } from '../../jobs/topic/keep-topic.ts';
import { openPurgeRun, type PurgeRun } from '../../jobs/topic/purge-run.ts';
import { openTopicPurge, type PurgeOutcome, type TopicPurge } from '../../jobs/topic/purge-topic.ts';
import { deletable } from '../../jobs/topic/standings.ts';
import type { Topic, TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import { earlierPurges, type EarlierPurges, type Keeping } from '../../jobs/topic/topic-archives.ts';
import { flagField, type Fields, type Values } from '../../schema/field.ts';
import type { Disk, Invocation, Progress, Terminal, Time } from '../context.ts';
import { fileSizeOption, lastingSite, maxFileBytes } from '../archive/folder.ts';
import { isSeveral, type Naming } from './named-topics.ts';

export type Purge = ReturnType<typeof openPurge>;

type PurgeLimits = Readonly<Record<'maxMessages', number | undefined> & Record<'missing_ok', boolean | undefined>>;

type PurgeContext = Pick<Invocation, 'options' | 'signal'> &
  Pick<Terminal, 'interactive' | 'note' | 'warn' | 'progress'> &
  Pick<Disk, 'archive' | 'files' | 'journal' | 'readJournal'> &
  Time;

export const keepingOptions = {
  archive: {
    kind: 'string',
    nonempty: true,
    negatable: true,
    placeholder: 'DIR',
    help: 'Folder for the archives, one in it for each topic (default: purges in the state folder); --no-archive makes none',
  },
  files: flagField('Archive attached files too; one that cannot be kept ends the run before anything is deleted'),
  ...fileSizeOption,
} as const satisfies Fields;

/** Archives, deletes and checks the topics of one run. @throws Failure usage for --files without an archive */
export function openPurge(
  chat: ChatApi,
  { archive: folder, files, max_file_size }: Values<typeof keepingOptions>,
  { site, email }: { readonly site: string; readonly email: string },
  context: PurgeContext,
) {
  if (files && folder === false) throw usage('--files and --no-archive exclude each other: nothing was deleted');
  const place = {
    root: folder === undefined || folder === false ? join(context.files().state, 'purges') : folder,
    site: lastingSite(context.options, site),
    account: email,
    maxFileSize: files ? maxFileBytes(max_file_size) : undefined,
  };
  const keeperFor = (total: number): Keeper | undefined =>
    folder === false ? undefined : topicKeeper(chat, { ...place, ...keeping(context, total) });
  const opened = new Map<TopicSurvey, TopicPurge>();
  return {
    /** The record of this command's runs over several topics. */
    async openRun(named: object, naming: Naming): Promise<PurgeRun> {
      if (!isSeveral(naming)) return openPurgeRun();
      const header = { job: 'topic delete', site: place.site, account: email, ...named };
      return openPurgeRun({
        find: async () => ((await context.readJournal(header)) ? context.journal(header) : undefined),
        make: () => context.journal(header),
      });
    },
    earlier: async (topic: Topic): Promise<EarlierPurges> =>
      folder === false ? { isBegun: false, ended: undefined } : earlierPurges(topic, place),
    /**
     * Deletes a topic of at most `maxMessages`, or ends the interrupted purge of one that is empty.
     * @throws Failure incomplete for all but `deleted`, and with `missing_ok` `unseen`
     */
    async run(survey: TopicSurvey, run: PurgeRun, { maxMessages, missing_ok }: PurgeLimits): Promise<PurgeOutcome> {
      const total = survey.ids.length;
      const keeper = keeperFor(total);
      const deleting = counted(context, folder === false ? 'gone' : `archived ${total}, gone`, total);
      let last = total;
      const left = (count: number): void => {
        if (context.interactive()) deleting.upTo(total - count);
        else if (count !== last && count > 0)
          context.note(`topic '${survey.topic_name}': ${count} of ${total} messages are left`);
        last = count;
      };
      const purge = openTopicPurge(chat, survey, { ...context, left, keeper, maxMessages });
      opened.set(survey, purge);
      try {
        await purge.run();
        deleting.end();
        const [outcome, failure] = [purge.outcome(), purge.failure()];
        for (const text of unarchived(survey, outcome)) context.warn(text);
        if (failure && !(outcome.status === 'unseen' && missing_ok)) throw failure;
        if (failure) context.warn(failure.message);
        const status = outcome.status === 'unseen' ? outcome.status : undefined;
        const end = { deleted: outcome.tally.deleted, status };
        await run.end(survey, end, {
          finish: async () => keeper?.finish(outcome.tally),
          close: async () => keeper?.close(),
        });
        return outcome;
      } catch (cause) {
        deleting.end();
        // What ended the purge says more than an archive that cannot be closed after it.
        await keeper?.close().catch(() => undefined);
        throw cause;
      }
    },
    /** What has become of a topic so far; undefined where its purge did not begin. */
    outcomeOf: (survey: TopicSurvey) => opened.get(survey)?.outcome(),
  };
}

/** What the archive may lack, if there is one, and what is in no count. */
function unarchived({ topic_name, isLimited }: TopicSurvey, { arrived, deeper, tally }: PurgeOutcome): string[] {
  const hidden = `topic '${topic_name}': at least ${tally.deleted} messages were deleted; those that the plan hid are in no count and no archive`;
  const texts = deeper.map(
    ({ first, last, seen }) =>
      `topic '${topic_name}': a delete call went deeper than the look before it: messages ${first} to ${last} were last looked at ${seen}; ` +
      'what was edited, or moved in between them, since then was deleted without being archived',
  );
  if (isLimited) texts.push(hidden);
  if (arrived === 0) return texts;
  const came = `topic '${topic_name}': ${arrived} ${arrived === 1 ? 'message' : 'messages'} arrived during the deletion`;
  return [...texts, `${came}; others that arrived during a delete call may have been deleted without being archived`];
}

function keeping(context: PurgeContext, total: number): Pick<Keeping, 'open' | 'now' | 'note' | 'archived'> {
  const archiving = counted(context, 'archived', total);
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

/** A line of progress, whose time counts from its first number on. */
function counted({ progress }: PurgeContext, label: string, total: number): Pick<Progress, 'upTo' | 'end'> {
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
    throw usage(`${count} messages would be deleted, more than --max-messages ${most}: nothing was deleted`);
  return {
    /** Maximum number of messages that the deletion of this topic may take. */
    of: ({ ids }: TopicSurvey) => (most === undefined ? undefined : most - count + ids.length),
    take: ({ ids }: TopicSurvey, { tally }: PurgeOutcome): void => void (count += deletable(tally) - ids.length),
  };
}
