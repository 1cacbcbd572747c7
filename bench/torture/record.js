// `license apply` killed before, in the middle of, and after a write to the record, then run again: one license for
// each user, of the size asked for. ROWS: how many users a roster has (40: more than are recorded by one write), SEED,
// STEP: of the writes behind the twelfth each so manyth (7; 1: every one, which takes hours).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { csvOf, faultsOf, liesIn, licensesOn, run } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { serve } from '../sandbox.js';

const count = Number(process.env['ROWS'] ?? 40);
const seed = process.env['SEED'] ?? '1';
const step = Number(process.env['STEP'] ?? 7);
const preload = fileURLToPath(new URL('kill-at.cjs', import.meta.url));
const phases = ['before', 'torn', 'unsynced', 'after'];
const faults = 'drop-before:0.1,drop-after:0.1,502:0.05,delay-commit:0.1@400ms,cut:0.05';

/**
 * @typedef {{ home: string, bare: Record<string, string | undefined>, clean: Record<string, string>, hard:
 * Record<string, string> }} Place
 */

/** @type {import('../torture.js').Torture} */
export default async function record({ home, bare, wrongs }) {
  const data = ['--data', join(home, 'server.ndjson')];
  const clean = await serve(bare, data);
  const hard = await serve(bare, [
    ...data,
    '--seed',
    seed,
    '--fault',
    `POST /v1/license/=${faults};PATCH /*=${faults}`,
  ]);
  // Most of the time is waiting. Each on a computer of its own: runs that share a queue wait for one another.
  const kills = await Promise.all(
    phases.map(async (phase) => {
      const own = join(home, phase);
      mkdirSync(own);
      const place = { home: own, bare: bareEnvironment(own), clean: clean.credential, hard: hard.credential };
      let killed = 0;
      for (let write = 1; await isKilledAt(write, phase, place, wrongs); write += write < 12 ? 1 : step) killed += 1;
      return killed;
    }),
  );
  // The process would not end before they do.
  clean.stop();
  hard.stop();
  return `${count} rows, killed at ${kills.reduce((sum, one) => sum + one)} writes (seed ${seed})`;
}

/**
 * A roster of its own, killed at that write and then run to its end; false where the run had fewer writes.
 * @param {number} write
 * @param {string} phase
 * @param {Place} place
 * @param {string[]} wrongs
 */
async function isKilledAt(write, phase, { home, bare, clean, hard }, wrongs) {
  const env = { ...bare, ...hard };
  const rows = Array.from({ length: count }, (_, index) => ({
    remote_user: `${phase}-${write}-${index}`,
    size_allowance: 1 + ((write + index) % 18),
  }));
  const roster = join(home, `${phase}-${write}.csv`);
  writeFileSync(roster, csvOf(rows.slice(0, 2).map((row) => ({ ...row, size_allowance: 19 - row.size_allowance }))));
  await run(['license', 'apply', roster, '-q'], { ...bare, ...clean });
  writeFileSync(roster, csvOf(rows));
  const apply = ['license', 'apply', roster, '--settle', '700ms', '-o', 'ndjson', '-q'];
  const first = await run(apply, { ...env, NODE_OPTIONS: `--require="${preload}"`, KILL_AT: `${write}:${phase}` });
  const last = first.signal === 'SIGKILL' ? await run(apply, env) : first;
  const licenses = await licensesOn(clean);
  // A row may use up its POSTs at such a server; then the run says so, and liesIn looks at how.
  const said = new Map(last.rows.map((row) => [row.remote_user, row]));
  const isLeft = (/** @type {string} */ user) => ['failed', 'unknown'].includes(said.get(user)?.status ?? '');
  const { doubled, missing, sized } = faultsOf(rows, licenses);
  const left = [...missing, ...sized].filter(isLeft);
  const faulty = [...doubled, ...missing, ...sized]
    .filter((user) => !left.includes(user))
    .map(
      (user) =>
        `${user} has not its one license; exit code ${last.code}, ${JSON.stringify(said.get(user))}, ${last.stderr.slice(-300)}`,
    );
  for (const user of left) console.log(`  ${user} is left: ${said.get(user)?.status}, ${said.get(user)?.error}`);
  wrongs.push(...faulty, ...liesIn(last, rows, licenses).map((lie) => `${phase} write ${write}: ${lie}`));
  return first.signal === 'SIGKILL';
}
