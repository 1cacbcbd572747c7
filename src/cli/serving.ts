import { createWriteStream, type WriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { usage, messageOf } from '../core/failure.ts';
import { replace } from '../store/disk/files.ts';
import { openSandboxLog, type SandboxLog } from '../store/sandbox-log.ts';
import type { Host } from './host.ts';

export { startSandbox } from '../sandbox/server.ts';
export { readFaults } from '../sandbox/faults.ts';

/** A file that grows by a line for each request. @throws Failure usage where it cannot be written */
export async function openLogFile(file: string, warn: (text: string) => void): Promise<WriteStream> {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  try {
    await once(stream, 'open');
    stream.once('error', (cause) => warn(`--log: nothing more is written to ${file}: ${cause.message}`));
    stream.on('error', () => undefined);
    return stream;
  } catch (cause) {
    throw usage(`--log: cannot write ${file}: ${messageOf(cause)}`);
  }
}

/** Whoever waits for the file finds it whole or not at all. @throws Failure usage where it cannot be written */
export async function writeReady(file: string, text: string): Promise<void> {
  try {
    await writeFile(`${file}.part`, text, { mode: 0o600 });
    await replace(`${file}.part`, file);
  } catch (cause) {
    throw usage(`--ready-file: cannot write ${file}: ${messageOf(cause)}`);
  }
}

/** A file of another program is refused before anybody is served; the handle that looked has read it, so another one serves. */
export async function openData(file: string, host: Host): Promise<SandboxLog> {
  const first = await openSandboxLog(file, host);
  await first.exclusively((log) => log.read());
  return openSandboxLog(file, host);
}
