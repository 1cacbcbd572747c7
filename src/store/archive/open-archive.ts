import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import type { UploadPath } from '../../schema/upload.ts';
import { remove } from '../disk/files.ts';
import { partsIn, type ArchiveChange, type Lists } from './archive-lists.ts';
import {
  manifestFile,
  readManifest,
  versionWithLateParts,
  writeManifest,
  type ArchiveHead,
  type Manifest,
  noState,
  sealedLists,
  stampOf,
  type ArchiveState,
  type ListName,
} from './archive-head.ts';
import { filesByPath, isKept, problemOfKept, writeKeptFile, type FileRecord, type KeptFile } from './kept-file.ts';
import { appending, type LineFile, openPurge, sizeAt } from './line-file.ts';
import {
  archiveForms,
  blankPart,
  partFileName,
  readPart,
  written,
  type ArchiveForm,
  type ArchivePart,
  type PartMessages,
  type ReadPart,
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

type Which = 'all' | 'changed';

interface Opened {
  readonly manifest: Manifest | undefined;
  readonly lists: Lists;
  readonly release: () => Promise<void>;
}

export function openedArchive(folder: string, { manifest: before, lists: read, release }: Opened) {
  const manifest = openedManifest(folder, before);
  let isOnDisk = true;
  const failed = (): void => void (isOnDisk = false);
  const open = (name: ListName): LineFile => appending(join(folder, name), read[name].size, failed);
  const lists = { parts: open('parts.ndjson'), changes: open('changes.ndjson'), files: open('files.ndjson') };
  const parts = partsIn(read['parts.ndjson'].records);
  const changes = [...read['changes.ndjson'].records];
  const files = filesByPath(read['files.ndjson'].records);
  const { setHead, mark } = manifest;
  /** Lines that a power cut may take are not sealed: without them the archive would count as damaged. */
  const seal = async (): Promise<void> => {
    if (isOnDisk) await manifest.seal();
  };
  const list = async (part: ArchivePart): Promise<void> => {
    await lists.parts.append(part);
    const place = parts.findIndex((one) => one.part === part.part);
    parts.splice(place < 0 ? parts.length : place, 1, part);
  };
  const content: ArchiveContent = { folder, parts, changes, files };
  return {
    ...content,
    list,
    setHead,
    mark,
    seal,
    get head() {
      return manifest.head;
    },
    get state() {
      return manifest.state;
    },
    /** Compares a form of a part with its line; undefined where `which` is `changed` and the file looks unchanged. */
    async check(part: ArchivePart, form: ArchiveForm, which: Which): Promise<ReadPart | undefined> {
      const file = part[form]?.file ?? '';
      const stamp = await stampOf(join(folder, file));
      if (which === 'changed' && manifest.isSeen(file, stamp)) return undefined;
      const read = await readPart(folder, part, form);
      if (read.problem === undefined) manifest.see(file, stamp);
      return read;
    },
    async add(messages: PartMessages): Promise<ArchivePart> {
      const { head } = manifest;
      const part = await written(folder, blankPart(parts, messages, head?.site ?? ''), messages);
      if (part.late && head?.archive === 1) await setHead({ ...head, archive: versionWithLateParts });
      await list(part);
      for (const form of archiveForms) await manifest.seeNow(part[form]?.file);
      return part;
    },
    async repair(part: ArchivePart, form: ArchiveForm, messages: readonly StoredMessage[]): Promise<void> {
      await list(await written(folder, part, { [form]: messages }));
      await manifest.seeNow(part[form]?.file);
    },
    async record(added: readonly ArchiveChange[]): Promise<void> {
      if (added.length > 0) await lists.changes.append(...added);
      changes.push(...added);
    },
    /** Whether an attached file is there, and what its line says; `changed` as for `check`. */
    async holds(kept: KeptFile, which: Which): Promise<boolean> {
      const stamp = await stampOf(join(folder, kept.file));
      if (which === 'changed' && manifest.isSeen(kept.file, stamp)) return true;
      const isWhole = (await problemOfKept(folder, kept)) === undefined;
      if (isWhole) manifest.see(kept.file, stamp);
      return isWhole;
    },
    /** Writes an attached file; its record is still to be recorded. Several may be written at once. */
    keep: (path: UploadPath, pieces: AsyncIterable<Uint8Array>) => writeKeptFile(folder, path, pieces),
    async recordFile(record: FileRecord): Promise<void> {
      await lists.files.append(record);
      files.set(record.path, record);
      if (isKept(record)) await manifest.seeNow(record.file);
    },
    purge: () => openPurge(folder, failed),
    /** The first of its files that somebody took away, or cut; undefined where all are as they were written. */
    async missing(): Promise<string | undefined> {
      const head = await readManifest(folder);
      if (!head || head.problem !== undefined) return manifestFile;
      for (const [name, file] of Object.entries(lists)) if (!(await file.isInPlace())) return `${name}.ndjson`;
      const written = [
        ...parts.flatMap((part) => archiveForms.flatMap((form) => part[form] ?? [])),
        ...[...files.values()].filter(isKept),
      ];
      for (const { file, bytes } of written) if ((await sizeAt(join(folder, file))) !== bytes) return file;
      return undefined;
    },
    /** Seals the archive, and gives it back. */
    async close(): Promise<void> {
      try {
        for (const file of Object.values(lists)) await file.close();
        // A run that was killed left them, and the selection has nothing more for their part.
        const leftover = manifest.isComplete() ? archiveForms : [];
        for (const form of leftover) await remove(join(folder, partFileName(form, (parts.at(-1)?.part ?? 0) + 1)));
        await seal();
      } finally {
        await release();
      }
    },
  };
}

/** archive.json of an open archive: it is written when its head is set, and at the end if anything else changed. */
function openedManifest(folder: string, manifest: Manifest | undefined) {
  let head: ArchiveHead | undefined = manifest;
  let state = manifest?.state ?? noState;
  const seen = new Map(Object.entries(state.seen));
  let isChanged = false;
  let isComplete = false;
  const see = (file: string, stamp: string | undefined): void => {
    if (stamp === undefined || seen.get(file) === stamp) return;
    seen.set(file, stamp);
    isChanged = true;
  };
  return {
    get head() {
      return head;
    },
    get state() {
      return state;
    },
    async setHead(next: ArchiveHead): Promise<void> {
      if (!head) state = { ...state, complete: false };
      await writeManifest(folder, { ...next, state });
      head = next;
    },
    /** Records how far the archive is; it is on disk after `close`. */
    mark(next: Pick<ArchiveState, 'complete' | 'checked' | 'reached'>): void {
      isChanged ||= !isDeepStrictEqual({ ...state, ...next }, state);
      isComplete = next.complete ?? isComplete;
      state = { ...state, ...next };
    },
    isComplete: () => isComplete,
    isSeen: (file: string, stamp: string | undefined) => stamp !== undefined && seen.get(file) === stamp,
    see,
    async seeNow(file: string | undefined) {
      if (file !== undefined) see(file, await stampOf(join(folder, file)));
    },
    /** Records what the lists hold now: a copy that is made from here on is whole. */
    async seal(): Promise<void> {
      if (!head) return;
      const lists = await sealedLists(folder, state.lists);
      if (!isChanged && isDeepStrictEqual(lists, state.lists)) return;
      state = { ...state, lists, seen: Object.fromEntries(seen) };
      await writeManifest(folder, { ...head, state });
      isChanged = false;
    },
  };
}
