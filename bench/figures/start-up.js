// How long the program takes to start, as times of `node -e 0` in the same run.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment, measure, tell } from '../measure.js';

const program = fileURLToPath(new URL('../../bin/chatelaine.cjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const env = bareEnvironment(folder);
const server = spawn(process.execPath, [program, 'sandbox', 'serve', '-o', 'ndjson'], {
  env,
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const { licensing } = await address();
  const rows = [
    { name: 'node -e 0', args: ['-e', '0'] },
    { name: '--version', args: [program, '--version'], limit: 1.5 },
    { name: '--help', args: [program, '--help'] },
    { name: 'license list --help', args: [program, 'license', 'list', '--help'] },
    { name: 'license list (one request)', args: [program, 'license', 'list'] },
    { name: 'license list -o json', args: [program, 'license', 'list', '-o', 'json'] },
  ];
  const credential = {
    CHATELAINE_BASE_URL: licensing.base_url,
    CHATELAINE_API_KEY: licensing.api_key,
    CHATELAINE_APP_CODE: String(licensing.app_code),
  };
  const runs = Number(process.env['RUNS'] ?? 25);
  console.log(`Start-up: median of ${runs} runs, Node ${process.versions.node}`);
  if (!tell(await measure(rows, { runs, env: { ...env, ...credential } }))) process.exitCode = 1;
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** @returns {Promise<{ licensing: { base_url: string, api_key: string, app_code: number } }>} */
async function address() {
  for await (const line of server.stdout) return JSON.parse(String(line));
  throw new Error('the sandbox did not start');
}
