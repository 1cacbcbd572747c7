// node scripts/test-clients.js: runs the reading examples of other makers' clients against `sandbox serve`. PYTHON
// names another interpreter. A client that is not installed is skipped, named and counted.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { showUsage } from './usage.js';

showUsage(import.meta.filename);
const python = process.env['PYTHON'] ?? 'python3';
if (spawnSync(python, ['-c', 'import zulip']).status !== 0) {
  console.log(`skipped: the Python package zulip is not installed for ${python}\n0 passed, 0 failed, 1 skipped`);
  process.exit(0);
}

const server = spawn(process.execPath, ['bin/chatelaine.cjs', 'sandbox', 'serve'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const { site, email, key } = await addressOf(server.stdout);
  const child = spawn(python, ['test/clients/reading.py', email, key, site], { stdio: ['ignore', 'pipe', 'inherit'] });
  const counts = { passed: 0, failed: 0 };
  for await (const line of createInterface(child.stdout)) {
    const { call, result, code } = JSON.parse(line);
    const isRight = call === 'register' ? code === 'NOT_IN_SANDBOX' : result === 'success';
    counts[isRight ? 'passed' : 'failed'] += 1;
    console.log(`${isRight ? 'passed' : 'FAILED'}: zulip (Python) ${call}${isRight ? '' : ` ${line}`}`);
  }
  if (child.exitCode === null) await once(child, 'exit');
  console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
  if (child.exitCode !== 0 || counts.failed > 0 || counts.passed === 0) process.exitCode = 1;
} finally {
  server.kill('SIGINT');
}

/**
 * What the server prints for the chat API.
 * @param {import('node:stream').Readable} stdout
 */
async function addressOf(stdout) {
  /** @type {Record<string, string>} */
  const found = {};
  for await (const line of createInterface(stdout)) {
    const [, name, value] = /^export CHATELAINE_CHAT_(SITE|EMAIL|API_KEY)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) found[name] = value;
    if (name === 'API_KEY') return { site: found['SITE'] ?? '', email: found['EMAIL'] ?? '', key: value ?? '' };
  }
  throw new Error('the sandbox did not start');
}
