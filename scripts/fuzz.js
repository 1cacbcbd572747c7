// node scripts/fuzz.js [answers|lines|parsers]: the long form of test/fuzz. FUZZ_SECONDS: for all parsers together
// (1200). FUZZ_RUNS: cases of each kind (20000), FUZZ_SEED (1), FUZZ_CASE: the number of the only case to be run.
import { spawnSync } from 'node:child_process';
import { showUsage } from './usage.js';

showUsage(import.meta.filename);
const names = { answers: 'changed answers', lines: 'command line', parsers: 'no text ends in a bug' };
const [name] = process.argv.slice(2);
const only = name === undefined ? [] : ['--testNamePattern', names[/** @type {keyof typeof names} */ (name)] ?? name];
const env = {
  ...process.env,
  FUZZ_RUNS: process.env['FUZZ_RUNS'] ?? '20000',
  FUZZ_SECONDS: process.env['FUZZ_SECONDS'] ?? '1200',
  FUZZ_SEED: process.env['FUZZ_SEED'] ?? '1',
};
console.log(`fuzz: ${env.FUZZ_RUNS} cases of each kind, ${env.FUZZ_SECONDS} s of parsers, seed ${env.FUZZ_SEED}`);
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/fuzz', ...only], {
  stdio: 'inherit',
  env,
});
process.exitCode = status ?? 1;
