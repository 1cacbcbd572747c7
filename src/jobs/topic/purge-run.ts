import { isObject } from '../../core/json.ts';
import { foldName } from '../../schema/topic.ts';
import type { Journal } from '../../store/journal.ts';

/** What the runs of one command over several topics have done so far; it is on disk, so that the same command continues after a crash. */
export type PurgeRun = Awaited<ReturnType<typeof openPurgeRun>>;

interface PurgeEnd {
  /** Number of messages. */
  readonly deleted: number;
  /** Absent where all are deleted: records of older versions have none. */
  readonly status?: 'unseen' | undefined;
}

/** Without an end where the purge began. */
interface RunStep extends Partial<PurgeEnd> {
  readonly topic_name: string;
}

/**
 * The run that continues an interrupted one, or a new one, which writes nothing before its first purge begins. `find` gives the journal
 * that an interrupted run left. Without journals, as for a single topic, whose archive is record enough, nothing is written.
 */
export async function openPurgeRun(journals?: { find(): Promise<Journal | undefined>; make(): Promise<Journal> }) {
  let journal = await journals?.find();
  const steps = (journal?.records ?? []).filter(
    (record): record is RunStep => isObject(record) && typeof record['topic_name'] === 'string',
  );
  const ends = new Map(
    steps.map(({ topic_name, deleted, status }) => [
      foldName(topic_name),
      deleted === undefined ? undefined : { deleted, status },
    ]),
  );
  const append = async (step: RunStep): Promise<void> => {
    journal ??= await journals?.make();
    await journal?.append(step);
  };
  return {
    /** Topics whose purge began in an earlier run, which may be empty now. */
    begun: [...new Map(steps.map(({ topic_name }) => [foldName(topic_name), topic_name])).values()],
    /** How an earlier run ended the purge of that topic; undefined where it did not end. */
    endOf: (topic_name: string): PurgeEnd | undefined => ends.get(foldName(topic_name)),
    begin: (topic_name: string) => append({ topic_name }),
    end: (topic_name: string, end: PurgeEnd) => append({ topic_name, ...end }),
    /** Every topic is deleted: the next run of the command begins from nothing. */
    finish: async () => journal?.finish(),
    /** Leaves the record for the next run. */
    close: async () => journal?.close(),
  };
}
