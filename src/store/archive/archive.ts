// Reads an archive, and says what is wrong with it.
import { join } from 'node:path';
import { usage, type Failure } from '../../core/failure.ts';
import { lstat } from '../../core/outside.ts';
import { commandLine } from '../../core/shell-word.ts';
import { uploadsIn, type UploadPath } from '../../schema/upload.ts';
import { refuseLinks } from '../disk/private.ts';
import { archiveVersion, damagedFile, manifestFile, noState, readManifest, type Manifest } from './archive-head.ts';
import { isDesktopFile, isFolder, namesIn } from './archive-folder.ts';
import { filesByPath, filesFolder, isKept, problemOfKept, type FileRecord } from './kept-file.ts';
import { differenceOf, listNames, readLists, type ArchiveChange, type Lists } from './line-file.ts';
import { archiveForms, hasId, partNumberIn, readPart, type ArchivePart } from './part.ts';

export interface ArchiveContent {
  readonly folder: string;
  readonly parts: readonly ArchivePart[];
  readonly changes: readonly ArchiveChange[];
  readonly files: ReadonlyMap<UploadPath, FileRecord>;
}

export interface Archive extends ArchiveContent {
  readonly head: Manifest;
  /** What is wrong with archive.json and the lists, and with the names of its files. */
  readonly problems: readonly ArchiveProblem[];
}

export interface ArchiveProblem {
  /**
   * `lost`: archive.json or parts.ndjson is damaged; `list`: another list is; `unfinished`: the last run did not end,
   * and the archive may lack what the server had; `content`: of a file; `foreign`: it is not of the archive.
   */
  readonly kind: 'lost' | 'list' | 'unfinished' | 'content' | 'foreign';
  readonly file: string;
  readonly problem: string;
}

function problemOf(kind: ArchiveProblem['kind'], file: string, problem: string): ArchiveProblem {
  return { kind, file, problem };
}

/** Whether the problem means that the archive may lack messages, of which every reader warns. */
export function isGap({ kind }: ArchiveProblem): boolean {
  return kind === 'lost' || kind === 'list' || kind === 'unfinished';
}

/** Reads an archive, also while another process adds to it. @throws Failure usage for none; config for a damaged one */
export async function readArchive(folder: string): Promise<Archive> {
  const archive = await inspectArchive(folder);
  const lost = archive.problems.find(({ kind }) => kind === 'lost');
  if (lost) throw damagedFile(folder, lost);
  return archive;
}

/** Reads an archive, whatever is damaged. @throws Failure usage where there is none; config for a later version */
export async function inspectArchive(folder: string): Promise<Archive> {
  const read = await readManifest(folder);
  // The files first: of those that another process adds now, the list names each but the last.
  const names = await namesIn(folder);
  if (!read && !isArchive(names)) throw noArchive(folder);
  const lists = await readLists(folder);
  const parts = lists['parts.ndjson'].records;
  // Where archive.json cannot be read, the parts say what they can.
  const forms = archiveForms.filter((form) => parts.some((part) => part[form]));
  const selection = { narrow: [], form: {}, range: { kind: 'pages', anchor: 'oldest' } } as const;
  const nothing = { options: {}, selection, files: false, history_limited: false, state: noState };
  const unknown = { archive: archiveVersion, site: '', account: '', ...nothing, forms } as const;
  const [changes, files] = [lists['changes.ndjson'].records, filesByPath(lists['files.ndjson'].records)];
  const problem = read ? read.problem : 'it is missing';
  const problems = [
    ...(problem === undefined ? [] : [problemOf('lost', manifestFile, problem)]),
    ...problemsOfLists(lists, names, read?.manifest),
  ];
  return { folder, head: read?.manifest ?? unknown, parts, changes, files, problems };
}

