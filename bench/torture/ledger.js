// Three machines that share a ledger: each has its own home, state folder and, where that is allowed, its own
// namespaces of processes and of the network, and applies the same roster against a server that drops, delays and
// doubles answers. Runs are killed at random moments, and the database is killed once. In the end each user has one
// license, each machine's last run ended with 0, and nothing was asked for more often than rows and lost answers
// explain. Then many `license ensure` of one user from all machines at once. ROWS (200), KILLS (12), ENSURES (60),
// SEED (1).
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chances, csvOf, faultsOf, licensesOn } from '../licenses.js';
import { bareEnvironment } from '../measure.js';
import { hasPostgres, madeLongAgo, startPostgres } from '../postgres.js';
import { endAtExit, program, serve } from '../sandbox.js';

const count = Number(process.env['ROWS'] ?? 200);
const kills = Number(process.env['KILLS'] ?? 12);
const ensures = Number(process.env['ENSURES'] ?? 60);
const random = chances(Number(process.env['SEED'] ?? 1));
const machineCount = 3;
const mostRuns = 60;
const limits = ['--settle', '1500ms', '--timeout', '2s'];
const writes =
  'drop-before:0.04,drop-after:0.04,502:0.03,429:0.02@200ms,delay-commit:0.02@1s,cut:0.01,reset-after:0.01,504-after:0.01';
const faults = `POST /v1/license/=${writes};GET /*=drop-before:0.03,502:0.03,429:0.02@200ms,cut:0.02`;

/** @type {import('../torture.js').Torture} */
export default async function ledger({ home, bare, wrongs }) {
  if (!hasPostgres) return 'skipped: PostgreSQL is not installed';
  const database = await startPostgres();
  const data = ['--data', join(home, 'server.ndjson')];
  const log = join(home, 'requests.ndjson');
  const clean = await serve(bare, data);
  const hard = await serve(bare, [...data, '--fault', faults, '--log', log]);
  const machines = await Promise.all(
    Array.from({ length: machineCount }, (_, index) =>
      openMachine(join(home, `machine-${index}`), { ...hard.credential, CHATELAINE_LEDGER: database.url }),
    ),
  );
  await machines[0]?.run(['ledger', 'init']).ended;
  database.query(madeLongAgo);
  await applyOnEach(machines, { home, database, clean: clean.credential, log, wrongs });
  await ensureOnEach(machines, clean.credential, wrongs);
  for (const machine of machines) machine.close();
  hard.stop();
  clean.stop();
  await database.stop();
  return `${machineCount} machines, ${machines[0]?.isApart ? 'each with namespaces of its own' : 'in one namespace'}`;
}

/** @typedef {{ isApart: boolean, run: (args: readonly string[]) => Running, close: () => void }} MachineOfBench */
/**
 * @typedef {{ kill: () => void, ended: Promise<{ code: number | null, signal: string | null, stdout: string, stderr:
 * string }> }} Running
 */

/**
 * @param {readonly MachineOfBench[]} machines
 * @param {{ home: string, database: Awaited<ReturnType<typeof startPostgres>>, clean: Record<string, string>, log:
 * string, wrongs: string[] }} bench
 */
async function applyOnEach(machines, { home, database, clean, log, wrongs }) {
  const rows = Array.from({ length: count }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 }));
  const roster = join(home, 'roster.csv');
  writeFileSync(roster, csvOf(rows));
  const begun = Date.now();
  let killed = 0;
  const crash = sleep(8000).then(() => database.crash());
  const ends = await Promise.all(
    machines.map(async (machine) => {
      const codes = [];
      for (let runs = 0; runs < mostRuns && codes.at(-1) !== 0; runs += 1) {
        const running = machine.run(['license', 'apply', roster, ...limits, '-q', '-o', 'ndjson']);
        if (killed < kills) {
          const first = await Promise.race([running.ended, sleep(400 + random() * 4000, 'late')]);
          if (first === 'late') running.kill();
        }
        const { code, signal, stderr } = await running.ended;
        if (signal === 'SIGKILL') {
          killed += 1;
          continue;
        }
        codes.push(code);
        if (code !== 0) await sleep(500);
        if (code === null || ![0, 7, 8, 9].includes(code))
          wrongs.push(`a run ended with ${code}: ${stderr.slice(-400)}`);
        // A machine that is done runs again as long as there are kills left, so that others are killed beside a
        // finished one too.
        if (code === 0 && killed < kills) codes.pop();
      }
      return codes;
    }),
  );
  await crash;
  const { doubled, missing } = faultsOf(rows, await licensesOn(clean));
  const posts = postsIn(log);
  if (doubled.length > 0) wrongs.push(`two licenses: ${doubled.slice(0, 10).join(' ')}`);
  if (missing.length > 0) wrongs.push(`no license: ${missing.slice(0, 10).join(' ')}`);
  for (const codes of ends) if (codes.at(-1) !== 0) wrongs.push(`a machine ended with ${codes.join(',')}`);
  if (posts.all > count + posts.failed) wrongs.push(`${posts.all} POSTs, of which ${posts.failed} failed`);
  console.log(
    `license apply of ${count} rows on each: ${killed} kills, one crash of the database, exit codes ${ends.map((codes) => codes.join(',')).join(' | ')}, ` +
      `${doubled.length} duplicates, ${missing.length} missing, ${posts.all} POSTs (${posts.failed} of them lost or refused), ${((Date.now() - begun) / 1000).toFixed(0)} s`,
  );
}

