import { expect, test } from 'vitest';
import { openSandbox } from '../../helpers/run.ts';

const key = '0191A-86552-95939-DF69B';

test.each([
  key.replaceAll('-', '–'),
  key.replaceAll('-', ' — '),
  `„${key}“`,
  `${key}.`,
  `Key: ${key}`,
  `License key = "${key.toLowerCase()}"`,
])('a key as mail shows it is understood where it is looked up: %s', async (typed) => {
  const { run } = await openSandbox();
  const viewed = await run(['license', 'view', typed, '-q']);
  expect([viewed.exitCode, viewed.stdout]).toEqual([0, `${key}\n`]);
  expect((await run(['license', 'list', '--code', typed, '-q'])).stdout).toBe(`${key}\n`);
});

test('where something is changed it is not', async () => {
  const { run } = await openSandbox();
  expect((await run(['license', 'edit', `${key}.`, '--size-allowance', '7'])).exitCode).toBe(5);
});

test.each([
  ['.[] | select(.remote_user==$ENV.U)', '--jq does not have the environment'],
  ['[., input]', '--jq does not have input'],
  ['now | strflocaltime("%H")', '--jq does not have strflocaltime'],
  ['.[0] | toarray', '--jq does not have toarray'],
])('--jq says what it has not: %s', async (expression, said) => {
  const { run } = await openSandbox();
  const { exitCode, stderr } = await run(['license', 'list', '--jq', expression]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
});

test.each(['.[0].remote_user | test("input")', '{env: 1, input: 2} | .env', '[.[] | .input] | length'])(
  '--jq takes such words where they are names or texts: %s',
  async (expression) => {
    const { run } = await openSandbox();
    expect((await run(['license', 'list', '--jq', expression])).exitCode).toBe(0);
  },
);
