import { join } from 'node:path';
import { open, randomBytes, rm } from '../../core/outside.ts';
import type { Spool } from '../../core/read.ts';
import { orFailure, unlessRefused } from './files.ts';

const chunkBytes = 256 * 1024;

/** A temporary file of this user alone. @throws Failure config where it cannot be written; the signal's reason */
export async function openSpool(folder: string, signal: AbortSignal): Promise<Spool> {
  const path = join(folder, `chatelaine-${randomBytes(12).toString('hex')}`);
  const orNoRoom = <T>(call: Promise<T>): Promise<T> =>
    orFailure(`keep a long answer in ${folder}`, call, 'Set TMPDIR to another folder.');
  const file = await orNoRoom(open(path, 'wx+', 0o600));
  // Windows removes a file only when it is closed.
  const isNameless = await unlessRefused(rm(path).then(() => true));
  let size = 0;
  return {
    async write(bytes) {
      await orNoRoom(file.write(bytes, 0, bytes.length, size));
      size += bytes.length;
    },
    async *read() {
      const chunk = Buffer.allocUnsafeSlow(chunkBytes);
      for (let at = 0; at < size;) {
        signal.throwIfAborted();
        const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
        if (bytesRead === 0) throw new Error(`the file with a long answer in ${folder} became shorter`);
        at += bytesRead;
        yield chunk.subarray(0, bytesRead);
      }
    },
    async close() {
      await file.close();
      if (!isNameless) await rm(path, { force: true });
    },
  };
}
