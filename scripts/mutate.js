// node scripts/mutate.js [--count 50] [--seed 1] [--room store]: changes the program at seeded places, one at a time,
// and runs the tests that reach the place, nearest first, then those of the built program: prints what no test sees.
// `node scripts/mutate.js --count 10 --seed 7 --room store`; a room may be a file, and `--tests test/store` runs only
// some of the tests. It writes into src and dist while it runs, so run it in a copy of the repository.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { showUsage } from './usage.js';

/** @typedef {import('./mutate/mutants.js').Mutant} Mutant */
/** @typedef {'source' | 'program'} Project */

showUsage(import.meta.filename);
// This import loads the compiler, which --help does without.
const { mutantsOf, mutated, probed } = await import('./mutate/mutants.js');
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    room: { type: 'string', default: '' },
    tests: { type: 'string', default: 'test' },
  },
});
const limitMs = 600_000;
/** Tests that compare the text of the program, where every mutant is another one. */
const ofTexts = 'there is one place of each rule';
/** Tests that run the program that was built. */
const ofProgram = 'test/e2e';
const folder = mkdtempSync(join(tmpdir(), 'chatelaine-mutate-'));
/** The process group of the tests that run. @type {number | undefined} */
let running;
/** The original texts of the files that are changed now. @type {Map<string, string>} */
const originals = new Map();

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end(130));

const sample = sampleOf(Number(values.count), Number(values.seed));
const reaching = await testsReaching(sample);
let seen = 0;
for (const [id, mutant] of sample.entries()) {
  const witness = await witnessOf(mutant, reaching.get(id) ?? []);
  if (witness !== undefined) seen += 1;
  const text = readFileSync(mutant.file, 'utf8');
  const line = text.slice(0, mutant.place.start).split('\n').length;
  const [code] = text.slice(mutant.place.start, mutant.place.end).split('\n');
  const result = witness === undefined ? `survived ${reaching.get(id)?.length ?? 0} test files` : `seen by ${witness}`;
  console.log(`${id + 1}: ${mutant.file}:${line}: ${mutant.what}: ${code}: ${result}`);
}
console.log(`${seen} of ${sample.length} mutants were seen by a test (seed ${values.seed})`);
end(0);

/**
 * The mutants of the sample, each once.
 * @param {number} count
 * @param {number} seed
 */
function sampleOf(count, seed) {
  const room = join('src', values.room);
  const files = statSync(room).isFile()
    ? [room]
    : readdirSync(room, { recursive: true, encoding: 'utf8' }).map((name) => join(room, name));
  const all = files
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .flatMap(mutantsOf);
  const next = numbers(seed);
  return Array.from({ length: Math.min(count, all.length) }, () =>
    all.splice(Math.floor(next() * all.length), 1),
  ).flat();
}

/** Park and Miller, so that a seed gives the same sample everywhere. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/**
 * The test files that evaluate each mutant, found by one run of all tests with a probe at each place: those of the file
 * and its folder first.
 * @param {readonly Mutant[]} sample
 */
async function testsReaching(sample) {
  const notes = join(folder, 'notes');
  writeFileSync(notes, '');
  const numbered = sample.map((mutant, id) => ({ id, mutant }));
  for (const file of new Set(sample.map((mutant) => mutant.file))) {
    const inFile = numbered.filter(({ mutant }) => mutant.file === file);
    change(file, (text) => probed(text, inFile));
  }
  await runTests([values.tests], { env: { CHATELAINE_MUTATE_NOTES: notes } });
  restore();
  /** @type {Map<number, string[]>} */
  const found = new Map();
  for (const note of new Set(readFileSync(notes, 'utf8').split('\n').slice(0, -1))) {
    const [, id, file = ''] = /^(\d+) (.*)$/.exec(note) ?? [];
    found.set(Number(id), [...(found.get(Number(id)) ?? []), relative('.', file)]);
  }
  return found;
}

