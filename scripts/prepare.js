import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';

/**
 * Builds the program when npm installs this folder; without the tools of the build it says what to run. A pack has
 * built by `prepack`, or must not build: npm 10 runs this under `npm pack --ignore-scripts` too, by which publint looks
 * at what tests are running.
 */

const clone = resolve(import.meta.dirname, '..');
const rolldown = join(clone, 'node_modules/rolldown/bin/cli.mjs');
const isPacking = ['pack', 'publish'].includes(process.env['npm_command'] ?? '');
if (isPacking) process.exitCode = 0;
else if (existsSync(rolldown)) {
  // The build is started without npm, which itself takes half a second to start.
  const { status } = spawnSync(process.execPath, [rolldown, '--config', 'rolldown.config.js'], {
    cwd: clone,
    // The list of files is not shown: it would come between the command of README and its result.
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  process.exitCode = status ?? 1;
} else {
  process.stderr.write('chatelaine: the tools that build it are not installed. Run this first, in the clone: npm ci\n');
  process.exitCode = 1;
}
