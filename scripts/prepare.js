import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';

/** Builds the program when npm prepares this folder; without the tools of the build it says what to run. */

const clone = resolve(import.meta.dirname, '..');
const rolldown = join(clone, 'node_modules/rolldown/bin/cli.mjs');
if (existsSync(rolldown)) {
  // Without npm in between, which starts for half a second.
  const { status } = spawnSync(process.execPath, [rolldown, '--config', 'rolldown.config.js'], {
    cwd: clone,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else {
  process.stderr.write('chatelaine: the tools that build it are not installed. Run this first, in the clone: npm ci\n');
  process.exitCode = 1;
}
