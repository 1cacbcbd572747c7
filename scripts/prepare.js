import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';

/** Builds the program when npm prepares this folder; without the tools of the build it says what to run. */

const clone = resolve(import.meta.dirname, '..');
if (existsSync(join(clone, 'node_modules/rolldown'))) {
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: clone, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  process.stderr.write('chatelaine: the tools that build it are not installed. Run this first, in the clone: npm ci\n');
  process.exitCode = 1;
}
