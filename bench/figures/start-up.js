// How long the program takes to start, as times of `node -e 0` in the same run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareEnvironment, measure, tell } from '../measure.js';
import { program, serve } from '../sandbox.js';

const home = mkdtempSync(join(tmpdir(), 'chatelaine-bench-'));
const env = bareEnvironment(home);
const { credential, stop } = await serve(env);
try {
  const rows = [
    { name: 'node -e 0', args: ['-e', '0'] },
    { name: 'chatelaine --version', args: [program, '--version'], limit: 1.5 },
    { name: 'TAB', args: [program, '__complete', 'fish', 'license', 'create', '--'], limit: 1.4 },
    { name: 'chatelaine --help', args: [program, '--help'] },
    { name: 'license list --help', args: [program, 'license', 'list', '--help'] },
    { name: 'license list, one request', args: [program, 'license', 'list'] },
  ];
  const runs = Number(process.env['RUNS'] ?? 25);
  console.log(`Start-up: median of ${runs} runs, Node ${process.versions.node}`);
  if (!tell(await measure(rows, { runs, env: { ...env, ...credential } }))) process.exitCode = 1;
} finally {
  stop();
  rmSync(home, { recursive: true, force: true });
}
