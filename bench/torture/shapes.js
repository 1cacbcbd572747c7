// `license apply` and `license ensure` against a server whose lists, errors, answers to writes, names and delays are
// drawn at random (`sandbox serve --list-shape …`), under faults, and killed at random moments. Each run of a command
// completes, or ends with a code and a message that say why it did not. At the server nobody has two licenses, whatever
// the command said. SEEDS: how many (20), SEED: the first (1), ROWS (30), KILLS of each seed (2). A seed alone decides
// what is drawn: SEEDS=1 SEED=N.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chances, csvOf, faultsOf, licensesOn, run } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { serve } from '../sandbox.js';

const seeds = Number(process.env['SEEDS'] ?? 20);
const firstSeed = Number(process.env['SEED'] ?? 1);
const count = Number(process.env['ROWS'] ?? 30);
const kills = Number(process.env['KILLS'] ?? 2);
/** Longer than the longest lag of a list and the latest commit. */
const settle = 4000;

/**
 * @typedef {{ names: string[], options: string[], name: string }} Server `names`: of the options, what its data obey
 * too
 */

/** @type {import('../torture.js').Torture} */
export default async function shapesOf(place) {
  console.log(`shapes: ${count} users, ${kills} kills a seed`);
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) await torture(seed, place);
  return `${seeds} seeds from ${firstSeed}`;
}

/**
 * @param {number} seed
 * @param {import('../torture.js').Place} place
 */
async function torture(seed, { home: root, wrongs }) {
  const home = join(root, String(seed));
  mkdirSync(home);
  const random = chances(seed);
  // The first numbers of near seeds are alike.
  for (let skipped = 0; skipped < 10; skipped += 1) random();
  const bare = bareEnvironment(home);
  const data = ['--data', join(home, 'server.ndjson')];
  const { names, options, name } = drawServer(random, seed);
  const clean = await serve(bare, [...data, ...names]);
  const hard = await serve(bare, [...data, ...options]);
  const env = { ...bare, ...hard.credential };
  const rows = rosterOf(random);
  // Two thirds of the users have a license of some size, so that a list has pages from the start.
  await createSome(
    rows.filter((_, index) => index % 3 > 0),
    clean.credential,
  );
  const applied = await applyRepeatedly(rows, home, env, random);
  const left = names.length > 0 || applied[0]?.code !== 0 ? [] : unlike(rows, await licensesOn(clean.credential));
  const ends = [...applied, ...(await ensureRepeatedly(random() < 0.5 ? 'Ensured  One' : '00042', env))];
  const doubled = doublesIn(await licensesOn(clean.credential));
  const bad = ends.flatMap(({ command, code, stderr }) => wordlessEnd(command, code, stderr));
  wrongs.push(...[...doubled, ...left, ...bad].map((wrong) => `seed ${seed}, ${name}: ${wrong}`));
  const codes = ends.map(({ command, code }) => `${command} ${code}`).join(', ');
  console.log(`${String(seed).padStart(4)}  ${doubled.length} doubled  ${codes}  ${name}`);
  hard.stop();
  clean.stop();
}

/**
 * A list shape always, each other option every second or third time.
 * @param {() => number} random
 * @param {number} seed
 * @returns {Server}
 */
function drawServer(random, seed) {
  /** @type {(from: readonly string[]) => string} */
  const one = (from) => from[Math.floor(random() * from.length)] ?? '';
  const list = one(['array', 'next', 'data', 'masked']);
  const options = ['--list-shape', list, '--page-size', String(5 + Math.floor(random() * 10))];
  if (random() < 0.3) options.push('--write-shape', 'nothing');
  const names = random() < 0.4 ? ['--names', 'lower'] : [];
  options.push(...names);
  if (random() < 0.3) options.push('--filters', 'ignored');
  if (random() < 0.4) options.push('--stale', `${300 + Math.floor(random() * 1200)}ms`);
  const writes = one([
    'drop-after:0.1,cut:0.05',
    '502-stray:0.1',
    'delay-commit:0.1@1s',
    'error-in-200:0.2',
    'redirect:0.1',
    '',
  ]);
  const reads = one(['error-in-200:0.2', 'drop-before:0.1,cut:0.1', '502:0.1', '', '']);
  const rules = [writes && `POST /v1/license/=${writes}`, reads && `GET /v1/license/=${reads}`].filter(Boolean);
  const faults = rules.length > 0 ? ['--seed', String(seed), '--fault', rules.join(';')] : [];
  return { names, options: [...options, ...faults], name: [...options, ...rules].join(' ') };
}

