// `npm test`: the build, then every gate beside every test, and all of them even when one fails, so that one run tells
// everything. The last line counts each gate as one test; the lines before it name what some tests did not find on this
// computer. `npm run test:all`, which a release needs, sets TEST_EXTENT=all: whole products in place of samples
// (test/helpers/extent.ts), in an order drawn by a seed. `TEST_ORDER=7 npm test` draws another order. `--of-root` runs
// only the tests that need root, for `.ci/run`, where another user ran everything else.
import { exec, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { changedSinceBuild } from './built.js';
import { abilities, isMissing, needs, programs } from './needs.js';
import { leaveUnfitTemporaryFolder } from './temporary.js';

/** @type {{ readonly scripts: Readonly<Record<string, string>> }} */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
/**
 * In the order of their cost to a reader: what fails first explains what fails later. `lint` checks types too.
 * @type {Readonly<Record<string, string | undefined>>}
 */
const gates = {
  lint: scripts['lint'],
  format: 'node scripts/format-check.js',
  unused: 'node --no-opt node_modules/knip/bin/knip.js --no-progress',
  package: 'publint --strict',
};
process.env['PATH'] = resolve('node_modules/.bin') + delimiter + (process.env['PATH'] ?? '');

const isAll = process.argv.includes('--all');
const isOfRoot = process.argv.includes('--of-root');
/** The tags of tests that need what only root has. */
const ofRoot = ['root', 'mounts'];
if (isAll) process.env['TEST_EXTENT'] = 'all';
// Files run in the order of their cost, unless a seed draws an order of files, and of the tests in each.
const order = process.env['TEST_ORDER'] || (isAll ? String(Date.now() % 100_000) : '');
// The next two lines do what vitest.config.ts does.
delete process.env['NODE_EXTRA_CA_CERTS'];
leaveUnfitTemporaryFolder();
// The build comes first: `package` and the tests read what it writes.
const isBuilt = changedSinceBuild()?.length === 0;
const build = isBuilt
  ? { gate: 'build', passed: true, seconds: 0, output: 'Nothing changed since the last build.\n' }
  : await runGate('build');
show(build);
// The tests leave no processor idle: a second gate at a time would only slow both down.
const [tests, ...outcomes] = await Promise.all([runTests(), ...oneAfterAnother(isOfRoot ? [] : Object.keys(gates))]);
for (const outcome of outcomes) show(outcome);

const failedGates = [build, ...outcomes].filter(({ passed }) => !passed).map(({ gate }) => gate);
const passed = outcomes.length + (isOfRoot ? 0 : 1) - failedGates.length + tests.passed;
const failed = failedGates.length + tests.failed;
if (failedGates.length > 0) console.log(`\nFailed: ${failedGates.join(', ')}`);
if (failed > 0) console.log(`\nThe same samples and order again: ${repetition()}`);
for (const line of missing(tests.skipped)) console.log(line);
console.log(`\n${passed} passed, ${failed} failed, ${tests.skipped.length} skipped`);
process.exitCode = failed === 0 ? 0 : 1;

/** The command of this run, with the seeds that drew its samples and its order. */
function repetition() {
  const seeds = [
    ...(isAll ? [] : [`TEST_SEED=${process.env['TEST_SEED'] ?? 1}`]),
    ...(order ? [`TEST_ORDER=${order}`] : []),
  ];
  return [...seeds, 'npm', isAll ? 'run test:all' : 'test'].join(' ');
}

/**
 * @typedef {{ readonly gate: string, readonly passed: boolean, readonly seconds: number, readonly output: string }}
 * Outcome
 */

/**
 * @param {readonly string[]} names
 * @returns {Promise<Outcome>[]}
 */
function oneAfterAnother(names) {
  /** @type {Promise<unknown>} */
  let before = Promise.resolve();
  return names.map((name) => {
    const outcome = before.then(() => runGate(name));
    before = outcome;
    return outcome;
  });
}

/**
 * @param {string} gate
 * @returns {Promise<Outcome>}
 */
function runGate(gate) {
  const begin = performance.now();
  // The checker of types, a Go program, needs 1.4 GB where it collects no garbage, and a third less CPU time.
  const options = { env: { GOGC: 'off', GOMEMLIMIT: '2GiB', ...process.env }, maxBuffer: Infinity };
  return new Promise((done) => {
    // This runs the script as npm would, whose own start takes a quarter of a second of CPU time.
    exec(gates[gate] ?? scripts[gate] ?? `${gate}-is-no-script`, options, (error, stdout, stderr) => {
      const seconds = Math.round((performance.now() - begin) / 1000);
      done({ gate, passed: error === null, seconds, output: stdout + stderr });
    });
  });
}

/** @param {Outcome} outcome */
function show({ gate, passed, seconds, output }) {
  console.log(`\n## ${gate}: ${passed ? 'passed' : 'failed'} (${seconds} s)`);
  process.stdout.write(output);
}

/**
 * What is counted of the tests; of each that was skipped, its tags.
 * @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: readonly (readonly string[])[] }}
 * Tests
 */

/**
 * Counts by vitest's own report; a file that could not be read, or an error outside of tests, counts as one that
 * failed.
 * @returns {Promise<Tests>}
 */
async function runTests() {
  const folder = temporaryFolder();
  const file = join(folder, 'report.json');
  // Ctrl-C ends the tests, and what they left is removed here; a second one ends this too.
  process.once('SIGINT', () => undefined);
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const shuffle = order ? ['--sequence.shuffle', `--sequence.seed=${order}`] : [];
    const some = isOfRoot ? [`--tags-filter=${ofRoot.join(' or ')}`, ...filesOfRoot()] : [];
    console.log(`\n## tests${isOfRoot ? ' that need root' : ''}${order && `, in the order of seed ${order}`}`);
    const env = { ...process.env, TMPDIR: folder };
    // The process that transforms the sources for the others would spend a tenth of its CPU time collecting garbage.
    const child = spawn(
      process.execPath,
      ['--max-semi-space-size=64', 'node_modules/vitest/vitest.mjs', 'run', ...reporters, ...shuffle, ...some],
      {
        env,
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    const [code] = await once(child, 'close');
    return count(file, code === 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files that have a test with one of these tags: all others need not be read. */
function filesOfRoot() {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((file) => join('test', file));
  const tag = new RegExp(`needs\\([^)]*'(${ofRoot.join('|')})'`);
  return files.filter((file) => file.endsWith('.test.ts') && tag.test(readFileSync(file, 'utf8')));
}

/**
 * A folder for the files of all tests: in memory where that has 2 GB and runs programs, since the tests make, sync and
 * remove tens of thousands of small files, and where TMPDIR names no other place.
 */
function temporaryFolder() {
  const memory = '/dev/shm';
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : [];
  const mount = mounts.find((line) => line.split(' ')[1] === memory);
  const isFit = process.env['TMPDIR'] === undefined && mount !== undefined && !/\b(noexec|ro)\b/.test(mount);
  const { bavail, bsize } = isFit ? statfsSync(memory) : { bavail: 0, bsize: 0 };
  const folder = mkdtempSync(join(bavail * bsize >= 2 ** 31 ? memory : tmpdir(), 'chatelaine-'));
  // Some tests run a program as another user: PostgreSQL's own, and one without rights.
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * @param {string} file
 * @param {boolean} succeeded
 * @returns {Tests}
 */
function count(file, succeeded) {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: [] };
  /** @type {{ testResults: { status: string, assertionResults: { status: string, tags: string[] }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(file, 'utf8'));
  const tests = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ tags }) => !isOfRoot || tags.some((tag) => ofRoot.includes(tag)));
  const unread = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = tests.filter(({ status }) => status === 'failed').length + unread.length;
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: succeeded ? failed : Math.max(1, failed),
    skipped: tests.filter(({ status }) => status !== 'passed' && status !== 'failed').map(({ tags }) => tags),
  };
}

/**
 * A line for each need that is missing here, with the number of its tests, and how to install the programs on Debian. A
 * test that has two of them is counted for both.
 * @param {Tests['skipped']} skipped
 */
function missing(skipped) {
  const absent = needs.filter((need) => isMissing(need) && skipped.some((tags) => tags.includes(need)));
  const others = skipped.filter((tags) => !absent.some((need) => tags.includes(need))).length;
  const counted = absent.map((need) => {
    const what = need in abilities ? `: ${abilities[/** @type {keyof typeof abilities} */ (need)].what}` : '';
    return `  ${String(skipped.filter((tags) => tags.includes(need)).length).padStart(5)}  ${need}${what}`;
  });
  if (others > 0) counted.push(`  ${String(others).padStart(5)}  for another cause, which their file names`);
  const packages = Object.entries(programs).flatMap(([name, program]) =>
    absent.some((need) => need === name) ? program.packages : [],
  );
  return [
    ...(counted.length > 0 ? ['\nSkipped, since this computer does not have:', ...counted] : []),
    ...(packages.length > 0 ? [`On Debian: apt-get install --no-install-recommends ${packages.join(' ')}`] : []),
  ];
}
