// `topic delete` against servers of ten feature levels that end every third delete call early, killed once: the same
// command ends with exit code 0, the topic is empty, other topics are untouched, and the archive holds each deleted
// message in both forms. MESSAGES (20000), LEVELS (joined by commas).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { program, serve } from '../sandbox.js';

const messages = Number(process.env['MESSAGES'] ?? 20_000);
const preload = fileURLToPath(new URL('kill-at-disk.cjs', import.meta.url));
const levels = (process.env['LEVELS'] ?? '140,147,150,154,180,210,211,256,372,421').split(',');

/**
 * A call has time for a tenth of the topic, and every third call runs out of time earlier, in the way of its level.
 * Below level 147 one transaction deletes the whole topic or nothing: a call has time for all of it, the first one runs
 * out of time, and the kill comes before. The kill is at a step of the record of the purge: after the look before the
 * first call, or the second.
 * @param {string} level
 */
function conditionsOf(level) {
  const batches = Math.ceil(messages / 100);
  if (Number(level) < 147) return { batches, early: 'early#1@700', killAt: '5:after' };
  return { batches: Math.ceil(batches / 10), early: 'early/3@700', killAt: '9:after' };
}

/** @type {import('../torture.js').Torture} */
export default async function purge(place) {
  console.log(`topic delete: ${messages} messages\nlevel   runs  seconds`);
  for (const level of levels) await purgeAt(level, place);
  return `${messages} messages, levels ${levels.join(', ')}`;
}

/**
 * @param {string} level
 * @param {import('../torture.js').Place} place
 */
async function purgeAt(level, { home, bare, wrongs }) {
  const { batches, early, killAt } = conditionsOf(level);
  const { chat, stop } = await serve(bare, [
    ...['--extra-messages', String(messages), '--feature-level', level],
    ...['--fault', `POST /api/v1/streams/*=${early}`, '--delete-batches', String(batches)],
    // The usual 200 calls a minute would make most of the run a wait.
    ...['--rate-limit', '100000'],
  ]);
  const env = { ...bare, ...chat };
  const before = wrongs.length;
  const begun = Date.now();
  let runs = 0;
  const others = await otherTopics(env);
  const root = join(home, `kept-${level}`);
  const line = ['topic', 'delete', 'general', 'load', '--confirm', 'load', '--archive', root];
  const kill = { NODE_OPTIONS: `--require="${preload}"`, KILL_AT: killAt, KILL_IN: 'purge.ndjson' };
  const killed = await run(line, { ...env, ...kill });
  if (killed.signal !== 'SIGKILL') wrongs.push(`it ended with ${killed.code} before it was killed: ${killed.stderr}`);
  for (let last = killed; runs < 5 && last.code !== 0; runs += 1) {
    last = await run(line, env);
    if (last.code !== 0) wrongs.push(`run ${runs + 1} ended with ${last.code}: ${last.stderr}`);
  }
  if ((await otherTopics(env)) !== others) wrongs.push('other topics changed');
  const left = await run(['topic', 'list', 'general', '--match', 'load', '-o', 'ndjson'], env);
  if (left.stdout !== '') wrongs.push(`left: ${left.stdout}`);
  const [folder = '', ...more] = readdirSync(root);
  if (more.length > 0) wrongs.push(`archives: ${more.length + 1}`);
  for (const form of [[], ['--raw-content']]) {
    const { stdout } = await run(['archive', 'export', join(root, folder), '-o', 'ndjson', ...form], env);
    const ids = new Set(
      stdout
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text).id),
    );
    if (ids.size !== messages) wrongs.push(`the archive holds ${ids.size} messages ${form.join('')}`);
  }
  stop();
  const seconds = ((Date.now() - begun) / 1000).toFixed(0);
  console.log(
    `${level.padEnd(6)} ${String(runs + 1).padStart(5)} ${seconds.padStart(8)}  ${wrongs.length === before ? 'ok' : ''}`,
  );
}

/** @param {Record<string, string | undefined>} env */
async function otherTopics(env) {
  const { stdout } = await run(['topic', 'list', 'general', '-o', 'ndjson'], env);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text));
  return JSON.stringify(rows.filter(({ topic_name: name }) => name !== 'load'));
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<{ code: number | null, signal: string | null, stdout: string, stderr: string }>}
 */
function run(args, env) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  return new Promise((done) => {
    child.once('close', (code, signal) => done({ code, signal, stdout, stderr }));
  });
}
