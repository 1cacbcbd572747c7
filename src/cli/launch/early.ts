import { fstatSync, statSync } from 'node:fs';

/** False for files, pipes and the null device: what knows for sure takes milliseconds to load, or to make. */
export function maybeTerminal(descriptor: number): boolean {
  try {
    const stream = fstatSync(descriptor);
    return stream.isCharacterDevice() && stream.rdev !== statSync('/dev/null').rdev;
  } catch {
    return true;
  }
}
