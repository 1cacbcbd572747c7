import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { checkActions } from '../../scripts/release/actions.js';

/**
 * What scripts/release/check.js says of the actions of the workflows, with a folder of repositories in place of a host.
 */

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-actions-'));
const [host, clone] = [join(folder, 'host'), join(folder, 'clone')];
const nobody = '0'.repeat(40);
let commit = '';
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(() => {
  const repository = join(host, 'a/one');
  for (const place of [repository, join(clone, 'man'), join(clone, '.github/workflows')])
    mkdirSync(place, { recursive: true });
  const git = (...words: readonly string[]): string => {
    const person = ['-c', 'user.name=a', '-c', 'user.email=a@b.test'];
    return execFileSync('git', ['-C', repository, ...person, ...words], { encoding: 'utf8' }).trim();
  };
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'one');
  git('tag', 'v1.0.0');
  git('tag', '--annotate', '--message', 'nine', 'v9.0.0');
  git('tag', 'v10.2.0');
  commit = git('rev-parse', 'HEAD');
});

const check = (...lines: readonly string[]) => {
  writeFileSync(join(clone, '.github/workflows/a.yml'), lines.map((line) => `- uses: ${line}\n`).join(''));
  return checkActions(clone, host);
};

test('an action that is pinned by the commit of its tag passes, whatever kind of tag, and a newer major version is named', () => {
  const one = `a/one@${commit}`;
  expect(check(`${one} # v1.0.0`, `${one} # v10.2.0`, `${one} # v9.0.0`)).toEqual({
    passed: true,
    output:
      `${one} # v1.0.0: is that tag; there is a v10\n${one} # v10.2.0: is that tag\n` +
      `${one} # v9.0.0: is that tag; there is a v10\n`,
  });
});

test('a hash that is not the commit of its tag, and a tag that is not there, are named', () => {
  expect(check(`a/one@${nobody} # v1.0.0`, `a/one@${commit} # v1.0.1`)).toEqual({
    passed: false,
    output:
      `a/one@${nobody} # v1.0.0: v1.0.0 is the commit ${commit}\na/one@${commit} # v1.0.1: there is no tag v1.0.1\n`.replace(
        /^(.*\n)(.*\n)$/,
        commit < nobody ? '$2$1' : '$1$2',
      ),
  });
});

test('an action that is not there fails; without a network it is said that nothing was checked', () => {
  expect(check(`a/two@${commit} # v1.0.0`)).toMatchObject({ passed: false });
  // Whatever the language of who releases.
  vi.stubEnv('LANGUAGE', 'de');
  const { passed, output } = checkActions(clone, 'http://127.0.0.1:1');
  vi.unstubAllEnvs();
  expect([passed, output]).toEqual([true, expect.stringContaining('# v1.0.0: not checked: fatal: unable to access')]);
});

test('those of this repository are read, its examples too', () => {
  const { output } = checkActions('.', 'http://127.0.0.1:1');
  expect(output.split('\n').map((line) => line.split('@')[0])).toEqual([
    ...['actions/attest-build-provenance', 'actions/checkout', 'actions/download-artifact', 'actions/setup-node'],
    ...['actions/upload-artifact', ''],
  ]);
});
