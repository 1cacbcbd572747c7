import { constants } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../core/failure.ts';
import { parseJson, writeJson } from '../core/json.ts';
import { storageFailure, syncFolder } from './disk/files.ts';
import { makeFolder as makeFolderAt } from './disk/private-folder.ts';
import { acquireLock, type Surroundings } from './lock/lock.ts';
import { isCutBefore, readRecords, recordLine } from './roster/ndjson.ts';

/** What a journal is about: another schema, job or input has another journal. */
export type JournalHeader = Readonly<Record<string, unknown>>;

/** The record of a job's steps, on disk before and after each request (contract, section 1.3). */
export interface Journal {
  /** What earlier runs appended, in order; empty for a new journal. */
  readonly records: readonly unknown[];
  /**
   * Resolves when the record is on disk. Records that are appended together share one write and one sync.
   * @throws Failure unavailable when the disk is full; config when it cannot be written; from then on every append throws it
   */
  append(record: unknown): Promise<void>;
  /** Leaves the journal for the next run. */
  close(): Promise<void>;
  /** The job is done: the journal is kept as `….done`, and the next run begins a new one. */
  finish(): Promise<void>;
}

export interface JournalOptions {
  readonly signal?: AbortSignal | undefined;
  /** The one function that writes; a test makes it throw. */
  readonly write?: WriteLines;
}

export type WriteLines = (file: FileHandle, lines: string) => Promise<void>;

/**
 * Opens the journal for this process alone until it is closed or finished.
 * @throws Failure unavailable when another process holds it; config when it cannot be written, or is about something else
 */
export async function openJournal(
  path: string,
  header: JournalHeader,
  world: Surroundings,
  options: JournalOptions = {},
): Promise<Journal> {
  await makeFolder(path);
  const release = await lockJournal(path, world, options.signal);
  let file: FileHandle | undefined;
  try {
    file = await openFile(path);
    const records = await recordsOf(path, file, header);
    return journalOn(path, file, records, release, options.write ?? writeLines);
  } catch (cause) {
    await file?.close();
    await release();
    throw unwritable(path, cause);
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await makeFolderAt(dirname(path));
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

async function lockJournal(
  path: string,
  world: Surroundings,
  signal: AbortSignal | undefined,
): Promise<() => Promise<void>> {
  try {
    return await acquireLock(`${path}.lock`, world, { wait: 0, signal, what: `the journal ${path}` });
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** Opened without creating first, so that a new file's entry in its folder is synced once. */
async function openFile(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
  const file = await open(path, flags, 0o600);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Failure('config', `the journal ${path} is not a regular file`, {
    hint: 'Name another file with --journal.',
  });
}

/** A file is only changed once it is known to be this job's journal: `--journal` may name the wrong file. */
async function recordsOf(path: string, file: FileHandle, header: JournalHeader): Promise<unknown[]> {
  const bytes = await file.readFile();
  const isNew = isCutBefore(bytes, '{"journal":1');
  const { records: found, size } = isNew ? { records: [], size: 0 } : recordsIn(path, bytes);
  const [first, ...records] = found;
  const whole = { journal: 1, ...header };
  if (!isNew && !isDeepStrictEqual(first, parseJson(writeJson(whole)))) throw anotherJournal(path);
  if (size < bytes.length) await file.truncate(size);
  if (!isNew) return records;
  await writeLines(file, recordLine(whole));
  await file.datasync();
  await syncFolder(dirname(path));
  return [];
}

function anotherJournal(path: string): Failure {
  return new Failure('config', `${path} is not the journal of this job and input`, {
    hint: 'Name another file with --journal, or move this one away if its job is not to be resumed.',
  });
}

function recordsIn(path: string, bytes: Buffer): ReturnType<typeof readRecords> {
  try {
    return readRecords(bytes);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new Failure('config', `the journal ${path} is damaged: ${cause.message}`, {
      hint: 'Move it away; the next run plans afresh.',
      cause,
    });
  }
}

async function writeLines(file: FileHandle, lines: string): Promise<void> {
  await file.appendFile(lines);
}

function journalOn(
  path: string,
  file: FileHandle,
  records: readonly unknown[],
  release: () => Promise<void>,
  write: WriteLines,
): Journal {
  const { append, settled } = groupedAppend(path, file, write);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await settled();
    await file.close();
    await release();
  };
  return {
    records,
    append,
    close,
    async finish() {
      try {
        await settled();
        await rename(path, `${path}.done`);
        await syncFolder(dirname(path));
      } catch (cause) {
        throw unwritable(path, cause);
      } finally {
        await close();
      }
    },
  };
}

interface GroupedAppend {
  readonly append: (record: unknown) => Promise<void>;
  /** Resolves when nothing is being written; a failure was told to those who appended. */
  readonly settled: () => Promise<void>;
}

/** While one group is synced, the next gathers; after a failure nothing more is written, since a cut line may stand at the end. */
function groupedAppend(path: string, file: FileHandle, write: WriteLines): GroupedAppend {
  let gathering: { lines: string; readonly written: Promise<void> } | undefined;
  let last: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    const lines = gathering?.lines ?? '';
    gathering = undefined;
    try {
      await write(file, lines);
      await file.datasync();
    } catch (cause) {
      throw unwritable(path, cause);
    }
  };
  const append = (record: unknown): Promise<void> => {
    const line = recordLine(record);
    if (gathering) gathering.lines += line;
    else gathering = { lines: line, written: (last = last.then(flush)) };
    return gathering.written;
  };
  return { append, settled: () => last.catch(() => undefined) };
}

function unwritable(path: string, cause: unknown): Failure {
  const failure = storageFailure(`cannot write the journal ${path}`, cause);
  if (failure.kind !== 'config' || failure.details.hint !== undefined) return failure;
  return new Failure('config', failure.message, { hint: 'Name a file that can be written with --journal.', cause });
}
