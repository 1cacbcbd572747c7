// How long the program takes to start, as times of `node -e 0` in the same run. NODES=20,22,24 measures other versions of Node than
// the present one too; each comes as the npm package `node`. RUNS sets the number of interleaved runs.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { bareEnvironment, measure, median, tell } from '../measure.js';
import { program, serve } from '../sandbox.js';

const runs = Number(process.env['RUNS'] ?? 25);
const nodes = process.env['NODES']?.split(',').map(pathOf) ?? [process.execPath];
const usage = fileURLToPath(new URL('../usage.cjs', import.meta.url));
const tlsServer = fileURLToPath(new URL('../tls-server.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const env = bareEnvironment(home);
const { credential, stop } = await serve(env);
const secure = await serveTls();
try {
  for (const node of nodes) await measureOn(node);
} finally {
  stop();
  secure.stop();
  rmSync(home, { recursive: true, force: true });
}

/** @param {string} node */
async function measureOn(node) {
  const list = [program, 'license', 'list'];
  const rows = [
    { name: 'node -e 0', args: ['-e', '0'] },
    { name: 'chatelaine --version', args: [program, '--version'], limit: 1.5 },
    { name: 'TAB', args: [program, '__complete', 'fish', 'license', 'create', '--'], limit: 1.4 },
    { name: 'chatelaine --help', args: [program, '--help'] },
    { name: 'license list --help', args: [program, 'license', 'list', '--help'] },
    { name: 'license list, one request', args: list },
    { name: 'the same, first run ever', args: list, before: forgetCache, env: { XDG_CACHE_HOME: join(home, 'first') } },
  ];
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`\nStart-up: median of ${runs} runs, Node ${version}`);
  if (!tell(await measure(rows, { runs, node, env: { ...env, ...credential } }))) process.exitCode = 1;
  const secured = { ...env, ...credential, CHATELAINE_BASE_URL: secure.url };
  const bare = await cpuOf(node, ['-e', '0'], env);
  const plain = await cpuOf(node, list, { ...env, ...credential });
  const tls = await cpuOf(node, [...list, '--ca-file', secure.certificate], secured);
  /** @param {number} cpu */
  const told = (cpu) => `${cpu.toFixed(0)} ms, ${(cpu / bare).toFixed(2)} x`;
  console.log(
    `CPU time of node -e 0 ${told(bare)}; of one request ${told(plain)}; over https with --ca-file ${told(tls)}`,
  );
}

function forgetCache() {
  rmSync(join(home, 'first'), { recursive: true, force: true });
}

/**
 * Milliseconds of user and system time, the median of the runs.
 * @param {string} node
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} surroundings
 */
async function cpuOf(node, args, surroundings) {
  const times = [];
  for (let run = 0; run <= runs; run += 1) {
    const child = spawn(node, ['-r', usage, ...args], {
      env: surroundings,
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    const [, , , report] = child.stdio;
    const told = text(/** @type {import('node:stream').Readable} */ (report));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`node ${args.join(' ')}: exit code ${code}`);
    if (run > 0) times.push(Number(JSON.parse(await told).cpu));
  }
  return median(times);
}

/** @param {string} version */
function pathOf(version) {
  const command = ['--yes', `--package=node@${version}`, '--', 'node', '--print', 'process.execPath'];
  return execFileSync('npx', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** A service over TLS with a certificate of its own; where it is, and how to end it. */
async function serveTls() {
  const key = join(home, 'key.pem');
  const certificate = join(home, 'certificate.pem');
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...files, ...name], { stdio: 'ignore' });
  const server = spawn(process.execPath, [tlsServer, key, certificate], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(server.stdout, 'data');
  return { url: `https://127.0.0.1:${String(port).trim()}`, certificate, stop: () => server.kill() };
}
