import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

async function pulled() {
  const { run } = await openSandbox();
  const home = emptyHome();
  const folder = join(home, 'kitchen');
  await run(`archive pull ${folder} --channel general --topic lunch`);
  return { run, home, folder };
}

test('html to a path without a suffix is a folder, which a browser opens', async () => {
  const { run, home, folder } = await pulled();
  const to = join(home, 'site');
  const { exitCode, stderr } = await run(`archive export ${folder} -o html --to ${to}`);
  expect([exitCode, existsSync(join(to, 'index.html'))]).toEqual([0, true]);
  expect(stderr).toContain(`${to} is written: index.html`);
});

test.each([
  ['page.html', ''],
  ['site', '--pages one'],
])('a file stays one: %s %s', async (name, more) => {
  const { run, home, folder } = await pulled();
  expect((await run(`archive export ${folder} -o html --to ${join(home, name)} ${more}`)).exitCode).toBe(0);
  expect(statSync(join(home, name)).isFile()).toBe(true);
});

test('what is there without a suffix is written, as /dev/stdout is', async () => {
  const { run, home, folder } = await pulled();
  writeFileSync(join(home, 'old'), '');
  expect((await run(`archive export ${folder} -o html --to ${join(home, 'old')}`)).exitCode).toBe(0);
  expect(statSync(join(home, 'old')).size).toBeGreaterThan(100);
});
