// The most memory that `license apply` takes at 1,000, 10,000 and 100,000 rows (ROWS, joined by commas), the first time and again,
// when the server holds a license for each row. The yardstick is the first size. More than 320 MiB is a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { csvOf } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { program, serve } from '../sandbox.js';

const limitKib = 320 * 1024;
const sizes = (process.env['ROWS'] ?? '1000,10000,100000').split(',').map(Number);
const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const bare = bareEnvironment(home);
/** @type {number | undefined} */
let yardstick;
console.log(`license apply, Node ${process.versions.node}\n    rows   seconds   peak of memory          again`);
try {
  for (const rows of sizes) {
    const { credential, stop } = await serve(bare);
    const roster = join(home, `${rows}.csv`);
    const wanted = Array.from({ length: rows }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 }));
    writeFileSync(roster, csvOf(wanted));
    const begun = performance.now();
    const args = ['license', 'apply', roster, '-q', '-o', 'ndjson', '--concurrency', '16'];
    const peak = await peakOf(args, { ...bare, ...credential });
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    const again = await peakOf(args, { ...bare, ...credential });
    stop();
    yardstick ??= peak;
    if (Math.max(peak, again) > limitKib) process.exitCode = 1;
    const ratio = (peak / yardstick).toFixed(2);
    console.log(
      `${String(rows).padStart(8)} ${seconds.padStart(9)} ${mib(peak).padStart(9)} ${ratio} x ${mib(again).padStart(9)}`,
    );
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** @param {number} kib */
function mib(kib) {
  return `${(kib / 1024).toFixed(0)} MiB`;
}

/**
 * The kernel's own high-water mark, looked at until the process is gone, in KiB.
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 */
async function peakOf(args, env) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, markOf(child.pid ?? 0))), 50);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}`);
  return peak;
}

/** @param {number} pid */
function markOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
