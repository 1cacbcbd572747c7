import { constants } from 'node:fs';
import type { Chance } from './chance.ts';

/**
 * A disk in memory that forgets at a power cut what a real one may forget: the content of a file since its last sync,
 * and every name that was given or taken in a folder since that folder was synced. All calls are at once; the scheduler
 * decides when they are made.
 */
export interface Disk {
  /** The node at a path. @throws ENOENT, ENOTDIR */
  find(path: string): Entry;
  has(path: string): boolean;
  open(path: string, flags: number, mode: number): OpenFile;
  mkdir(path: string, mode: number): void;
  link(from: string, to: string): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  /** Whether the whole disk refuses changes. */
  isReadOnly: boolean;
  /** Bytes that it takes in all. */
  capacity: number;
  /**
   * What the disk holds after a power cut. `loss`: of everything that was not synced all, none, or what chance says.
   */
  cutPower(loss: Loss): void;
  /** Every file below a folder, by path. */
  files(): Map<string, Buffer>;
}

export type Loss = 'all' | 'none' | Chance;

export class File {
  readonly ino = (lastInode += 1);
  mode: number;
  bytes: Buffer = Buffer.alloc(0);
  /** What is on the platter; undefined: nothing of it yet. */
  synced: Buffer | undefined;
  /** A sync has failed and dropped it: until the next write it counts as written, and is not. */
  isDropped = false;

  constructor(mode: number) {
    this.mode = mode;
  }
}

export class Folder {
  readonly ino = (lastInode += 1);
  mode: number;
  readonly entries = new Map<string, Entry>();
  synced: ReadonlyMap<string, Entry> = new Map();

  constructor(mode: number) {
    this.mode = mode;
  }
}

export type Entry = File | Folder;

let lastInode = 0;

/** Each world numbers its files by itself: a history is the same whenever it is played. */
export function numberInodesAgain(): void {
  lastInode = 0;
}

/** An open file, or folder. */
export class OpenFile {
  readonly entry: Entry;
  readonly flags: number;
  readonly #room: () => number;
  #at = 0;

  constructor(entry: Entry, flags: number, room: () => number) {
    this.entry = entry;
    this.flags = flags;
    this.#room = room;
  }

  get file(): File {
    if (this.entry instanceof Folder) throw diskError('EISDIR', 'read');
    return this.entry;
  }

  /** From that place, or from where the last one ended. */
  read(length: number, position: number | null): Buffer {
    const start = position ?? this.#at;
    const bytes = this.file.bytes.subarray(start, start + length);
    if (position === null) this.#at += bytes.length;
    return bytes;
  }

