// What docs/scale.md computes with: how fast an application of ROWS licenses (100000) is listed and how much memory that takes, how fast
// licenses are created at LATENCY (50) milliseconds a request, and what the ledger needs for a claim: time and bytes.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { csvOf } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { hasPostgres, startPostgres } from '../postgres.js';
import { program, serve } from '../sandbox.js';

const rows = Number(process.env['ROWS'] ?? 100_000);
const latency = process.env['LATENCY'] ?? '50';
const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const bare = bareEnvironment(home);
try {
  await listing();
  await creating();
  if (hasPostgres) await claiming();
  else console.log('the ledger: skipped, PostgreSQL is not installed');
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function listing() {
  const roster = rosterOf('many.csv', rows);
  const { credential, stop } = await serve(bare, ['--page-size', '1000', '--list-shape', 'next-url']);
  const env = { ...bare, ...credential };
  timed(['license', 'apply', roster, '-q', '--concurrency', '16'], env);
  const seconds = timed(['license', 'list', '--limit', String(2 * rows), '-o', 'ndjson'], env);
  const child = spawn(process.execPath, [program, 'license', 'apply', roster, '-q'], { env, stdio: 'ignore' });
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, peakOf(child.pid))), 20);
  const begun = performance.now();
  await once(child, 'exit');
  clearInterval(watch);
  stop();
  console.log(`list of ${rows} licenses: ${seconds.toFixed(1)} s, ${(rows / seconds).toFixed(0)} a second`);
  console.log(
    `apply that changes nothing: ${((performance.now() - begun) / 1000).toFixed(1)} s, peak ${(peak / 1024).toFixed(0)} MiB`,
  );
}

async function creating() {
  const few = 2000;
  const roster = rosterOf('few.csv', few);
  for (const concurrency of [4, 16]) {
    const { credential, stop } = await serve(bare, ['--latency', latency]);
    const env = { ...bare, ...credential };
    const seconds = timed(['license', 'apply', roster, '-q', '--concurrency', String(concurrency)], env);
    stop();
    console.log(
      `apply, latency ${latency} ms, --concurrency ${concurrency}: ${(few / seconds).toFixed(0)} licenses a second`,
    );
  }
}

async function claiming() {
  const database = await startPostgres({ durable: true });
  const users = (/** @type {number} */ from) =>
    `(SELECT array_agg(sha256(i::text::bytea)) FROM generate_series(${from}, ${from + 4999}) i)`;
  try {
    timed(['ledger', 'init'], { ...bare, CHATELAINE_LEDGER: database.url });
    const portions = rows / 5000;
    // One session, as one run is one.
    const statements = Array.from({ length: portions }, (_, index) => {
      const hashes = users(index * 5000);
      return `SELECT (chatelaine.take(1, (SELECT max(id) FROM chatelaine.session), 'bench', 1, 86400000, 'target', ${hashes})->>'session')::integer;
        SELECT chatelaine.release(1, (SELECT max(id) FROM chatelaine.session), ${hashes}, array_fill(true, ARRAY[5000]));`;
    });
    const begun = performance.now();
    database.query(statements.join('\n'));
    const seconds = (performance.now() - begun) / 1000;
    const bytes = Number(database.query(`SELECT pg_total_relation_size('chatelaine.claim')`));
    console.log(
      `ledger: ${rows} claims taken and given back, 5000 a statement: ${seconds.toFixed(1)} s, ${(rows / seconds).toFixed(0)} a second`,
    );
    console.log(`ledger: ${(bytes / rows).toFixed(0)} bytes for each user that is remembered`);
  } finally {
    await database.stop();
  }
}

/** @param {string} name @param {number} count */
function rosterOf(name, count) {
  const file = join(home, name);
  writeFileSync(
    file,
    csvOf(Array.from({ length: count }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 }))),
  );
  return file;
}

/** @param {readonly string[]} args @param {Record<string, string | undefined>} env seconds */
function timed(args, env) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${String(stderr)}`);
  return (performance.now() - begun) / 1000;
}

/** KiB. @param {number | undefined} pid */
function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
