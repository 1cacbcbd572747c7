// Kills `license apply` at random moments until it has nothing left to do: each user of the roster must have one license then, of
// the size asked for. SEED chooses the moments, USERS how many there are.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareEnvironment } from '../measure.js';
import { program, serve } from '../sandbox.js';

const seed = Number(process.env['SEED'] ?? 1);
const users = Number(process.env['USERS'] ?? 100);
const home = mkdtempSync(join(tmpdir(), 'chatelaine-torture-'));
const env = bareEnvironment(home);
const roster = join(home, 'roster.csv');
const sizes = new Map(Array.from({ length: users }, (_, index) => [`user-${index}`, 1 + (index % 18)]));
writeFileSync(roster, ['remote_user,size_allowance', ...[...sizes].map((row) => row.join(','))].join('\n'));

const { credential, stop } = await serve(env, ['--latency', '20', '--fault', 'POST /v1/license/=drop-after:0.05']);
const options = { env: { ...env, ...credential }, stdio: /** @type {const} */ ('ignore') };
const apply = [program, 'license', 'apply', roster, '--settle', '300ms', '-y'];
try {
  let kills = 0;
  while (await isKilled(150 + chance(kills) * 600)) kills += 1;
  const wrong = [...sizes].filter(([user, size]) => !isOnce(user, size)).map(([user]) => user);
  console.log(
    `license apply killed ${kills} times (seed ${seed}): ${users} users, ${wrong.length} without their one license`,
  );
  if (wrong.length > 0) {
    console.log(wrong.join(' '));
    process.exitCode = 1;
  }
} finally {
  stop();
  rmSync(home, { recursive: true, force: true });
}

/**
 * Runs apply, and kills it after that many milliseconds; false where it ended before.
 * @param {number} span
 */
async function isKilled(span) {
  const child = spawn(process.execPath, apply, options);
  const ended = once(child, 'exit');
  const first = await Promise.race([ended, sleep(span, 'late')]);
  if (first === 'late') child.kill('SIGKILL');
  const [code, signal] = await ended;
  if (signal === 'SIGKILL') return true;
  if (code !== 0) throw new Error(`license apply: exit code ${code}`);
  return false;
}

/**
 * @param {string} user
 * @param {number} size
 */
function isOnce(user, size) {
  const list = [program, 'license', 'list', '--remote-user', user, '-o', 'json'];
  const { stdout } = spawnSync(process.execPath, list, { env: options.env, encoding: 'utf8' });
  /** @type {{ remote_user: string, size_allowance: number }[]} */
  const licenses = JSON.parse(stdout);
  return licenses.length === 1 && licenses[0]?.size_allowance === size;
}

/**
 * The same for the same seed: from 0 up to 1.
 * @param {number} turn
 */
function chance(turn) {
  const value = Math.sin(seed * 9973 + turn * 7919) * 10_000;
  return value - Math.floor(value);
}
