// A year of an operator against a server that drops, delays and doubles its answers: twelve rosters, each with users
// who join, leave, get another size and another name, each carried out with --retire-missing and killed at random
// moments; the odd months as a plan that was written before. One month is undone and made again. By night the audit is
// quiet, but where a fault was planted; in the end the list equals the last roster, nobody has two licenses, and nobody
// who stays was retired. ROWS (2000), KILLS of each month (3), SEED.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chances, csvOf, faultsOf, licensesOn, run } from '../licenses.js';
import { serve } from '../sandbox.js';

const count = Number(process.env['ROWS'] ?? 2000);
const kills = Number(process.env['KILLS'] ?? 3);
const seed = Number(process.env['SEED'] ?? 1);
const months = 12;
const [undone, planted] = [7, [4, 9]];
const mostRuns = 20;
/** Longer than the latest commit. */
const settle = 1500;

const writes = 'drop-before:0.02,drop-after:0.02,502:0.02,429:0.01@100ms,delay-commit:0.01@1s,reset-after:0.01';

/** @typedef {Map<string, number>} Users their sizes by their names */

/** @type {import('../torture.js').Torture} */
export default async function year({ home, bare, wrongs }) {
  const random = chances(seed);
  const data = ['--data', join(home, 'server.ndjson')];
  const clean = await serve(bare, data);
  const hard = await serve(bare, [
    ...data,
    '--seed',
    String(seed),
    '--fault',
    `POST /v1/license/=${writes};PATCH /*=${writes}`,
  ]);
  // Commands speak to one of the two: to the record a server is its address. The other shows what both hold.
  const env = { ...bare, ...hard.credential };
  const [roster, plan] = [join(home, 'roster.csv'), join(home, 'plan.ndjson')];
  let killed = 0;
  /**
   * Runs of a command that may be killed, until one ends by itself with 0.
   * @param {readonly string[]} args
   * @param {number} most
   */
  const finished = async (args, most) => {
    const ends = [];
    for (let runs = 0, left = most; runs < mostRuns; runs += 1) {
      const ran = await run(args, env, left > 0 ? 200 + random() * Math.min(2500, 300 + count) : undefined);
      if (ran.signal === 'SIGKILL') {
        left -= 1;
        killed += 1;
      } else if (ran.code === 0) return ran;
      else ends.push(`${ran.code} ${ran.stderr.slice(-200)}`);
    }
    wrongs.push(`${args.slice(0, 3).join(' ')} never ended with 0: ${ends.at(-1)}`);
    return undefined;
  };
  /**
   * A run whose exit code is known.
   * @param {string} what
   * @param {readonly string[]} args
   * @param {number} code
   */
  const expected = async (what, args, code) => {
    const ran = await run(args, env);
    if (ran.code !== code) wrongs.push(`${what}: exit code ${ran.code}, not ${code}: ${ran.stderr.slice(-300)}`);
    return ran;
  };
  const audit = (/** @type {string} */ what, code = 0) =>
    expected(what, ['license', 'audit', '--roster', roster, '-q', '-o', 'ndjson'], code);

  /** @type {Users} */
  let users = new Map(Array.from({ length: count }, (_, index) => [`user-${index}`, 1 + (index % 18)]));
  await expected('the sample is retired', ['license', 'edit', '--match', '*', '--size-allowance', '1', '-y', '-q'], 0);
  const own = (await licensesOn(clean.credential)).map(({ remote_user }) => ['--remote-user', remote_user]);
  if (own.length > 0) await expected('the sample is retired', ['license', 'retire', ...own.flat(), '-y', '-q'], 0);
  for (let month = 0; month < months; month += 1) {
    const last = users;
    const { next, renamed } = month === 0 ? { next: last, renamed: [] } : monthAfter(last, month, random);
    const renames = new Map(renamed);
    const earlier = month === undone ? await runsOf() : [];
    for (const [from, to] of renamed)
      await expected(`month ${month}: rename`, ['license', 'rename', from, to, '-y', '-q'], 0);
    writeFileSync(roster, csvOf(rowsOf(next)));
    const retiring = ['--retire-missing', '--max-retire', String(count)];
    const common = ['--settle', `${settle}ms`, '-o', 'ndjson', '-q'];
    const isPlanned = month % 2 === 1;
    if (isPlanned)
      await expected(
        `month ${month}: plan`,
        ['license', 'apply', roster, ...retiring, '-n', '--write-plan', plan, '-q'],
        0,
      );
    const apply = isPlanned
      ? ['license', 'apply', '--plan', plan, ...common]
      : ['license', 'apply', roster, ...retiring, ...common];
    await finished(apply, kills);
    users = next;
    await check(`month ${month}`, users);
    if (month === undone) {
      for (const name of (await runsOf()).filter((one) => !earlier.includes(one)))
        await expected(`undo ${name}`, ['license', 'undo', name, '-y', '-q'], 0);
      await check(
        `month ${month}, undone`,
        new Map([...last].map(([name, size]) => [renames.get(name) ?? name, size])),
        'new-',
      );
      await finished(['license', 'apply', roster, ...retiring, ...common], 0);
      await check(`month ${month}, made again`, users);
    }
    if (planted.includes(month)) {
      const victim = [...users][month];
      const by = await expected('view', ['license', 'view', '--remote-user', victim?.[0] ?? '', '-o', 'ndjson'], 0);
      const size = String(19 - (victim?.[1] ?? 1));
      const [license] = /** @type {{ license_code: string }[]} */ (/** @type {unknown} */ (by.rows));
      await expected('plant', ['license', 'edit', license?.license_code ?? '', '--size-allowance', size, '-q'], 0);
      await audit(`month ${month}: the planted fault`, 10);
      await finished(['license', 'apply', roster, ...common], 0);
    }
    await audit(`month ${month}: the audit`);
  }
  clean.stop();
  hard.stop();
  return `${months} rosters of ${count} rows, ${killed} kills (seed ${seed})`;

  /** The names of the runs that applied something, the latest first. */
  async function runsOf() {
    const { rows } = await run(['license', 'history', '-o', 'ndjson', '--fields', 'run,command'], env);
    const applied = /** @type {{ run: string, command: string }[]} */ (/** @type {unknown} */ (rows)).filter(
      ({ command }) => command === 'license apply',
    );
    return [...new Set(applied.map((row) => row.run))].reverse();
  }

  /**
   * `beside`: users of names that begin so may be there.
   * @param {string} when
   * @param {Users} wanted
   */
  async function check(when, wanted, beside = 'none of these') {
    const licenses = await licensesOn(clean.credential);
    const held = licenses.filter(({ remote_user }) => !remote_user.startsWith('left-'));
    const { doubled, missing, sized } = faultsOf(rowsOf(wanted), held);
    const strangers = held
      .map(({ remote_user }) => remote_user)
      .filter((name) => !wanted.has(name) && !name.startsWith(`${beside}${undone}-`));
    for (const [what, names] of Object.entries({ doubled, missing, sized, strangers }))
      if (names.length > 0) wrongs.push(`${when}: ${what}: ${names.length}, ${names.slice(0, 3).join(', ')}`);
    console.log(`${when}: ${held.length} licenses, ${licenses.length - held.length} retired, ${killed} kills so far`);
  }
}

/** @param {Users} users */
function rowsOf(users) {
  return [...users].map(([remote_user, size_allowance]) => ({ remote_user, size_allowance }));
}

/**
 * Of each month one user of fifty leaves, as many come, one of twenty gets another size; two are renamed before, by
 * hand.
 * @param {Users} users
 * @param {number} month
 * @param {() => number} random
 * @returns {{ next: Users, renamed: (readonly [string, string])[] }}
 */
function monthAfter(users, month, random) {
  const names = [...users.keys()];
  const renamed = [0, 1].map((place) => {
    const from = names[(place * 997 + month * 31) % names.length] ?? '';
    return /** @type {const} */ ([from, `married-${month}-${place}`]);
  });
  const renames = new Map(renamed);
  /** @type {Users} */
  const next = new Map();
  for (const [name, size] of users) {
    const chance = random();
    const to = renames.get(name);
    if (to !== undefined) next.set(to, size);
    else if (chance > 0.02) next.set(name, chance > 0.95 ? 1 + (size % 18) : size);
  }
  for (let index = 0; next.size < users.size; index += 1) next.set(`new-${month}-${index}`, 1 + (index % 18));
  return { next, renamed };
}
