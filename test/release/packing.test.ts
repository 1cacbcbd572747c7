import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

// @module-tag shell

/** The gate `package` packs this folder beside the tests that run what is in `dist`. npm 10, which comes with Node 20 and 22, runs `prepare` then. */

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
  const packed = spawnSync('npm', ['pack', '--json', '--dry-run', '--ignore-scripts'], { cwd: folder, encoding: 'utf8' });

  expect([asNpm10.status, packed.status], asNpm10.stderr + packed.stderr).toEqual([0, 0]);
  expect(readFileSync(built, 'utf8')).toBe('the program that tests run');
});
