import { Failure } from '../core/failure.ts';
import { constants, openSync, writeSync } from '../core/outside.ts';
import { codeOf, noLink, storageFailure } from './disk/files.ts';

/** Opens a log; a line is added at once, not synced, and a log that fails later ends with a warning. @throws Failure */
export function openLogFile(path: string, warn: (text: string) => void): (line: string) => void {
  const file = openAppend(path);
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

/**
 * Open until the end, as readers of a pipe expect; never blocking, since no signal would end the wait for a reader. In
 * a folder that others write, a link would lead into another file; the descriptors of a shell are links.
 */
function openAppend(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  const link = /^\/(dev|proc)\//.test(path) ? 0 : noLink;
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | link, 0o600);
  } catch (cause) {
    if (codeOf(cause) === 'ELOOP')
      throw new Failure('config', `cannot write the log ${path}: it is a symbolic link`, {
        hint: 'Name the file that it leads to.',
      });
    throw storageFailure(`cannot write the log ${path}`, cause);
  }
}
