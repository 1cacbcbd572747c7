// node scripts/package-image.js: builds the image of the Dockerfile; needs docker.
import { spawnSync } from 'node:child_process';
import { showUsage } from './usage.js';

showUsage(import.meta.filename);
for (const [program, ...words] of [
  ['npm', 'run', 'build'],
  [process.execPath, 'scripts/release/packed.js', 'modes'],
  ['docker', 'build', '--tag', 'chatelaine', '.'],
]) {
  const { status } = spawnSync(program ?? '', words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
