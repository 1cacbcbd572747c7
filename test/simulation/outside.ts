import { constants } from 'node:fs';
import { Readable } from 'node:stream';
import { actingProcess, type Process } from './computer.ts';
import { diskError, File, type Disk, type Entry, type OpenFile } from './disk.ts';

/**
 * What src/core/outside.ts is in a simulation: the same names, over the disk, the process table and the chance of the
 * computer whose process calls. `test/simulation/bundle.js` puts this file in that one's place.
 */
export { constants };

/** Calls of one process for a path: the work is done when the scheduler says so. */
function onDisk<T>(name: string, path: string, work: (disk: Disk, path: string) => T): Promise<T> {
  const process = actingProcess();
  return process.call(name, path, () => work(...process.computer.diskAt(path)));
}

export const access = (path: string, mode = 0): Promise<void> =>
  onDisk('access', path, (disk, place) => {
    const entry = disk.find(place);
    if ((mode & constants.W_OK) === 0) return;
    if (disk.isReadOnly) throw diskError('EROFS', 'access', path);
    if ((entry.mode & 0o200) === 0) throw diskError('EACCES', 'access', path);
  });
export const chmod = (path: string, mode: number): Promise<void> =>
  onDisk('chmod', path, (disk, place) => void (disk.find(place).mode = mode));
export const link = (from: string, to: string): Promise<void> =>
  onDisk('link', to, (disk, place) => disk.link(actingProcess().computer.diskAt(from)[1], place));
export const mkdir = (path: string, { mode }: { readonly mode: number }): Promise<void> =>
  onDisk('mkdir', path, (disk, place) => disk.mkdir(place, mode));
export const readdir = (path: string): Promise<string[]> => onDisk('readdir', path, namesOn);
function namesOn(disk: Disk, path: string): string[] {
  const folder = disk.find(path);
  if (folder instanceof File) throw diskError('ENOTDIR', 'scandir', path);
  return [...folder.entries.keys()];
}
export const rename = (from: string, to: string): Promise<void> =>
  onDisk('rename', to, (disk, place) => disk.rename(actingProcess().computer.diskAt(from)[1], place));
export const rmdir = (path: string): Promise<void> => onDisk('rmdir', path, (disk, place) => disk.rmdir(place));
export const unlink = (path: string): Promise<void> => onDisk('unlink', path, (disk, place) => disk.unlink(place));
export const rm = async (path: string, { force = false } = {}): Promise<void> => {
  await unlink(path).catch((cause: unknown) => {
    if (!force) throw cause;
  });
};
export const stat = (path: string): Promise<Found> => onDisk('stat', path, (disk, place) => found(disk.find(place)));
/** There are no links. */
export const lstat = (path: string): Promise<Found> => stat(path);
export const realpath = async (path: string): Promise<string> => {
  await stat(path);
  return path;
};
export const truncate = async (path: string, length: number): Promise<void> => {
  await onDisk('truncate', path, (disk, place) => disk.open(place, constants.O_RDWR, 0).truncate(length));
};
export const open = (path: string, flags: string | number = 'r', mode = 0o666): Promise<Handle> =>
  onDisk('open', path, (disk, place) => new Handle(disk.open(place, flagsOf(flags), mode), path));
export const readlink = (path: string): Promise<string> => readFile(path);

export async function readFile(path: string): Promise<string> {
  if (!path.startsWith('/proc/')) throw new Error(`nothing but /proc is read by readFile, not ${path}`);
  const process = actingProcess();
  return process.call('readFile', path, () => process.computer.proc(path, process));
}

export async function writeFile(
  path: string,
  text: string,
  { flag, mode }: { readonly flag: string; readonly mode: number },
): Promise<void> {
  const file = await open(path, flag, mode);
  await file.writeFile(text);
  await file.close();
}

export function randomBytes(length: number): Buffer {
  const { chance } = actingProcess().computer.world;
  return Buffer.from(Array.from({ length }, () => chance.below(256)));
}

/** No call to the outside: a process that is killed in it was killed before the next one. */
export function nextTurn(): Promise<void> {
  const process = actingProcess();
  return new Promise((resolve) => void process.later(0, resolve));
}

/** Who listens at a socket; the file stays when its process is killed. */
const listeners = new WeakMap<Entry, Process>();

