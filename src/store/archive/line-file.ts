import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { parseJson } from '../../core/json.ts';
import { readBytes, storageFailure, syncFolder } from '../disk/files.ts';
import { recordLine, type Records } from '../roster/ndjson.ts';
import { linesIn } from './part.ts';

/** A file of JSON lines that only grows. */
export interface LineFile {
  /** The records that it held when it was opened. */
  readonly records: readonly unknown[];
  /** Resolves when the records are on disk. @throws Failure unavailable where the disk is full */
  append(...records: readonly unknown[]): Promise<void>;
  close(): Promise<void>;
}

/** What a file of JSON lines holds, as far as it can be read. */
export interface LineList<T> {
  readonly records: readonly T[];
  /** What is wrong with its lines, such as `line 2 is not valid JSON`; of the last line only if it ends: a crash cuts it. */
  readonly damaged: readonly string[];
  readonly bytes: Buffer;
  /** Bytes of the lines that end; a crash cut what follows. */
  readonly size: number;
}

/**
 * Reads the lines of a file that `recordOf` takes; a missing file has none. `what` says what a line should be.
 * @throws Failure config where the file cannot be read
 */
export async function readList<T>(
  path: string,
  recordOf: (record: unknown) => T | undefined,
  what: string,
): Promise<LineList<T>> {
  const bytes = (await readBytes(path)) ?? Buffer.alloc(0);
  const texts = [...linesIn(bytes)];
  const lines = texts.map(jsonIn);
  let size = bytes.lastIndexOf('\n') + 1;
  if (texts.length > 0 && lines.at(-1) === undefined) {
    lines.pop();
    size -= Buffer.byteLength(texts.at(-1) ?? '') + 1;
  }
  const records: T[] = [];
  const damaged: string[] = [];
  for (const [index, line] of lines.entries()) {
    const record = line && recordOf(line.value);
    if (record !== undefined) records.push(record);
    else damaged.push(`line ${index + 1} is ${line ? `not ${what}` : 'not valid JSON'}`);
  }
  return { records, damaged, bytes, size };
}

/** The value of a line; undefined where it is not JSON. */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

/**
 * The whole records of a file; a last line that a crash cut is left out, and a missing file has none.
 * @throws Failure config where another line is broken
 */
export async function readLineFile(path: string): Promise<Records> {
  const { records, size, damaged } = await readList(path, (record) => record, 'a record');
  const [problem] = damaged;
  if (problem === undefined) return { records, size };
  throw new Failure('config', `${path} is damaged: ${problem}`, {
    hint: 'Put it back from a copy, or pull into another folder.',
  });
}

/**
 * Opens a file for appending; a last line that a crash cut is removed. The file is made with its first record.
 * @throws Failure config where a line is broken or the file cannot be written
 */
export async function openLineFile(path: string): Promise<LineFile> {
  return appending(path, await readLineFile(path));
}

/** The same for a file that was read already. */
export function appending(path: string, { records, size }: Records): LineFile {
  let file: FileHandle | undefined;
  let end = size;
  const opened = async (): Promise<FileHandle> => {
    if (file) return file;
    file = await open(path, size > 0 ? 'r+' : 'w', 0o600);
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
