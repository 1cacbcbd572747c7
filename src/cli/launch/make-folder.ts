import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Made with its parents, for this user alone. Not by mkdir's own recursion, which never ends where a parent takes no folders (/proc). */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}
