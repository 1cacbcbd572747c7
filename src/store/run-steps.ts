// The file of a run over several topics: its steps, with which the same command continues it. It is there from the
// first step until the run is done; one process holds it.
import { dirname } from 'node:path';
import type { FileHandle } from '../core/outside.ts';
import { Failure } from '../core/failure.ts';
import { readBytes, remove, storageFailure, writePrivate } from './disk/files.ts';
import { makePrivateFolder, writableState } from './disk/private.ts';
import { appendLines, openToAppend, readRecords, summedLine } from './disk/records.ts';
import { acquireLock, type Surroundings } from './lock/lock.ts';

export interface RunSteps {
  /** Recorded by earlier runs. */
  readonly steps: readonly unknown[];
  /** Resolves when the step is on disk. @throws Failure unavailable: a full disk, or another process holds it */
  append(step: object): Promise<void>;
  /** Nothing is left to be continued. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** @throws Failure unavailable where another process holds it; config where it is damaged */
export async function openRunSteps(path: string, host: Surroundings, signal: AbortSignal): Promise<RunSteps> {
  let release: (() => Promise<void>) | undefined;
  let file: FileHandle | undefined;
  const close = async (): Promise<void> => {
    await file?.close();
    await release?.();
    [file, release] = [undefined, undefined];
  };
  const open = async (): Promise<readonly unknown[]> => {
    await makePrivateFolder(dirname(path), host.system);
    release = await acquireLock(`${path}.lock`, host, { wait: 0, signal, what: `the run of ${path}` });
    const bytes = (await readBytes(path)) ?? Buffer.alloc(0);
    const { records, size } = readRecords(bytes, damagedAt(path));
    // A crash may have cut the last line.
    const whole = size === 0 ? summedLine({ steps: 1 }) : bytes.subarray(0, size);
    if (size < bytes.length || size === 0) await writePrivate(path, whole);
    file = await openToAppend(path);
    return records;
  };
  const failing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (cause) {
      await close();
      throw cause instanceof Failure ? cause : storageFailure(`cannot write ${path}`, cause, writableState);
    }
  };
  return {
    steps: (await readBytes(path)) ? await failing(open()) : [],
    async append(step) {
      if (!file) await failing(open());
      if (file && (await failing(appendLines(file, summedLine(step))))) return;
      throw new Failure('config', `the end of ${path} is cut`, { hint: 'Run the same command again.' });
    },
    async finish() {
      if (file) await failing(remove(path));
    },
    close,
  };
}

function damagedAt(path: string) {
  return (problem: string): Failure =>
    new Failure('config', `${path} is damaged: ${problem}`, {
      hint: 'Move it away: topics that are gone have no row then.',
    });
}
