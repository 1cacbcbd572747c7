// node scripts/binary.js SYSTEM… [--to FOLDER]: packs the built program (npm run build) with a Node of its own, in an
// archive for each system. Node's archives come from nodejs.org, and each must have the sum of
// scripts/release/node.json; `--sums` writes these from the list that Node publishes, whose signature a maintainer
// checks. `--node FILE` takes another Node, for a trial.
//
// Node's own single executable is not used. With a snapshot, that of Node 24.21 aborts where a thread is started
// (`--jq`); it takes 81 ms of CPU time for a list where the package takes 63; and what is injected ends the signatures
// by which Windows and macOS trust node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { manualPages } from './manual.js';
import { showUsage } from './usage.js';

const clone = resolve(import.meta.dirname, '..');
const { name, version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
const pins = join(import.meta.dirname, 'release/node.json');
/** @type {{ version: string, sums: Record<string, string> }} */
const node = JSON.parse(readFileSync(pins, 'utf8'));
const site = `https://nodejs.org/dist/v${node.version}`;

/** Node's archive for each system, without its folder's name, and the program in it. */
export const systems = /** @type {const} */ ({
  'linux-x64': { archive: 'linux-x64.tar.gz', program: 'bin/node' },
  'linux-arm64': { archive: 'linux-arm64.tar.gz', program: 'bin/node' },
  'macos-arm64': { archive: 'darwin-arm64.tar.gz', program: 'bin/node' },
  'macos-x64': { archive: 'darwin-x64.tar.gz', program: 'bin/node' },
  'win-x64': { archive: 'win-x64.zip', program: 'node.exe' },
});
/** @typedef {keyof typeof systems} System */

/**
 * @param {System} system
 * @param {string} to
 * @param {string | undefined} trial
 */
async function makeArchive(system, to, trial) {
  const place = mkdtempSync(join(tmpdir(), `${name}-binary-`));
  try {
    const own =
      trial === undefined ? await fetchNode(system, place) : { program: trial, license: undefined, sum: undefined };
    const folder = `${name}-${version}-${system}`;
    await assemble(system, own, join(place, folder));
    return pack(place, folder, to, system.startsWith('win') ? 'zip' : 'tar.gz');
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * The folder that users unpack: the command, Node and the program beside it, manual, completions, papers.
 * @param {System} system
 * @param {{ program: string, license: string | undefined, sum: string | undefined }} own
 * @param {string} folder
 */
export async function assemble(system, own, folder) {
  const isWindows = system.startsWith('win');
  mkdirSync(join(folder, 'program'), { recursive: true });
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(clone, part), join(folder, 'program', part), { recursive: true });
  copyFileSync(own.program, join(folder, isWindows ? 'node.exe' : 'node'));
  for (const paper of ['LICENSE', 'README.md', 'CHANGELOG.md']) copyFileSync(join(clone, paper), join(folder, paper));
  if (own.license !== undefined) copyFileSync(own.license, join(folder, 'LICENSE-node'));
  writeFileSync(join(folder, 'bill-of-materials.cdx.json'), billWith(own.sum));
  if (isWindows) writeFileSync(join(folder, `${name}.cmd`), windowsCommand);
  else {
    writeFileSync(join(folder, name), command);
    for (const { file: page, text } of await manualPages()) {
      const section = join(folder, 'share/man', `man${page.at(-1)}`);
      mkdirSync(section, { recursive: true });
      writeFileSync(join(section, page), text);
    }
  }
  for (const [shell, file] of Object.entries(completionFiles))
    writeCompletion(folder, shell, isWindows === (shell === 'powershell') ? file : undefined);
  setModes(folder);
}

/** The command finds its folder, whether it is called by its path or by a link in a folder of PATH. */
const command = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
here=\${self%/*}
exec "$here/node" "$here/program/bin/chatelaine.cjs" "$@"
`;

const windowsCommand = '@"%~dp0node.exe" "%~dp0program\\bin\\chatelaine.cjs" %*\r\n';

const completionFiles = {
  bash: `share/bash-completion/completions/${name}`,
  zsh: `share/zsh/site-functions/_${name}`,
  fish: `share/fish/vendor_completions.d/${name}.fish`,
  powershell: `${name}-completion.ps1`,
};

/**
 * @param {string} folder
 * @param {string} shell
 * @param {string | undefined} file
 */
function writeCompletion(folder, shell, file) {
  if (file === undefined) return;
  mkdirSync(join(folder, file, '..'), { recursive: true });
  writeFileSync(join(folder, file), run(process.execPath, [join(clone, 'bin/chatelaine.cjs'), 'completion', shell]));
}

/** The bill of the program, and Node, with the sum of the archive that it came in. @param {string | undefined} sum */
function billWith(sum) {
  const bill = JSON.parse(readFileSync(join(clone, 'dist/bill-of-materials.cdx.json'), 'utf8'));
  const hashes = sum === undefined ? {} : { hashes: [{ alg: 'SHA-256', content: sum }] };
  const own = {
    type: 'platform',
    name: 'node',
    version: node.version,
    purl: `pkg:generic/node@${node.version}`,
    ...hashes,
  };
  return JSON.stringify({ ...bill, components: [...bill.components, { ...own, licenses: [{ expression: 'MIT' }] }] });
}

/** Gives every file the same day and modes, whoever makes the archive. @param {string} folder */
function setModes(folder) {
  const programs = new Set(['node', 'node.exe', name]);
  for (const entry of [...readdirSync(folder, { recursive: true, withFileTypes: true }), undefined]) {
    const path = entry === undefined ? folder : join(entry.parentPath, entry.name);
    chmodSync(path, entry === undefined || entry.isDirectory() || programs.has(entry.name) ? 0o755 : 0o644);
    utimesSync(path, day, day);
  }
}

const day = new Date('2000-01-01T00:00:00Z');

/**
 * @param {string} place
 * @param {string} folder
 * @param {string} to
 * @param {'zip' | 'tar.gz'} form
 */
function pack(place, folder, to, form) {
  const file = join(to, `${folder}.${form}`);
  rmSync(file, { force: true });
  mkdirSync(to, { recursive: true });
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', '--format=ustar'];
  if (form === 'zip')
    run('zip', ['-q', '-X', '-9', '-r', file, folder], { cwd: place, env: { ...process.env, TZ: 'UTC' } });
  else run('tar', ['-C', place, ...owner, '--use-compress-program=gzip -n -9', '-cf', file, folder]);
  return file;
}

/**
 * @param {System} system
 * @param {string} place
 */
async function fetchNode(system, place) {
  const { archive, program } = systems[system];
  const folder = `node-v${node.version}-${archive.replace(/\.(tar\.gz|zip)$/, '')}`;
  const file = `node-v${node.version}-${archive}`;
  const expected = node.sums[file];
  if (expected === undefined) throw new Error(`${pins} has no sum of ${file}: node scripts/binary.js --sums`);
  const bytes = await fetched(`${site}/${file}`);
  const sum = createHash('sha256').update(bytes).digest('hex');
  if (sum !== expected) throw new Error(`${file} has the SHA-256 ${sum}, not ${expected}: nothing was made`);
  writeFileSync(join(place, file), bytes);
  if (archive.endsWith('.zip'))
    run('unzip', ['-q', '-d', place, join(place, file), `${folder}/${program}`, `${folder}/LICENSE`]);
  else run('tar', ['-C', place, '-xf', join(place, file), `${folder}/${program}`, `${folder}/LICENSE`]);
  return { program: join(place, folder, program), license: join(place, folder, 'LICENSE'), sum };
}

async function writeSums() {
  const lines = (await fetched(`${site}/SHASUMS256.txt`)).toString().split('\n');
  const files = new Set(Object.values(systems).map(({ archive }) => `node-v${node.version}-${archive}`));
  const rows = lines.map((line) => line.split(/\s+/)).filter(([, file = '']) => files.has(file));
  const sums = Object.fromEntries(rows.map(([sum, file]) => [file, sum]));
  writeFileSync(pins, `${JSON.stringify({ ...node, sums }, null, 2)}\n`);
  console.log(
    `${pins}: ${rows.length} sums. Check the signature of ${site}/SHASUMS256.txt.asc before you commit them.`,
  );
}

/** @param {string} url */
async function fetched(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} options
 */
function run(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
  return stdout;
}

if (process.argv[1] === import.meta.filename) {
  showUsage(import.meta.filename);
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { to: { type: 'string', default: '.' }, node: { type: 'string' }, sums: { type: 'boolean' } },
  });
  if (values.sums === true) await writeSums();
  for (const system of positionals) {
    if (!(system in systems)) throw new Error(`${system} is not one of ${Object.keys(systems).join(', ')}`);
    console.log(await makeArchive(/** @type {System} */ (system), resolve(values.to), values.node));
  }
}