export function problemsOfLists(lists: Lists, names: readonly string[], manifest: Manifest | undefined) {
  const { state } = manifest ?? { state: noState };
  const problems: ArchiveProblem[] = [];
  const found = (...problem: Parameters<typeof problemOf>): void => void problems.push(problemOf(...problem));
  for (const file of listNames) {
    const { damaged, bytes } = lists[file];
    const kind = file === 'parts.ndjson' ? 'lost' : 'list';
    for (const words of damaged) found(kind, file, words);
    const difference = damaged.length === 0 ? differenceOf(bytes, state.lists[file]) : undefined;
    if (difference === 'changed') found(kind, file, 'it is not what the last run wrote: it was truncated or changed');
    // The record of a purge grows after the archive is whole.
    if (difference === 'longer' && manifest && file !== 'purge.ndjson')
      found('unfinished', file, 'the run that added its last lines did not end');
  }
  if (manifest && !state.complete) found('unfinished', manifestFile, 'the last pull did not reach its end');
  const parts = lists['parts.ndjson'].records;
  problems.push(...problemsOfParts(parts));
  const listed = new Set(parts.flatMap((part) => archiveForms.map((form) => part[form]?.file)));
  const own = new Set<string>([manifestFile, filesFolder, ...listNames]);
  const next = (parts.at(-1)?.part ?? 0) + 1;
  for (const name of names) {
    if (listed.has(name) || own.has(name) || /^lock(\.|$)/.test(name) || isDesktopFile(name)) continue;
    // The next pull writes over the files of the next part.
    if (partNumberIn(name) === next)
      found('unfinished', name, 'it has no line in parts.ndjson: the pull that wrote it did not end');
    else found('foreign', name, 'it does not belong to the archive');
  }
  return problems;
}

/** The next pull would write over a part whose line is lost, and the server may not have its messages any more. */
function* problemsOfParts(parts: readonly ArchivePart[]): Generator<ArchiveProblem> {
  /** The highest id of the parts so far that are not late. */
  let above = 0;
  for (const [index, { part, ids, late, first, last, count }] of parts.entries()) {
    const isNext = part === (parts[index - 1]?.part ?? 0) + 1;
    const areOrdered = ids.every((id, at) => id > (ids[at - 1] ?? (late ? 0 : above)));
    const isTwice = late && parts.slice(0, index).some((one) => ids.some((id) => hasId(one.ids, id)));
    const areNamed = count === ids.length && first === ids[0] && last === ids.at(-1);
    if (!isNext || !areOrdered || isTwice || !areNamed)
      yield problemOf('lost', 'parts.ndjson', `the line of part ${part} does not follow the lines before it`);
    if (!late) above = Math.max(above, last);
  }
}

/** Reads the whole archive, file by file, and yields what is wrong with it; an unfinished run last. */
export async function* problemsOf(archive: Archive): AsyncGenerator<ArchiveProblem> {
  const { folder, head, parts, files, problems } = archive;
  yield* problems.filter(({ kind }) => kind === 'lost' || kind === 'list');
  for (const part of parts)
    for (const form of head.forms) {
      const { problem } = await readPart(folder, part, form);
      if (problem !== undefined) yield problemOf('content', part[form]?.file ?? form, problem);
    }
  const kept = [...files.values()].filter(isKept);
  for (const record of kept) {
    const problem = await problemOfKept(folder, record);
    if (problem !== undefined) yield problemOf('content', record.file, problem);
  }
  const own = new Set(kept.map(({ file }) => file));
  const names = (await namesIn(join(folder, filesFolder))).map((name) => `${filesFolder}/${name}`);
  for (const file of names)
    if (!own.has(file) && !isDesktopFile(file)) yield problemOf('foreign', file, 'it does not belong to the archive');
  yield* problems.filter(({ kind }) => kind === 'foreign');
  yield* problems.filter(({ kind }) => kind === 'unfinished');
  const unasked = head.files ? attachedFiles(archive, head.site).filter((path) => !files.has(path)).length : 0;
  if (unasked > 0)
    yield problemOf('unfinished', 'files.ndjson', `attached files that were not fetched yet: ${unasked}`);
}

/** The attached files that the messages of an archive name, their recorded later versions included; each once. */
export function attachedFiles({ parts, changes }: ArchiveContent, site: string): UploadPath[] {
  const later = changes.flatMap(({ message }) => (message === undefined ? [] : uploadsIn(message, site)));
  return [...new Set([...parts.flatMap(({ attached }) => attached), ...later])];
}

export function countMessages({ parts }: ArchiveContent): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
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
  if (isArchive(names)) {
    await refuseLinks(root, folder);
    return [folder];
  }
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
  const made = commandLine('archive pull', [folder], { channel: 'NAME' });
  return usage(`${folder} contains no archive`, `Make one: ${made}`);
}
