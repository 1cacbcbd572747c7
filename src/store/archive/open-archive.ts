import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import type { UploadPath } from '../../schema/upload.ts';
import { remove } from '../disk/files.ts';
import {
  manifestFile,
  noState,
  partsIn,
  readManifest,
  sealedLists,
  stampOf,
  writeManifest,
  type ArchiveHead,
  type ArchiveState,
  type ListName,
  type Lists,
  type Manifest,
} from './archive-head.ts';
import { appending, openPurge, sizeAt, type ArchiveChange } from './line-file.ts';
import { filesByPath, isKept, problemOfKept, writeKeptFile, type FileRecord, type KeptFile } from './kept-file.ts';
import {
  archiveForms,
  blankPart,
  partFileName,
  readPart,
  uploadsOf,
  written,
  type ArchiveForm,
  type ArchivePart,
  type PartMessages,
  type StoredMessage,
} from './part.ts';

export interface ArchiveContent {
  readonly folder: string;
  readonly parts: readonly ArchivePart[];
  readonly changes: readonly ArchiveChange[];
  readonly files: ReadonlyMap<UploadPath, FileRecord>;
}

/** An archive that this process alone changes. Every call but `mark` resolves when its work is on disk. */
export type OpenArchive = ReturnType<typeof openedArchive>;

/** `changed` trusts the files that look as when they were last read and compared. */
export type Which = 'all' | 'changed';

/** archive.json is written when the head is set, and at the end if anything else changed. */
export function openedArchive(
  folder: string,
  manifest: Manifest | undefined,
  read: Lists,
  release: () => Promise<void>,
) {
  const own = ownManifest(folder, manifest);
  const { setHead, confirmInPlace } = own;
  let [isComplete, isOnDisk] = [false, true];
  const failed = (): void => void (isOnDisk = false);
  const open = (name: ListName) => appending(join(folder, name), read[name].size, failed, confirmInPlace);
  const lists = { parts: open('parts.ndjson'), changes: open('changes.ndjson'), files: open('files.ndjson') };
  const parts = partsIn(read['parts.ndjson'].records);
  const changes = [...read['changes.ndjson'].records];
  const files = filesByPath(read['files.ndjson'].records);
  const content: ArchiveContent = { folder, parts, changes, files };
  const { problemOf, seeNow, stamps } = seenFiles(folder, own.state.seen);
  const list = async (part: ArchivePart): Promise<void> => {
    await lists.parts.append(part);
    const place = parts.findIndex((one) => one.part === part.part);
    parts.splice(place < 0 ? parts.length : place, 1, part);
  };
  /** Records what the lists hold now: a copy that is made from here on is whole. */
  const seal = async (): Promise<void> => {
    // Lines that a power cut may take are not sealed: without them the archive would count as damaged.
    if (!isOnDisk || !own.manifest) return;
    const state = { ...own.state, lists: await sealedLists(folder, own.state.lists), seen: stamps() };
    if (!isDeepStrictEqual(state, own.manifest.state)) await own.write({ ...own.manifest, state });
  };
  return {
    ...content,
    setHead,
    seal,
    get head() {
      return own.manifest;
    },
    get state() {
      return own.state;
    },
    /** Records how far the archive is; it is on disk after `close`. */
    mark(next: Pick<ArchiveState, 'complete'>): void {
      isComplete = next.complete;
      own.state = { ...own.state, ...next };
    },
    /** Says what is wrong with a form of a part. */
    check: (part: ArchivePart, form: ArchiveForm, which: Which) =>
      problemOf(part[form]?.file ?? '', which, async () => (await readPart(folder, part, form)).problem),
    async add(messages: PartMessages): Promise<ArchivePart> {
      await confirmInPlace();
      const part = await written(folder, blankPart(parts, messages, own.manifest?.site ?? ''), messages);
      await list(part);
      for (const form of archiveForms) await seeNow(part[form]?.file);
      return part;
    },
    async repair(part: ArchivePart, form: ArchiveForm, messages: readonly StoredMessage[]): Promise<void> {
      await confirmInPlace();
      const attached = [...new Set([...part.attached, ...uploadsOf(messages, own.manifest?.site ?? '')])];
      await list(await written(folder, { ...part, attached }, { [form]: messages }));
      await seeNow(part[form]?.file);
    },
    async record(added: readonly ArchiveChange[]): Promise<void> {
      if (added.length > 0) await lists.changes.append(...added);
      changes.push(...added);
    },
    /** Whether an attached file is there, and what its line says. */
    holds: async (kept: KeptFile, which: Which) =>
      (await problemOf(kept.file, which, () => problemOfKept(folder, kept))) === undefined,
    /** Writes an attached file; its record is still to be recorded. Several may be written at once. */
    async keep(path: UploadPath, pieces: AsyncIterable<Uint8Array>) {
      await confirmInPlace();
      return writeKeptFile(folder, path, pieces);
    },
    async recordFile(record: FileRecord): Promise<void> {
      await lists.files.append(record);
      files.set(record.path, record);
      if (isKept(record)) await seeNow(record.file);
    },
    purge: () => openPurge(folder, failed),
    /** The first of its files that somebody took away, or cut; undefined where all are as they were written. */
    async missing(): Promise<string | undefined> {
      if (!(await own.isInPlace())) return manifestFile;
      for (const [name, file] of Object.entries(lists)) if (!(await file.isInPlace())) return `${name}.ndjson`;
      return firstCut(content);
    },
    /** Seals the archive, and gives it back. */
    async close(): Promise<void> {
      try {
        for (const file of Object.values(lists)) await file.close();
        if (own.manifest) await confirmInPlace();
        // A run that was killed left them, and the selection has nothing more for their part.
        const leftover = isComplete ? archiveForms : [];
        for (const form of leftover) await remove(join(folder, partFileName(form, (parts.at(-1)?.part ?? 0) + 1)));
        await seal();
      } finally {
        await release();
      }
    },
  };
}

