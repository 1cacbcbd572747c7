import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { Surroundings } from '../lock/lock.ts';
import { namesIn, refuseOtherFiles, takeFolder, type OpenOptions } from './archive-folder.ts';
import { archiveForms, noArchive, readHead, writeHead, type ArchiveForm, type ArchiveHead } from './archive-head.ts';
import { changesIn, type ArchiveChange } from './archive-change.ts';
import { isKeptAside } from './damaged-file.ts';
import { openLineFile, readLineFile } from './line-file.ts';
import { lostLine, lostLinesHint, partInFiles, partListOf, partsIn, readPartList, relistParts } from './part-list.ts';
import { partNumberIn, writePartFile, type ArchivePart, type PartMessages, type StoredMessage } from './part.ts';
import { openPurge, type PurgeRecord } from './purge-record.ts';

/** An archive as it is on disk. */
export interface Archive {
  readonly folder: string;
  readonly head: ArchiveHead;
  /** By number. */
  readonly parts: readonly ArchivePart[];
  /** What is wrong with lines of parts.ndjson, such as `line 2 is not valid JSON`. */
  readonly damagedLines: readonly string[];
  readonly changes: readonly ArchiveChange[];
  /** Files of parts that no line of parts.ndjson names; a crash leaves at most those of the next part. */
  readonly unlisted: readonly string[];
  /** Damaged files that a repair kept aside. */
  readonly damaged: readonly string[];
}

/** An archive that this process alone changes; a new one has no head. Every call resolves when its work is on disk. */
export interface OpenArchive extends Omit<Archive, 'head' | 'damagedLines' | 'unlisted' | 'damaged'> {
  readonly head: ArchiveHead | undefined;
  setHead(head: ArchiveHead): Promise<void>;
  /** Adds the next part: the same messages in each form, ascending. */
  add(messages: PartMessages): Promise<ArchivePart>;
  /** Replaces one form of a part. */
  repair(part: ArchivePart, form: ArchiveForm, messages: readonly StoredMessage[]): Promise<void>;
  /** Rebuilds the line of a part from its files. @throws Failure config where they do not suffice */
  relist(part: ArchivePart): Promise<void>;
  record(changes: readonly ArchiveChange[]): Promise<void>;
  /** The record of the purge that the archive is for. */
  purge(): Promise<PurgeRecord>;
  close(): Promise<void>;
}

/**
 * Reads an archive, also while another process adds to it.
 * @throws Failure usage where the folder holds none; config where its records are damaged, or parts.ndjson lost lines
 */
export async function readArchive(folder: string): Promise<Archive> {
  const archive = await inspectArchive(folder);
  refuseLostLines(archive, `Run: chatelaine archive pull ${shellWord(folder)}`);
  return archive;
}

/** Reads an archive whose list of parts may be damaged. @throws Failure usage where the folder holds none; config where other records are damaged */
export async function inspectArchive(folder: string): Promise<Archive> {
  const head = await readHead(folder);
  if (!head) throw noArchive(folder);
  // The files first: of those that another process adds now, the list names each but the last.
  const names = await namesIn(folder);
  const { parts, damaged: damagedLines } = await readPartList(folder);
  const changes = changesIn((await readLineFile(changeList(folder))).records, changeList(folder));
  const damaged = names.filter(isKeptAside).sort();
  return { folder, head, parts, damagedLines, changes, unlisted: unlistedIn(names, parts), damaged };
}

/** What becomes of lines that parts.ndjson lost: they are made from the files of the parts, or the archive is refused. */
export type LostLines = 'relisted' | 'refused';

/**
 * Opens an archive, or a missing or empty folder for a new one, for this process alone. Waits for another process.
 * @throws Failure unavailable naming the process that still holds it; usage for a folder of other files; config where it is damaged
 */
export async function openArchive(
  folder: string,
  world: Surroundings,
  options: OpenOptions,
  lostLines: LostLines = 'refused',
): Promise<OpenArchive> {
  const release = await takeFolder(folder, world, options);
  try {
    const head = await readHead(folder);
    if (!head) await refuseOtherFiles(folder);
    else if (lostLines === 'relisted') await relistParts(folder, head.forms, options.note);
    else refuseLostLines(await inspectArchive(folder), lostLinesHint);
    return await opened(folder, head, release);
  } catch (cause) {
    await release();
    throw cause;
  }
}

async function opened(
  folder: string,
  oldHead: ArchiveHead | undefined,
  release: () => Promise<void>,
): Promise<OpenArchive> {
  let head = oldHead;
  const [lines, changeLines] = [await openLineFile(partListOf(folder)), await openLineFile(changeList(folder))];
  const parts = partsIn(lines.records);
  const changes = [...changesIn(changeLines.records, changeList(folder))];
  return {
    folder,
    parts,
    changes,
    get head() {
      return head;
    },
    async setHead(next) {
      await writeHead(folder, next);
      head = next;
    },
    async add(messages) {
      const ids = archiveForms.flatMap((form) => messages[form] ?? []).map(({ id }) => id);
      const part = await written(folder, blankPart((parts.at(-1)?.part ?? 0) + 1, [...new Set(ids)]), messages);
      await lines.append(part);
      parts.push(part);
      return part;
    },
    async repair(part, form, messages) {
      const whole = await written(folder, part, { [form]: messages });
      await lines.append(whole);
      parts.splice(parts.indexOf(part), 1, whole);
    },
    async relist(part) {
      const whole = await partInFiles(
        folder,
        part.part,
        archiveForms.filter((form) => part[form]),
      );
      if (typeof whole === 'string') throw lostLine(folder, part.part, whole);
      await lines.append(whole);
      parts.splice(parts.indexOf(part), 1, whole);
    },
    async record(added) {
      if (added.length > 0) await changeLines.append(...added);
      changes.push(...added);
    },
    purge: () => openPurge(folder),
    async close() {
      await Promise.all([lines.close(), changeLines.close()]);
      await release();
    },
  };
}

function blankPart(part: number, ids: readonly number[]): ArchivePart {
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('a part without messages');
  return { part, first, last, count: ids.length, ids };
}

/** The part with those forms on disk; its line is still to be appended. */
async function written(folder: string, part: ArchivePart, messages: PartMessages): Promise<ArchivePart> {
  let whole = part;
  for (const form of archiveForms) {
    const rows = messages[form];
    if (rows) whole = { ...whole, [form]: await writePartFile(folder, form, part, rows) };
  }
  return whole;
}

function unlistedIn(names: readonly string[], parts: readonly ArchivePart[]): string[] {
  const listed = new Set(parts.flatMap((part) => archiveForms.map((form) => part[form]?.file)));
  return names.filter((name) => partNumberIn(name) !== undefined && !listed.has(name)).sort();
}

/** Parts whose line is lost would be written over, and the server may not have their messages any more. */
function refuseLostLines({ folder, parts, unlisted, damagedLines }: Archive, hint: string): void {
  const [damaged] = damagedLines;
  if (damaged !== undefined) throw new Failure('config', `${partListOf(folder)} is damaged: ${damaged}`, { hint });
  const next = (parts.at(-1)?.part ?? 0) + 1;
  const files = unlisted.filter((name) => partNumberIn(name) !== next);
  const isWhole = parts.every(({ part }, index) => part === index + 1);
  if (files.length === 0 && isWhole) return;
  const what = files.length > 0 ? `the lines of ${files.join(', ')}` : 'lines of parts';
  throw new Failure('config', `${partListOf(folder)} lost ${what}`, { hint });
}

const changeList = (folder: string): string => join(folder, 'changes.ndjson');
