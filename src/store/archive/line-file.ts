import { open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { isMissing, storageFailure, syncFolder } from '../disk/files.ts';
import { readRecords, recordLine, type Records } from '../roster/ndjson.ts';

/** A file of JSON lines that only grows. */
export interface LineFile {
  /** The records that it held when it was opened. */
  readonly records: readonly unknown[];
  /** Resolves when the records are on disk. @throws Failure unavailable where the disk is full */
  append(...records: readonly unknown[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * The whole records of a file; a last line that a crash cut is left out, and a missing file has none.
 * @throws Failure config where another line is broken
 */
export async function readLineFile(path: string): Promise<Records> {
  try {
    return readRecords(await readFile(path));
  } catch (cause) {
    if (isMissing(cause)) return { records: [], size: 0 };
    if (!(cause instanceof SyntaxError)) throw storageFailure(`cannot read ${path}`, cause);
    throw new Failure('config', `${path} is damaged: ${cause.message}`, {
      hint: 'Put it back from a copy, or pull into another folder.',
      cause,
    });
  }
}

/**
 * Opens a file for appending; a last line that a crash cut is removed. The file is made with its first record.
 * @throws Failure config where a line is broken or the file cannot be written
 */
export async function openLineFile(path: string): Promise<LineFile> {
  const { records, size } = await readLineFile(path);
  let file: FileHandle | undefined;
  let end = size;
  const opened = async (): Promise<FileHandle> => {
    if (file) return file;
    file = await open(path, records.length > 0 ? 'r+' : 'w', 0o600);
    await file.truncate(end);
    await syncFolder(dirname(path));
    return file;
  };
  return {
    records,
    async append(...added) {
      const bytes = Buffer.from(added.map(recordLine).join(''));
      try {
        const target = await opened();
        // At `end`, not at the end of the file: this overwrites what a failed append left behind.
        for (let done = 0; done < bytes.length;)
          done += (await target.write(bytes, done, bytes.length - done, end + done)).bytesWritten;
        await target.datasync();
      } catch (cause) {
        throw storageFailure(`cannot write ${path}`, cause);
      }
      end += bytes.length;
    },
    close: async () => file?.close(),
  };
}
