// One name that a dozen processes give at once: renames and edits of other licenses beside `license ensure`, some of
// them killed, at a server that loses answers and carries requests out late. ROUNDS (20).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { chances, licensesOn, run } from '../licenses.js';
import { program, serve } from '../sandbox.js';

const rounds = Number(process.env['ROUNDS'] ?? 20);
const random = chances(Number(process.env['SEED'] ?? 1));
const late = 'delay-commit:0.25@800ms,drop-after:0.2';

/** @type {import('../torture.js').Torture} */
export default async function names({ bare, wrongs }) {
  const server = await serve(bare, ['--fault', `PATCH *=${late};PUT *=${late};POST /v1/license/=${late}`]);
  const env = { ...bare, ...server.credential };
  let [killed, given] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const name = `new-${round}`;
    const old = Array.from({ length: 8 }, (_, index) => `old-${round}-${index}`);
    for (const user of old) await run(['license', 'ensure', '--remote-user', user, '--size-allowance', '4'], env);
    const all = (await licensesOn(server.credential)).filter((license) => old.includes(license.remote_user));
    const lines = all.map(({ license_code, remote_user }, index) => {
      const whole = ['--replace', '--app-code', server.credential.CHATELAINE_APP_CODE, '--size-allowance', '4'];
      if (index % 3 === 0) return ['license', 'rename', remote_user, name];
      return ['license', 'edit', license_code, '--remote-user', name, ...(index % 3 === 1 ? whole : [])];
    });
    const ensure = ['license', 'ensure', '--remote-user', name, '--size-allowance', '4', '--settle', '1500ms'];
    const started = [...lines, ensure, ensure, ensure, ensure].map((line) => start(line, env));
    const kills = started.filter(() => random() < 0.25).map(({ child }) => sleep(50 + random() * 900, child));
    for (const kill of kills) void kill.then((child) => child.kill('SIGKILL'));
    const ended = await Promise.all(started.map(({ ended }) => ended));
    killed += ended.filter(({ signal }) => signal !== null).length;
    given += ended.filter(({ code }) => code === 0).length;
    for (const { code, stderr } of ended)
      if (code !== null && ![0, 6, 7, 8, 9].includes(code)) wrongs.push(`${name}: exit code ${code}: ${stderr}`);
    const last = await run(ensure, env);
    if (last.code !== 0) wrongs.push(`${name}: ensure ended with ${last.code} at the end: ${last.stderr.slice(-300)}`);
    // What a killed process sent may be carried out until then.
    await sleep(1000);
    const licenses = (await licensesOn(server.credential)).filter((license) => license.remote_user === name);
    if (licenses.length !== 1) wrongs.push(`${name}: ${licenses.length} licenses`);
  }
  server.stop();
  return `${rounds} rounds of 12 processes, ${killed} killed, ${given} ended with 0`;
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 */
function start(args, env) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr: stderr.slice(-300) }));
  return { child, ended };
}
