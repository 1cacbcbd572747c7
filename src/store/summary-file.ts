import { constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from '../core/outside.ts';
import { usage } from '../core/failure.ts';
import { storageFailure } from './disk/files.ts';

/**
 * A file whose text is replaced as a whole, each time by a longer one: of this user alone (mode 0600) where it is new, while one that is
 * there keeps its mode. The writer is synced, and throws Failure config where it cannot write, unavailable where the disk is full.
 * @throws Failure usage for what is no regular file, and for one that is no summary: its content would be lost; config where it cannot be opened
 */
export function openSummaryFile(path: string): (text: string) => void {
  const file = opened(path);
  return (text) => {
    const bytes = Buffer.from(`${text}\n`);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, at);
      ftruncateSync(file, bytes.length);
      fsyncSync(file);
    } catch (cause) {
      throw storageFailure(`cannot write the summary ${path}`, cause);
    }
  };
}

/** Open until the process ends. */
function opened(path: string): number {
  let fault = 'is no regular file';
  try {
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
    if (fstatSync(file).isFile()) {
      const start = Buffer.alloc(100);
      const text = start.toString('utf8', 0, readSync(file, start, 0, start.length, 0));
      if (text === '' || /^\{\s*"command":\s*(null|"[^"]*"),\s*"outcome":/.test(text)) return file;
      // The roster may have been named, or the JSON of another program, which may begin with a command as well.
      fault = 'holds something else than a summary';
    }
  } catch (cause) {
    throw storageFailure(`cannot write the summary ${path}`, cause);
  }
  throw usage(`--summary ${path} ${fault}`, 'Name a new file, or the summary of an earlier run, which is replaced.');
}
