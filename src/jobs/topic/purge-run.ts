import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { foldTopic } from '../../schema/topic.ts';
import type { RunSteps } from '../../store/run-steps.ts';
import type { Topic } from './find-channel.ts';

/** What the runs of one command over several topics have done; on disk, so that it continues after a crash. */
export type PurgeRun = ReturnType<typeof openPurgeRun>;

interface TopicEnd {
  readonly deleted: number;
  /** Absent where all are deleted. */
  readonly status?: 'unseen' | undefined;
}

interface RunTopic {
  readonly stream_id: number;
  readonly topic_name: string;
}

/** The begin or the end of a topic's purge. */
interface RunStep extends Partial<TopicEnd>, RunTopic {}

/** The archive of a single topic is record enough: it has no file. */
export function openPurgeRun(file: RunSteps | undefined) {
  const steps = (file?.steps ?? []).filter(
    (record): record is RunStep => isObject(record) && typeof record['topic_name'] === 'string',
  );
  const ends = new Map(
    steps.map(({ deleted, status, ...topic }) => [
      keyOf(topic),
      deleted === undefined ? undefined : { deleted, status },
    ]),
  );
  let isDone = false;
  /** Ends the record of the single topic. */
  let single: (() => Promise<void>) | undefined;
  return {
    /** Topics whose purge began in an earlier run, which may be empty now. */
    begun: [...new Map(steps.map((step) => [keyOf(step), step.topic_name])).values()],
    hasBegun: (topic: Topic) => ends.has(keyOf(recordOf(topic))),
    /** How an earlier run ended the purge of that topic; undefined where it did not end. */
    endOf: (topic: Topic): TopicEnd | undefined => ends.get(keyOf(recordOf(topic))),
    begin: async (topic: Topic) => file?.append(recordOf(topic)),
    /** Its record is finished when something else remembers its row: the run's file, or the reader. */
    async end(topic: Topic, end: TopicEnd, finish: () => Promise<void>): Promise<void> {
      if (!file) single = finish;
      else
        await afterLastCall(async () => {
          await file.append({ ...recordOf(topic), ...end });
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
        await file?.finish();
      });
    },
    /** Leaves what is not finished for the next run. */
    close: () => afterLastCall(async () => file?.close()),
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
      hint: 'Run the same command again: it ends the deletion.',
      retryable: true,
    });
  }
}
