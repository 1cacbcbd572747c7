// `npm test`: every gate, then every test. All of them run even when one fails, so that one run tells everything; the last line
// counts each gate as one test.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Scripts of package.json, in the order of their cost to a reader: what fails first explains what fails later. */
const gates = ['types', 'build', 'lint', 'format:check', 'unused', 'package'];

const results = gates.map((gate) => ({ gate, passed: run(gate, ['npm', 'run', '--silent', gate]) }));
const tests = runTests();
const failedGates = results.filter(({ passed }) => !passed).map(({ gate }) => gate);
const passed = results.length - failedGates.length + tests.passed;
const failed = failedGates.length + tests.failed;

if (failedGates.length > 0) console.log(`\nFailed: ${failedGates.join(', ')}`);
console.log(`\n${passed} passed, ${failed} failed, ${tests.skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * Whether the command succeeds.
 * @param {string} title
 * @param {readonly string[]} command
 */
function run(title, [program = '', ...args]) {
  console.log(`\n## ${title}`);
  return spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

/** Counts by vitest's own report; a file that could not be read, or an error outside of tests, counts as one that failed. */
function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-test-'));
  const file = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const succeeded = run('tests', ['npx', 'vitest', 'run', ...reporters]);
    return count(file, succeeded);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} file
 * @param {boolean} succeeded
 */
function count(file, succeeded) {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
  /** @type {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const unread = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = report.numFailedTests + unread.length;
  return {
    passed: report.numPassedTests,
    failed: succeeded ? failed : Math.max(1, failed),
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
