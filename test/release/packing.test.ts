import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';

// @module-tag shell

/**
 * What packing does to a folder. The gate `package` packs this folder beside the tests that run what is in `dist`. npm
 * 10, which comes with Node 20 and 22, runs `prepare` then.
 */

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-packing-'));
const built = join(folder, 'dist/launch.cjs');
afterAll(() => rmSync(folder, { recursive: true }));

/** A folder in which a build would take away what is in `dist`. */
function prepare(): void {
  for (const name of ['package.json', 'scripts']) cpSync(name, join(folder, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'rolldown.config.js'), "export default { input: 'none', output: { cleanDir: true } };");
  mkdirSync(join(folder, 'dist'));
  writeFileSync(built, 'the program that tests run');
}

test('packing without scripts, as publint does, builds nothing', () => {
  prepare();
  // What npm 10 does, whichever npm is here; then the npm that is here.
  const asNpm10 = spawnSync(process.execPath, ['scripts/prepare.js'], {
    ...{ cwd: folder, encoding: 'utf8', env: { ...process.env, npm_command: 'pack' } },
  });
  const packed = !isWhole
    ? asNpm10
    : spawnSync('npm', ['pack', '--json', '--dry-run', '--ignore-scripts'], { cwd: folder, encoding: 'utf8' });

  expect([asNpm10.status, packed.status], asNpm10.stderr + packed.stderr).toEqual([0, 0]);
  expect(readFileSync(built, 'utf8')).toBe('the program that tests run');
});

describe('what users get', () => {
  const place = join(folder, 'packed');
  const packed = (action: string) =>
    spawnSync(process.execPath, [resolve('scripts/release/packed.js'), action], { cwd: place, encoding: 'utf8' });
  const manifest = () => JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Record<string, unknown>;
  const whole = { name: 'x', files: ['bin', 'LICENSE'], scripts: {}, devDependencies: {} };

  test.each([
    [undefined, {}],
    [
      { type: 'git', url: 'git+https://git.test/owner/name.git' },
      { bugs: { url: 'https://git.test/owner/name/issues' }, homepage: 'https://git.test/owner/name#readme' },
    ],
  ])('names pages that follow from the repository: %j', (repository, pages) => {
    mkdirSync(join(place, 'bin'), { recursive: true });
    const given = { ...whole, ...(repository && { repository }) };
    for (const [file, text] of [
      ['package.json', JSON.stringify(given)],
      ['LICENSE', ''],
      ['bin/x.cjs', ''],
    ] as const) {
      writeFileSync(join(place, file), text);
      chmodSync(join(place, file), 0o600);
    }

    expect(packed('write')).toMatchObject({ status: 0, stderr: '' });
    expect(manifest()).toEqual({ name: 'x', files: whole.files, ...(repository && { repository }), ...pages });
    const modes = ['package.json', 'LICENSE', 'bin/x.cjs'].map((file) => statSync(join(place, file)).mode & 0o777);
    expect(modes).toEqual([0o644, 0o644, 0o755]);
    expect(packed('restore')).toMatchObject({ status: 0, stderr: '' });
    expect(manifest()).toEqual(given);
  });

  test('of this repository names no page but by its repository', () => {
    expect(JSON.parse(readFileSync('package.json', 'utf8'))).not.toHaveProperty('bugs');
    expect(JSON.parse(readFileSync('package.json', 'utf8'))).not.toHaveProperty('homepage');
  });
});