/** @param {readonly MachineOfBench[]} machines @param {Record<string, string>} clean @param {string[]} wrongs */
async function ensureOnEach(machines, clean, wrongs) {
  const begun = Date.now();
  const line = ['license', 'ensure', '--remote-user', 'eve', '--size-allowance', '4', ...limits, '-q'];
  const running = Array.from({ length: ensures }, (_, index) => machines[index % machines.length]?.run(line));
  const ended = await Promise.all(running.map((one) => one?.ended));
  const bad = ended.filter((one) => one?.code !== 0);
  const keys = new Set(ended.map((one) => one?.stdout.trim()).filter((key) => key !== ''));
  const held = (await licensesOn(clean)).filter((license) => license.remote_user === 'eve').length;
  if (held !== 1 || keys.size !== 1) wrongs.push(`ensure: ${held} licenses, ${keys.size} keys`);
  if (bad.length > 0) wrongs.push(`ensure: ${bad.length} failed, one with ${bad[0]?.code}: ${bad[0]?.stderr}`);
  console.log(`license ensure, ${ensures} at once: ${held} license (${((Date.now() - begun) / 1000).toFixed(0)} s)`);
}

/** How many POSTs came, and how many of them were not answered with 201. @param {string} log */
function postsIn(log) {
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const posts = lines
    .map((line) => JSON.parse(line))
    .filter(({ method, path }) => method === 'POST' && path.startsWith('/v1/license/'));
  return { all: posts.length, failed: posts.filter(({ status, fault }) => status !== 201 || fault !== null).length };
}

/**
 * A machine: a home, and namespaces of processes and of the network where the system allows it. In such a network
 * nothing but its own loopback is there; what it sends to the port of the server goes through a socket file to the
 * outside.
 * @param {string} home
 * @param {Record<string, string>} credential
 * @returns {Promise<MachineOfBench>}
 */
async function openMachine(home, credential) {
  mkdirSync(home);
  const env = { ...bareEnvironment(home), ...credential };
  const apart = await openNamespace(home, Number(new URL(credential['CHATELAINE_BASE_URL'] ?? '').port));
  const [file, ...before] = [...(apart?.enter ?? []), process.execPath];
  return {
    isApart: apart !== undefined,
    run(args) {
      const child = spawn(file ?? '', [...before, program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (text) => (stdout += text));
      child.stderr.on('data', (text) => (stderr += text));
      const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }));
      // nsenter waits for the process that it starts inside.
      const kill = () => childrenOf(child.pid).forEach((pid) => process.kill(pid, 'SIGKILL'));
      return { kill: () => (apart ? kill() : void child.kill('SIGKILL')), ended };
    },
    close: () => apart?.close(),
  };
}

/** @param {string} home @param {number} port of the server */
async function openNamespace(home, port) {
  const holder = spawn('unshare', ['--net', '--pid', '--fork', '--kill-child', '--mount-proc', 'sleep', '1000000'], {
    stdio: 'ignore',
  });
  endAtExit(holder);
  const socket = join(home, 'out.sock');
  const out = createServer((inside) => joined(inside, connect(port, '127.0.0.1')));
  const relay = `const net=require('net');net.createServer((c)=>{const o=net.connect(${JSON.stringify(socket)});c.pipe(o).pipe(c);
    for(const s of [c,o])s.on('error',()=>{c.destroy();o.destroy()})}).listen(${port},'127.0.0.1',()=>console.log('up'))`;
  try {
    await once(holder, 'spawn');
    await sleep(500);
    const enter = ['nsenter', '-t', String(childrenOf(holder.pid)[0]), '--net', '--pid', '--mount'];
    execFileSync(enter[0] ?? '', [...enter.slice(1), 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    out.listen(socket);
    await once(out, 'listening');
    const inside = spawn(enter[0] ?? '', [...enter.slice(1), process.execPath, '-e', relay], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(inside.stdout, 'data');
    const close = () => {
      holder.kill('SIGKILL');
      out.close();
    };
    return { enter, close };
  } catch {
    holder.kill('SIGKILL');
    out.close();
    return undefined;
  }
}

/** @param {number | undefined} pid */
function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** @param {import('node:net').Socket} one @param {import('node:net').Socket} other */
function joined(one, other) {
  one.pipe(other).pipe(one);
  for (const socket of [one, other])
    socket.on('error', () => {
      one.destroy();
      other.destroy();
    });
}
