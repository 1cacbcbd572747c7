// Runs each script of a folder, one after another: `node scripts/run-each.js bench/figures [NAME…]`.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.', ...names] = process.argv.slice(2);
const scripts = readdirSync(folder)
  .filter((file) => file.endsWith('.js'))
  .filter((file) => names.length === 0 || names.some((name) => file.startsWith(name)))
  .sort();
if (scripts.length === 0) throw new Error(`${folder} has no script ${names.join(' or ')}`);

for (const script of scripts) {
  const { status } = spawnSync(process.execPath, [join(folder, script)], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
