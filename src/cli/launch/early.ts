import { existsSync, fstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a folder and its parents for this user alone. mkdir's own recursion never ends below /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** False for files, pipes and the null device: what knows for sure takes milliseconds to load, or to make. */
export function maybeTerminal(descriptor: number): boolean {
  try {
    const stream = fstatSync(descriptor);
    return stream.isCharacterDevice() && stream.rdev !== statSync('/dev/null').rdev;
  } catch {
    return true;
  }
}
