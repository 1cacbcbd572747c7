// How fast `license apply` makes licenses, beside a plain loop of curl and xargs with several curls, which look at no answer, and four
// workers of undici alone; none of these keeps a record. A sandbox on loopback with ROWS users (500), each way from the same beginning;
// RUNS (3), of which the median counts. The last column is the time as a part of that of `xargs -P 16 curl`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { csvOf } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { program, serve } from '../sandbox.js';

const rows = Number(process.env['ROWS'] ?? 500);
const runs = Number(process.env['RUNS'] ?? 3);
const latency = process.env['LATENCY'] ?? '0';
const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const bare = bareEnvironment(home);
const wanted = Array.from({ length: rows }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 }));
const roster = join(home, 'roster.csv');
const bodies = join(home, 'bodies.txt');
writeFileSync(roster, csvOf(wanted));
writeFileSync(bodies, wanted.map((row) => `${JSON.stringify({ ...row, app_code: 4711 })}\n`).join(''));

const post = 'curl -sS -o /dev/null -X POST -H "$AUTHORIZATION" -H "content-type: application/json" "$URL" -d';
const yardstick = 'xargs -P 16 curl';
const ways = [
  { name: 'a loop of curl', command: ['sh', '-c', `while read -r body; do ${post} "$body"; done < ${bodies}`] },
  { name: 'xargs -P 4 curl', command: ['sh', '-c', `tr '\\n' '\\0' < ${bodies} | xargs -0 -P 4 -I BODY ${post} BODY`] },
  { name: yardstick, command: ['sh', '-c', `tr '\\n' '\\0' < ${bodies} | xargs -0 -P 16 -I BODY ${post} BODY`] },
  { name: 'undici alone', command: [process.execPath, fileURLToPath(new URL('../posts.js', import.meta.url)), bodies] },
  { name: 'license apply', command: [process.execPath, program, 'license', 'apply', roster, '-q'] },
  { name: 'one worker', command: [process.execPath, program, 'license', 'apply', roster, '-q', '--concurrency', '1'] },
  { name: 'the same again', command: [process.execPath, program, 'license', 'apply', roster, '-q'], again: true },
];
try {
  /** @type {number[][]} */
  const times = ways.map(() => []);
  for (let run = 0; run < runs; run += 1)
    for (const [index, way] of ways.entries()) times[index]?.push(await timeOf(way));
  const medians = times.map((all) => all.toSorted((one, other) => one - other)[runs >> 1] ?? NaN);
  console.log(`${rows} licenses, latency ${latency} ms, median of ${runs} runs, Node ${process.versions.node}`);
  for (const [index, { name }] of ways.entries()) {
    const took = medians[index] ?? NaN;
    const ratio = took / (medians[ways.findIndex((way) => way.name === yardstick)] ?? NaN);
    const speed = `${((rows * 1000) / took).toFixed(0)}/s`;
    console.log(
      `${name.padEnd(20)} ${(took / 1000).toFixed(2).padStart(7)} s ${speed.padStart(8)} ${ratio.toFixed(2).padStart(6)} x`,
    );
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** @param {{ command: readonly string[], again?: boolean }} way */
async function timeOf({ command: [file = '', ...args], again }) {
  const { credential, stop } = await serve(bare, ['--latency', latency]);
  const env = {
    ...bare,
    ...credential,
    URL: `${credential.CHATELAINE_BASE_URL}/v1/license/`,
    AUTHORIZATION: `authorization: Token ${credential.CHATELAINE_API_KEY}`,
  };
  try {
    if (again) spawnSync(file, args, { env, stdio: 'ignore' });
    const begun = performance.now();
    const { status, stderr } = spawnSync(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    if (status !== 0) throw new Error(`${file}: ${String(stderr)}`);
    return performance.now() - begun;
  } finally {
    stop();
  }
}
