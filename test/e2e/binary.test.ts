import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assemble } from '../../scripts/binary.js';
import { manualPages } from '../../scripts/manual.js';
import { needs } from '../helpers/needs.ts';

/** What scripts/binary.js puts into an archive, with the Node of these tests in place of a pinned one. */

const folder = mkdtempSync(join(tmpdir(), 'chatelaine binary ä-'));
const own = { program: process.execPath, license: 'LICENSE', sum: '0'.repeat(64) };
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
afterAll(() => rmSync(folder, { recursive: true }));

const filesOf = (place: string): readonly string[] =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1));

describe('on Linux and macOS', needs('shell'), () => {
  const place = join(folder, 'linux');
  const home = join(folder, 'home');
  beforeAll(async () => {
    await assemble('linux-x64', own, place);
    mkdirSync(join(home, 'bin'), { recursive: true });
  });

  /** No Node is on PATH. */
  const run = (command: string, line: string) => {
    const { status, stdout, stderr } = spawnSync(command, line.split(' '), {
      ...{ cwd: home, encoding: 'utf8', env: { PATH: '/usr/bin:/bin', HOME: home } },
    });
    return { status, stdout, stderr };
  };

  test('the command does its main job where no Node is installed, also through links, and tells its exit code', () => {
    const direct = join(place, 'chatelaine');
    symlinkSync(direct, join(home, 'bin/absolute'));
    symlinkSync('absolute', join(home, 'bin/chatelaine'));
    expect(run(direct, '--version')).toEqual({ status: 0, stdout: `chatelaine ${version}\n`, stderr: '' });
    const made = run('bin/chatelaine', '--sandbox license ensure --remote-user ada --size-allowance 4 -o json');
    expect(JSON.parse(made.stdout), made.stderr).toMatchObject({ remote_user: 'ada', size_allowance: 4 });
    expect(run(join(home, 'bin/chatelaine'), 'license no-such').status).toBe(2);
    expect(run(direct, '--sandbox license list --remote-user ada --jq length')).toMatchObject({ stdout: '1\n' });
  });

  test('manual and completions are in the folders where a prefix has them; papers say what is in it', async () => {
    const files = filesOf(place);
    const pages = (await manualPages()).map(({ file: page }) => `share/man/man${page.at(-1) ?? ''}/${page}`);
    expect(files.filter((file) => file.startsWith('share/man/')).sort()).toEqual(pages.sort());
    for (const [file, golden] of [
      ['share/bash-completion/completions/chatelaine', 'chatelaine.bash'],
      ['share/zsh/site-functions/_chatelaine', '_chatelaine'],
      ['share/fish/vendor_completions.d/chatelaine.fish', 'chatelaine.fish'],
    ] as const)
      expect(readFileSync(join(place, file), 'utf8')).toBe(
        readFileSync(join('test/golden/completion', golden), 'utf8'),
      );
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'LICENSE-node', 'README.md', 'CHANGELOG.md']));
    const bill = JSON.parse(readFileSync(join(place, 'bill-of-materials.cdx.json'), 'utf8')) as {
      readonly components: readonly object[];
    };
    expect(bill.components.at(-1)).toMatchObject({ name: 'node', hashes: [{ alg: 'SHA-256', content: own.sum }] });
  });

  test('modes and times are the same, whoever makes it', () => {
    const about = filesOf(place).map((file) => {
      const { mode, mtimeMs } = statSync(join(place, file));
      return { file, mode, mtimeMs };
    });
    expect(about.filter(({ mode }) => (mode & 0o111) !== 0).map(({ file }) => file)).toEqual(
      expect.arrayContaining(['chatelaine', 'node']),
    );
    expect(new Set(about.map(({ mode }) => mode & 0o777))).toEqual(new Set([0o755, 0o644]));
    expect(new Set(about.map(({ mtimeMs }) => mtimeMs)).size).toBe(1);
  });
});

test('on Windows the command is a batch file beside node.exe', async () => {
  const place = join(folder, 'windows');
  await assemble('win-x64', own, place);
  const files = filesOf(place).filter((file) => !file.startsWith('program'));
  expect(files.sort()).toEqual([
    ...['CHANGELOG.md', 'LICENSE', 'LICENSE-node', 'README.md', 'bill-of-materials.cdx.json'],
    ...['chatelaine-completion.ps1', 'chatelaine.cmd', 'node.exe'],
  ]);
  expect(readFileSync(join(place, 'chatelaine.cmd'), 'utf8')).toBe(
    '@"%~dp0node.exe" "%~dp0program\\bin\\chatelaine.cjs" %*\r\n',
  );
});

test('a system that has none, and a Node without a sum, are refused', () => {
  const make = (...words: readonly string[]): string => {
    try {
      return execFileSync(process.execPath, ['scripts/binary.js', ...words, '--to', folder], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (cause) {
      return (cause as { stderr: string }).stderr;
    }
  };
  expect(make('linux-s390x')).toContain(
    'linux-s390x is not one of linux-x64, linux-arm64, macos-arm64, macos-x64, win-x64',
  );
  expect(make('linux-x64')).toContain('has no sum of node-v');
  expect(existsSync(join(folder, `chatelaine-${version}-linux-x64.tar.gz`))).toBe(false);
});
