import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualPages } from '../../scripts/manual.js';
import { isWhole } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';

/** What scripts/package-deb.js makes, installed by dpkg into a root of its own. Skipped where there is no dpkg. */

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const folder = mkdtempSync(join(tmpdir(), 'chatelaine-debian-'));
const deb = join(folder, `chatelaine_${version}_all.deb`);
afterAll(() => rmSync(folder, { recursive: true }));

const isRoot = process.getuid?.() === 0;

describe('the Debian package', needs('dpkg'), () => {
  beforeAll(() => {
    expect(run(process.execPath, ['scripts/package-deb.js', folder])).toMatchObject({ status: 0 });
  });

  test('depends on nodejs alone, for every architecture', () => {
    const { stdout } = run('dpkg-deb', ['--field', deb]);
    expect(stdout).toMatch(/^Package: chatelaine$/m);
    expect(stdout).toMatch(/^Architecture: all$/m);
    expect(stdout).toMatch(/^Depends: nodejs \(>= 20\.18\.1\)$/m);
    expect(stdout).toMatch(/^Description: [a-z][^\n]{10,70}[^.\n]\n /m);
  });

  test('belongs to root, is written by nobody else, and is where Debian has such files', () => {
    const lines = run('dpkg-deb', ['--contents', deb]).stdout.trimEnd().split('\n');
    expect(lines.filter((line) => !/^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root\/root /.test(line))).toEqual(
      [],
    );
    const places = lines.filter((line) => !line.startsWith('d')).map((line) => line.replace(/.*? \.\/(\S+).*/, '$1'));
    const rooms = places.map((place) =>
      place.replace(/^(usr\/share\/(?:man\/man\d|[^/]+\/completions|[^/]+)|usr\/bin).*/, '$1'),
    );
    expect([...new Set(rooms)].sort()).toEqual([
      'usr/bin',
      'usr/share/bash-completion/completions',
      'usr/share/chatelaine',
      'usr/share/doc',
      'usr/share/fish',
      'usr/share/man/man1',
      'usr/share/man/man7',
      'usr/share/zsh',
    ]);
  });

  // Half of the time of this file, for what changes with the package alone. Not `test.runIf`, which options with `skip`
  // override.
  if (isWhole)
    test('lintian finds neither an error nor a warning', { ...needs('lintian'), timeout: 600_000 }, () => {
      const { status, stdout, stderr } = run('lintian', ['--allow-root', '--fail-on', 'error,warning', deb]);
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    });

  test('is installed, used and removed in a clean root', async () => {
    const root = cleanRoot('20.19.2+dfsg-1');
    expect(dpkg(root, '--install', deb)).toMatchObject({ status: 0 });

    const home = join(folder, 'home');
    mkdirSync(home);
    const program = join(root, 'usr/bin/chatelaine');
    const used = run(
      process.execPath,
      [program, ...'--sandbox license create --remote-user ada --size-allowance 4 -o json'.split(' ')],
      home,
    );
    expect(JSON.parse(used.stdout)).toMatchObject({ remote_user: 'ada', size_allowance: 4 });
    expect(run(process.execPath, [program, '--version'], home).stdout).toBe(`${version}\n`);
    expect(run(process.execPath, [program, '__complete', 'fish', 'lic'], home).stdout).toContain('license\t');
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/node\n/);

    const share = join(root, 'usr/share');
    for (const { file: page, text } of await manualPages())
      expect(gunzipSync(readFileSync(join(share, 'man', `man${page.at(-1) ?? ''}`, `${page}.gz`))).toString()).toBe(
        text,
      );
    for (const [place, golden] of [
      ['bash-completion/completions/chatelaine', 'chatelaine.bash'],
      ['zsh/vendor-completions/_chatelaine', '_chatelaine'],
      ['fish/vendor_completions.d/chatelaine.fish', 'chatelaine.fish'],
    ] as const)
      expect(readFileSync(join(share, place), 'utf8')).toBe(
        readFileSync(join('test/golden/completion', golden), 'utf8'),
      );

    expect(dpkg(root, '--verify', 'chatelaine')).toMatchObject({ status: 0, stdout: '' });
    expect(dpkg(root, '--purge', 'chatelaine')).toMatchObject({ status: 0 });
    expect(existsSync(join(share, 'chatelaine'))).toBe(false);
    expect(existsSync(program)).toBe(false);
  });

  test('is refused beside a Node that is too old', () => {
    const { status, stderr } = dpkg(cleanRoot('18.19.0+dfsg-6'), '--install', deb);
    expect(status).not.toBe(0);
    expect(stderr).toContain('chatelaine depends on nodejs (>= 20.18.1)');
  });
});

/** A root in which nothing is installed but this version of nodejs, as far as dpkg knows. */
function cleanRoot(nodejs: string): string {
  const root = mkdtempSync(join(folder, 'root-'));
  const state = join(root, 'var/lib/dpkg');
  for (const place of ['info', 'updates', 'triggers']) mkdirSync(join(state, place), { recursive: true });
  const fields = [
    'Package: nodejs',
    'Status: install ok installed',
    'Architecture: all',
    'Maintainer: nobody',
    'Description: node',
  ];
  writeFileSync(join(state, 'status'), `${[...fields, `Version: ${nodejs}`].join('\n')}\n`);
  return root;
}

function dpkg(root: string, ...args: readonly string[]) {
  const line = ['--force-not-root', '--force-script-chrootless', `--root=${root}`, ...args];
  return isRoot ? run('dpkg', line) : run('fakeroot', ['dpkg', ...line]);
}

function run(program: string, args: readonly string[], home = folder) {
  const env = {
    PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
    HOME: home,
    LC_ALL: 'C',
    // At its usual level xz takes most of the time of this file, for 200 KB.
    DPKG_DEB_COMPRESSOR_LEVEL: '0',
  };
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  return { status, stdout, stderr };
}
