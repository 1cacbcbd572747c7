import { createWriteStream, type WriteStream } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { usage } from '../core/failure.ts';

export { startSandbox } from '../sandbox/server.ts';
export { readFaults } from '../sandbox/faults.ts';
export { openSandboxLog } from '../store/sandbox-log.ts';

/** A file that grows by a line for each request. @throws Failure usage where it cannot be written */
export async function openLogFile(file: string): Promise<WriteStream> {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  try {
    await once(stream, 'open');
    return stream;
  } catch (cause) {
    throw usage(`--log: cannot write ${file}: ${(cause as Error).message}`);
  }
}

/** Whoever waits for the file finds it whole or not at all. @throws Failure usage where it cannot be written */
export async function writeReady(file: string, text: string): Promise<void> {
  try {
    await writeFile(`${file}.part`, text, { mode: 0o600 });
    await rename(`${file}.part`, file);
  } catch (cause) {
    throw usage(`--ready-file: cannot write ${file}: ${(cause as Error).message}`);
  }
}
