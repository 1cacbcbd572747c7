import { dirname, join } from 'node:path';
import { constants, stat, type FileHandle } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { ifThere, openFile, orFailure, readBytes, syncFolder } from '../disk/files.ts';
import { eachLine, recordLine } from '../disk/records.ts';
import { isMessage, type ArchivedMessage } from './part.ts';

export type LineFile = ReturnType<typeof appending>;

export interface LineList<T> {
  readonly records: readonly T[];
  /** What is wrong with its lines (`line 2 is not valid JSON`); a last line that a crash cut is not. */
  readonly damaged: readonly string[];
  readonly bytes: Buffer;
  /** Bytes of the lines that end; a crash cut what follows. */
  readonly size: number;
}

/** The lines that `recordOf` takes; a missing file has none. `what`: what a line should be. @throws Failure config */
export async function readList<T>(path: string, recordOf: (record: unknown) => T | undefined, what: string) {
  const bytes = (await readBytes(path)) ?? Buffer.alloc(0);
  const records: T[] = [];
  const damaged: string[] = [];
  let size = 0;
  for (const { json, line, ...read } of eachLine(bytes)) {
    const record = json && recordOf(json.value);
    if (record !== undefined) records.push(record);
    else damaged.push(`line ${line} is ${json ? `not ${what}` : 'not valid JSON'}`);
    ({ size } = read);
  }
  return { records, damaged, bytes, size };
}

/**
 * So many bytes of whole lines, the rest is cut off; made by its first record. `failed`: its content is unknown;
 * `confirm`: before each record.
 */
export function appending(path: string, size: number, failed: () => void, confirm = () => Promise.resolve()) {
  let file: FileHandle | undefined;
  let end = size;
  const opened = async (): Promise<FileHandle> => {
    if (file) return file;
    file = await openFile(path, constants.O_RDWR | (size > 0 ? 0 : constants.O_CREAT));
    await file.truncate(end);
    await syncFolder(dirname(path));
    return file;
  };
  return {
    /** Resolves when the records are on disk. @throws Failure unavailable where the disk is full */
    async append(...added: readonly unknown[]): Promise<void> {
      await confirm();
      const bytes = Buffer.from(added.map(recordLine).join(''));
      const write = async (): Promise<void> => {
        const target = await opened();
        // At `end`, not at the end of the file: this overwrites what a failed append left behind.
        for (let done = 0; done < bytes.length;)
          done += (await target.write(bytes, done, bytes.length - done, end + done)).bytesWritten;
        await target.datasync();
      };
      try {
        await orFailure(`write ${path}`, write());
      } catch (cause) {
        failed();
        throw cause;
      }
      end += bytes.length;
    },
    isInPlace: async () => (await sizeAt(path)) === end,
    close: async () => file?.close(),
  };
}

/** The bytes of a file; none where it is missing. @throws Failure config where it cannot be looked at */
export async function sizeAt(path: string): Promise<number> {
  return (await ifThere(`look at ${path}`, stat(path)))?.size ?? 0;
}

/** `begun`: messages may have been deleted, and the purge did not end. */
type PurgeStage = 'new' | 'begun' | PurgeEnd;

export interface PurgeEnd {
  readonly finished: string;
  readonly deleted: number;
  readonly unseen: number;
}

/** What a look at the topic showed, or what is known of a delete call. */
export type PurgeStep = LookStep | { readonly call: CallEnd };

/** What a look, right before a delete call or at the end, showed otherwise than the looks before it. */
export interface LookStep {
  readonly look: string;
  /** The lowest id that it reached; null where it read the whole topic. */
  readonly from: number | null;
  /** Messages that came into the topic since. */
  readonly there: readonly number[];
  /** Messages that are no longer in it. */
  readonly missing: readonly number[];
}

/**
 * `asked`: sent, without an answer yet; `whole`: a success without messages left; `part`: one that names some;
 * `broken`: a 500, as when somebody else writes to the messages; `failed`: anything else.
 */
const callEnds = ['asked', 'whole', 'part', 'broken', 'failed'] as const;
export type CallEnd = (typeof callEnds)[number];

export type PurgeRecord = Awaited<ReturnType<typeof openPurge>>;

/** purge.ndjson (docs/archive-format.md, Record of a purge): after a record messages may be deleted. @throws Failure */
export async function openPurge(folder: string, failed: () => void = () => undefined) {
  const path = join(folder, 'purge.ndjson');
  const { records, damaged, size } = await readList(path, (record) => record, 'a record of a deletion');
  if (damaged[0] !== undefined)
    throw new Failure('config', `${path} is damaged: ${damaged[0]}`, {
      hint: 'Put it back from a copy, or pull into another folder.',
    });
  /** The looks and calls that were recorded so far, oldest first. */
  const steps: readonly PurgeStep[] = records.filter(isStep);
  /** What was said at its begin. */
  const begun = records.find(isObject);
  return { ...appending(path, size, failed), stage: stageOf(records), steps, begun };
}

function stageOf(records: readonly unknown[]): PurgeStage {
  const last = records.at(-1);
  if (!isObject(last) || !('finished' in last)) return last === undefined ? 'new' : 'begun';
  const { finished, deleted, unseen = 0 } = last;
  return { finished: String(finished), deleted: Number(deleted), unseen: Number(unseen) };
}

function isStep(record: unknown): record is PurgeStep {
  if (!isObject(record)) return false;
  const { look, from, there, missing, call } = record;
  if (callEnds.some((known) => known === call)) return true;
  const isFrom = from === null || typeof from === 'number';
  const areIds = [there, missing].every((ids) => Array.isArray(ids) && ids.every((id) => typeof id === 'number'));
  return typeof look === 'string' && isFrom && areIds;
}

/**
 * A message is older than what the plan shows; nothing of its channel is visible; or nobody can tell: it was deleted,
 * or moved out of sight (docs/archive-format.md, Changes).
 */
const reasonsGone = ['limit', 'no-access', 'account', 'unknown'] as const;
export type ReasonGone = (typeof reasonsGone)[number];

/** What a later look at the server showed of an archived message (docs/archive-format.md, Changes). */
export type ArchiveChange = {
  readonly id: number;
  readonly seen: string;
} & (
  | { readonly change: 'gone'; readonly why: ReasonGone; readonly message?: undefined }
  /** The message as the server showed it then; `back`: as it was, after it had been gone. */
  | { readonly change: 'edited' | 'moved' | 'back'; readonly message: ArchivedMessage }
);

/** The change that a line of changes.ndjson describes; undefined for a line of another shape. */
export function changeIn(record: unknown): ArchiveChange | undefined {
  if (!isObject(record)) return undefined;
  const { id, change, seen, why, message } = record;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof seen !== 'string') return undefined;
  if (change === 'gone') return { id, change, seen, why: reasonsGone.find((known) => known === why) ?? 'unknown' };
  if (!isMessage(message)) return undefined;
  return change === 'edited' || change === 'moved' || change === 'back' ? { id, change, seen, message } : undefined;
}
