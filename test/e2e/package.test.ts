import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** What `npm install chatelaine` gives somebody, from the tarball on. */

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}
interface Manifest {
  readonly version: string;
  readonly man?: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-package-'));
let packed: Packed;
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  // The build stands already: globalSetup saw to it, and a new one would pull it away under the other tests.
  const { stdout } = await execa('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]);
  packed = (JSON.parse(stdout) as Packed[])[0] ?? { filename: '', files: [] };
}, 60_000);

test('holds the program, its manual and its papers, and no source or test', () => {
  const others = packed.files.map(({ path }) => path).filter((path) => !/^(dist|man)\//.test(path));
  expect(others.sort()).toEqual(
    ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin/chatelaine.cjs', 'package.json'].filter((file) => existsSync(file)),
  );
  const built = packed.files.map(({ path }) => path).filter((path) => path.startsWith('dist/'));
  expect(built).toContain('dist/main.cjs');
  expect(built).toContain('dist/THIRD-PARTY-LICENSES');
  expect(built.filter((path) => !/\.cjs$|LICENSES$/.test(path))).toEqual([]);
});

test('every page of the manual is in the tarball and named in package.json, so that npm links it', () => {
  const pages = existsSync('man') ? readdirSync('man').map((page) => `man/${page}`) : [];
  const { man = [] } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  expect(man.map((page) => page.replace(/^\.\//, '')).sort()).toEqual(pages.sort());
  expect(packed.files.map(({ path }) => path).filter((path) => path.startsWith('man/'))).toEqual(pages.sort());
});

test('nothing in it names a path of the machine that built it', () => {
  const machine = [process.cwd(), process.env['HOME']].filter((path) => path !== undefined && path.length > 1);
  const telling = packed.files
    .filter(({ path }) => machine.some((place) => readFileSync(path, 'utf8').includes(place ?? '')))
    .map(({ path }) => path);
  expect(telling).toEqual([]);
});

test('the licences of what is bundled stand beside it', () => {
  const text = readFileSync('dist/THIRD-PARTY-LICENSES', 'utf8');
  for (const name of ['commander', 'undici', 'conf', 'yaml', '@inquirer/password'])
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(\\S+\\)$`, 'm'));
});

describe('installed into an empty folder', () => {
  const place = join(folder, 'installed');
  const home = join(folder, 'home');
  const program = join(place, 'node_modules', '.bin', 'chatelaine');
  const run = (line: string) =>
    execa(program, line.split(' '), {
      cwd: place,
      env: { PATH: process.env['PATH'], HOME: home },
      extendEnv: false,
      stdin: 'ignore',
    });
  let unreachable = false;

  beforeAll(async () => {
    mkdirSync(place);
    mkdirSync(home);
    const network = ['--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
    const options = ['--no-audit', '--no-fund', ...network, '--prefix', place];
    const result = await execa('npm', ['install', ...options, join(folder, packed.filename)], {
      cwd: place,
      reject: false,
      stdin: 'ignore',
    });
    unreachable = result.failed && /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/.test(result.stderr);
    if (result.failed && !unreachable) throw new Error(result.stderr);
  }, 120_000);

  test('does its main job in the embedded sandbox', async (context) => {
    context.skip(unreachable, 'the registry cannot be reached');
    const { stdout, stderr } = await run('--sandbox license create --remote-user ada --size-allowance 4 -o json');
    expect(JSON.parse(stdout)).toMatchObject({ remote_user: 'ada', size_allowance: 4 });
    expect(stderr).toBe('');
  });

  test('tells its version and can be executed', async (context) => {
    context.skip(unreachable, 'the registry cannot be reached');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
    expect((await run('--version')).stdout).toBe(version);
    expect(() => accessSync(program, constants.X_OK)).not.toThrow();
  });
});
