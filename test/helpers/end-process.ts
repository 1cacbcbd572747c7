import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** No system gives out a number like this. */
const nobody = 999_999_999;

/**
 * The tests are one process, which lives on: after this, what its runs left claimed is that of a process that is gone.
 */
export function endProcess(home: string): void {
  const folder = join(home, '.local/state/chatelaine/locks');
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder).map((name) => join(folder, name)))
    writeFileSync(file, readFileSync(file, 'latin1').replaceAll(`"pid":${process.pid},`, `"pid":${nobody},`), 'latin1');
}
