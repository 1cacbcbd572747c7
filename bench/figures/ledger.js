// What the shared ledger costs: `license apply` of ROWS rows (2000) and `license ensure`, with and without it, interleaved. The database
// is on this machine and syncs each commit to disk. RUNS (3), of which the median counts; ENSURES of each kind (15).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { csvOf } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { hasPostgres, startPostgres } from '../postgres.js';
import { program, serve } from '../sandbox.js';

const rows = Number(process.env['ROWS'] ?? 2000);
const runs = Number(process.env['RUNS'] ?? 3);
const ensures = Number(process.env['ENSURES'] ?? 15);
/** The most that the issue allows: `apply` 1.3 times the time without. */
const limit = 1.3;

if (!hasPostgres) console.log('skipped: PostgreSQL is not installed');
else await measure();

async function measure() {
  const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
  const bare = bareEnvironment(home);
  const database = await startPostgres({ durable: true });
  const ledger = { CHATELAINE_LEDGER: database.url };
  const roster = join(home, 'roster.csv');
  const wanted = Array.from({ length: rows }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 }));
  writeFileSync(roster, csvOf(wanted));
  /** @type {Record<'apply' | 'ensure', { without: number[], with: number[] }>} */
  const times = { apply: { without: [], with: [] }, ensure: { without: [], with: [] } };
  try {
    ran(['ledger', 'init'], { ...bare, ...ledger });
    for (let run = 0; run < runs; run += 1)
      for (const [name, extra] of /** @type {const} */ ([
        ['without', {}],
        ['with', ledger],
      ])) {
        const { credential, stop } = await serve(bare);
        // Each run is the first on its server: what the ledger remembers of another one would make it wait.
        database.query('TRUNCATE chatelaine.claim');
        const env = { ...bare, ...credential, ...extra };
        times.apply[name].push(ran(['license', 'apply', roster, '-q'], env));
        for (let index = 0; index < ensures / runs; index += 1)
          times.ensure[name].push(
            ran(['license', 'ensure', '--remote-user', `new-${index}`, '--size-allowance', '4', '-q'], env),
          );
        stop();
      }
  } finally {
    await database.stop();
    rmSync(home, { recursive: true, force: true });
  }
  console.log(`without and with a ledger, medians, Node ${process.versions.node}`);
  const ratio = tell(`license apply, ${rows} rows`, times.apply);
  tell('license ensure', times.ensure);
  console.log(`apply ${ratio <= limit ? 'within' : 'PAST'} ${limit} x`);
  if (ratio > limit) process.exitCode = 1;
}

/** @param {string} name @param {{ without: number[], with: number[] }} times */
function tell(name, times) {
  const [without, withLedger] = [medianOf(times.without), medianOf(times.with)];
  const ratio = withLedger / without;
  console.log(
    `${name.padEnd(28)} ${without.toFixed(0).padStart(6)} ms ${withLedger.toFixed(0).padStart(6)} ms ${ratio.toFixed(2)} x`,
  );
  return ratio;
}

/** @param {readonly string[]} args @param {Record<string, string | undefined>} env milliseconds */
function ran(args, env) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${String(stderr)}`);
  return performance.now() - begun;
}

/** @param {readonly number[]} values */
function medianOf(values) {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? NaN;
}
