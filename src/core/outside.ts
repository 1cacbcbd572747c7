/** The door to files, /proc, random names and turns: here the simulator (test/simulation) replaces the computer. */
export {
  appendFileSync,
  closeSync,
  constants,
  createReadStream,
  fstat,
  fstatSync,
  linkSync,
  open as openDescriptor,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
  type Stats,
} from 'node:fs';
export {
  access,
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rmdir,
  stat,
  truncate,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
export { randomBytes } from 'node:crypto';
/** Sockets that have a path: the network has a dispatcher. */
export { connect, createServer, type Server } from 'node:net';

/** The global function: a request loads no `node:timers/promises`. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