/** What the program asks of a server at a path. */
export function createServer() {
  let fail: ((cause: unknown) => void) | undefined;
  let path = '';
  const server = {
    once(_event: 'error', call: (cause: unknown) => void) {
      fail = call;
      return server;
    },
    on: () => server,
    unref: () => server,
    listen(address: string, done: () => void): void {
      path = address;
      onDisk('listen', address, (disk, place) => {
        const socket = disk.open(place, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
        listeners.set(socket.entry, actingProcess());
      }).then(done, (cause: unknown) => fail?.(cause));
    },
    close(): void {
      const [disk, place] = actingProcess().computer.diskAt(path);
      if (disk.has(place) && !disk.isReadOnly) disk.unlink(place);
    },
  };
  return server;
}

export type Server = ReturnType<typeof createServer>;

/** What the program asks of a connection to a path. */
export function connect(path: string) {
  const calls = new Map<string, (cause?: unknown) => void>();
  const call = {
    once: (event: 'connect', work: () => void) => void calls.set(event, work),
    on: (event: 'error', work: (cause?: unknown) => void) => void calls.set(event, work),
    setTimeout: () => undefined,
    destroy: () => undefined,
  };
  onDisk('connect', path, (disk, place) => {
    if (listeners.get(disk.find(place))?.isAlive !== true) throw diskError('ECONNREFUSED', 'connect', path);
  }).then(
    () => calls.get('connect')?.(),
    (cause: unknown) => calls.get('error')?.(cause),
  );
  return call;
}

/** What the program asks of Stats. */
interface Found {
  readonly ino: number;
  readonly mode: number;
  readonly uid: number;
  readonly size: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isSymbolicLink(): boolean;
}

function found(entry: Entry): Found {
  const isFile = entry instanceof File;
  const { ino, mode } = entry;
  return {
    ...{ ino, mode, uid: 1000, size: isFile ? entry.bytes.length : 0 },
    isFile: () => isFile,
    isDirectory: () => !isFile,
    isFIFO: () => false,
    isSocket: () => false,
    isSymbolicLink: () => false,
  };
}

function flagsOf(flags: string | number): number {
  const { O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_TRUNC, O_WRONLY } = constants;
  if (typeof flags === 'number') return flags;
  const known: Readonly<Record<string, number>> = {
    r: 0,
    'r+': O_RDWR,
    w: O_WRONLY | O_CREAT | O_TRUNC,
    wx: O_WRONLY | O_CREAT | O_EXCL,
    'wx+': O_RDWR | O_CREAT | O_EXCL,
    a: O_WRONLY | O_CREAT | O_APPEND,
    ax: O_WRONLY | O_CREAT | O_APPEND | O_EXCL,
  };
  const found = known[flags];
  if (found === undefined) throw new Error(`the simulation does not know the flags ${flags}`);
  return found;
}

/** What the program asks of a FileHandle. */
class Handle {
  readonly fd: number;
  readonly #open: OpenFile;
  readonly #path: string;

  constructor(opened: OpenFile, path: string) {
    this.#open = opened;
    this.#path = path;
    this.fd = keep(opened, path);
  }

  #call<T>(name: string, work: () => T): Promise<T> {
    return actingProcess().call(name, this.#path, work, () => this.#open.drop());
  }

  readonly stat = (): Promise<Found> => this.#call('fstat', () => found(this.#open.entry));
  readonly sync = (): Promise<void> => this.#call('fsync', () => this.#open.sync());
  readonly datasync = (): Promise<void> => this.#call('fdatasync', () => this.#open.sync());
  readonly truncate = (length: number): Promise<void> => this.#call('ftruncate', () => this.#open.truncate(length));
  readonly readFile = (): Promise<Buffer> => this.#call('read', () => Buffer.from(this.#open.read(Infinity, null)));
  readonly writeFile = (data: string | Uint8Array): Promise<void> =>
    this.#call('write', () => this.#open.write(bytesOf(data), null));
  readonly appendFile = this.writeFile;
  readonly write = (bytes: Uint8Array, offset = 0, length = bytes.length - offset, position: number | null = null) =>
    this.#call('write', () => {
      this.#open.write(bytes.subarray(offset, offset + length), position);
      return { bytesWritten: length, buffer: bytes };
    });
  readonly read = (buffer: Buffer, offset: number, length: number, position: number | null) =>
    this.#call('read', () => {
      const read = this.#open.read(length, position);
      read.copy(buffer, offset);
      return { bytesRead: read.length, buffer };
    });

  /** No call to the outside: closing changes nothing that anybody sees. */
  async close(): Promise<void> {
    opened.delete(this.fd);
    return Promise.resolve();
  }

  createReadStream(): Readable {
    return streamOf(this.#open);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    yield await this.readFile();
  }
}

