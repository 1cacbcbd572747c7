import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { launch } from '../helpers/launch.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin } from '../helpers/origin.ts';

/** What a command line loads is most of the time that it takes to start (docs/internals/architecture.md, Start-up). */

const home = mkdtempSync(join(tmpdir(), 'chatelaine-startup-'));
afterAll(() => rmSync(home, { recursive: true }));

interface Loaded {
  /** Files, relative to the repository. */
  readonly files: readonly string[];
  /** Modules of src that are in those files. */
  readonly modules: readonly string[];
  /** Our direct dependencies whose code is in those files. */
  readonly packages: readonly string[];
  /** Characters that V8 compiles. */
  readonly size: number;
}

test('--version loads the launcher alone', async () => {
  const { files } = await load('--version');
  expect(files).toEqual(['bin/chatelaine.cjs']);
});

describe('a Node that is too old', () => {
  /** What the launcher of this Node says where it is told that it runs on another one. */
  const onNode = (version: string, line: string) => {
    const older = /^(18|21|22\.[0-2])\./.test(version) ? 'delete process.getBuiltinModule;' : '';
    const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
    const fake = join(home, `node-${version}.cjs`);
    writeFileSync(fake, `${versions}${older}`);
    const words = line.split(' ').filter((word) => word !== '');
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', fake, 'bin/chatelaine.cjs', ...words], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home },
    });
    return { status, stdout, stderr };
  };

  test.each(['license list', '__complete zsh license '])('is said with what to do, exit 1: %s', (line) => {
    const needed = 'Node 20.18.1 or later of version 20, or 22.3 and newer';
    const instead = 'Install one of them, or an archive of the release page, which contains Node (README.md, Install).';
    const stderr = `chatelaine needs ${needed}; this is 18.20.8, ${process.execPath}\n${instead}\n`;
    expect(onNode('18.20.8', line)).toEqual({ status: 1, stdout: '', stderr });
  });

  /** What npm says of it at an install, by `engines` of package.json. */
  const isTaken = (version: string): boolean =>
    engines.node.split(' || ').some((range) => {
      const [, sign, ...least] = /^(\^|>=)(\d+)\.(\d+)\.(\d+)$/.exec(range) ?? [];
      const given = version.split('.').map(Number);
      const [major = 0, minor = 0, patch = 0] = given.map((part, index) => part - Number(least[index]));
      return (major || minor || patch) >= 0 && (sign === '>=' || major === 0);
    });

  test.each(sampleOf(1, ['20.18.0', '21.7.3', '22.2.9']))('%s is too old', (version) => {
    expect(onNode(version, 'license list --help').status).toBe(1);
    expect(isTaken(version)).toBe(false);
  });

  test.each(sampleOf(1, ['20.18.1', '22.3.0']))('%s is new enough', (version) => {
    expect(onNode(version, 'license list --help').status).toBe(0);
    expect(isTaken(version)).toBe(true);
  });
});

