import { dirname, join } from 'node:path';
import { readdir, rmdir, stat, type FileHandle } from '../../core/outside.ts';
import { usage } from '../../core/failure.ts';
import { exists, ifThere, orFailure, readBytes, unlessRefused, writeNamed } from '../disk/files.ts';
import { folderFailure, makeFolder, refuseLinks, refuseUnsafeState } from '../disk/private.ts';
import { acquireLock, type Patience, type Surroundings } from '../lock/lock.ts';
import { damagedFile, manifestFile } from './archive-head.ts';
import { filesFolder, keptName } from './kept-file.ts';

const lockName = 'lock';

/** Makes and locks a folder; the result undoes both. @throws Failure unavailable naming who holds it; config */
export async function takeFolder(folder: string, host: Surroundings, patience: Patience): Promise<() => Promise<void>> {
  await refuseUnsafeState(folder, host.system);
  const isNew = !(await exists(folder));
  await makeFolder(folder).catch((cause: unknown) => {
    throw folderFailure(folder, host.system, cause);
  });
  const what = `the archive ${folder}`;
  const release = await acquireLock(join(folder, lockName), host, { wait: 0, ...patience, what });
  return async () => {
    await release();
    if (!isNew || (await namesIn(folder)).length > 0) return;
    // Another process may have begun to use it, and an empty folder harms nobody.
    await unlessRefused(rmdir(folder));
  };
}

/** A folder for documents, where there is none yet: whom the umask allows can read them. @throws Failure config */
export function makeSharedFolder(folder: string): Promise<void> {
  return orFailure(`make the folder ${folder}`, makeFolder(folder, 0o777));
}

/** Refuses a folder that holds anything but what an archive begins with. @throws Failure usage */
export async function refuseOtherFiles(folder: string): Promise<void> {
  const names = await namesIn(folder);
  if (names.includes('parts.ndjson')) throw damagedFile(folder, { file: manifestFile, problem: 'it is missing' });
  const other = names.find((name) => !name.startsWith(lockName) && !isDesktopFile(name));
  if (other === undefined) return;
  const hint = channelFolder.test(other)
    ? 'For archives of all channels give --all-channels.'
    : 'Name an empty folder.';
  throw usage(`${folder} is not an archive and holds other files, such as ${other}`, hint);
}

/** What a file manager or an editor leaves in a folder. */
export function isDesktopFile(name: string): boolean {
  return /(^|\/)(\.[^/]*|thumbs\.db|desktop\.ini|[^/]*~)$/i.test(name);
}

/** The name of a folder of --all-channels, with the id of its channel. */
export const channelFolder = /^(\d+)(?:-(.*))?$/s;

/** The names in a folder; none where it is missing. @throws Failure config */
export async function namesIn(folder: string): Promise<string[]> {
  return ((await ifThere(`list the folder ${folder}`, readdir(folder))) ?? []).sort();
}

/** What distinguishes a file from a changed one without reading it: its size and its time; undefined for none. */
export async function stampOf(path: string): Promise<string | undefined> {
  const found = await ifThere(`look at ${path}`, stat(path, { bigint: true }));
  return found && `${found.size} ${found.mtimeNs}`;
}

/**
 * The files of an earlier export, of one kind (with its mark) and attached, in a folder that has these or none.
 * @throws Failure usage for a folder of other files
 */
export async function documentsIn(folder: string, kind: { readonly name: RegExp; readonly mark: string }) {
  await refuseLinks(folder, join(folder, filesFolder));
  const names = (await namesIn(folder)).filter((name) => !isDesktopFile(name));
  const documents = names.filter((name) => kind.name.test(name));
  let other = documents.length === 0 ? names[0] : undefined;
  for (const name of documents) if (!(await readBytes(join(folder, name)))?.includes(kind.mark)) other ??= name;
  if (other !== undefined)
    throw usage(
      `${folder} contains ${other}, which is not from an earlier export`,
      'Name a new or an empty folder, or move that file away.',
    );
  const kept = (await namesIn(join(folder, filesFolder))).map((name) => `${filesFolder}/${name}`);
  return [...documents, ...kept.filter((name) => keptName.test(name))];
}

export async function isFolder(path: string): Promise<boolean> {
  if (/[/\\]$/.test(path)) return true;
  return (await ifThere(`look at ${path}`, stat(path)))?.isDirectory() ?? false;
}

/** Characters that are gathered before they are written. */
const portion = 262_144;

/** Writes a document whole or not at all, for whom the umask or the old file allows. @throws as `pieces`; Failure */
export async function writeTextFile(path: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  if (await exists(join(dirname(path), manifestFile)))
    throw usage(`${path} would be a file of an archive`, 'Name a file in another folder.');
  const write = async (file: FileHandle): Promise<void> => {
    let gathered = '';
    for await (const piece of pieces) {
      gathered += piece;
      if (gathered.length < portion) continue;
      await file.writeFile(gathered);
      gathered = '';
    }
    await file.writeFile(gathered);
  };
  await writeNamed(path, write);
}
