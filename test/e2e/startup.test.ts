import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';

/** What a command line loads is most of the time that it takes to start (CONTRIBUTING.md, "Start-up"). */

const home = mkdtempSync(join(tmpdir(), 'chatelaine-startup-'));
afterAll(() => rmSync(home, { recursive: true }));

interface Loaded {
  /** Files, relative to the repository. */
  readonly files: readonly string[];
  /** Modules of src that stand in those files. */
  readonly modules: readonly string[];
  /** Our direct dependencies whose code stands in those files. */
  readonly packages: readonly string[];
}

test('--version loads the launcher alone', async () => {
  const { files } = await load('--version');
  expect(files).toEqual(['bin/chatelaine.cjs', 'package.json']);
});

test('--help loads the parser, the table of commands and nothing that a command needs', async () => {
  const { modules, packages } = await load('--help');
  expect(packages).toEqual(['commander']);
  expect(modules.filter((name) => /^(api|store|sandbox|jobs)\//.test(name))).toEqual([]);
  expect(modules.filter((name) => name.startsWith('commands/'))).toEqual(['commands/index.ts']);
  expect(modules.length).toBeLessThanOrEqual(27);
});

test('license list --help loads that one command, and no storage, server or HTTP client', async () => {
  const { modules, packages } = await load('license list --help');
  expect(packages).toEqual(['commander']);
  expect(modules.filter((name) => /^(store|sandbox|jobs)\/|transport/.test(name))).toEqual([]);
  expect(modules.filter((name) => /^commands\/(?!license\/)/.test(name))).toEqual([
    'commands/command.ts',
    'commands/index.ts',
  ]);
  expect(modules.length).toBeLessThanOrEqual(36);
});

describe('a request loads undici, and of the formats only its own', () => {
  test.each([
    ['json', ['commander', 'undici']],
    ['json --jq .', ['commander', 'jq-wasm', 'undici']],
    ['ndjson', ['commander', 'undici']],
    ['tsv', ['commander', 'undici']],
    ['csv', ['commander', 'csv-stringify', 'undici']],
    ['yaml', ['commander', 'undici', 'yaml']],
    ['table', ['cli-table3', 'commander', 'fast-string-width', 'undici', 'wrap-ansi']],
    ['table --color always', ['chalk', 'cli-table3', 'commander', 'fast-string-width', 'undici', 'wrap-ansi']],
  ])('-o %s', async (format, expected) => {
    const { packages } = await load(`--sandbox license list -o ${format}`);
    expect(packages).toEqual(expected);
  });
});

test('stored profiles are read without conf, which only writes', async () => {
  const { modules, packages } = await load('auth list');
  expect(packages).toEqual(['commander']);
  expect(modules).toContain('store/account/configuration.ts');
});

async function load(line: string): Promise<Loaded> {
  const program = ['-r', './test/e2e/loaded.cjs', 'bin/chatelaine.cjs', ...line.split(' ')];
  const { exitCode, stdio } = await execa(process.execPath, program, {
    env: { PATH: process.env['PATH'], HOME: home },
    extendEnv: false,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  expect(exitCode).toBe(0);
  const files = JSON.parse(stdio[3]) as string[];
  const names = files.flatMap(modulesIn);
  return {
    files: files.map((file) => relative(resolve('.'), file)).sort(),
    modules: names.flatMap((name) => /^src\/(.*)/.exec(name)?.[1] ?? []).sort(),
    packages: [...new Set(names.flatMap(packageOf))].sort(),
  };
}

/** The bundler writes the name of each module over its code. */
function modulesIn(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^\/\/ ((?:src|node_modules)\/\S+)$/gm)].map(([, name = '']) => name);
}

/** Everything is bundled, so what the program is made of is a development dependency too. */
const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  devDependencies: Record<string, string>;
};

function packageOf(name: string): string[] {
  const [, found = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
  return found in devDependencies ? [found] : [];
}