test('TAB loads the launcher and a program of its own, in which are tables and no package', async () => {
  const { files, modules, packages } = await load('__complete zsh license create --');
  expect(files).toEqual(['bin/chatelaine.cjs', 'dist/complete.cjs']);
  expect(packages).toEqual([]);
  expect(modules.filter((name) => !/^(core|schema|cli\/completion)\//.test(name))).toEqual(['store/disk/folders.ts']);
  expect(modules.length).toBeLessThanOrEqual(20);
});

test.each(sampleOf(1, ['--help', 'license --help', 'license list -h']))(
  '%s is answered by the launcher',
  async (line) => {
    const { files } = await load(line);
    expect(files).toEqual(['bin/chatelaine.cjs', 'dist/launch.cjs']);
  },
);

test('help behind another word loads that one command, and no storage, server or HTTP client', async () => {
  const { modules, packages } = await load('help license list');
  expect(packages).toEqual(['commander']);
  expect(modules.filter((name) => /^(store|sandbox|jobs)\/|transport(?!-error)/.test(name))).toEqual([]);
  expect(modules.filter((name) => /^commands\/(?!license\/)/.test(name))).toEqual([
    'commands/command.ts',
    'commands/environment.ts',
    'commands/index.ts',
    'commands/roster.ts',
    'commands/typed-time.ts',
  ]);
  expect(modules.length).toBeLessThanOrEqual(57);
});

describe('a request loads undici, and of the formats only its own', () => {
  test.each(
    sampleOf(1, [
      ['json', ['commander', 'undici']],
      ['ndjson', ['commander', 'undici']],
      ['tsv', ['commander', 'undici']],
      ['csv', ['commander', 'csv-stringify', 'undici']],
      ['yaml', ['commander', 'undici', 'yaml']],
      ['table', ['cli-table3', 'commander', 'fast-string-width', 'undici']],
      ['table --color always', ['chalk', 'cli-table3', 'commander', 'fast-string-width', 'undici']],
    ] as const),
  )('-o %s', async (format, expected) => {
    const { packages } = await load(`license list -o ${format}`);
    expect(packages).toEqual(expected);
  });

  test('an expression of jq is run by a file of its own', async () => {
    const { files } = await load('license list -o json --jq .');
    expect(files).toContain('dist/jq-worker.cjs');
    expect((await load('license list -o ndjson')).files).not.toContain('dist/jq-worker.cjs');
  });
});

/** A size says what a start costs; a count of modules does not, since one module can be a whole package. */
test.each([
  ['license list -o ndjson', 600_000],
  ['license ensure --remote-user ada --size-allowance 6 -o ndjson', 740_000],
  ['messages fetch --channel id:1 -o ndjson', 630_000],
  ['archive export ARCHIVE -o ndjson', 575_000],
])('%s compiles at most %i characters', async (line, limit) => {
  const { size } = await load(line.includes('ARCHIVE') ? line.replace('ARCHIVE', await archived()) : line);
  expect(size).toBeLessThanOrEqual(limit);
  expect(size).toBeGreaterThan(limit * 0.9);
});

test("a ledger's client loads nothing of Node's own undici", async () => {
  const loaded = await builtinsOf('ledger status', { CHATELAINE_LEDGER: 'postgres://tester@127.0.0.1:9/none' });
  expect(loaded).toContain('NativeModule net');
  expect(loaded).not.toContain('NativeModule internal/deps/undici/undici');
});

test('a request over plain HTTP loads none of the larger modules of Node', async () => {
  const { port } = await openOrigin(() => ({ body: '[]' }));
  const loaded = await builtinsOf('license list', {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`,
    CHATELAINE_API_KEY: 'key',
    CHATELAINE_APP_CODE: '7',
  });
  expect(loaded).toContain('NativeModule net');
  const unloaded = 'crypto tls http https readline child_process fs/promises timers/promises os perf_hooks assert tty';
  for (const name of unloaded.split(' ')) expect(loaded).not.toContain(`NativeModule ${name}`);
});

test.each(sampleOf(1, ['--version', '--help', '__complete fish license create --']))(
  '%s is written without a stream',
  // On Windows node:tty, which knows a terminal, loads one.
  needs('posix'),
  async (line) => {
    expect(await builtinsOf(line)).not.toContain('NativeModule stream');
  },
);

test('a command that is done ends by itself, with its kept connection still open', async () => {
  const { port } = await openOrigin(() => ({ body: '[]' }));
  const watcher = join(home, 'natural-end.cjs');
  writeFileSync(watcher, "process.on('beforeExit', () => console.log('the event loop ended'));");
  const { exitCode, stdout } = await launch(
    process.execPath,
    ['-r', watcher, 'bin/chatelaine.cjs', 'license', 'list', '-o', 'json'],
    {
      env: { HOME: home, CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`, CHATELAINE_API_KEY: 'key' },
    },
  );
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\nthe event loop ended' });
});

test("undici's parser is compiled at once and never optimized, however often V8 runs it", async () => {
  const flags = ['--trace-wasm-compilation-times', '--wasm-tiering-budget=1'];
  // On a pipe, V8 loses lines of its threads.
  const file = join(home, 'compiled');
  const output = openSync(file, 'w');
  const { status } = spawnSync(process.execPath, [...flags, 'bin/chatelaine.cjs', '--sandbox', 'license', 'list'], {
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  const compiled = readFileSync(file, 'utf8');
  expect(status).toBe(0);
  expect(compiled.match(/using Liftoff/g)?.length).toBeGreaterThan(50);
  expect(compiled).not.toContain('using TurboFan');
});

/** The names of Node's modules that a command line loads; its standard output is a pipe, its standard error a file. */
async function builtinsOf(line: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const stderr = openSync(join(home, 'stderr'), 'w');
  const child = spawn(process.execPath, ['-r', './test/e2e/builtins.cjs', 'bin/chatelaine.cjs', ...line.split(' ')], {
    env: { PATH: process.env['PATH'], HOME: home, ...env },
    stdio: ['ignore', 'pipe', stderr, 'pipe'],
  });
  closeSync(stderr);
  return JSON.parse(await text(child.stdio[3] as Readable)) as string[];
}

/** The folder of an archive of one channel. */
async function archived(): Promise<string> {
  const folder = join(home, 'archive');
  await load(`--sandbox archive pull ${folder} --channel general -q`);
  return folder;
}

const loads = new Map<string, Promise<Loaded>>();

/** Each line is run once. */
function load(line: string): Promise<Loaded> {
  const loading = loads.get(line) ?? loadedBy(line);
  loads.set(line, loading);
  return loading;
}

async function loadedBy(line: string): Promise<Loaded> {
  const coverage = mkdtempSync(join(home, 'coverage-'));
  const license = '{"license_code":"K","remote_user":"ada","size_allowance":6,"app_code":7}';
  const page = '{"result":"success","msg":"","messages":[],"found_newest":true,"found_oldest":true}';
  const list = `[${license}]`;
  const answers = (url: string) => (url.startsWith('/api/') ? page : url.startsWith('/v1/license/K/') ? license : list);
  const { port } = await openOrigin(({ url }) => ({ body: answers(url) }));
  const server = `http://127.0.0.1:${port}`;
  await launch(process.execPath, ['bin/chatelaine.cjs', ...line.split(' ')], {
    env: {
      ...{ PATH: process.env['PATH'], HOME: home, CHATELAINE_NO_CACHE: '1', NODE_V8_COVERAGE: coverage },
      ...{ CHATELAINE_BASE_URL: server, CHATELAINE_API_KEY: 'key', CHATELAINE_APP_CODE: '7' },
      ...{ CHATELAINE_CHAT_SITE: server, CHATELAINE_CHAT_EMAIL: 'ada@chat.example', CHATELAINE_CHAT_API_KEY: 'key' },
    },
  });
  const parts = readdirSync(coverage).flatMap((name) => ranIn(readFileSync(join(coverage, name), 'utf8')));
  const names = parts.flatMap(({ text }) => modulesIn(text));
  return {
    files: parts.map(({ file }) => relative(resolve('.'), file).replaceAll('\\', '/')).sort(),
    modules: names.flatMap((name) => /^src\/(.*)/.exec(name)?.[1] ?? []).sort(),
    packages: [...new Set(names.flatMap(packageOf))].sort(),
    size: parts.reduce((sum, { text }) => sum + text.length, 0),
  };
}

interface Ran {
  readonly file: string;
  readonly text: string;
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** The files of ours that ran, by V8's own account; of the packed one the chunks. */
function ranIn(json: string): Ran[] {
  const { result } = JSON.parse(json) as Coverage;
  return result.flatMap(({ url, functions }) => {
    // A chunk that is compiled as a function is named by its path alone.
    const file = url.startsWith('file://') ? fileURLToPath(url) : url;
    if (!isAbsolute(file)) return [];
    const source = readFileSync(file, 'utf8');
    if (!file.endsWith('program.js')) return [{ file, text: source }];
    return functions
      .filter(({ functionName, ranges }) => functionName.endsWith('.cjs') && (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName, ranges }) => ({
        file: `${file}:${functionName}`,
        text: source.slice(ranges[0]?.startOffset, ranges[0]?.endOffset),
      }));
  });
}

/** The bundler writes the name of each module over its code. */
function modulesIn(text: string): string[] {
  return [...text.matchAll(/^\/\/ ((?:src|node_modules)\/\S+)$/gm)].map(([, name = '']) => name);
}

/** Everything is bundled, so what the program is made of is a development dependency too. */
const { devDependencies, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  devDependencies: Record<string, string>;
  engines: { node: string };
};

function packageOf(name: string): string[] {
  const [, found = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
  return found in devDependencies ? [found] : [];
}
