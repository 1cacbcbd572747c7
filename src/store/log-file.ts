import { appendFileSync, closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { usage } from '../core/failure.ts';
import { storageFailure } from './disk/files.ts';

/** Adds one line, whole, before it returns. Throws what the file system does. */
export type AppendLine = (line: string) => void;

/**
 * A log that lines are added to, of this user alone (mode 0600) whatever the umask. Not synced: a power cut may lose the last lines.
 * @throws Failure usage for `-`, which would be a file of that name; config where it cannot be written, unavailable where the disk is full
 */
export function openLogFile(path: string): AppendLine {
  if (path === '-') throw usage('--log - names no file', 'Name one; /dev/stderr is standard error.');
  try {
    // Without O_NONBLOCK a named pipe that nobody reads would hold the program here.
    const file = openSync(
      path,
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK,
      0o600,
    );
    try {
      if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw storageFailure(`cannot write the log ${path}`, cause);
  }
  return (line) => appendFileSync(path, `${line}\n`, { mode: 0o600 });
}
