// An archive that this process alone changes, from taking its folder to giving it back.
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import type { UploadPath } from '../../schema/upload.ts';
import { orFailure, remove, syncFolder } from '../disk/files.ts';
import type { Patience, Surroundings } from '../lock/lock.ts';
import { problemsOfLists, type ArchiveContent, type ArchiveProblem } from './archive.ts';
import { namesIn, refuseOtherFiles, stampOf, takeFolder } from './archive-folder.ts';
import { damagedFile, manifestFile, noState, readHead, readManifest, writeManifest } from './archive-head.ts';
import type { ArchiveHead, ArchiveState, Manifest } from './archive-head.ts';
import { filesByPath, isKept, problemOfKept, writeKeptFile, type FileRecord, type KeptFile } from './kept-file.ts';
import { LineFile, listNames, readLists, sealedLists, sizeAt } from './line-file.ts';
import type { ArchiveChange, ListName, Lists } from './line-file.ts';
import { archiveForms, blankPart, partFileName, readPart, writePart } from './part.ts';
import type { ArchiveForm, ArchivePart, PartMessages } from './part.ts';

/**
 * Opens an archive, or a missing or empty folder for a new one, for this process alone. @throws Failure unavailable
 * naming the process that holds it, after the wait; usage for a folder of other files; config where it is damaged
 */
export async function openArchive(folder: string, host: Surroundings, patience: Patience): Promise<OpenArchive> {
  const release = await takeFolder(folder, host, patience);
  try {
    const manifest = await readHead(folder);
    if (!manifest) await refuseOtherFiles(folder);
    const lists = await readLists(folder);
    // A damaged list can only be restored from a copy. The list of a purge is judged by the run that continues it.
    const damaged = manifest && problemsOfLists(lists, await namesIn(folder), manifest).find(isFatal);
    if (damaged) throw damagedFile(folder, damaged);
    const open = new Map<ListName, LineFile>();
    for (const name of listNames) open.set(name, await LineFile.open(join(folder, name), lists[name]));
    // Once for all names that a killed run may have left in memory alone.
    await orFailure(`write into ${folder}`, syncFolder(folder));
    return new OpenArchive(folder, manifest, lists, open, release);
  } catch (cause) {
    await release();
    throw cause;
  }
}

function isFatal({ kind, file }: ArchiveProblem): boolean {
  return kind === 'lost' || (kind === 'list' && file !== 'purge.ndjson');
}

/** `changed` trusts the files that look as when they were last read and compared. */
export type CheckExtent = 'all' | 'changed';

/** Every call but `mark` resolves when its work is on disk. */
export class OpenArchive implements ArchiveContent {
  readonly folder: string;
  readonly parts: ArchivePart[];
  readonly changes: ArchiveChange[];
  readonly files: Map<UploadPath, FileRecord>;
  readonly #release: () => Promise<void>;
  readonly #lists: ReadonlyMap<ListName, LineFile>;
  /** How each file looked when it was last read and compared. */
  readonly #seen: Map<string, string>;
  /** archive.json as this process, or the one before it, wrote it. */
  #manifest: Manifest | undefined;
  #state: ArchiveState;
  /** How archive.json looked when its hash was last compared: with many attached files, reading takes milliseconds. */
  #compared: string | undefined;
  #isComplete = false;

