// What `license list` takes in each format, as times of ndjson, and the table of 1,000 rows, also as times of `node -e 0`; then one array of
// a million licenses (ROWS and MANY set the sizes). The server is a process of its own that sends the same bytes each time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { bareEnvironment, median } from '../measure.js';
import { program } from '../sandbox.js';

const rows = Number(process.env['ROWS'] ?? 20_000);
const many = Number(process.env['MANY'] ?? 1_000_000);
const runs = Number(process.env['RUNS'] ?? 5);
const usage = fileURLToPath(new URL('../usage.cjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));

/** @typedef {{ cpu: number, peak: number, lines: number }} Took */

if (process.argv[2] === 'serve') serve();
else await measure();

function serve() {
  const server = createServer((request, response) => {
    const count = Number(/^\/(\d+)\//.exec(request.url ?? '')?.[1] ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    void send(response, count);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    console.log(address.port);
  });
}

/**
 * An array of licenses in pieces, so that the server needs no memory for it.
 * @param {import('node:http').ServerResponse} response
 * @param {number} count
 */
async function send(response, count) {
  response.write('[');
  for (let from = 0; from < count; from += 1000) {
    const piece = Array.from({ length: Math.min(1000, count - from) }, (_, index) => license(from + index));
    const isWritable = response.write(`${from === 0 ? '' : ','}${piece.join(',')}`);
    if (!isWritable) await once(response, 'drain');
  }
  response.end(']');
}

/** @param {number} index */
function license(index) {
  return JSON.stringify({
    license_code: `4F1C9-${String(index).padStart(8, '0')}-EF035`,
    remote_user: `user-${index}`,
    app_code: 4711,
    size_allowance: 1 + (index % 18),
    created: '2026-02-24T15:45:27Z',
  });
}

async function measure() {
  const server = spawn(process.execPath, [fileURLToPath(import.meta.url), 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [chunk] = await once(server.stdout, 'data');
    const port = String(chunk).trim();
    console.log(`license list, ${rows} rows, medians of ${runs} interleaved runs, Node ${process.versions.node}`);
    await tellFormats(port);
    console.log(`\nlicense list, one array of ${many} licenses`);
    const whole = await list(port, many, ['-o', 'ndjson']);
    console.log(
      `ndjson: ${whole.lines} rows, ${whole.cpu.toFixed(0)} ms of CPU time, ${(whole.peak / 1024).toFixed(0)} MiB`,
    );
    if (whole.lines !== many) process.exitCode = 1;
  } finally {
    server.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

/** @param {string} port */
async function tellFormats(port) {
  const formats = ['ndjson', 'json', 'tsv', 'csv', 'yaml', 'table'].map((format) => ({
    name: format,
    count: rows,
    args: ['-o', format],
  }));
  const kinds = [...formats, { name: 'table of 1,000 rows', count: 1000, args: ['-o', 'table'] }];
  /** @type {Took[][]} */
  const all = kinds.map(() => []);
  const bares = [];
  for (let run = 0; run < runs; run += 1) {
    bares.push((await usageOf(['-e', '0'], bareEnvironment(home))).cpu);
    for (const [index, { count, args }] of kinds.entries()) all[index]?.push(await list(port, count, args));
  }
  const cpus = all.map((took) => median(took.map(({ cpu }) => cpu)));
  for (const [index, { name }] of kinds.entries()) {
    const cpu = cpus[index] ?? NaN;
    const peak = median((all[index] ?? []).map((took) => took.peak)) / 1024;
    const ratio = (cpu / (cpus[0] ?? NaN)).toFixed(2);
    console.log(
      `${name.padEnd(22)} ${cpu.toFixed(0).padStart(6)} ms of CPU time  ${ratio.padStart(5)} x  ${peak.toFixed(0).padStart(4)} MiB`,
    );
  }
  const bare = median(bares);
  console.log(
    `node -e 0: ${bare.toFixed(0)} ms, the table of 1,000 rows ${((cpus.at(-1) ?? NaN) / bare).toFixed(1)} x`,
  );
}

/**
 * @param {string} port
 * @param {number} count
 * @param {readonly string[]} args
 * @returns {Promise<Took>}
 */
async function list(port, count, args) {
  const env = {
    ...bareEnvironment(home),
    CHATELAINE_BASE_URL: `http://127.0.0.1:${port}/${count}`,
    CHATELAINE_API_KEY: 'key',
    CHATELAINE_APP_CODE: '4711',
  };
  return usageOf([program, 'license', 'list', ...args], env);
}

/**
 * @param {string[]} args
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<Took>}
 */
async function usageOf(args, env) {
  const child = spawn(process.execPath, ['-r', usage, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const [, , , report] = child.stdio;
  if (!child.stdout || !report || !('on' in report) || !('read' in report)) throw new Error('no streams');
  const counted = countLines(child.stdout);
  const printed = text(/** @type {import('node:stream').Readable} */ (report));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${args.join(' ')}: exit code ${code}`);
  return { ...JSON.parse(await printed), lines: await counted };
}

/** @param {AsyncIterable<Buffer>} stream */
async function countLines(stream) {
  let lines = 0;
  for await (const chunk of stream) for (const byte of chunk) if (byte === 10) lines += 1;
  return lines;
}
