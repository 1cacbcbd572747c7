// `messages fetch --all` beside one curl of the same pages, from a server whose pages cost nothing: MESSAGES (200000) of 1 KB, RUNS (5),
// of which the median counts. Then the peak of memory at the sizes of MEMORY (20000,200000; with 1000000 too, the figure of the issue).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../measure.js';
import { program } from '../sandbox.js';

const messages = Number(process.env['MESSAGES'] ?? 200_000);
const runs = Number(process.env['RUNS'] ?? 5);
const sizes = (process.env['MEMORY'] ?? '20000,200000').split(',').map(Number);
const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const bare = bareEnvironment(home);
const fetchAll = ['messages', 'fetch', '--channel', 'general', '--topic', 'load', '--all', '-o'];

try {
  await compareTimes();
  await compareMemory();
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function compareTimes() {
  const { site, stop } = await serve(messages);
  const env = environmentFor(site);
  const ways = [
    { name: 'curl', command: ['curl', '-s', '-K', pagesFor(site)] },
    ...['ndjson', 'json', 'tsv'].map((format) => ({
      name: `messages fetch -o ${format}`,
      command: [process.execPath, program, ...fetchAll, format],
    })),
  ];
  /** @type {number[][]} */
  const times = ways.map(() => []);
  for (let run = 0; run < runs; run += 1)
    for (const [index, { command }] of ways.entries()) times[index]?.push(timeOf(command, env));
  stop();
  const medians = times.map((all) => all.toSorted((one, other) => one - other)[runs >> 1] ?? NaN);
  console.log(`${messages} messages of 1 KB, median of ${runs} runs, Node ${process.versions.node}`);
  for (const [index, { name }] of ways.entries()) {
    const took = medians[index] ?? NaN;
    const ratio = (took / (medians[0] ?? NaN)).toFixed(1);
    console.log(`${name.padEnd(24)} ${(took / 1000).toFixed(2).padStart(7)} s ${ratio.padStart(6)} x`);
  }
}

async function compareMemory() {
  for (const size of sizes) {
    const { site, stop } = await serve(size);
    const { peak, lines, seconds } = await peakOf([...fetchAll, 'ndjson'], environmentFor(site));
    stop();
    if (lines !== size) throw new Error(`${lines} lines of ${size} messages`);
    console.log(
      `${String(size).padStart(9)} messages: peak ${(peak / 1000).toFixed(0).padStart(4)} MB, ${seconds.toFixed(1)} s`,
    );
  }
}

/** @param {number} count */
async function serve(count) {
  const script = fileURLToPath(new URL('../pages.js', import.meta.url));
  const server = spawn(process.execPath, [script, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(server.stdout, 'data');
  return { site: String(line).trim(), stop: () => server.kill() };
}

/** @param {string} site */
function environmentFor(site) {
  return {
    ...bare,
    CHATELAINE_CHAT_SITE: site,
    CHATELAINE_CHAT_EMAIL: 'ada@example.com',
    CHATELAINE_CHAT_API_KEY: 'x'.repeat(32),
  };
}

/**
 * The requests of the program, as a file for curl.
 * @param {string} site
 */
function pagesFor(site) {
  const urls = Array.from({ length: Math.ceil(messages / 1000) }, (_, page) => {
    const anchor = page === 0 ? 'oldest' : String(10_000_000 + page * 1000);
    return `url = "${site}/api/v1/messages?num_before=0&num_after=1000&anchor=${anchor}"\noutput = "/dev/null"\n`;
  });
  const file = join(home, 'pages');
  writeFileSync(file, urls.join(''));
  return file;
}

/**
 * @param {readonly string[]} command
 * @param {Record<string, string | undefined>} env
 */
function timeOf([file = '', ...args], env) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${file}: ${String(stderr)}`);
  return performance.now() - begun;
}

/**
 * The kernel's own high-water mark in KiB, looked at until the process is gone, and the lines that came.
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 */
async function peakOf(args, env) {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let [peak, lines] = [0, 0];
  const timer = setInterval(() => (peak = Math.max(peak, markOf(child.pid ?? 0))), 20);
  child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  const [code] = await once(child, 'close');
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}`);
  return { peak, lines, seconds: (performance.now() - begun) / 1000 };
}

/** @param {number} pid */
function markOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
