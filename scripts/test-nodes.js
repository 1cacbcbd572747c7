// node scripts/test-nodes.js [VERSION…]: tries the program on other versions of Node than the present one. Each comes
// as the npm package `node`. The oldest that users may have is too old for the tools of the tests, so there the main
// job alone is run.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showUsage } from './usage.js';

showUsage(import.meta.filename);
const oldest = '20.18.1';
const versions = process.argv.length > 2 ? process.argv.slice(2) : [oldest, '22', '24', '26'];
const mainJob = ['--sandbox', 'license', 'create', '--remote-user', 'ada', '--size-allowance', '4', '-o', 'json'];

if (spawnSync('npm', ['run', 'build'], { stdio: 'inherit' }).status !== 0) process.exit(1);
for (const version of versions) {
  const node = pathOf(version);
  console.log(`\n## node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`);
  const works = version === oldest ? runMainJob(node) : succeeds(node, ['node_modules/vitest/vitest.mjs', 'run']);
  if (!works) process.exitCode = 1;
}

/** @param {string} version */
function pathOf(version) {
  const command = ['--yes', `--package=node@${version}`, '--', 'node', '--print', 'process.execPath'];
  return execFileSync('npx', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** @param {string} node */
function runMainJob(node) {
  const home = mkdtempSync(join(tmpdir(), 'chatelaine-node-'));
  try {
    return succeeds(node, ['bin/chatelaine.cjs', ...mainJob], { PATH: process.env['PATH'], HOME: home });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
function succeeds(program, args, env = process.env) {
  return spawnSync(program, args, { env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}