export type FileHandle = Handle;

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data) : data;
}

function streamOf(file: OpenFile): Readable {
  return Readable.from([Buffer.from(file.read(Infinity, null))].filter(({ length }) => length > 0));
}

/** Open files by number, which begin where no terminal of the test is. */
const opened = new Map<number, { readonly file: OpenFile; readonly path: string }>();
let lastNumber = 1_000_000;

function keep(file: OpenFile, path: string): number {
  opened.set((lastNumber += 1), { file, path });
  return lastNumber;
}

function numbered(fd: number): { readonly file: OpenFile; readonly path: string } {
  const known = opened.get(fd);
  if (!known) throw diskError('EBADF', 'fd');
  return known;
}

/** Forgets what processes left open when they were killed. */
export function closeAll(): void {
  opened.clear();
}

function atOnce<T>(name: string, fd: number, work: (file: OpenFile) => T): T {
  const { file, path } = numbered(fd);
  return actingProcess().callAtOnce(
    name,
    path,
    () => work(file),
    () => file.drop(),
  );
}

/** To an open file, or to a file by its name: opened and written by one call, as a kill cannot come between. */
export function appendFileSync(to: number | string, text: string, { mode = 0o666 } = {}): void {
  const write = (file: OpenFile): void => file.write(Buffer.from(text), null);
  if (typeof to === 'number') {
    atOnce('append', to, write);
    return;
  }
  const [disk, place] = actingProcess().computer.diskAt(to);
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  actingProcess().callAtOnce('append', to, () => write(disk.open(place, flags, mode)));
}
function onDiskAtOnce<T>(name: string, path: string, work: (disk: Disk, path: string) => T): T {
  const process = actingProcess();
  return process.callAtOnce(name, path, () => work(...process.computer.diskAt(path)));
}

export const linkSync = (from: string, to: string): void =>
  onDiskAtOnce('link', to, (disk, place) => disk.link(actingProcess().computer.diskAt(from)[1], place));
export const unlinkSync = (path: string): void => onDiskAtOnce('unlink', path, (disk, place) => disk.unlink(place));
export const statSync = (path: string): Found => onDiskAtOnce('stat', path, (disk, place) => found(disk.find(place)));
export const readdirSync = (path: string): string[] => onDiskAtOnce('readdir', path, namesOn);
export const fstatSync = (fd: number): Found => atOnce('fstat', fd, ({ entry }) => found(entry));
export const fsyncSync = (fd: number): void => atOnce('fsync', fd, (file) => file.sync());
export const ftruncateSync = (fd: number, length: number): void =>
  atOnce('ftruncate', fd, (file) => file.truncate(length));
export const readSync = (fd: number, into: Buffer, offset: number, length: number, position: number | null): number =>
  atOnce('read', fd, (file) => file.read(length, position).copy(into, offset));
export const writeSync = (
  fd: number,
  bytes: Buffer,
  offset = 0,
  length = bytes.length - offset,
  position?: number,
): number =>
  atOnce('write', fd, (file) => {
    file.write(bytes.subarray(offset, offset + length), position ?? null);
    return length;
  });

export function openSync(path: string, flags: number, mode: number): number {
  const { computer } = actingProcess();
  const [disk, place] = computer.diskAt(path);
  return actingProcess().callAtOnce('open', path, () => keep(disk.open(place, flags, mode), path));
}

type Callback<T> = (error: unknown, result?: T) => void;

export function openDescriptor(path: string, flags: number, done: Callback<number>): void {
  onDisk('open', path, (disk, place) => keep(disk.open(place, flags, 0), path)).then((fd) => done(null, fd), done);
}

export function fstat(fd: number, done: Callback<Found>): void {
  const { file, path } = numbered(fd);
  void actingProcess()
    .call('fstat', path, () => found(file.entry))
    .then((stats) => done(null, stats), done);
}

export function createReadStream(_path: string, { fd }: { readonly fd: number }): Readable {
  return streamOf(numbered(fd).file);
}

export function createWriteStream(path: string): never {
  throw new Error(`the simulation writes no stream to ${path}`);
}
