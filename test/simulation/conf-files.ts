import { constants } from 'node:fs';
import { actingProcess } from './computer.ts';
import { fsyncSync, openSync, unlink as unlinkLater, writeSync as writeBytes } from './outside.ts';

/**
 * What conf, and atomically and stubborn-fs below it, call of node:fs: they open files by themselves, and at once.
 * `bundle.js` puts this file in the place of node:fs there. Reading changes nothing that anybody sees, and is no call
 * to the outside.
 */
const calls = {
  mkdirSync: () => undefined,
  readFileSync: (path: string): string => {
    const [disk, place] = actingProcess().computer.diskAt(path);
    return disk.open(place, constants.O_RDONLY, 0).read(Infinity, null).toString();
  },
  realpathSync: (path: string): string => {
    const [disk, place] = actingProcess().computer.diskAt(path);
    disk.find(place);
    return path;
  },
  // The owner of this test: atomically gives a new file to the owner of the old one.
  statSync: (path: string) => {
    const [disk, place] = actingProcess().computer.diskAt(path);
    return { uid: process.geteuid?.(), gid: process.getegid?.(), mode: disk.find(place).mode };
  },
  openSync: (path: string, _flags: 'w', mode: number): number =>
    openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, mode),
  /** A full disk takes a part of it, and says so by the length alone, or nothing. */
  writeSync: (fd: number, text: string): number => {
    const bytes = Buffer.from(text);
    try {
      return writeBytes(fd, bytes);
    } catch (cause) {
      const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC';
      if (!isFull || actingProcess().computer.world.chance.happens(0.5)) throw cause;
      return writeBytes(fd, bytes, 0, bytes.length >> 1);
    }
  },
  fsyncSync,
  closeSync: () => undefined,
  renameSync: (from: string, to: string): void => {
    const { computer } = actingProcess();
    const [disk, place] = computer.diskAt(to);
    actingProcess().callAtOnce('rename', to, () => disk.rename(computer.diskAt(from)[1], place));
  },
  chmodSync: (path: string, mode: number): void => {
    const [disk, place] = actingProcess().computer.diskAt(path);
    actingProcess().callAtOnce('chmod', path, () => void (disk.find(place).mode = mode));
  },
  unlink: (path: string, done: (cause?: unknown) => void): void => {
    unlinkLater(path).then(() => done(), done);
  },
};

/** @throws Error: nobody has said what that call does here */
const unknown = (name: string) => (): never => {
  throw new Error(`the simulation knows no ${name} of conf`);
};

export default new Proxy<Record<string, unknown>>(calls, {
  get: (known, name) => known[String(name)] ?? unknown(String(name)),
});

/** Imported by name, and not called. */
export const createWriteStream = unknown('createWriteStream');

/** Names of drafts are the seed's. */
export const random = (): number => actingProcess().computer.world.chance.next();
export const now = (): number => Math.floor(actingProcess().computer.world.time.now());
