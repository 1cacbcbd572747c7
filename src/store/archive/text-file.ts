import { randomBytes } from 'node:crypto';
import { open, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { usage } from '../../core/failure.ts';
import { makeFolder } from '../disk/private-folder.ts';
import { isMissing, openFile, remove, storageFailure, syncFolder } from '../disk/files.ts';
import { namesIn } from './archive-folder.ts';

/** A folder of mode 0700 for files of documents, where there is none yet. @throws Failure config */
export async function makeDocumentFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (cause) {
    throw storageFailure(`cannot make the folder ${folder}`, cause);
  }
}

/** Bytes at the beginning of a file among which its mark is looked for. */
const headBytes = 1024;

/**
 * The files of a folder that are all documents of one kind: each has a name of the kind and bears its mark; names that begin with a dot
 * are passed over. None where the folder is missing. @throws Failure usage naming the first other file
 */
export async function documentsIn(
  folder: string,
  kind: { readonly name: RegExp; readonly mark: string },
): Promise<string[]> {
  const names = (await namesIn(folder)).filter((name) => !name.startsWith('.')).sort();
  for (const name of names) {
    if (kind.name.test(name) && (await beginningOf(join(folder, name))).includes(kind.mark)) continue;
    throw usage(
      `${folder} holds ${name}, which is not of an earlier export`,
      'Name a new or an empty folder, or move that file away.',
    );
  }
  return names;
}

async function beginningOf(path: string): Promise<string> {
  try {
    const file = await openFile(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw storageFailure(`cannot read ${path}`, cause);
  }
}

/** Whether a path names a folder: it ends with a slash, or a folder is there. */
export async function isFolder(path: string): Promise<boolean> {
  if (/[/\\]$/.test(path)) return true;
  try {
    return (await stat(path)).isDirectory();
  } catch (cause) {
    if (isMissing(cause)) return false;
    throw storageFailure(`cannot look at ${path}`, cause);
  }
}

/** Characters that are gathered before they are written. */
const portion = 262_144;

/**
 * Writes a text that comes in pieces to a file of mode 0600, which appears whole or not at all.
 * @throws what the pieces throw; Failure config where the file cannot be written, unavailable where the disk is full
 */
export async function writeTextFile(path: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
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
