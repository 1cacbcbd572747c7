import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** What `npm install chatelaine` gives somebody, from the tarball on. */

interface Packed {
  readonly filename: string;
  /** Bytes. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}
interface Bill {
  readonly components: readonly { readonly name: string; readonly version: string }[];
}
interface Manifest {
  readonly version: string;
  readonly man?: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-package-'));
let packed: Packed;
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  // A copy is packed: packing builds and rewrites package.json for a moment, which other tests must not see.
  const copy = join(folder, 'copy');
  const { stdout: tracked } = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const file of tracked.split('\0').filter((name) => name !== '' && !/^(test|bench)\//.test(name)))
    if (existsSync(file)) cpSync(file, join(copy, file));
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'));
  const { stdout } = await execa('npm', ['pack', '--json', '--pack-destination', folder], { cwd: copy });
  packed = (JSON.parse(stdout.slice(stdout.indexOf('['))) as Packed[])[0] ?? {
    filename: '',
    unpackedSize: 0,
    files: [],
  };
}, 60_000);

test('asks an install for nothing: no dependency, no script, at most 4 MB', async () => {
  const { stdout } = await execa('tar', ['-xzOf', join(folder, packed.filename), 'package/package.json']);
  const manifest = JSON.parse(stdout) as Record<string, unknown>;
  for (const name of ['scripts', 'dependencies', 'devDependencies', 'optionalDependencies'])
    expect(manifest).not.toHaveProperty(name);
  expect(packed.unpackedSize).toBeLessThan(4 * 1024 * 1024);
});

test('holds the program, its manual and its papers, and no source or test', () => {
  const others = packed.files.map(({ path }) => path).filter((path) => !/^(dist|man)\//.test(path));
  expect(others.sort()).toEqual(
    ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin/chatelaine.cjs', 'package.json'].filter((file) => existsSync(file)),
  );
  const built = packed.files.map(({ path }) => path).filter((path) => path.startsWith('dist/'));
  expect(built).toContain('dist/program.js');
  expect(built).toContain('dist/THIRD-PARTY-LICENSES');
  expect(built.filter((path) => !/\.cjs$|LICENSES$|\.cdx\.json$/.test(path)).sort()).toEqual([
    'dist/build/jq.wasm',
    'dist/commands.json',
    'dist/help-100.txt',
    'dist/help-80.txt',
    'dist/llhttp.wasm',
    'dist/program.js',
  ]);
});

test('every page of the manual is in the tarball and named in package.json, so that npm links it', () => {
  const pages = existsSync('man') ? readdirSync('man').map((page) => `man/${page}`) : [];
  const { man = [] } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  expect(man.map((page) => page.replace(/^\.\//, '')).sort()).toEqual(pages.sort());
  expect(packed.files.map(({ path }) => path).filter((path) => path.startsWith('man/'))).toEqual(pages.sort());
});

test('nothing in it names a path of the machine that built it', () => {
  const system = [process.cwd(), process.env['HOME']].filter((path) => path !== undefined && path.length > 1);
  const telling = packed.files
    .filter(({ path }) => system.some((place) => readFileSync(path, 'utf8').includes(`${place ?? ''}/`)))
    .map(({ path }) => path);
  expect(telling).toEqual([]);
});

test('licences and a bill of materials name each package that is bundled', () => {
  const text = readFileSync('dist/THIRD-PARTY-LICENSES', 'utf8');
  const bill = JSON.parse(readFileSync('dist/bill-of-materials.cdx.json', 'utf8')) as Bill;
  const listed = bill.components.map(({ name, version }) => `${name} ${version}`);
  expect([...text.matchAll(/^={80}\n(\S+ \S+) \(/gm)].map(([, name]) => name)).toEqual(listed);
  for (const name of ['commander', 'undici', 'conf', 'yaml', '@inquirer/password'])
    expect(listed.join('\n')).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'));
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

  test('is one package', (context) => {
    context.skip(unreachable, 'the registry cannot be reached');
    const installed = readdirSync(join(place, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed).toEqual(['chatelaine']);
  });

  test('a clone that was not built says what to run', async () => {
    const clone = join(folder, 'clone');
    cpSync('bin', join(clone, 'bin'), { recursive: true });
    cpSync('package.json', join(clone, 'package.json'));
    const result = await execa('node', [join(clone, 'bin', 'chatelaine.cjs'), 'license', 'list'], { reject: false });
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toBe(`chatelaine: the program is not built. Run this first: npm ci --prefix ${clone}`);
    mkdirSync(join(clone, 'node_modules'));
    const installed = await execa('node', [join(clone, 'bin', 'chatelaine.cjs'), 'license', 'list'], { reject: false });
    expect(installed.stderr).toBe(
      `chatelaine: the program is not built. Run this first: npm run build --prefix ${clone}`,
    );
  });

  test('tells its version and can be executed', async (context) => {
    context.skip(unreachable, 'the registry cannot be reached');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
    expect((await run('--version')).stdout).toBe(version);
    expect(() => accessSync(program, constants.X_OK)).not.toThrow();
  });
});