/**
 * Names that each change of `--names` changes, and names that it keeps.
 * @param {() => number} random
 */
function rosterOf(random) {
  const forms = [
    (/** @type {number} */ index) => `user-${index}`,
    (/** @type {number} */ index) => `User-${index}`,
    (/** @type {number} */ index) => `two  blanks ${index}`,
    (/** @type {number} */ index) => `00${100 + index}`,
    (/** @type {number} */ index) => `${index}-`.padEnd(40, 'x'),
  ];
  return Array.from({ length: count }, (_, index) => ({
    remote_user: /** @type {(index: number) => string} */ (forms[random() < 0.6 ? 0 : index % forms.length])(index),
    size_allowance: 1 + Math.floor(random() * 18),
  }));
}

/**
 * @param {readonly import('../licenses.js').Wanted[]} rows
 * @param {Record<string, string>} credential
 */
async function createSome(rows, { CHATELAINE_BASE_URL, CHATELAINE_API_KEY, CHATELAINE_APP_CODE }) {
  for (const { remote_user, size_allowance } of rows) {
    const answer = await fetch(`${CHATELAINE_BASE_URL}/v1/license/`, {
      method: 'POST',
      headers: { authorization: `Token ${CHATELAINE_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ remote_user, size_allowance, app_code: Number(CHATELAINE_APP_CODE) }),
    });
    if (answer.status !== 201) throw new Error(`the first licenses could not be made: ${await answer.text()}`);
  }
}

/**
 * What a run that ended with 0 left undone.
 * @param {readonly import('../licenses.js').Wanted[]} rows
 * @param {readonly import('../licenses.js').License[]} licenses
 */
function unlike(rows, licenses) {
  const { missing, sized } = faultsOf(rows, licenses);
  return [...missing, ...sized].map((user) => `apply ended with 0, and ${user} has not its one license`);
}

/**
 * Some runs that are killed, one to the end, and one of a roster with a user more, of whom no run knew.
 * @param {readonly import('../licenses.js').Wanted[]} rows
 * @param {string} home
 * @param {Record<string, string | undefined>} env
 * @param {() => number} random
 */
async function applyRepeatedly(rows, home, env, random) {
  const roster = join(home, 'roster.csv');
  writeFileSync(roster, csvOf(rows));
  const apply = ['license', 'apply', roster, '--settle', `${settle}ms`, '--deadline', '40s', '-o', 'ndjson', '-q'];
  for (let killed = 0; killed < kills; killed += 1) await run(apply, env, 300 + random() * 1500);
  const first = await run(apply, env);
  writeFileSync(roster, csvOf([...rows, { remote_user: 'one-more', size_allowance: 1 }]));
  return [first, await run(apply, env)].map((ran) => ({ command: 'apply', ...ran }));
}

/**
 * @param {string} user
 * @param {Record<string, string | undefined>} env
 */
async function ensureRepeatedly(user, env) {
  const ensure = ['license', 'ensure', '--remote-user', user, '--size-allowance', '4', '--settle', `${settle}ms`];
  const ends = [];
  for (let runs = 0; runs < 3; runs += 1) ends.push({ command: 'ensure', ...(await run([...ensure, '-q'], env)) });
  return ends;
}

/**
 * Users with two licenses. Names that the server changed are what it says they are.
 * @param {readonly import('../licenses.js').License[]} licenses
 */
function doublesIn(licenses) {
  const seen = new Map();
  for (const { remote_user } of licenses) seen.set(remote_user, (seen.get(remote_user) ?? 0) + 1);
  return [...seen].flatMap(([user, held]) => (held > 1 ? [`${user} has ${held} licenses`] : []));
}

/**
 * An end that says nothing of why, or that is a bug.
 * @param {string} command
 * @param {number | null} code
 * @param {string} stderr
 */
function wordlessEnd(command, code, stderr) {
  if (code === 0) return [];
  if (code === null || code === 1) return [`${command} ended with ${code}: ${stderr.slice(0, 300)}`];
  return stderr.trim() === '' ? [`${command} ended with ${code} and said nothing`] : [];
}
