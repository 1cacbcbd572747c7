import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Keeper } from '../../jobs/topic/delete-rounds.ts';
import type { Channel } from '../../jobs/topic/find-channel.ts';
import { topicKeeper, type TopicKeeper } from '../../jobs/topic/keep-topic.ts';
import { openPurgeRun, unrecordedRun, type PurgeRun } from '../../jobs/topic/purge-run.ts';
import { endPurge, purgeTopic, type Purged } from '../../jobs/topic/purge-topic.ts';
import type { Topic, TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import { interruptedPurge, type Keeping } from '../../jobs/topic/topic-archive.ts';
import type { Disk } from '../context/disk.ts';
import type { Invocation } from '../context/invocation.ts';
import type { Progress, Terminal } from '../context/terminal.ts';
import type { Time } from '../context/time.ts';
import { isSeveral, type Naming } from './named-topics.ts';

/** Archives, deletes and checks the topics of one run. */
export interface Purge {
  /** The record of this command's runs over several topics. */
  openRun(channel: Channel, naming: Naming): Promise<PurgeRun>;
  /** The messages of an interrupted purge of that topic, which may be empty now; undefined where there is none. */
  interrupted(topic: Topic): Promise<readonly number[] | undefined>;
  /** `maxMessages` refuses more messages. */
  run(survey: TopicSurvey, maxMessages: number | undefined, run: PurgeRun): Promise<Purged>;
  /** Ends an interrupted purge whose topic is empty. Returns the number of its messages. */
  end(survey: TopicSurvey, ids: readonly number[]): Promise<number>;
}

type PurgeContext = Pick<Invocation, 'options'> &
  Pick<Terminal, 'note' | 'progress'> &
  Pick<Disk, 'archive' | 'files' | 'journal' | 'hasJournal'> &
  Time;

/** `folder` holds the archives; `false` makes none, undefined is a folder of the program's own. */
export function openPurge(
  chat: ChatApi,
  folder: string | false | undefined,
  { site, email }: { readonly site: string; readonly email: string },
  context: PurgeContext,
): Purge {
  const place = {
    root: folder === undefined || folder === false ? join(context.files().state, 'purges') : folder,
    // The port of the embedded sandbox is another one in each run.
    site: context.options.sandbox ? 'http://127.0.0.1' : site,
    account: email,
  };
  const keeperFor = (total: number): TopicKeeper =>
    folder === false ? nothingKept : topicKeeper(chat, { ...place, ...keeping(context, total) });
  return {
    async openRun({ stream_id }, naming) {
      if (!isSeveral(naming)) return unrecordedRun;
      const header = { job: 'topic delete', site: place.site, account: email, stream_id, ...naming };
      return openPurgeRun({
        find: async () => ((await context.hasJournal(header)) ? context.journal(header) : undefined),
        make: () => context.journal(header),
      });
    },
    interrupted: async (topic) => (folder === false ? undefined : interruptedPurge(topic, place)),
    async run(survey, maxMessages, run) {
      const keeper = keeperFor(survey.ids.length);
      const total = survey.ids.length;
      const deleting = counted(context, folder === false ? 'deleted' : `archived ${total}, deleted`, total);
      const { sleep, note } = context;
      try {
        const left = (count: number): void => deleting.upTo(total - count);
        const purged = await purgeTopic(chat, survey, { sleep, note, left, keeper, maxMessages });
        // First the run's record: an archive whose purge is not finished is looked at again after a crash between both.
        await run.end(survey.topic_name, purged.deleted);
        await keeper.finish();
        return purged;
      } finally {
        deleting.end();
        await keeper.close();
      }
    },
    async end(survey, ids) {
      const keeper = keeperFor(ids.length);
      try {
        await keeper.begin(survey);
        const count = await endPurge(chat, survey, ids);
        await keeper.finish();
        return count;
      } finally {
        await keeper.close();
      }
    },
  };
}

/** Of --no-archive. */
const nothingKept: Keeper & TopicKeeper = {
  begin: async () => [],
  lacks: () => false,
  add: async () => undefined,
  finish: async () => undefined,
  close: async () => undefined,
};

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
