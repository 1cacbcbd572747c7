// The lists of an archive: files of JSON lines that only grow (docs/archive-format.md).
import { dirname, join } from 'node:path';
import { constants, stat, type FileHandle } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { hashOf, ifThere, openFile, orFailure, readBytes, syncFolder } from '../disk/files.ts';
import { refuseLinks } from '../disk/private.ts';
import { eachLine, recordLine } from '../disk/records.ts';
import type { ArchiveState, ListSeal } from './archive-head.ts';
import { fileRecordIn, filesFolder } from './kept-file.ts';
import { isMessage, partIn, type ArchivedMessage } from './part.ts';

export const listNames = ['parts.ndjson', 'changes.ndjson', 'files.ndjson', 'purge.ndjson'] as const;
export type ListName = (typeof listNames)[number];
export type Lists = Awaited<ReturnType<typeof readLists>>;

/** The lists of an archive, as far as they can be read. @throws Failure config where a file cannot be read */
export async function readLists(folder: string) {
  await refuseLinks(folder, join(folder, filesFolder));
  return {
    'parts.ndjson': await readList(join(folder, 'parts.ndjson'), partIn, 'a part of an archive'),
    'changes.ndjson': await readList(join(folder, 'changes.ndjson'), changeIn, 'a change of an archived message'),
    'files.ndjson': await readList(join(folder, 'files.ndjson'), fileRecordIn, 'an attached file'),
    'purge.ndjson': await readList(join(folder, 'purge.ndjson'), (record) => record, 'a record of a purge'),
  } as const;
}

/** `changed`: its beginning is another or shorter; `longer`: an interrupted run added to it; else undefined. */
export function differenceOf(
  bytes: Buffer,
  seal: ListSeal = { bytes: 0, sha256: hashOf(Buffer.alloc(0)) },
): 'changed' | 'longer' | undefined {
  if (bytes.length < seal.bytes || hashOf(bytes.subarray(0, seal.bytes)) !== seal.sha256) return 'changed';
  return bytes.length > seal.bytes ? 'longer' : undefined;
}

/** Seals lists up to their last line; a changed one keeps its old seal, which shows the change. @throws Failure */
export async function sealedLists(folder: string, before: ArchiveState['lists']): Promise<ArchiveState['lists']> {
  const lists: Record<string, ListSeal> = {};
  for (const name of listNames) {
    const [content, old] = [await readBytes(join(folder, name)), before[name]];
    const bytes = content?.subarray(0, content.lastIndexOf('\n') + 1);
    const isKept = old !== undefined && differenceOf(bytes ?? Buffer.alloc(0), old) === 'changed';
    if (isKept) lists[name] = old;
    else if (bytes) lists[name] = { bytes: bytes.length, sha256: hashOf(bytes) };
  }
  return lists;
}

/**
 * The lines that `recordOf` takes; a missing file has none. `what`: what a line should be. `damaged` says what is wrong
 * with lines (`line 2 is not valid JSON`); `size`: bytes of the lines that end, a crash cut what follows.
 * @throws Failure config where it cannot be read
 */
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

/** A list that this process adds to; made by its first record. After a failure its end is unknown, and it stays so. */
export class LineFile {
  failure: Failure | undefined;
  readonly #path: string;
  /** Bytes of whole lines. */
  #size: number;
  #file: FileHandle | undefined;

  private constructor(path: string, size: number) {
    [this.#path, this.#size] = [path, size];
  }

  /** Cuts off an unfinished line, and syncs the content that a killed run may have left. @throws Failure config */
  static async open(path: string, { bytes, size }: { readonly bytes: Buffer; readonly size: number }) {
    const list = new LineFile(path, size);
    if (bytes.length > 0) await orFailure(`write ${path}`, list.#open());
    return list;
  }

  /** Resolves when the records are on disk. @throws Failure unavailable where the disk is full */
  async append(...records: readonly unknown[]): Promise<void> {
    if (this.failure) throw this.failure;
    const bytes = Buffer.from(records.map(recordLine).join(''));
    const write = async (): Promise<void> => {
      const file = this.#file ?? (await this.#make());
      await file.appendFile(bytes);
      await file.datasync();
    };
    try {
      await orFailure(`write ${this.#path}`, write());
    } catch (cause) {
      if (cause instanceof Failure) this.failure = cause;
      throw cause;
    }
    this.#size += bytes.length;
  }

  /** Whether the file is still there, and has its length. */
  async isInPlace(): Promise<boolean> {
    return (await sizeAt(this.#path)) === this.#size;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #open(flags = 0): Promise<FileHandle> {
    this.#file = await openFile(this.#path, constants.O_RDWR | constants.O_APPEND | flags);
    await this.#file.truncate(this.#size);
    await this.#file.datasync();
    return this.#file;
  }

  async #make(): Promise<FileHandle> {
    const file = await this.#open(constants.O_CREAT);
    await syncFolder(dirname(this.#path));
    return file;
  }
}

/** The bytes of a file; none where it is missing. @throws Failure config where it cannot be looked at */
export async function sizeAt(path: string): Promise<number> {
  return (await ifThere(`look at ${path}`, stat(path)))?.size ?? 0;
}

/**
 * A message is older than what the plan shows; nothing of its channel is visible; another account saw it; or nobody can
 * tell: it was deleted, or moved out of sight (docs/archive-format.md, Changes).
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

/** `begun`: messages may have been deleted, and the purge did not end. */
type PurgeStage = 'new' | 'begun' | 'ended';

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
 * `broken`: a 500, as when somebody else writes to the messages; `failed`: anything else; `unsent`: it was not sent.
 */
const callEnds = ['asked', 'whole', 'part', 'broken', 'failed', 'unsent'] as const;
export type CallEnd = (typeof callEnds)[number];

export interface PurgeRecord {
  readonly stage: PurgeStage;
  /** The looks and calls that were recorded so far, oldest first. */
  readonly steps: readonly PurgeStep[];
}

/** Reads purge.ndjson (docs/archive-format.md, Record of a purge). @throws Failure config where it is damaged */
export async function readPurge(folder: string): Promise<PurgeRecord> {
  const path = join(folder, 'purge.ndjson');
  const { records, damaged } = await readList(path, (record) => record, 'a record of a deletion');
  if (damaged[0] !== undefined)
    throw new Failure('config', `${path} is damaged: ${damaged[0]}`, {
      hint: 'Put it back from a copy, or pull into another folder.',
    });
  const last = records.at(-1);
  const stage = isObject(last) && 'finished' in last ? 'ended' : 'begun';
  return { stage: last === undefined ? 'new' : stage, steps: records.filter(isStep) };
}

function isStep(record: unknown): record is PurgeStep {
  if (!isObject(record)) return false;
  const { look, from, there, missing, call } = record;
  if (callEnds.some((known) => known === call)) return true;
  const isFrom = from === null || typeof from === 'number';
  const areIds = [there, missing].every((ids) => Array.isArray(ids) && ids.every((id) => typeof id === 'number'));
  return typeof look === 'string' && isFrom && areIds;
}
