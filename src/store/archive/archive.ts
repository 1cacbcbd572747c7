import { join } from 'node:path';
import { Failure, usage } from '../../core/failure.ts';
import { constants, lstat } from '../../core/outside.ts';
import { commandLine } from '../../core/shell-word.ts';
import { openFile, orFailure, syncFolder, withFile } from '../disk/files.ts';
import { refuseLinks } from '../disk/private.ts';
import type { Patience, Surroundings } from '../lock/lock.ts';
import {
  archiveVersion,
  ascend,
  damageOf,
  isSealed,
  partsIn,
  readLists,
  unfinishedIn,
  type Lists,
  copyHint,
  damagedFile,
  listNames,
  manifestFile,
  noState,
  readHead,
  readManifest,
  type FileDamage,
  type Manifest,
  type ManifestRead,
} from './archive-head.ts';
import { isDesktopFile, isFolder, namesIn, refuseOtherFiles, takeFolder } from './archive-folder.ts';
import { filesByPath, filesFolder, isKept, problemOfKept } from './kept-file.ts';
import type { LineList } from './line-file.ts';
import { OpenArchive, type ArchiveContent } from './open-archive.ts';
import { archiveForms, hasId, partNumberIn, type ArchivePart, readPart } from './part.ts';

export type { OpenArchive } from './open-archive.ts';

export interface Archive extends ArchiveContent {
  readonly head: Manifest;
  /** What is wrong with archive.json and the lists, and with the names of its files. */
  readonly problems: readonly ArchiveProblem[];
}

export interface ArchiveProblem extends FileDamage {
  /**
   * `list`: archive.json or a list is damaged; `lost`: a part's line is lost; `unfinished`: the last run did not end,
   * and the archive may lack what the server had; `foreign`: it is not of the archive.
   */
  readonly kind: 'list' | 'lost' | 'unfinished' | 'content' | 'foreign';
  /** The number of the part; null where it is not about one part. */
  readonly part: number | null;
  /** Ids of the messages that have to be fetched again, as `first-last`; null for none. */
  readonly ids: string | null;
}

/** Whether an archive may lack something, which every reader says. */
export function isOfTheRun({ kind }: ArchiveProblem): boolean {
  return kind === 'list' || kind === 'unfinished';
}

/** Reads an archive, also while another process adds to it. @throws Failure usage for none; config for a damaged one */
export async function readArchive(folder: string): Promise<Archive> {
  const archive = await inspectArchive(folder);
  const isLine = ({ file, problem }: FileDamage): boolean => file === 'parts.ndjson' && problem.startsWith('line ');
  refuseDamage(archive, (damage) => damage.file === manifestFile || isLine(damage));
  return archive;
}

/** Reads an archive as far as it can be read. @throws Failure usage where there is none; config for a later version */
export async function inspectArchive(folder: string): Promise<Archive> {
  const read = await readManifest(folder);
  // The files first: of those that another process adds now, the list names each but the last.
  const names = await namesIn(folder);
  if (!read && !isArchive(names)) throw noArchive(folder);
  return archiveIn(folder, read ?? { problem: 'it is missing' }, names, await readLists(folder));
}

/** The archives that a folder is or holds, by the numbers in their names. @throws Failure usage for none; config */
export async function archivesIn(folder: string): Promise<readonly [string, ...string[]]> {
  const [first, ...others] = await archivesBelow(folder);
  if (first === undefined) throw noArchive(folder);
  return [first, ...others];
}

/** The same, at any depth, where there may be none. @throws Failure config for one behind a link */
export async function archivesBelow(folder: string, root = folder): Promise<readonly string[]> {
  const names = await namesIn(folder);
  if (isArchive(names)) await refuseLinks(root, folder);
  if (isArchive(names)) return [folder];
  const found: string[] = [];
  for (const name of names.sort(byNumber.compare)) {
    const inside = join(folder, name);
    // A link may lead back to where it is; of what it leads to only an archive would be taken.
    if (!(await isFolder(inside))) continue;
    const isLink = (await lstat(inside)).isSymbolicLink();
    if (!isLink || isArchive(await namesIn(inside))) found.push(...(await archivesBelow(inside, root)));
  }
  return found;
}

