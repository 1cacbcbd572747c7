import { fstatSync, statSync } from 'node:fs';

/** False for files, pipes and the null device. An exact test would take milliseconds to load its module. */
export function maybeTerminal(descriptor: number): boolean {
  try {
    const stream = fstatSync(descriptor);
    return stream.isCharacterDevice() && stream.rdev !== statSync('/dev/null').rdev;
  } catch {
    return true;
  }
}
