import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { batched } from '../core/batch.ts';
import { nextTurn, truncate, unlink, type FileHandle } from '../core/outside.ts';
import { Failure } from '../core/failure.ts';
import { parseJson, writeJson } from '../core/json.ts';
import { readBytes, replace, storageFailure, writePrivate } from './disk/files.ts';
import { makePrivateFolder } from './disk/private-folder.ts';
import { acquireLock, type Surroundings } from './lock/lock.ts';
import { appendLines, isCutBefore, openToAppend, readRecords, recordLine, type Damaged } from './disk/records.ts';

/** What a journal is about: another schema, job or input has another journal. */
export type JournalHeader = Readonly<Record<string, unknown>>;

/** The record of a job's steps, on disk before and after each request (docs/exactly-once.md, Journal). */
export interface Journal {
  readonly path: string;
  /** Whether the file was cut or emptied since it was begun, so that records of requests may be missing. */
  readonly isDamaged: boolean;
  readonly records: readonly unknown[];
  /**
   * Resolves when the record is on disk. Records that are appended together share one write and one sync.
   * @throws Failure unavailable when the disk is full; else config; from then on every append throws it
   */
  append(record: unknown): Promise<void>;
  /** Leaves the journal for the next run. */
  close(): Promise<void>;
  /** The job is done: a journal with records is kept as `….done`, and the next run begins a new one. */
  finish(): Promise<void>;
}

export interface JournalOptions {
  readonly signal?: AbortSignal | undefined;
  /** The one function that writes; a test makes it throw. */
  readonly write?: typeof appendLines;
}

/**
 * Opens the journal for this process alone. A file is only changed once it is known to be this job's journal, since
 * `--journal` may name the wrong one. @throws Failure unavailable where another process holds it, config
 */
export async function openJournal(
  path: string,
  header: JournalHeader,
  host: Surroundings,
  { signal, write = appendLines }: JournalOptions = {},
): Promise<Journal> {
  let release: (() => Promise<void>) | undefined;
  let file: FileHandle | undefined;
  try {
    await makePrivateFolder(dirname(path), host.system);
    release = await acquireLock(`${path}.lock`, host, { wait: 0, signal, what: `the journal ${path}` });
    const { size, ...content } = contentIn(path, await readBytes(path), header);
    if (size === 0) await writePrivate(path, recordLine({ journal: 1, ...header }));
    else if (content.isDamaged) await truncate(path, size);
    file = await openToAppend(path);
    return journalOn(file, content, release, write);
  } catch (cause) {
    await file?.close();
    await release?.();
    throw unwritable(path, cause);
  }
}

export type JournalContent = Pick<Journal, 'path' | 'records' | 'isDamaged'>;

/** Reads the journal without holding or mending it; undefined where no run left one. @throws Failure config */
export async function readJournal(path: string, header: JournalHeader): Promise<JournalContent | undefined> {
  const bytes = await readBytes(path);
  return bytes && contentIn(path, bytes, header);
}

interface SizedContent extends JournalContent {
  /** Up to the end of the last whole line; 0 where the header is not whole. */
  readonly size: number;
}

function contentIn(path: string, bytes: Buffer | undefined, header: JournalHeader): SizedContent {
  if (!bytes) return { path, records: [], isDamaged: false, size: 0 };
  if (isCutBefore(bytes, beginning)) return { path, records: [], isDamaged: true, size: 0 };
  const { records: found, size } = readRecords(bytes, damaged(path));
  const [first, ...records] = found;
  if (!isDeepStrictEqual(first, parseJson(writeJson({ journal: 1, ...header }))))
    throw new Failure('config', `${path} is not the journal of this job and input`, {
      hint: 'Name another file with --journal, or move this one away if its job is not to be resumed.',
    });
  return { path, records, isDamaged: size < bytes.length, size };
}

const beginning = '{"journal":1';

function damaged(path: string): Damaged {
  return (problem) =>
    new Failure('config', `the journal ${path} is damaged: ${problem}`, {
      hint: 'Move it away; the next run plans afresh.',
    });
}

function journalOn(
  file: FileHandle,
  { path, records, isDamaged }: JournalContent,
  release: () => Promise<void>,
  write: typeof appendLines,
): Journal {
  let [written, last] = [Promise.resolve(), Promise.resolve()];
  const writeAll = async (lines: readonly string[]): Promise<void> => {
    try {
      if (!(await write(file, lines.join(''))))
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
  let isEmpty = records.length === 0;
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
    isDamaged,
    append(record) {
      isEmpty = false;
      return (last = appendLine(recordLine(record)));
    },
    close,
    async finish() {
      try {
        await flush();
        // The records of an earlier run stay where this one had nothing to do.
        await (isEmpty ? unlink(path) : replace(path, `${path}.done`));
      } catch (cause) {
        throw storageFailure(`cannot put the journal away as ${path}.done`, cause);
      } finally {
        await close();
      }
    },
  };
}

function unwritable(path: string, cause: unknown): Failure {
  const failure = storageFailure(`cannot write the journal ${path}`, cause);
  if (failure.kind !== 'config' || failure.details.hint !== undefined) return failure;
  return new Failure('config', failure.message, {
    hint: 'Set XDG_STATE_HOME to a folder that can be written.',
    cause,
  });
}
