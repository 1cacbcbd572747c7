import { randomBytes } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { remove, storageFailure, syncFolder } from '../disk/files.ts';

/** Characters that are gathered before they are written. */
const portion = 262_144;

/**
 * Writes a text that comes in pieces to a file of mode 0600, which appears whole or not at all.
 * @throws what the pieces throw; Failure config where the file cannot be written, unavailable where the disk is full
 */
export async function writeTextFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      let held = '';
      for await (const piece of pieces) {
        held += piece;
        if (held.length < portion) continue;
        await file.writeFile(held);
        held = '';
      }
      await file.writeFile(held);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    await remove(draft);
    throw storageFailure(`cannot write ${path}`, cause);
  }
}