  write(bytes: Uint8Array, position: number | null): void {
    const { file } = this;
    if ((this.flags & 3) === constants.O_RDONLY) throw diskError('EBADF', 'write');
    const isAppending = (this.flags & constants.O_APPEND) !== 0;
    const start = isAppending ? file.bytes.length : (position ?? this.#at);
    const end = start + bytes.length;
    const room = this.#room() + file.bytes.length;
    if (end > room) throw diskError('ENOSPC', 'write');
    const grown = Buffer.alloc(Math.max(end, file.bytes.length));
    file.bytes.copy(grown);
    grown.set(bytes, start);
    file.bytes = grown;
    file.isDropped = false;
    if (position === null) this.#at = end;
  }

  truncate(length: number): void {
    const { file } = this;
    const kept = Buffer.alloc(length);
    file.bytes.copy(kept, 0, 0, length);
    file.bytes = kept;
    file.isDropped = false;
  }

  sync(): void {
    sync(this.entry);
  }

  /** A sync that fails, as Linux does it: what was not written counts as written from then on. */
  drop(): void {
    if (this.entry instanceof File) this.entry.isDropped = true;
  }
}

export function createDisk(): Disk {
  const root = new Folder(0o755);
  const room = (): number =>
    disk.capacity - [...filesIn(root, '')].reduce((size, [, { bytes }]) => size + bytes.length, 0);
  const unlimited = (): number => (disk.capacity === Infinity ? Infinity : room());
  const refuseChange = (call: string): void => {
    if (disk.isReadOnly) throw diskError('EROFS', call);
  };

  const folderOf = (path: string, call: string): readonly [Folder, string] => {
    const parts = path.split('/').filter((part) => part !== '');
    const name = parts.pop() ?? '';
    if (name.length > 255) throw diskError('ENAMETOOLONG', call, path);
    let folder: Folder = root;
    for (const part of parts) {
      const next = folder.entries.get(part);
      if (!next) throw diskError('ENOENT', call, path);
      if (next instanceof File) throw diskError('ENOTDIR', call, path);
      folder = next;
    }
    return [folder, name];
  };
  const find = (path: string, call: string): Entry => {
    const [folder, name] = folderOf(path, call);
    const entry = name === '' ? folder : folder.entries.get(name);
    if (!entry) throw diskError('ENOENT', call, path);
    if (path.endsWith('/') && entry instanceof File) throw diskError('ENOTDIR', call, path);
    return entry;
  };

  const disk: Disk = {
    isReadOnly: false,
    capacity: Infinity,
    find: (path) => find(path, 'stat'),
    has(path) {
      const [folder, name] = folderOf(path, 'stat');
      return folder.entries.has(name);
    },
    open(path, flags, mode) {
      const [folder, name] = folderOf(path, 'open');
      const found = name === '' ? folder : folder.entries.get(name);
      const isWriting = (flags & 3) !== constants.O_RDONLY;
      if (found && (flags & constants.O_EXCL) !== 0 && (flags & constants.O_CREAT) !== 0)
        throw diskError('EEXIST', 'open', path);
      if (!found && (flags & constants.O_CREAT) === 0) throw diskError('ENOENT', 'open', path);
      if (isWriting && found instanceof Folder) throw diskError('EISDIR', 'open', path);
      if (isWriting) refuseChange('open');
      const entry = found ?? new File(mode);
      if (!found) folder.entries.set(name, entry);
      const opened = new OpenFile(entry, flags, unlimited);
      if ((flags & constants.O_TRUNC) !== 0) opened.truncate(0);
      return opened;
    },
    mkdir(path, mode) {
      const [folder, name] = folderOf(path, 'mkdir');
      if (name === '' || folder.entries.has(name)) throw diskError('EEXIST', 'mkdir', path);
      refuseChange('mkdir');
      folder.entries.set(name, new Folder(mode));
    },
    link(from, to) {
      const entry = find(from, 'link');
      const [folder, name] = folderOf(to, 'link');
      if (folder.entries.has(name)) throw diskError('EEXIST', 'link', to);
      refuseChange('link');
      folder.entries.set(name, entry);
    },
    rename(from, to) {
      const [source, name] = folderOf(from, 'rename');
      const entry = find(from, 'rename');
      const [target, newName] = folderOf(to, 'rename');
      const there = target.entries.get(newName);
      if (there instanceof Folder && entry instanceof File) throw diskError('EISDIR', 'rename', to);
      if (there instanceof Folder && there.entries.size > 0) throw diskError('ENOTEMPTY', 'rename', to);
      refuseChange('rename');
      source.entries.delete(name);
      target.entries.set(newName, entry);
    },
    unlink(path) {
      const [folder, name] = folderOf(path, 'unlink');
      if (find(path, 'unlink') instanceof Folder) throw diskError('EISDIR', 'unlink', path);
      refuseChange('unlink');
      folder.entries.delete(name);
    },
    rmdir(path) {
      const [folder, name] = folderOf(path, 'rmdir');
      const entry = find(path, 'rmdir');
      if (entry instanceof File) throw diskError('ENOTDIR', 'rmdir', path);
      if (entry.entries.size > 0) throw diskError('ENOTEMPTY', 'rmdir', path);
      refuseChange('rmdir');
      folder.entries.delete(name);
    },
    cutPower: (loss) => forget(root, loss, new Set()),
    files: () => new Map([...filesIn(root, '')].map(([path, { bytes }]) => [path, bytes])),
  };
  return disk;
}

function* filesIn(folder: Folder, path: string): Generator<readonly [string, File]> {
  for (const [name, entry] of folder.entries)
    if (entry instanceof Folder) yield* filesIn(entry, `${path}/${name}`);
    else yield [`${path}/${name}`, entry];
}

function sync(entry: Entry): void {
  if (entry instanceof Folder) entry.synced = new Map(entry.entries);
  else if (!entry.isDropped) entry.synced = entry.bytes;
}

/** A file with two names is forgotten once. */
function forget(entry: Entry, loss: Loss, seen: Set<Entry>): void {
  if (seen.has(entry)) return;
  seen.add(entry);
  if (entry instanceof File) {
    entry.bytes = survivingBytes(entry, loss);
    entry.isDropped = false;
    sync(entry);
    return;
  }
  const names = new Set([...entry.synced.keys(), ...entry.entries.keys()]);
  const left = [...names].flatMap((name) => {
    const [before, after] = [entry.synced.get(name), entry.entries.get(name)];
    const isKept = before === after || loss === 'none' || (loss !== 'all' && loss.happens(0.5));
    const survivor = isKept ? after : before;
    return survivor ? [[name, survivor] as const] : [];
  });
  entry.entries.clear();
  for (const [name, survivor] of left) {
    entry.entries.set(name, survivor);
    forget(survivor, loss, seen);
  }
  sync(entry);
}

/** Of what was not synced all, nothing, or a beginning: the end is missing, or was never written and reads as zeros. */
function survivingBytes({ bytes, synced = Buffer.alloc(0) }: File, loss: Loss): Buffer {
  if (loss === 'none' || bytes === synced) return bytes;
  if (loss === 'all') return synced;
  const isAppended = bytes.length >= synced.length && bytes.subarray(0, synced.length).equals(synced);
  if (!isAppended) return loss.pick([bytes, synced]);
  // What fits into one block of the disk is there whole, or not at all.
  if (loss.happens(0.5)) return loss.pick([bytes, synced]);
  const torn = bytes.subarray(0, synced.length + loss.below(bytes.length - synced.length + 1));
  return loss.happens(0.2) ? Buffer.concat([torn, Buffer.alloc(bytes.length - torn.length)]) : torn;
}

export interface DiskError extends Error {
  readonly code: string;
  readonly syscall: string;
}

export function diskError(code: string, syscall: string, path?: string): DiskError {
  const place = path === undefined ? '' : ` '${path}'`;
  return Object.assign(new Error(`${code}: simulated, ${syscall}${place}`), { code, syscall, path });
}