const byNumber = new Intl.Collator('en', { numeric: true });

function isArchive(names: readonly string[]): boolean {
  return names.includes(manifestFile) || names.includes('parts.ndjson');
}

function noArchive(folder: string): Failure {
  return usage(
    `${folder} contains no archive`,
    `Make one: ${commandLine('archive pull', [folder], { channel: 'NAME' })}`,
  );
}

function archiveIn(folder: string, read: ManifestRead, names: readonly string[], lists: Lists): Archive {
  const parts = partsIn(lists['parts.ndjson'].records);
  const forms = archiveForms.filter((form) => parts.some((part) => part[form]));
  // Where archive.json cannot be read, the parts say what they can.
  const nothing = { options: {}, selection: {}, files: false, history_limited: false, state: noState };
  const unknown = { archive: archiveVersion, site: '', account: '', ...nothing, forms } as const;
  const manifest: Manifest = read.manifest ?? unknown;
  const listed = new Set(parts.flatMap((part) => archiveForms.map((form) => part[form]?.file)));
  const next = (parts.at(-1)?.part ?? 0) + 1;
  const problemOfName = (file: string): ArchiveProblem[] => {
    const part = partNumberIn(file);
    if (part === undefined) return isStrange(file) ? [problem('foreign', file, strangeFile)] : [];
    if (listed.has(file)) return [];
    // The next pull lists the files of the next part where they are whole, or writes over them.
    if (part === next)
      return [problem('unfinished', file, 'it has no line in parts.ndjson: the pull that wrote it did not end')];
    // Of a list that is what the last run left, only the part that a crash cut off can lack its line.
    if (part > next && isSealed(lists, manifest)) return [problem('foreign', file, strangeFile)];
    return [{ ...problem('lost', file, 'parts.ndjson lost its line'), part }];
  };
  const damage = listNames.flatMap((file) => damageOf(file, lists[file], manifest));
  const unfinished = read.manifest ? unfinishedIn(manifest, lists) : [];
  return {
    folder,
    head: manifest,
    parts,
    changes: lists['changes.ndjson'].records,
    files: filesByPath(lists['files.ndjson'].records),
    problems: [
      ...(read.problem === undefined ? [] : [problem('list', manifestFile, read.problem)]),
      ...damage.map((one) => problem('list', one.file, one.problem)),
      ...unfinished.map((one) => problem('unfinished', one.file, one.problem)),
      ...names.flatMap(problemOfName),
    ],
  };
}

function problem(kind: ArchiveProblem['kind'], file: string, words: string): ArchiveProblem {
  return { kind, part: null, file, problem: words, ids: null };
}

/** Names that an archive does not have; what begins with a dot was left by a crash. */
function isStrange(name: string): boolean {
  const isOwn = [manifestFile, filesFolder, ...listNames].some((own) => own === name) || /^lock(\.|$)/.test(name);
  return !isOwn && !isDesktopFile(name);
}

/**
 * Opens an archive, or a missing or empty folder for a new one, for this process alone. @throws Failure unavailable
 * naming the process that holds it, after the wait; usage for a folder of other files; config where it is damaged
 */
export async function openArchive(folder: string, host: Surroundings, patience: Patience): Promise<OpenArchive> {
  const release = await takeFolder(folder, host, patience);
  try {
    const manifest = await readHead(folder);
    if (!manifest) await refuseOtherFiles(folder);
    const names = await namesIn(folder);
    const lists = await readLists(folder);
    // Nothing but a copy brings a list back. That of a purge is judged by whoever continues the purge.
    if (manifest) refuseDamage(archiveIn(folder, { manifest }, names, lists), ({ file }) => file !== 'purge.ndjson');
    for (const name of listNames)
      await orFailure(`write ${name} of ${folder}`, syncList(join(folder, name), lists[name]));
    await orFailure(`write into ${folder}`, syncFolder(folder));
    return new OpenArchive(folder, manifest, lists, release);
  } catch (cause) {
    await release();
    throw cause;
  }
}

