import { constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from '../core/outside.ts';
import { usage } from '../core/failure.ts';
import { storageFailure } from './disk/files.ts';

/** Opens a log; a line is added at once, not synced, and a log that fails later ends with a warning. @throws Failure */
export function openLogFile(path: string, warn: (text: string) => void): (line: string) => void {
  const file = openAppend(path, constants.O_WRONLY | constants.O_APPEND, `cannot write the log ${path}`);
  let isLost = false;
  return (line) => {
    if (isLost) return;
    try {
      const bytes = Buffer.from(`${line}\n`);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    } catch (cause) {
      isLost = true;
      warn(storageFailure(`the log ${path} ends here`, cause).message);
    }
  };
}

/** A file whose text is replaced, synced, each time by a longer one. @throws Failure usage for what is no summary */
export function openSummaryFile(path: string): (text: string) => void {
  const cannot = `cannot write the summary ${path}`;
  const file = openAppend(path, constants.O_RDWR, cannot);
  const start = orFailure(cannot, () => startOf(file));
  if (start !== '' && !/^\{\s*"command":\s*(null|"[^"]*"),\s*"outcome":/.test(start ?? '')) {
    const fault = start === undefined ? 'is not a regular file' : 'holds something else than a summary';
    throw usage(`--summary ${path} ${fault}`, 'Name a new file, or the summary of an earlier run, which is replaced.');
  }
  return (text) => {
    const bytes = Buffer.from(`${text}\n`);
    orFailure(cannot, () => {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, at);
      ftruncateSync(file, bytes.length);
      fsyncSync(file);
    });
  };
}

/** Open until the end, as readers of a pipe expect; never blocking, since no signal would end the wait for a reader. */
function openAppend(path: string, flags: number, cannot: string): number {
  return orFailure(cannot, () => openSync(path, flags | constants.O_CREAT | constants.O_NONBLOCK, 0o600));
}

/** Undefined: no regular file. A roster may have been named, or JSON of another program, which has a command too. */
function startOf(file: number): string | undefined {
  const start = Buffer.alloc(100);
  return fstatSync(file).isFile() ? start.toString('utf8', 0, readSync(file, start, 0, 100, 0)) : undefined;
}

function orFailure<T>(cannot: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw storageFailure(cannot, cause);
  }
}
