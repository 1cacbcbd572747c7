import { dirname } from 'node:path';
import { limiter } from '../core/batch.ts';
import { constants, randomBytes, truncate, type FileHandle } from '../core/outside.ts';
import { Failure } from '../core/failure.ts';
import { renaming } from '../core/shell-word.ts';
import { bytesAt, openFile, orFailure, remove, storageFailure, withFile } from './disk/files.ts';
import { makePrivateFolder, refuseUnwritable } from './disk/private.ts';
import { withLock, type Surroundings } from './lock/lock.ts';
import { eachLine, isCutBefore, recordLine } from './disk/records.ts';

export type SandboxLog = Awaited<ReturnType<typeof openSandboxLog>>;

/** How far this process has read. */
interface Seen {
  /** The first line, different in each new log: a reset is noticed although the file's path stays. */
  log: string;
  size: number;
}

const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;

/** Several sandboxes share the records. Not synced: they are play data. @throws Failure config */
export async function openSandboxLog(path: string, host: Surroundings) {
  await prepareFolder(dirname(path), host);
  const seen: Seen = { log: '', size: 0 };
  const oneTurn = limiter(1);
  const run = async <T>(work: LogWork<T>): Promise<T> =>
    withFile(orFailure(`write the sandbox's data ${path}`, openFile(path, flags)), async (file) => {
      const records = await newRecords(path, file, seen);
      return work({ records, append: (record) => appendLine(path, file, seen, recordLine(record)) });
    });
  return {
    /** Does the work while nobody else reads or appends: no other process, and no other caller in this one. */
    exclusively: <T>(work: LogWork<T>): Promise<T> => oneTurn(() => withDataLock(path, host, () => run(work))),
  };
}

type LogWork<T> = (log: {
  /** The records that others have added since the last time. */
  readonly records: readonly unknown[];
  /** Adds a record whole or not at all; the kill of a process does not lose it. */
  append(record: unknown): Promise<void>;
}) => Promise<T>;

/** Forgets everything that the sandbox holds. A sandbox that runs meanwhile begins the new log at its next request. */
export async function resetSandboxLog(path: string, host: Surroundings): Promise<void> {
  await prepareFolder(dirname(path), host);
  await withDataLock(path, host, () => remove(path));
}

/** A folder that is there may be read-only: found out by a request, it would be an error of the server. */
async function prepareFolder(folder: string, { system }: Surroundings): Promise<void> {
  await makePrivateFolder(folder, system);
  await refuseUnwritable(folder, system);
}

function withDataLock<T>(path: string, host: Surroundings, work: () => Promise<T>): Promise<T> {
  return withLock(`${path}.lock`, host, work, { what: `the sandbox's data ${path}` });
}

/** What a reader of an earlier log finds first: all that it has read so far is gone. */
const resetRecord = { reset: true };

/** The length of every log's first line. */
const nameLength = recordLine({ log: randomBytes(8).toString('hex') }).length;

/**
 * The records behind those that were seen. A file is only changed once it is known to be a log; Windows truncates only
 * by a handle that does not append. The lock is held, so a cut last line is nobody's work in progress and is removed.
 */
async function newRecords(path: string, file: FileHandle, seen: Seen): Promise<readonly unknown[]> {
  const name = await bytesAt(file, 0, nameLength);
  const log = name.toString('latin1');
  const isNamed = /^\{"log":"[0-9a-f]{16}"\}\n$/.test(log);
  if (!isNamed && (name.length === nameLength || !isCutBefore(name, '{"log":"')))
    throw unusableData(path, 'it is not data of a sandbox');
  const before = seen.log !== '' && seen.log !== log ? [resetRecord] : [];
  if (seen.log !== log) Object.assign(seen, { log, size: nameLength });
  if (!isNamed) {
    await truncate(path, 0);
    Object.assign(seen, { log: recordLine({ log: randomBytes(8).toString('hex') }), size: 0 });
    await appendLine(path, file, seen, seen.log);
  }
  const { size } = await file.stat();
  const bytes = await bytesAt(file, seen.size, size - seen.size);
  const lines = [...eachLine(bytes)];
  const bad = lines.find(({ problem }) => problem !== undefined);
  if (bad) throw unusableData(path, `line ${bad.line} is ${bad.problem}`);
  const whole = lines.at(-1)?.size ?? 0;
  if (whole < bytes.length) await truncate(path, seen.size + whole);
  seen.size += whole;
  return [...before, ...lines.map(({ json }) => json?.value)];
}

async function appendLine(path: string, file: FileHandle, seen: Seen, line: string): Promise<void> {
  try {
    await file.appendFile(line);
    seen.size += Buffer.byteLength(line);
  } catch (cause) {
    await truncate(path, seen.size);
    throw storageFailure(`cannot write the sandbox's data ${path}`, cause);
  }
}

function unusableData(path: string, what: string): Failure {
  return new Failure('config', `the sandbox's data ${path} cannot be used: ${what}`, {
    hint: `Move it away: ${renaming(path, `${path}.broken`)}`,
  });
}
