import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Surroundings } from '../lock/lock.ts';
import { namesIn, refuseOtherFiles, takeFolder, type OpenOptions } from './archive-folder.ts';
import { archiveForms, noArchive, readHead, writeHead, type ArchiveForm, type ArchiveHead } from './archive-head.ts';
import { isKeptAside } from './damaged-file.ts';
import { openLineFile, readLineFile } from './line-file.ts';
import {
  partNumberIn,
  partsIn,
  writePartFile,
  type ArchivedMessage,
  type ArchivePart,
  type PartMessages,
  type StoredMessage,
} from './part.ts';
import { openPurge, type PurgeRecord } from './purge-record.ts';

const archiveChanges = ['edited', 'moved', 'deleted'] as const;

/** What a later look at the server showed of an archived message (docs/archive-format.md, Changes). */
export interface ArchiveChange {
  readonly id: number;
  readonly change: (typeof archiveChanges)[number];
  /** When it was seen, RFC 3339 UTC. */
  readonly seen: string;
  /** The message as the server showed it then. */
  readonly message?: ArchivedMessage | undefined;
}

/** An archive as it is on disk. */
export interface Archive {
  readonly folder: string;
  readonly head: ArchiveHead;
  /** By number. */
  readonly parts: readonly ArchivePart[];
  readonly changes: readonly ArchiveChange[];
  /** Files of parts that no line of parts.ndjson names; a crash leaves at most those of the next part. */
  readonly unlisted: readonly string[];
  /** Damaged files that a repair kept aside. */
  readonly damaged: readonly string[];
}

/** An archive that this process alone changes; a new one has no head. Every call resolves when its work is on disk. */
export interface OpenArchive extends Omit<Archive, 'head' | 'unlisted' | 'damaged'> {
  readonly head: ArchiveHead | undefined;
  setHead(head: ArchiveHead): Promise<void>;
  /** Adds the next part: the same messages in each form, ascending. */
  add(messages: PartMessages): Promise<ArchivePart>;
  /** Replaces one form of a part. */
  repair(part: ArchivePart, form: ArchiveForm, messages: readonly StoredMessage[]): Promise<void>;
  record(changes: readonly ArchiveChange[]): Promise<void>;
  /** The record of the purge that the archive is for. */
  purge(): Promise<PurgeRecord>;
  close(): Promise<void>;
}

/**
 * Reads an archive, also while another process adds to it.
 * @throws Failure usage where the folder holds none; config where its records are damaged
 */
export async function readArchive(folder: string): Promise<Archive> {
  const head = await readHead(folder);
  if (!head) throw noArchive(folder);
  const parts = partsIn((await readLineFile(partList(folder))).records, partList(folder));
  const changes = changesIn((await readLineFile(changeList(folder))).records, changeList(folder));
  const damaged = (await namesIn(folder)).filter(isKeptAside).sort();
  return { folder, head, parts, changes, unlisted: await unlistedFiles(folder, parts), damaged };
}

/**
 * Opens an archive, or a missing or empty folder for a new one, for this process alone. Waits for another process.
 * @throws Failure unavailable naming the process that still holds it; usage for a folder of other files; config where it is damaged
 */
export async function openArchive(folder: string, world: Surroundings, options: OpenOptions): Promise<OpenArchive> {
  const release = await takeFolder(folder, world, options);
  try {
    return await opened(folder, release);
  } catch (cause) {
    await release();
    throw cause;
  }
}

async function opened(folder: string, release: () => Promise<void>): Promise<OpenArchive> {
  let head = await readHead(folder);
  if (!head) await refuseOtherFiles(folder);
  const [lines, changeLines] = [await openLineFile(partList(folder)), await openLineFile(changeList(folder))];
  const parts = [...partsIn(lines.records, partList(folder))];
  const changes = [...changesIn(changeLines.records, changeList(folder))];
  refuseLostLines(folder, parts, await unlistedFiles(folder, parts));
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

/** @throws Failure config for a line of another shape */
function changesIn(records: readonly unknown[], path: string): readonly ArchiveChange[] {
  return records.map((record, index) => {
    if (isChange(record)) return record;
    throw new Failure('config', `${path}:${index + 1}: not a change of an archived message`, {
      hint: 'Put the file back from a copy, or remove that line.',
    });
  });
}

function isChange(record: unknown): record is ArchiveChange {
  if (!isObject(record)) return false;
  const { id, change, seen } = record;
  return typeof id === 'number' && typeof seen === 'string' && archiveChanges.some((known) => known === change);
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

async function unlistedFiles(folder: string, parts: readonly ArchivePart[]): Promise<string[]> {
  const listed = new Set(parts.flatMap((part) => archiveForms.map((form) => part[form]?.file)));
  const names = await namesIn(folder);
  return names.filter((name) => partNumberIn(name) !== undefined && !listed.has(name)).sort();
}

/** Parts whose line is lost would be written over, and the server may not have their messages any more. */
function refuseLostLines(folder: string, parts: readonly ArchivePart[], unlisted: readonly string[]): void {
  const next = (parts.at(-1)?.part ?? 0) + 1;
  const files = unlisted.filter((name) => partNumberIn(name) !== next);
  const isWhole = parts.every(({ part }, index) => part === index + 1);
  if (files.length === 0 && isWhole) return;
  const what = files.length > 0 ? `the lines of ${files.join(', ')}` : 'lines of parts';
  throw new Failure('config', `${partList(folder)} lost ${what}`, { hint: lostLinesHint });
}

/** What to do where parts.ndjson itself is damaged. */
export const lostLinesHint = 'Put parts.ndjson back from a copy, or pull into another folder.';

const partList = (folder: string): string => join(folder, 'parts.ndjson');
const changeList = (folder: string): string => join(folder, 'changes.ndjson');
