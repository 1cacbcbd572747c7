// `license apply` killed before, in the middle of, and after every write to its journal, then run again: one license for each user,
// of the size asked for. ROWS: how many users a roster has (40: more than are recorded by one write), SEED.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { csvOf, faultsOf, liesIn, licensesOn, run } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { serve } from '../sandbox.js';

const count = Number(process.env['ROWS'] ?? 40);
const seed = process.env['SEED'] ?? '1';
const preload = fileURLToPath(new URL('kill-at.cjs', import.meta.url));
const phases = ['before', 'torn', 'unsynced', 'after'];
const faults = 'drop-before:0.1,drop-after:0.1,502:0.05,delay-commit:0.1@400ms,cut:0.05';

const home = mkdtempSync(join(tmpdir(), 'chatelaine-torture-'));
const bare = bareEnvironment(home);
const data = ['--data', join(home, 'server.ndjson')];
const clean = await serve(bare, data);
const hard = await serve(bare, [...data, '--seed', seed, '--fault', `POST /v1/license/=${faults};PATCH /*=${faults}`]);
const env = { ...bare, ...hard.credential };
/** @type {string[]} */
const wrongs = [];
let killed = 0;
const begun = Date.now();
try {
  for (const phase of phases) {
    for (let write = 1; await isKilledAt(write, phase); write += 1) killed += 1;
  }
} finally {
  hard.stop();
  clean.stop();
  rmSync(home, { recursive: true, force: true });
}
const seconds = ((Date.now() - begun) / 1000).toFixed(0);
console.log(`journal: ${count} rows, killed at ${killed} writes, ${wrongs.length} wrongs (seed ${seed}, ${seconds} s)`);
if (wrongs.length > 0) {
  console.log(wrongs.join('\n'));
  process.exitCode = 1;
}

/**
 * A roster of its own, killed at that write and then run to its end; false where the run had fewer writes.
 * @param {number} write
 * @param {string} phase
 */
async function isKilledAt(write, phase) {
  const rows = Array.from({ length: count }, (_, index) => ({
    remote_user: `${phase}-${write}-${index}`,
    size_allowance: 1 + ((write + index) % 18),
  }));
  const roster = join(home, `${phase}-${write}.csv`);
  writeFileSync(roster, csvOf(rows.slice(0, 2).map((row) => ({ ...row, size_allowance: 19 - row.size_allowance }))));
  await run(['license', 'apply', roster, '-q'], { ...bare, ...clean.credential });
  writeFileSync(roster, csvOf(rows));
  const apply = ['license', 'apply', roster, '--settle', '700ms', '-o', 'ndjson', '-q'];
  const first = await run(apply, { ...env, NODE_OPTIONS: `--require=${preload}`, KILL_AT: `${write}:${phase}` });
  const last = first.signal === 'SIGKILL' ? await run(apply, env) : first;
  const licenses = await licensesOn(clean.credential);
  const { doubled, missing, sized } = faultsOf(rows, licenses);
  const faulty = [...doubled, ...missing, ...sized].map((user) => `${user} has not its one license`);
  wrongs.push(...faulty, ...liesIn(last, rows, licenses).map((lie) => `${phase} write ${write}: ${lie}`));
  return first.signal === 'SIGKILL';
}