/**
 * The test file that fails with the mutant, or undefined. It counts only if it passes with the unchanged program, and a
 * time-out only if the same tests pass unchanged in a third of the time: a slow machine or a flaky test sees nothing.
 * @param {Mutant} mutant
 * @param {readonly string[]} tests
 */
async function witnessOf(mutant, tests) {
  const nearest = dirname(mutant.file).replace(/^src/, 'test');
  const near = tests.filter((test) => test.startsWith(nearest));
  const far = tests.filter((test) => !near.includes(test));
  for (const files of [near, far].filter((each) => each.length > 0)) {
    const witness = await witnessAmong(files, 'source', mutant);
    if (witness !== undefined) return witness;
  }
  if (values.tests !== 'test' && !values.tests.startsWith(ofProgram)) return undefined;
  return witnessAmong([values.tests === 'test' ? ofProgram : values.tests], 'program', mutant);
}

/**
 * The file among those that fails with the mutant.
 * @param {readonly string[]} files
 * @param {Project} project
 * @param {Mutant} mutant
 */
async function witnessAmong(files, project, mutant) {
  change(mutant.file, (text) => mutated(text, mutant));
  const isBuilt = project === 'source' || build();
  const result = isBuilt ? await runTests(files, { project }) : ['the build'];
  restore();
  if (project === 'program' && !build()) throw new Error('the unchanged program cannot be built');
  if (result === 'passed') return undefined;
  const failed = result === 'timed out' ? files : result;
  const limit = result === 'timed out' ? limitMs / 3 : limitMs;
  const again = isBuilt ? await runTests(failed, { project, limit }) : 'passed';
  if (again === 'passed') return result === 'timed out' ? 'a time-out' : failed.join(', ');
  console.log(`not counted: ${failed.join(', ')} fails without the mutant too`);
  return undefined;
}

/** Builds the program that the tests of test/e2e run; false if that fails. */
function build() {
  return spawnSync('npm', ['run', '-s', 'build'], { stdio: 'ignore' }).status === 0;
}

/**
 * Runs test files until one fails; returns those that failed. Not synchronous: a signal must reach this process while
 * tests run. They are a process group of their own, so that what hangs ends with its workers.
 * @param {readonly string[]} files
 * @param {{ project?: Project, env?: Record<string, string>, limit?: number }} how `limit` in milliseconds
 * @returns {Promise<'passed' | 'timed out' | string[]>}
 */
async function runTests(files, { project = 'source', env = {}, limit = limitMs }) {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const isProbing = 'CHATELAINE_MUTATE_NOTES' in env;
  const options = ['--project', project, '--reporter=json', `--outputFile=${report}`, `--bail=${isProbing ? 0 : 1}`];
  options.push(`--testNamePattern=^(?!.*${ofTexts})`);
  // What a module evaluates once in a process reaches each file that imports it.
  if (isProbing) options.push('--isolate');
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files], {
    stdio: 'ignore',
    detached: true,
    env: {
      ...process.env,
      ...(isProbing && { NODE_OPTIONS: `--import=${join(import.meta.dirname, 'mutate/reached.js')}` }),
      ...env,
    },
  });
  running = child.pid;
  let isLate = false;
  const late = () => {
    isLate = true;
    endTests();
  };
  const alarm = isProbing ? undefined : setTimeout(late, limit);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(alarm);
  running = undefined;
  if (isLate) return 'timed out';
  if (code === 0) return 'passed';
  /** @type {{ testResults: { name: string, status: string }[] }} */
  const { testResults } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { testResults: [] };
  const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
  return failed.length > 0 ? failed : [...files];
}

/**
 * Writes another text of a file, until `restore`.
 * @param {string} file
 * @param {(text: string) => string} edit
 */
function change(file, edit) {
  const text = readFileSync(file, 'utf8');
  originals.set(file, text);
  writeFileSync(file, edit(text));
}

function restore() {
  for (const [file, text] of originals) writeFileSync(file, text);
  originals.clear();
}

function endTests() {
  if (running !== undefined) process.kill(-running, 'SIGKILL');
}

/** @param {number} code */
function end(code) {
  restore();
  endTests();
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}
