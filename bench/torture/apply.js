// `license apply` against a server that drops, delays, doubles its answers and asks to wait, killed at random moments:
// the same command at last exits 0, and each user has one license of the size asked for. Every run that ends by itself
// is held to what it said. The last seed has a tenth of the rows, and a list that fails most of the time: runs may end
// with 7, 8 or 9 there, but nobody gets two. SEEDS: how many (2), SEED: the first (1), ROWS (100), KILLS of each seed
// (8).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chances, csvOf, faultsOf, liesIn, licensesOn, run } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { serve } from '../sandbox.js';

const seeds = Number(process.env['SEEDS'] ?? 2);
const firstSeed = Number(process.env['SEED'] ?? 1);
const count = Number(process.env['ROWS'] ?? 100);
const kills = Number(process.env['KILLS'] ?? 8);
/** Longer than the latest commit. */
const settle = 1500;
const mostRuns = 60;

const writes =
  'drop-before:0.05,drop-after:0.05,502:0.03,429:0.02@200ms,delay-commit:0.02@1s,cut:0.01,reset-after:0.01,504-after:0.01';
const reads = 'drop-before:0.05,502:0.03,429:0.02@200ms,cut:0.03';
const failing = '502:0.5,drop-before:0.2,html:0.05';
const faults = (/** @type {string} */ list) => `POST /v1/license/=${writes};PATCH /*=${writes};GET /*=${list}`;

/** @type {import('../torture.js').Torture} */
export default async function apply(place) {
  console.log(`license apply: ${count} rows, ${kills} kills a seed`);
  console.log('seed                 runs  kills  exit codes    duplicates  licenses  seconds');
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1)
    await torture({ seed, size: count, list: reads }, place);
  await torture({ seed: firstSeed + seeds, size: Math.ceil(count / 10), list: failing }, place);
  return `${seeds + 1} seeds from ${firstSeed}`;
}

/**
 * `list`: faults of the list.
 * @param {{ seed: number, size: number, list: string }} round
 * @param {import('../torture.js').Place} place
 */
async function torture({ seed, size, list }, { home: root, wrongs: all }) {
  const home = join(root, String(seed));
  mkdirSync(home);
  const random = chances(seed);
  const bare = bareEnvironment(home);
  const rows = Array.from({ length: size }, (_, index) => ({
    remote_user: `user-${seed}-${index}`,
    size_allowance: 1 + Math.floor(random() * 18),
  }));
  const data = ['--data', join(home, 'server.ndjson')];
  const clean = await serve(bare, data);
  const hard = await serve(bare, [...data, '--seed', String(seed), '--fault', faults(list)]);
  const roster = join(home, 'roster.csv');
  const env = { ...bare, ...hard.credential };
  const apply = ['license', 'apply', roster, '--settle', `${settle}ms`, '-o', 'ndjson', '-q'];
  const begun = Date.now();
  /** @type {string[]} */
  const wrongs = [];
  const ends = [];
  let killed = 0;
  await beginWithSome(rows, home, { ...bare, ...clean.credential });
  writeFileSync(roster, csvOf(rows));
  for (let runs = 0; runs < mostRuns; runs += 1) {
    const ran = await run(apply, env, killed < kills ? 300 + random() * (settle + 2500) : undefined);
    if (ran.signal === 'SIGKILL') {
      killed += 1;
      continue;
    }
    // What is still under way at the server is not what the run spoke of.
    ends.push(ran.code);
    const licenses = await licensesOn(clean.credential);
    wrongs.push(
      ...liesIn(ran, rows, licenses),
      ...faultsOf(rows, licenses).doubled.map((user) => `two licenses: ${user}`),
    );
    if (ran.code === 0 || wrongs.length > 0) break;
  }
  const licenses = await licensesOn(clean.credential);
  const { doubled, missing, sized } = faultsOf(rows, licenses);
  if (ends.at(-1) !== 0) wrongs.push(`the last run ended with ${ends.at(-1)}`);
  if (missing.length + sized.length > 0) wrongs.push(`missing: ${missing.length}, of another size: ${sized.length}`);
  const own = licenses.filter((license) => license.remote_user.startsWith('user-')).length;
  console.log(
    [
      (list === failing ? `${seed}, list fails` : `${seed}`).padEnd(18),
      String(killed + ends.length).padStart(4),
      String(killed).padStart(5),
      ends.join(',').padEnd(12),
      String(doubled.length).padStart(10),
      String(own).padStart(8),
      ((Date.now() - begun) / 1000).toFixed(0).padStart(7),
    ].join('  '),
  );
  hard.stop();
  clean.stop();
  all.push(...wrongs.map((wrong) => `seed ${seed}: ${wrong}`));
}

/**
 * A tenth of the users has a license already, half of them one of another size.
 * @param {readonly import('../licenses.js').Wanted[]} rows
 * @param {string} home
 * @param {Record<string, string | undefined>} env
 */
async function beginWithSome(rows, home, env) {
  const some = rows.filter((_, index) => index % 10 === 0);
  const roster = join(home, 'begin.csv');
  writeFileSync(
    roster,
    csvOf(some.map((row, index) => (index % 2 ? row : { ...row, size_allowance: 19 - row.size_allowance }))),
  );
  const { code, stderr } = await run(['license', 'apply', roster, '-q'], env);
  if (code !== 0) throw new Error(`the first licenses could not be made: ${stderr}`);
}
