/**
 * The door to what is outside of the process and nobody hands down: files, /proc among them, names drawn at random, the next turn of the
 * event loop. What goes through it a test can answer in place of the computer (test/simulation), and end or fail at every call.
 */
export {
  appendFileSync,
  constants,
  createReadStream,
  createWriteStream,
  fstat,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  open as openDescriptor,
  openSync,
  readFileSync,
  readSync,
  writeSync,
  type Stats,
  type WriteStream,
} from 'node:fs';
export {
  access,
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  truncate,
  unlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
export { randomBytes } from 'node:crypto';
/** Of sockets that have a path: the network has a dispatcher. */
export { connect, createServer, type Server } from 'node:net';

/** By the global function: a request loads no `node:timers/promises`. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
