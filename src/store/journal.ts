import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { batched } from '../core/batch.ts';
import type { Milliseconds } from '../core/duration.ts';
import { nextTurn, unlink, type FileHandle } from '../core/outside.ts';
import { Failure } from '../core/failure.ts';
import { isObject, parseJson, writeJson } from '../core/json.ts';
import { readBytes, replace, storageFailure, writePrivate } from './disk/files.ts';
import { makePrivateFolder, writableState } from './disk/private.ts';
import { acquireLock, type Surroundings } from './lock/lock.ts';
import { appendLines, isCutBefore, openToAppend, readRecords, summedLine, type Damaged } from './disk/records.ts';

/** What a journal is about: another schema, job or input has another journal. */
export type JournalHeader = Readonly<Record<string, unknown>>;

export interface JournalContent {
  readonly path: string;
  /** The job's own, and two: `begun` is its begin, `lost` the moment when the file was found without its end. */
  readonly records: readonly unknown[];
}

/** A file that says that a job has begun, and keeps its records for the run that resumes it; held by one process. */
export interface Journal extends JournalContent {
  /** Resolves when the record is on disk. @throws Failure unavailable where the disk is full, config; then always */
  append(record: object): Promise<void>;
  /** Leaves the journal for the next run. */
  close(): Promise<void>;
  /** The job is done: a journal with records of its own is kept as `….done`, and the next run begins a new one. */
  finish(): Promise<void>;
}

/** When the job was begun, by its first record with a time; undefined: none was. */
export function begunIn({ records }: Pick<JournalContent, 'records'>): Milliseconds | undefined {
  const times = records.filter(isObject).map(({ begun, lost, time }) => begun ?? lost ?? time);
  return times.find((time) => typeof time === 'number');
}

/**
 * Opens the journal for this process alone. A file is only changed once it is known to be this job's journal, since
 * `--journal` may name the wrong one. @throws Failure unavailable where another process holds it, config
 */
export async function openJournal(path: string, header: JournalHeader, host: Surroundings, signal?: AbortSignal) {
  let release: (() => Promise<void>) | undefined;
  let file: FileHandle | undefined;
  try {
    await makePrivateFolder(dirname(path), host.system);
    release = await acquireLock(`${path}.lock`, host, { wait: 0, signal, what: `the journal ${path}` });
    const bytes = await readBytes(path);
    const { size, isDamaged, records } = contentIn(path, bytes, header);
    // Written once: the lost lines may be about any row, up to now.
    const lost = isDamaged ? [{ lost: host.clock.now() }] : [];
    const whole = bytes && size > 0 ? bytes.subarray(0, size) : summedLine({ journal: 1, ...header });
    if (size === 0 || isDamaged) await writePrivate(path, whole, ...lost.map(summedLine));
    file = await openToAppend(path);
    return journalOn(file, { path, records: [...records, ...lost] }, release);
  } catch (cause) {
    await file?.close();
    await release?.();
    throw unwritable(path, cause);
  }
}

/** Reads the journal without holding or mending it; undefined where no run left one. @throws Failure config */
export async function readJournal(path: string, header: JournalHeader): Promise<JournalContent | undefined> {
  const bytes = await readBytes(path);
  return bytes && contentIn(path, bytes, header);
}

/** `size`: up to the end of the last whole line; 0 where the header is not whole. */
function contentIn(path: string, bytes: Buffer | undefined, header: JournalHeader) {
  if (!bytes) return { path, records: [], isDamaged: false, size: 0 };
  if (isCutBefore(bytes, '{"journal":1')) return { path, records: [], isDamaged: true, size: 0 };
  const damaged: Damaged = (problem) =>
    new Failure('config', `the journal ${path} is damaged: ${problem}`, {
      hint: 'Move it away; the next run plans afresh.',
    });
  const { records: found, size } = readRecords(bytes, damaged);
  const [first, ...records] = found;
  if (!isDeepStrictEqual(first, parseJson(writeJson({ journal: 1, ...header }))))
    throw new Failure('config', `${path} is not the journal of this job and input`, {
      hint: 'Name another file with --journal, or move this one away if its job is not to be resumed.',
    });
  return { path, records, isDamaged: size < bytes.length, size };
}

function journalOn(file: FileHandle, { path, records }: JournalContent, release: () => Promise<void>): Journal {
  let [written, last] = [Promise.resolve(), Promise.resolve()];
  const writeAll = async (lines: readonly string[]): Promise<void> => {
    try {
      if (!(await appendLines(file, lines.join(''))))
        throw new Failure('config', `the end of the journal ${path} is cut`, { hint: 'Run the same command again.' });
    } catch (cause) {
      throw unwritable(path, cause);
    }
  };
  // After a failure nothing more is written, since the file may end in a cut line.
  const appendLine = batched<string>((lines) => (written = written.then(() => writeAll(lines))), nextTurn);
  /** Resolves when nothing is being written; a failure was reported to those who appended. */
  const flush = (): Promise<void> => last.catch(() => undefined);
  let isOpen = true;
  let isKept = records.some(isOwn);
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await flush();
    await file.close();
    await release();
  };
  return {
    path,
    records,
    append(record) {
      isKept ||= isOwn(record);
      return (last = appendLine(summedLine(record)));
    },
    close,
    async finish() {
      try {
        await flush();
        await (isKept ? replace(path, `${path}.done`) : unlink(path));
      } catch (cause) {
        throw storageFailure(`cannot put the journal away as ${path}.done`, cause);
      } finally {
        await close();
      }
    },
  };
}

function isOwn(record: unknown): boolean {
  return !isObject(record) || !('begun' in record || 'lost' in record);
}

function unwritable(path: string, cause: unknown): Failure {
  return storageFailure(`cannot write the journal ${path}`, cause, writableState);
}
