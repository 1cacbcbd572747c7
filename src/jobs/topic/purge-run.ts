import { isObject } from '../../core/json.ts';
import { foldName } from '../../schema/topic.ts';
import type { Journal } from '../../store/journal.ts';

/** What the runs of one command over several topics have done so far; it is on disk, so that the same command continues after a crash. */
export interface PurgeRun {
  /** Topics whose purge began in an earlier run, which may be empty now. */
  readonly begun: readonly string[];
  /** The number of messages that an earlier run deleted; undefined where the purge of that topic did not end. */
  deletedOf(topic_name: string): number | undefined;
  begin(topic_name: string): Promise<void>;
  end(topic_name: string, deleted: number): Promise<void>;
  /** Every topic is deleted: the next run of the command begins from nothing. */
  finish(): Promise<void>;
  /** Leaves the record for the next run. */
  close(): Promise<void>;
}

/** The journal of the command's run. */
export interface RunJournal {
  /** The one that an interrupted run left; undefined where there is none, and then nothing is written. */
  find(): Promise<Journal | undefined>;
  make(): Promise<Journal>;
}

interface PurgeStep {
  readonly topic_name: string;
  /** Absent where the purge began. */
  readonly deleted?: number;
}

function isStep(record: unknown): record is PurgeStep {
  return isObject(record) && typeof record['topic_name'] === 'string';
}

/** The run that continues an interrupted one, or a new one, which writes nothing before its first purge begins. */
export async function openPurgeRun({ find, make }: RunJournal): Promise<PurgeRun> {
  let journal = await find();
  const steps = (journal?.records ?? []).filter(isStep);
  const counts = new Map(steps.map(({ topic_name, deleted }) => [foldName(topic_name), deleted]));
  const append = async (step: PurgeStep): Promise<void> => {
    journal ??= await make();
    await journal.append(step);
  };
  return {
    begun: [...new Map(steps.map(({ topic_name }) => [foldName(topic_name), topic_name])).values()],
    deletedOf: (topic_name) => counts.get(foldName(topic_name)),
    begin: (topic_name) => append({ topic_name }),
    end: (topic_name, deleted) => append({ topic_name, deleted }),
    finish: async () => journal?.finish(),
    close: async () => journal?.close(),
  };
}

/** Of a single topic, whose archive is record enough. */
export const unrecordedRun: PurgeRun = {
  begun: [],
  deletedOf: () => undefined,
  begin: async () => undefined,
  end: async () => undefined,
  finish: async () => undefined,
  close: async () => undefined,
};
