import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { expectGolden } from '../helpers/golden.ts';
import { needs } from '../helpers/needs.ts';
import { runAlone } from '../helpers/run.ts';

/** The names that the shells look for. */
const files = [
  ['bash', 'chatelaine.bash', []],
  ['zsh', '_chatelaine', ['zsh']],
  ['fish', 'chatelaine.fish', ['fish']],
] as const;

describe.each(files)('completion %s', (shell, file, programs) => {
  test('is the script that was read and found good', async () => {
    const { exitCode, stdout } = await runAlone(`completion ${shell}`);
    expect(exitCode).toBe(0);
    await expectGolden(stdout, `test/golden/completion/${file}`);
  });

  test('is what the shell can read', needs('shell', ...programs), () => {
    const golden = `test/golden/completion/${file}`;
    expect(spawnSync(shell, ['-n', golden], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
});

test('another shell is refused with the known ones', async () => {
  const { exitCode, stderr } = await runAlone('completion tcsh');
  expect(exitCode).toBe(2);
  expect(stderr).toContain("'tcsh' is not one of bash, zsh, fish");
});
