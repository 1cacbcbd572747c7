import { constants, openSync, writeSync } from '../core/outside.ts';
import { usage } from '../core/failure.ts';
import { storageFailure } from './disk/files.ts';

/** Adds one line before it returns. @throws Failure where that would fail or wait; a part of the line may be written */
type AppendLine = (line: string) => void;

/**
 * A log that lines are added to: of this user alone (mode 0600) where it is new, while a file that is there keeps its mode. Not synced: a
 * power cut may lose the last lines.
 * @throws Failure usage for `-`, which would be a file of that name; config where it cannot be written, unavailable where the disk is full
 */
export function openLogFile(path: string): AppendLine {
  if (path === '-') throw usage('--log - names no file', 'Name one; /dev/stderr is standard error.');
  const file = opened(path);
  return (line) => {
    try {
      const bytes = Buffer.from(`${line}\n`);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    } catch (cause) {
      throw storageFailure(`the log ${path} ends here`, cause);
    }
  };
}

/**
 * Open until the process ends: a reader of a named pipe reads to its end then. Never blocking: a pipe that nobody reads would hold the
 * process where neither a signal nor `--deadline` ends it.
 */
function opened(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  } catch (cause) {
    throw storageFailure(`cannot write the log ${path}`, cause);
  }
}
