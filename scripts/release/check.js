// `node scripts/release/check.js [vX.Y.Z] [--to FOLDER]`: what a release needs, tried on two clean clones of the
// present commit, with an empty home; the second is another folder under another umask. Each step that fails is named,
// with its output. With a tag the changelog must be that of the release; with a folder it gets the tarball that was
// tried, the bill of materials and their checksums.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { systems } from '../binary.js';
import { showUsage } from '../usage.js';
import { checkActions } from './actions.js';

showUsage(import.meta.filename);
const { values, positionals } = parseArgs({ allowPositionals: true, options: { to: { type: 'string' } } });
const [tag] = positionals;
const repository = resolve(import.meta.dirname, '../..');
const { name, version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), `${name}-release-`));
const clones = [join(folder, 'one'), join(folder, 'at/another/place')];
const [clone = '', other = ''] = clones;
const tarball = `${name}-${version}.tgz`;
const bill = 'dist/bill-of-materials.cdx.json';
/** Variables with which npm reaches a registry, or asks it to attest where a package was built. */
const kept =
  /^(PATH|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|HTTPS?_PROXY|NO_PROXY|npm_config_registry|(GITHUB|ACTIONS|RUNNER|NODE_AUTH)_\w+)$/i;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([key]) => kept.test(key))),
  ...{ HOME: join(folder, 'home'), CI: 'true', TEST_EXTENT: 'all' },
  ...(tag !== undefined && { RELEASE_TAG: tag }),
};
/** Tests of what users get: versions, pages and their links, the tarball, and the files of a release. */
const tests = ['test/release', 'test/manual', 'test/docs.test.ts', 'test/e2e/package.test.ts'];
const [committing, pinning] = ['what is not committed', 'actions of the workflows'];
const [testing, comparing] = ['tests of what is released', 'two builds, the same bytes'];
/** The steps whose output is printed even where they pass. */
const told = new Set([committing, pinning, testing, comparing]);
/** @type {string[]} */
const failed = [];

console.log(
  `${name} ${version}, ${tag ?? 'without a tag'}, at ${run(repository, 'git', 'rev-parse', 'HEAD').output.trim()}`,
);
try {
  mkdirSync(env.HOME);
  step(committing, allCommitted);
  for (const place of clones) step('clone', () => run(folder, 'git', 'clone', '--quiet', repository, place));
  step('repository', repositoryNamed);
  step(pinning, () => checkActions(clone));
  step('Node of the archives', nodesPinned);
  for (const place of clones) step('npm ci', () => run(place, 'npm', 'ci', '--prefer-offline'));
  step('golden pages', goldenPages);
  for (const place of clones) step('npm pack', () => run(place, 'npm', 'pack', '--silent'));
  step(comparing, sameBytes);
  step(testing, () => run(clone, 'npx', 'vitest', 'run', '--reporter=tree', ...tests));
  step('npm publish --dry-run', publish);
  if (values.to !== undefined && failed.length === 0)
    step('archives', () =>
      run(clone, process.execPath, 'scripts/binary.js', ...Object.keys(systems), '--to', 'archives'),
    );
  if (values.to !== undefined && failed.length === 0) hand(resolve(values.to));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failed.length === 0 ? `\n${name} ${version} can be released` : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** @typedef {{ readonly passed: boolean, readonly output: string }} Outcome */

/**
 * All steps run even when one fails, so that one run tells everything.
 * @param {string} what
 * @param {() => Outcome} act
 */
function step(what, act) {
  const begin = performance.now();
  const { passed, output } = act();
  if (!passed) failed.push(what);
  console.log(`\n## ${what}: ${passed ? 'passed' : 'FAILED'} (${Math.round((performance.now() - begin) / 1000)} s)`);
  if (!passed || told.has(what)) process.stdout.write(output);
}

/**
 * @param {string} cwd
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Outcome}
 */
function run(cwd, program, ...args) {
  const options = { cwd, env, encoding: /** @type {const} */ ('utf8'), maxBuffer: Infinity };
  // One clone is built as by somebody who lets nobody else read files, the other as by one who lets a group write them.
  const before = process.umask(cwd === other ? 0o077 : 0o002);
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  process.umask(before);
  return { passed: status === 0, output: error?.message ?? stdout + stderr };
}

/** No clone has what is not committed here, so a release would lack it. */
function allCommitted() {
  const names = run(repository, 'git', 'status', '--porcelain').output;
  return { passed: names === '' || tag === undefined, output: names === '' ? '' : `not part of it:\n${names}` };
}

/** Each archive holds a Node whose sum somebody has looked at. */
function nodesPinned() {
  const { version: pinned, sums } = JSON.parse(readFileSync(join(clone, 'scripts/release/node.json'), 'utf8'));
  const files = Object.values(systems).map(({ archive }) => `node-v${pinned}-${archive}`);
  const missing = files.filter((file) => sums[file] === undefined);
  const output = missing.map(
    (file) => `scripts/release/node.json has no sum of ${file}: node scripts/binary.js --sums\n`,
  );
  return { passed: missing.length === 0, output: output.join('') };
}

/**
 * The registry takes no provenance of a package that names another repository than the one whose workflow publishes it.
 */
function repositoryNamed() {
  const { url } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')).repository ?? {};
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: owned } = process.env;
  const expected = owned === undefined ? url : `git+${server}/${owned}.git`;
  // `npm pkg` writes package.json as `npm run golden` does.
  const set = (/** @type {string} */ address) => `npm pkg set repository.type=git repository.url=${address}\n`;
  if (url === undefined)
    return {
      passed: false,
      output: `no repository: cannot be published. Run: ${set('git+https://HOST/OWNER/NAME.git')}`,
    };
  return { passed: url === expected, output: `package.json names the repository ${url}. Run: ${set(expected)}` };
}

