// How long a command that waits takes to end after SIGINT and SIGTERM; the limit is 200 ms.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareEnvironment } from '../measure.js';
import { program } from '../sandbox.js';

const limitMs = 200;
const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const mute = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
await new Promise((resolve) => mute.once('listening', resolve));
const { port } = /** @type {import('node:net').AddressInfo} */ (mute.address());
execFileSync('mkfifo', [join(home, 'fifo')]);

const keyed = { CHATELAINE_API_KEY: 'key-of-the-bench-123', CHATELAINE_APP_CODE: '7' };
const states = [
  { name: 'standard input', args: ['license', 'apply', '-'], base: 'http://127.0.0.1:1', env: {} },
  { name: 'a FIFO', args: ['license', 'apply', 'fifo'], base: 'http://127.0.0.1:1', env: {} },
  { name: 'an answer', args: ['license', 'list'], base: `http://127.0.0.1:${port}`, env: {} },
  { name: 'TLS', args: ['license', 'list'], base: `https://127.0.0.1:${port}`, env: {} },
  {
    name: 'a proxy',
    args: ['license', 'list'],
    base: 'https://licenses.example.com',
    env: { HTTPS_PROXY: `http://127.0.0.1:${port}` },
  },
];

/**
 * @param {(typeof states)[number]} state
 * @param {NodeJS.Signals} signal
 */
async function timeToEnd({ args, base, env }, signal) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home,
    env: { ...bareEnvironment(home), ...keyed, ...env, CHATELAINE_BASE_URL: base },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await sleep(1000);
  const sent = performance.now();
  child.kill(signal);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  return { code, tookMs: performance.now() - sent };
}

try {
  const runs = Number(process.env['RUNS'] ?? 5);
  console.log(`Time from a signal to the end of a waiting command: the longest of ${runs} runs`);
  for (const state of states) {
    for (const [signal, exit] of /** @type {const} */ ([
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ])) {
      let longest = 0;
      for (let run = 0; run < runs; run += 1) {
        const { code, tookMs } = await timeToEnd(state, signal);
        if (code !== exit) throw new Error(`${state.name}: exit ${String(code)} after ${signal}`);
        longest = Math.max(longest, tookMs);
      }
      console.log(`${state.name.padEnd(16)} ${signal.padEnd(8)} ${longest.toFixed(0).padStart(5)} ms`);
      if (longest > limitMs) process.exitCode = 1;
    }
  }
} finally {
  mute.close();
  rmSync(home, { recursive: true, force: true });
}