  constructor(
    folder: string,
    manifest: Manifest | undefined,
    read: Lists,
    open: ReadonlyMap<ListName, LineFile>,
    release: () => Promise<void>,
  ) {
    [this.folder, this.#lists, this.#release] = [folder, open, release];
    this.#manifest = manifest;
    this.#state = manifest?.state ?? noState;
    this.#seen = new Map(Object.entries(this.#state.seen));
    this.parts = [...read['parts.ndjson'].records];
    this.changes = [...read['changes.ndjson'].records];
    this.files = filesByPath(read['files.ndjson'].records);
  }

  get head(): Manifest | undefined {
    return this.#manifest;
  }

  setHead(head: ArchiveHead): Promise<void> {
    return this.#write({ ...head, state: this.#state });
  }

  /** Records whether the pull has reached its end; it is on disk after `close`. */
  mark({ complete }: Pick<ArchiveState, 'complete'>): void {
    this.#isComplete = complete;
    this.#state = { ...this.#state, complete };
  }

  /** Says what is wrong with a form of a part. */
  check(part: ArchivePart, form: ArchiveForm, which: CheckExtent): Promise<string | undefined> {
    const look = async () => (await readPart(this.folder, part, form)).problem;
    return this.#problemOf(part[form]?.file ?? '', which, look);
  }

  async add(messages: PartMessages): Promise<ArchivePart> {
    await this.#confirmInPlace();
    const site = this.#manifest?.site ?? '';
    const part = await writePart(this.folder, blankPart(this.parts, messages, site), messages);
    await this.#append('parts.ndjson', part);
    this.parts.push(part);
    for (const form of archiveForms) await this.#seeNow(part[form]?.file);
    return part;
  }

  async record(added: readonly ArchiveChange[]): Promise<void> {
    if (added.length > 0) await this.#append('changes.ndjson', ...added);
    this.changes.push(...added);
  }

  /** Whether an attached file is there, and what its line says. */
  async holds(kept: KeptFile, which: CheckExtent): Promise<boolean> {
    return (await this.#problemOf(kept.file, which, () => problemOfKept(this.folder, kept))) === undefined;
  }

  /** Writes an attached file; its record is still to be recorded. Several may be written at once. */
  async keep(path: UploadPath, pieces: AsyncIterable<Uint8Array>): Promise<KeptFile> {
    await this.#confirmInPlace();
    return writeKeptFile(this.folder, path, pieces);
  }

  async recordFile(record: FileRecord): Promise<void> {
    await this.#append('files.ndjson', record);
    this.files.set(record.path, record);
    if (isKept(record)) await this.#seeNow(record.file);
  }

  /** After the first record of a purge, messages may be deleted. */
  async recordPurge(record: object): Promise<void> {
    await this.#lists.get('purge.ndjson')?.append(record);
  }

  /** The first of its files that somebody took away, or cut; undefined where all are as they were written. */
  async missing(): Promise<string | undefined> {
    if (!(await this.#isInPlace())) return manifestFile;
    for (const [name, file] of this.#lists) if (!(await file.isInPlace())) return name;
    const ofParts = this.parts.flatMap((part) => archiveForms.flatMap((form) => part[form] ?? []));
    for (const { file, bytes } of [...ofParts, ...[...this.files.values()].filter(isKept)])
      if ((await sizeAt(join(this.folder, file))) !== bytes) return file;
    return undefined;
  }

  /** Records what the lists hold now: a copy that is made from here on is whole. */
  async seal(): Promise<void> {
    // Lines that a power cut may take are not sealed: without them the archive would count as damaged.
    const isOnDisk = [...this.#lists.values()].every(({ failure }) => failure === undefined);
    if (!isOnDisk || !this.#manifest) return;
    const lists = await sealedLists(this.folder, this.#state.lists);
    const state = { ...this.#state, lists, seen: Object.fromEntries(this.#seen) };
    if (!isDeepStrictEqual(state, this.#manifest.state)) await this.#write({ ...this.#manifest, state });
  }

  /** Seals the archive, and gives it back. */
  async close(): Promise<void> {
    try {
      for (const file of this.#lists.values()) await file.close();
      if (this.#manifest) await this.#confirmInPlace();
      // A killed run left these files, and the selection has no more messages for their part.
      const leftover = this.#isComplete ? archiveForms : [];
      const next = (this.parts.at(-1)?.part ?? 0) + 1;
      for (const form of leftover) await remove(join(this.folder, partFileName(form, next)));
      await this.seal();
    } finally {
      await this.#release();
    }
  }

  async #append(name: ListName, ...records: readonly unknown[]): Promise<void> {
    await this.#confirmInPlace();
    await this.#lists.get(name)?.append(...records);
  }

  async #write(next: Manifest): Promise<void> {
    await this.#confirmInPlace();
    this.#manifest = { ...next, sha256: await writeManifest(this.folder, next) };
    this.#state = next.state;
  }

  /** Where the folder was taken away, another process may have made its own in the same place. */
  async #confirmInPlace(): Promise<void> {
    const stamp = await stampOf(join(this.folder, manifestFile));
    if (stamp !== undefined && stamp === this.#compared) return;
    if (!(await this.#isInPlace())) throw takenAway(this.folder, manifestFile, 'nothing more is archived');
    this.#compared = stamp;
  }

  async #isInPlace(): Promise<boolean> {
    const there = (await readManifest(this.folder))?.manifest;
    return (there === undefined) === (this.#manifest === undefined) && there?.sha256 === this.#manifest?.sha256;
  }

  async #seeNow(file: string | undefined): Promise<void> {
    const stamp = file === undefined ? undefined : await stampOf(join(this.folder, file));
    if (file !== undefined && stamp !== undefined) this.#seen.set(file, stamp);
  }

  /** Reads a file, unless it is trusted, and says what is wrong with it. */
  async #problemOf(file: string, which: CheckExtent, look: () => Promise<string | undefined>) {
    const stamp = await stampOf(join(this.folder, file));
    if (which === 'changed' && stamp !== undefined && this.#seen.get(file) === stamp) return undefined;
    const problem = await look();
    if (problem === undefined && stamp !== undefined) this.#seen.set(file, stamp);
    return problem;
  }
}

/** The failure of a run whose archive somebody moved, removed or cut meanwhile. */
export function takenAway(folder: string, file: string, what: string): Failure {
  const message = `the archive ${folder} was taken away: ${file} is not as it was written; ${what}`;
  return new Failure('incomplete', message, {
    hint: 'Put the folder back as it was, and run the same command again: it continues.',
    retryable: false,
  });
}