/** archive.json as this process, or the one before it, wrote it. */
function ownManifest(folder: string, read: Manifest | undefined) {
  let manifest = read;
  let state = read?.state ?? noState;
  const isInPlace = async (): Promise<boolean> => {
    const there = (await readManifest(folder))?.manifest;
    return (there === undefined) === (manifest === undefined) && there?.sha256 === manifest?.sha256;
  };
  /** How the file looked when its hash was last compared: with many attached files it takes milliseconds to read. */
  let compared: string | undefined;
  /** Where the folder was taken away, another process may have made its own in the same place. */
  const confirmInPlace = async (): Promise<void> => {
    const stamp = await stampOf(join(folder, manifestFile));
    if (stamp !== undefined && stamp === compared) return;
    if (!(await isInPlace())) throw takenAway(folder, manifestFile, 'nothing more is archived');
    compared = stamp;
  };
  const write = async (next: Manifest): Promise<void> => {
    await confirmInPlace();
    manifest = { ...next, sha256: await writeManifest(folder, next) };
    ({ state } = next);
  };
  return {
    get manifest() {
      return manifest;
    },
    get state() {
      return state;
    },
    set state(next) {
      state = next;
    },
    setHead: (next: ArchiveHead) => write({ ...next, state }),
    isInPlace,
    confirmInPlace,
    write,
  };
}

/** The failure of a run whose archive somebody moved, removed or cut meanwhile. */
export function takenAway(folder: string, file: string, what: string): Failure {
  const message = `the archive ${folder} was taken away: ${file} is not as it was written; ${what}`;
  return new Failure('incomplete', message, {
    hint: 'Put the folder back as it was, and run the same command again: it continues.',
    retryable: false,
  });
}

/** Remembers how the files of an archive looked when they were last read and compared. */
function seenFiles(folder: string, known: ArchiveState['seen']) {
  const seen = new Map(Object.entries(known));
  const see = (file: string, stamp: string | undefined) => stamp !== undefined && seen.set(file, stamp);
  return {
    stamps: () => Object.fromEntries(seen),
    async seeNow(file: string | undefined): Promise<void> {
      if (file !== undefined) see(file, await stampOf(join(folder, file)));
    },
    /** Reads a file, unless it is trusted, and says what is wrong with it. */
    async problemOf(file: string, which: Which, look: () => Promise<string | undefined>) {
      const stamp = await stampOf(join(folder, file));
      if (which === 'changed' && stamp !== undefined && seen.get(file) === stamp) return undefined;
      const problem = await look();
      if (problem === undefined) see(file, stamp);
      return problem;
    },
  };
}

/** The first file of messages, or attached one, that has not the bytes of its line. */
async function firstCut({ folder, parts, files }: ArchiveContent) {
  const ofParts = parts.flatMap((part) => archiveForms.flatMap((form) => part[form] ?? []));
  for (const { file, bytes } of [...ofParts, ...[...files.values()].filter(isKept)])
    if ((await sizeAt(join(folder, file))) !== bytes) return file;
  return undefined;
}
