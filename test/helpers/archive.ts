import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** archive.json of an archive as it is on disk. */
export function headOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8')) as Record<string, unknown>;
}

/** Makes archive.json what it was before it recorded the state of the other files. */
export function forgetState(folder: string): void {
  const { state: _state, sha256: _sha256, ...head } = headOf(folder);
  writeFileSync(join(folder, 'archive.json'), `${JSON.stringify(head, undefined, 2)}\n`);
}
