import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { foldTopic } from '../../schema/topic.ts';
import type { Journal, JournalContent, JournalHeader } from '../../store/journal.ts';
import type { Topic } from './find-channel.ts';

/** What the runs of one command over several topics have done; on disk, so that it continues after a crash. */
export type PurgeRun = Awaited<ReturnType<typeof openPurgeRun>>;

interface TopicEnd {
  readonly deleted: number;
  /** Absent where all are deleted: records of older versions have none. */
  readonly status?: 'unseen' | undefined;
}

interface RunTopic {
  readonly stream_id: number;
  readonly topic_name: string;
}

/** Without an end where the purge began. */
interface RunStep extends Partial<TopicEnd>, RunTopic {}

interface Journals {
  journal(header: JournalHeader): Promise<Journal>;
  readJournal(header: JournalHeader): Promise<JournalContent | undefined>;
}

/**
 * The run that continues an interrupted one, or a new one, which writes nothing before its first purge. Without a
 * header, as for one topic, whose archive is record enough, nothing is written.
 */
export async function openPurgeRun(header: JournalHeader | undefined, { readJournal, journal: open }: Journals) {
  let journal = header && (await readJournal(header)) && (await open(header));
  const steps = (journal?.records ?? []).filter(
    (record): record is RunStep => isObject(record) && typeof record['topic_name'] === 'string',
  );
  const ends = new Map(
    steps.map(({ deleted, status, ...topic }) => [
      keyOf(topic),
      deleted === undefined ? undefined : { deleted, status },
    ]),
  );
  const append = async (step: RunStep): Promise<void> => {
    if (header) await (journal ??= await open(header)).append(step);
  };
  let isDone = false;
  /** Of the one topic of a run without a journal. */
  let single: (() => Promise<void>) | undefined;
  return {
    /** Topics whose purge began in an earlier run, which may be empty now. */
    begun: [...new Map(steps.map((step) => [keyOf(step), step.topic_name])).values()],
    hasBegun: (topic: Topic) => ends.has(keyOf(recordOf(topic))),
    /** How an earlier run ended the purge of that topic; undefined where it did not end. */
    endOf: (topic: Topic): TopicEnd | undefined => ends.get(keyOf(recordOf(topic))),
    begin: (topic: Topic) => append(recordOf(topic)),
    /** Its record is finished when something else remembers its row: the journal, or the reader. */
    async end(topic: Topic, end: TopicEnd, finish: () => Promise<void>): Promise<void> {
      if (!header) single = finish;
      else
        await afterLastCall(async () => {
          await append({ ...recordOf(topic), ...end });
          await finish();
        });
    },
    /** No topic is left to be deleted. */
    done: () => void (isDone = true),
    /** The rows are written: where the run is done, the next run of the command begins from nothing. */
    async finish(): Promise<void> {
      if (!isDone) return;
      await afterLastCall(async () => {
        await single?.();
        await journal?.finish();
      });
    },
    /** Leaves what is not finished for the next run. */
    close: () => afterLastCall(async () => journal?.close()),
  };
}

function recordOf({ channel, topic_name }: Topic): RunTopic {
  return { stream_id: channel.stream_id, topic_name };
}

export function keyOf({ stream_id, topic_name }: RunTopic): string {
  return `${stream_id} ${foldTopic(topic_name)}`;
}

/** A disk that fails when all is deleted undoes nothing of it. @throws Failure incomplete */
async function afterLastCall(record: () => Promise<void>): Promise<void> {
  try {
    await record();
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw cause.as('incomplete', `what is shown as deleted is deleted, but its record did not end: ${cause.message}`, {
      hint: 'Run the same command again: it ends the purge.',
      retryable: true,
    });
  }
}
