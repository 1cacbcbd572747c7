// `npm test`: every gate, then every test. All of them run even when one fails, so that one run tells everything; the last line
// counts each gate as one test.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Scripts of package.json, in the order of their cost to a reader: what fails first explains what fails later. */
const gates = ['types', 'lint', 'format:check', 'unused', 'package'];

// Before all others: `package` and the tests read what it writes.
const built = await runGates(['build']);
const results = [...built, ...(await runGates(gates))];
const tests = runTests();
const failedGates = results.filter(({ passed }) => !passed).map(({ gate }) => gate);
const passed = results.length - failedGates.length + tests.passed;
const failed = failedGates.length + tests.failed;

if (failedGates.length > 0) console.log(`\nFailed: ${failedGates.join(', ')}`);
console.log(`\n${passed} passed, ${failed} failed, ${tests.skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * Runs gates side by side, one for each processor. What each says comes whole, in the order of the gates.
 * @param {readonly string[]} names
 */
async function runGates(names) {
  /** @type {Outcome[]} */
  const outcomes = [];
  let [begun, shown] = [0, 0];
  const lane = async () => {
    while (begun < names.length) {
      const index = begun++;
      outcomes[index] = await runGate(names[index] ?? '');
      for (let next = outcomes[shown]; next; next = outcomes[++shown]) show(next);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return outcomes;
}

/** @typedef {{ readonly gate: string, readonly passed: boolean, readonly seconds: number, readonly output: string }} Outcome */

/**
 * @param {string} gate
 * @returns {Promise<Outcome>}
 */
function runGate(gate) {
  const begin = performance.now();
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', gate], { maxBuffer: Infinity }, (error, stdout, stderr) => {
      const seconds = Math.round((performance.now() - begin) / 1000);
      resolve({ gate, passed: error === null, seconds, output: stdout + stderr });
    });
  });
}

/** @param {Outcome} outcome */
function show({ gate, passed, seconds, output }) {
  console.log(`\n## ${gate}: ${passed ? 'passed' : 'failed'} (${seconds} s)`);
  process.stdout.write(output);
}

/** Counts by vitest's own report; a file that could not be read, or an error outside of tests, counts as one that failed. */
function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-test-'));
  const file = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    console.log('\n## tests');
    const { status } = spawnSync('npx', ['vitest', 'run', ...reporters], { stdio: ['ignore', 'inherit', 'inherit'] });
    return count(file, status === 0);
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
