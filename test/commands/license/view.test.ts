import { expect, test } from 'vitest';
import { openSandbox } from '../../helpers/run.ts';

const key = 'CD3AE-2B80E-1662B-2FCA2';

test('a code as people read it out or mail shows it is understood where it is looked up, and not where it is changed', async () => {
  const { run } = await openSandbox();
  const typed = 'Key: cd3ae–2b8oe i662b 2fca2.';
  expect(await run(['license', 'view', typed, '-q'])).toMatchObject({ exitCode: 0, stdout: `${key}\n` });
  expect((await run(['license', 'list', '--code', typed, '-q'])).stdout).toBe(`${key}\n`);
  for (const line of [`license edit ${key.toLowerCase()} --size-allowance 9`, `license retire ${key.toLowerCase()}`])
    expect((await run(line)).exitCode).toBe(5);
});

test('a code that nobody has: how a part of it is found', async () => {
  const { run } = await openSandbox();
  const none = await run('license view CD3AE-2B80E-1662B-00000 -o json');
  expect([none.exitCode, none.error?.hint]).toEqual([
    5,
    "A part of a key needs a star: chatelaine license list --code '*2FCA2'\nTo find it by its user: chatelaine license list",
  ]);
});

test('several codes are a list, and one that is missing is named by its end', async () => {
  const { run } = await openSandbox();
  const two = await run(`license view ${key} 0191A-86552-95939-DF69B -o json --jq .[].remote_user`);
  expect([two.exitCode, two.stdout]).toEqual([0, 'physio-7731\nclinic-north/ward-3\n']);
  const one = await run(`license view ${key} XXXXX-XXXXX-XXXXX-XXXX9 -q`);
  expect([one.exitCode, one.stdout]).toEqual([8, `${key}\n`]);
  expect(one.stderr).toContain('the license that ends with XXX9');
});

test('license list filters by key, size and time', async () => {
  const { run } = await openSandbox();
  const listed = async (...words: string[]): Promise<unknown> =>
    JSON.parse((await run(['license', 'list', '-o', 'json', ...words])).stdout);
  const all = (await listed()) as { license_code?: string; size_allowance: number; created: string }[];
  expect(await listed('--code', '*2FCA2')).toHaveLength(1);
  expect(await listed('--code', 'cd3ae 2b8oe*')).toHaveLength(1);
  expect(await listed('--size-allowance', '6')).toEqual(all.filter(({ size_allowance }) => size_allowance === 6));
  const since = all.filter(({ created }) => Date.parse(created) >= Date.parse('2026-01-15T00:00:00Z'));
  expect(since.length).toBeGreaterThan(0);
  expect(since.length).toBeLessThan(all.length);
  expect(await listed('--since', '2026-01-15T00:00:00Z')).toEqual(since);
});