/** What `npm run golden` writes must be what is committed; it may fail, and rewrite files too. */
function goldenPages() {
  const { passed, output } = run(clone, 'npm', 'run', 'golden');
  const rewritten = run(clone, 'git', 'status', '--porcelain').output.replaceAll(
    /^.. (.*)$/gm,
    '$1: rewritten by npm run golden',
  );
  return { passed: passed && rewritten === '', output: `${passed ? '' : output}${rewritten}` };
}

function sameBytes() {
  const sum = sumOf(join(clone, tarball));
  if (sum !== undefined && sum === sumOf(join(other, tarball)))
    return { passed: true, output: `sha256 ${sum}  ${tarball}\n` };
  const built = readdirSync(join(clone, 'dist'), { recursive: true, encoding: 'utf8' });
  const files = [...built.map((file) => join('dist', file)), tarball];
  const differing = files.filter((file) => sumOf(join(clone, file)) !== sumOf(join(other, file)));
  return { passed: false, output: differing.map((file) => `differs: ${file}\n`).join('') };
}

/** Undefined for a folder, and where there is no such file. @param {string} file */
function sumOf(file) {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? createHash('sha256').update(readFileSync(file)).digest('hex') : undefined;
}

/** Where a package was built can be attested on the machines of GitHub and GitLab alone. */
function publish() {
  const provenance = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] === undefined ? [] : ['--provenance'];
  return run(clone, 'npm', 'publish', '--dry-run', '--access', 'public', ...provenance, join(clone, tarball));
}

/** @param {string} place */
function hand(place) {
  mkdirSync(place, { recursive: true });
  const archives = readdirSync(join(clone, 'archives')).sort();
  const made = [tarball, bill, ...archives.map((file) => `archives/${file}`)];
  const files = made.map((file) => ({
    from: join(clone, file),
    to: file.replace('archives/', '').replace('dist/', `${name}-${version}.`),
  }));
  for (const { from, to } of files) copyFileSync(from, join(place, to));
  writeFileSync(join(place, 'SHA256SUMS'), files.map(({ from, to }) => `${sumOf(from)}  ${to}\n`).join(''));
  console.log(`\n${readFileSync(join(place, 'SHA256SUMS'), 'utf8')}`);
}
