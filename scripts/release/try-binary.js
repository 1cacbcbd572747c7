// `node scripts/release/try-binary.js SYSTEM`: unpacks the archive of the folder `release` for this system, and runs
// it with no other Node on PATH.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { showUsage } from '../usage.js';

showUsage(import.meta.filename);
const [system = ''] = process.argv.slice(2);
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const isWindows = system.startsWith('win');
const folder = `${name}-${version}-${system}`;
const place = mkdtempSync(join(tmpdir(), `${name}-try-`));

try {
  // Windows' own tar reads zip files.
  expect(run('tar', ['-xf', resolve(`release/${folder}.${isWindows ? 'zip' : 'tar.gz'}`), '-C', place]), '');
  const command = join(place, folder, isWindows ? `${name}.cmd` : name);
  expect(run(command, ['--version']), `${name} ${version}`);
  expect(run(command, ['--sandbox', 'license', 'ensure', '--remote-user', 'ada', '--size-allowance', '4']), undefined);
  // A thread, WebAssembly, and what the run before kept.
  expect(run(command, ['--sandbox', 'license', 'list', '--remote-user', 'ada', '--jq', 'length']), '1');
  console.log(`${folder}: runs`);
} finally {
  rmSync(place, { recursive: true, force: true });
}

/**
 * @param {string} program
 * @param {readonly string[]} words
 */
function run(program, words) {
  const system32 = `${process.env['SystemRoot']}\\System32`;
  const env = isWindows
    ? { PATH: system32, SystemRoot: process.env['SystemRoot'], APPDATA: place, LOCALAPPDATA: place }
    : { PATH: '/usr/bin:/bin', HOME: place };
  const { status, stdout, stderr, error } = spawnSync(program, words, { env, encoding: 'utf8', shell: isWindows });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: exit ${status}: ${error?.message ?? stderr}`);
  return stdout.trim();
}

/**
 * @param {string} found
 * @param {string | undefined} expected
 */
function expect(found, expected) {
  if (found === '' && expected === undefined) throw new Error('nothing was printed');
  if (expected !== undefined && found !== expected) throw new Error(`'${found}' in place of '${expected}'`);
}