/** Removes a cut end, and syncs what a killed run may have left in memory alone. @throws an error of the file system */
async function syncList(path: string, { bytes, size }: LineList<unknown>): Promise<void> {
  if (bytes.length === 0) return;
  await withFile(openFile(path, constants.O_RDWR), async (file) => {
    if (size < bytes.length) await file.truncate(size);
    await file.datasync();
  });
}

/** Parts whose line is lost would be written over, and the server may not have their messages any more. */
function refuseDamage({ folder, parts, problems }: Archive, isFatal: (damage: FileDamage) => boolean): void {
  const damaged = problems.find((one) => one.kind === 'list' && isFatal(one));
  if (damaged) throw damagedFile(folder, damaged);
  const lost = problems.filter(({ kind }) => kind === 'lost').map(({ file }) => file);
  if (lost.length === 0 && parts.every(({ part }, index) => part === index + 1)) return;
  const what = lost.length > 0 ? `the lines of ${lost.join(', ')}` : 'lines of parts';
  throw new Failure('config', `${join(folder, 'parts.ndjson')} lost ${what}`, { hint: copyHint('parts.ndjson') });
}

/** Reads the whole archive, file by file, and yields what is wrong with it; an unfinished run is no fault. */
export async function* problemsOf(archive: Archive): AsyncGenerator<ArchiveProblem> {
  yield* archive.problems.filter(({ kind }) => kind === 'list');
  for (const part of archive.parts) {
    yield* problemsOfLine(part, archive.parts);
    for (const form of archive.head.forms) {
      const { problem: words } = await readPart(archive.folder, part, form);
      const [file, ids] = [part[form]?.file ?? form, `${part.first}-${part.last}`];
      if (words !== undefined) yield { kind: 'content', part: part.part, file, problem: words, ids };
    }
  }
  yield* archive.problems.filter(({ kind }) => kind === 'lost');
  yield* problemsOfKept(archive);
  yield* archive.problems.filter(({ kind }) => kind === 'foreign');
}

const strangeFile = 'it does not belong to the archive';

async function* problemsOfKept({ folder, files }: Archive): AsyncGenerator<ArchiveProblem> {
  const kept = [...files.values()].filter(isKept);
  for (const record of kept) {
    const words = await problemOfKept(folder, record);
    if (words !== undefined) yield problem('content', record.file, words);
  }
  const own = new Set(kept.map(({ file }) => file));
  const names = (await namesIn(join(folder, filesFolder))).map((name) => `${filesFolder}/${name}`);
  for (const file of names) if (!own.has(file) && !isDesktopFile(file)) yield problem('foreign', file, strangeFile);
}

function* problemsOfLine({ part, ids, late, ...line }: ArchivePart, parts: readonly ArchivePart[]) {
  const said = (text: string): ArchiveProblem => ({ ...problem('lost', 'parts.ndjson', text), part });
  const earlier = parts.filter((one) => one.part < part);
  const [before, above] = [earlier.at(-1), earlier.findLast((one) => !one.late)];
  const expected = (before?.part ?? 0) + 1;
  if (part !== expected) {
    const missing =
      part - 1 === expected ? `part ${expected} is missing` : `parts ${expected} to ${part - 1} are missing`;
    yield said(`${missing}: messages between ${before?.last ?? 0} and ${ids[0]}`);
  }
  if (!ascend(ids)) yield said('its ids do not ascend, or one occurs twice');
  if (!late && above && (ids[0] ?? 0) <= above.last) yield said(`its ids do not follow those of part ${above.part}`);
  const other = earlier.find((one) => (late || one.late) && ids.some((id) => hasId(one.ids, id)));
  if (other) yield said(`one of its ids is in part ${other.part} too`);
  if (line.count !== ids.length || line.first !== ids[0] || line.last !== ids.at(-1))
    yield said('first, last and count do not match its ids');
}
