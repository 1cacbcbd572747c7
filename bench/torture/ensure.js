// `license ensure` for one user by many processes at once: one license, one key for all. Then rounds in which one is
// killed in the middle while the server commits late. PROCESSES (50), ROUNDS (10).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chances, licensesOn } from '../licenses.js';
import { program, serve } from '../sandbox.js';

const processes = Number(process.env['PROCESSES'] ?? 50);
const rounds = Number(process.env['ROUNDS'] ?? 10);
const random = chances(Number(process.env['SEED'] ?? 1));

/** @type {import('../torture.js').Torture} */
export default async function ensure(place) {
  const lost = ['--fault', 'POST /v1/license/=drop-after:0.5'];
  const late = ['--fault', 'POST /v1/license/=delay-commit@800ms'];
  await atOnce({ name: 'at once', size: processes, options: [], killing: 0 }, place);
  await atOnce({ name: 'at once, half of the answers lost', size: processes, options: lost, killing: 0 }, place);
  await atOnce({ name: 'committed late, one killed', size: 6, options: late, killing: rounds }, place);
  return `${processes} processes at once, ${rounds} rounds with a kill`;
}

/**
 * `killing`: so many rounds in which the first process is killed; 0: one round in which none is.
 * @typedef {{ name: string, size: number, options: readonly string[], killing: number }} Crowd
 */

/**
 * @param {Crowd} crowd
 * @param {import('../torture.js').Place} place
 */
async function atOnce({ name, size, options, killing }, { bare, wrongs }) {
  const server = await serve(bare, options);
  const begun = Date.now();
  let most = 0;
  for (let round = 0; round < Math.max(1, killing); round += 1) {
    const user = `${name.replaceAll(/\W+/g, '-')}-${round}`;
    const ensure = ['license', 'ensure', '--remote-user', user, '--size-allowance', '4', '--settle', '1500ms', '-q'];
    const started = Array.from({ length: size }, () => start(ensure, { ...bare, ...server.credential }));
    if (killing > 0) setTimeout(() => started[0]?.child.kill('SIGKILL'), 100 + random() * 400);
    const ended = await Promise.all(started.map(({ ended }) => ended));
    const keys = new Set(ended.filter(({ code }) => code === 0).map(({ key }) => key));
    const bad = ended.filter(({ code, signal }) => code !== 0 && signal === null);
    const licenses = (await licensesOn(server.credential)).filter((license) => license.remote_user === user);
    most = Math.max(most, licenses.length);
    if (licenses.length !== 1) wrongs.push(`${user}: ${licenses.length} licenses`);
    if (keys.size !== 1 || !keys.has(licenses[0]?.license_code ?? ''))
      wrongs.push(`${user}: keys ${[...keys].join(' ')}`);
    if (bad.length > 0) wrongs.push(`${user}: ${bad.length} failed, one with ${bad[0]?.code}: ${bad[0]?.stderr}`);
  }
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  console.log(`license ensure by ${size} processes ${name}: at most ${most} license a user (${seconds} s)`);
  server.stop();
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 */
function start(args, env) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let key = '';
  let stderr = '';
  child.stdout.on('data', (text) => (key += text));
  child.stderr.on('data', (text) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, key: key.trim(), stderr }));
  return { child, ended };
}
