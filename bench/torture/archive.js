// `archive pull --both` killed with SIGKILL at random steps of its writing, each time continued by the same command:
// the export of both forms is byte for byte that of an undisturbed pull, the archive verifies, and one more pull sends
// at most 3 requests (who the account is, what is new, whether the channel is visible) and changes no byte. The export
// as HTML fits into a heap of 40 MB, and `| head -5` takes at most two pages. KILLS (30), MESSAGES (20000), SEED (1).
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chances } from '../licenses.js';
import { program, serve } from '../sandbox.js';

const kills = Number(process.env['KILLS'] ?? 30);
const messages = Number(process.env['MESSAGES'] ?? 20_000);
const random = chances(Number(process.env['SEED'] ?? 1));
const preload = fileURLToPath(new URL('kill-at-disk.cjs', import.meta.url));
const phases = ['before', 'torn', 'after'];

/** @type {import('../torture.js').Torture} */
export default async function archive({ home, bare, wrongs }) {
  const { chat, stop } = await serve(bare, ['--extra-messages', String(messages), '--rate-limit', '1000000']);
  const env = { ...bare, ...chat };
  let killed = 0;
  const selection = ['--channel', 'general', '--topic', 'load', '--both'];
  await run(['archive', 'pull', join(home, 'calm'), ...selection], env);
  const pull = ['archive', 'pull', join(home, 'kept'), ...selection];
  for (; killed < kills; killed += 1) {
    const moment = `${1 + Math.floor(random() * 24)}:${phases[Math.floor(random() * phases.length)]}`;
    const kill = { NODE_OPTIONS: `--require="${preload}"`, KILL_AT: moment, KILL_IN: join(home, 'kept') };
    const { signal, code } = await run(pull, { ...env, ...kill });
    if (signal === 'SIGKILL') continue;
    if (code !== 0) wrongs.push(`the pull that was to be killed at ${moment} ended with ${code}`);
    break;
  }
  const last = await run(pull, env);
  if (last.code !== 0) wrongs.push(`the last pull ended with ${last.code}: ${last.stderr}`);
  const before = hashOf(join(home, 'kept'));
  const log = join(home, 'second.log');
  await run(['archive', 'pull', join(home, 'kept'), '--log', log], env);
  if (requestsIn(log) > 3) wrongs.push(`one more pull sent ${requestsIn(log)} requests`);
  if (hashOf(join(home, 'kept')) !== before) wrongs.push('one more pull changed the archive');
  const verified = await run(['archive', 'verify', join(home, 'kept')], env);
  if (verified.code !== 0) wrongs.push(`verify ended with ${verified.code}: ${verified.stdout}`);
  for (const form of [[], ['--raw-content']]) {
    /** @param {string} name */
    const exported = async (name) =>
      (await run(['archive', 'export', join(home, name), '-o', 'ndjson', ...form], env)).hash;
    if ((await exported('kept')) !== (await exported('calm'))) wrongs.push(`the exports differ: ${form.join('')}`);
  }
  const html = ['archive', 'export', join(home, 'kept'), '-o', 'html'];
  const page = await run(html, { ...env, NODE_OPTIONS: '--max-old-space-size=40' });
  if (page.code !== 0) wrongs.push(`the export as HTML within a heap of 40 MB ended with ${page.code}`);
  const headLog = join(home, 'head.log');
  const fetchAll = `messages fetch --channel general --topic load --all -o ndjson --log '${headLog}'`;
  const script = `set -o pipefail; '${process.execPath}' '${program}' ${fetchAll} | head -5 | wc -l`;
  const { status, stdout } = spawnSync('bash', ['-c', script], { env, encoding: 'utf8' });
  if (status !== 0 || stdout.trim() !== '5') wrongs.push(`head -5 ended with ${status} and ${stdout.trim()} lines`);
  if (requestsIn(headLog) > 2) wrongs.push(`head -5 took ${requestsIn(headLog)} pages`);
  stop();
  return `${messages} messages, ${killed} kills`;
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} given
 * @returns {Promise<{ code: number | null, signal: string | null, hash: string, stdout: string, stderr: string }>}
 */
function run(args, given) {
  const child = spawn(process.execPath, [program, ...args], { env: given, stdio: ['ignore', 'pipe', 'pipe'] });
  const hash = createHash('sha256');
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
    hash.update(chunk);
    if (stdout.length < 10_000) stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  return new Promise((done) => {
    child.once('close', (code, signal) => done({ code, signal, hash: hash.digest('hex'), stdout, stderr }));
  });
}

/** @param {string} log */
function requestsIn(log) {
  return readFileSync(log, 'utf8').split('"event":"request"').length - 1;
}

/** @param {string} folder */
function hashOf(folder) {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
}
