import { describe, expect, test } from 'vitest';
import { shellWord } from '../../../src/core/shell-word.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { licenseCode } from '../../../src/sandbox/sample/organization.ts';
import { emptyHome, fakeService, openSandbox, run } from '../../helpers/run.ts';

const code = licenseCode(5);

test('renames and shrinks in one request; the second time there is nothing to do, and putting it back is one command', async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const first = await run(`license retire ${code} -o json`, { home });
  const again = await run(`license retire ${code} -o json`, { home });

  const left = { remote_user: 'left-2026-03-physio-7731-FCA2', size_allowance: 1 };
  const before = { remote_user_before: 'physio-7731', size_allowance_before: 4 };
  expect(JSON.parse(first.stdout)).toMatchObject([{ ...left, ...before, status: 'retired' }]);
  expect(first.lines).toEqual([
    'retired; remove the user from your roster too, or license apply creates a new license',
    expect.stringMatching(/^undo: chatelaine license undo [0-9A-Z]{4}$/),
  ]);
  expect(JSON.parse(again.stdout)).toMatchObject([{ ...left, status: 'unchanged' }]);
});

test('a name that becomes too long is cut, and put back whole', async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const user = `${'long-name-'.repeat(12)}1234567`;
  const key = (await run(`license create --remote-user ${user} --size-allowance 2 -q`, { home })).stdout.trim();
  const { stdout } = await run(`license retire ${key} -o json`, { home });
  const [{ remote_user } = { remote_user: '' }] = JSON.parse(stdout) as { remote_user: string }[];

  expect([user.length, remote_user.length]).toEqual([127, 127]);
  expect(remote_user).toMatch(new RegExp(`^left-2026-03-(long-name-)+.*-${key.slice(-4)}$`));
  await run('license undo', { home, tty: true, stdin: 'y\n' });
  expect((await run(`license view ${key} -o json`, { home })).stdout).toContain(user);
});

test('two licenses of one user get two names', async () => {
  const { run } = await openSandbox();
  await run('license create --remote-user physio-7731 --size-allowance 2');
  const codes = (await run('license view --remote-user physio-7731 -q')).stdout;
  const { stdout } = await run('license retire - -o json', { stdin: codes });
  const names = (JSON.parse(stdout) as { remote_user: string }[]).map(({ remote_user }) => remote_user);

  expect(names).toHaveLength(2);
  expect(names).toEqual(
    codes
      .trim()
      .split('\n')
      .map((key) => `left-2026-03-physio-7731-${key.slice(-4)}`),
  );
  expect(new Set(names).size).toBe(2);
});

test('a server that renames and keeps the size is not believed; the same command sets the size', async () => {
  const service = fakeService();
  const path = '/v1/license/K-1/';
  const home = emptyHome();
  const license = { license_code: 'K-1', remote_user: 'ada', size_allowance: 4 };
  const half = { ...license, remote_user: 'left-2026-03-ada-K-1' };
  const json = { remote_user: 'left-2026-03-ada-K-1', size_allowance: 1 };
  service.expect(`GET ${path}`, 2).reply(200, license);
  service.expect({ method: 'PATCH', path, json }).reply(200, half);
  service.expect(`GET ${path}`, 3).reply(200, half);
  service.expect({ method: 'PATCH', path, json }).reply(200, { ...half, size_allowance: 1 });

  expect(await run(service, 'license retire K-1', { home })).toMatchObject({ exitCode: 6 });
  const { stdout } = await run(service, 'license retire K-1 -o json', { home });
  service.done();
  expect(JSON.parse(stdout)).toMatchObject([{ size_allowance_before: 4, size_allowance: 1, status: 'retired' }]);
});

describe('by users', () => {
  const line = 'license retire --remote-user physio-7731 --remote-user physio-7740 -o json';

  test('all licenses of each; where a user has none, nothing is changed', async () => {
    const { run, sandbox } = await openSandbox();
    await run('license create --remote-user physio-7731 --size-allowance 2');
    const none = await run(`${line} --remote-user nobody`);
    const view = await run('license view --remote-user nobody -o json');
    for (const { exitCode, error } of [none, view])
      expect([exitCode, error?.message, error?.hint]).toEqual([
        5,
        "the user 'nobody' has no license",
        `Users with a similar name: chatelaine license list --match ${shellWord('*nobody*')}`,
      ]);
    expect(sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'physio-7731')).toHaveLength(2);

    const { stdout } = await run(line);
    expect(JSON.parse(stdout)).toMatchObject([1, 2, 3].map(() => ({ status: 'retired', size_allowance: 1 })));
  });

  test('a run whose response was lost finds it out; the same command finds what it renamed', async () => {
    const { run } = await openSandbox({ faults: readFaults('PATCH */license/*=reset-after#1', 1) });
    const home = emptyHome();
    await run('license create --remote-user physio-7731 --size-allowance 2', { home });
    const lost = await run(`${line} --retries 0`, { home });

    expect(lost.exitCode).toBe(0);
    const retired = JSON.parse(lost.stdout) as { size_allowance_before: number; status: string }[];
    expect(retired.map(({ size_allowance_before: size, status }) => [size, status]).sort()).toEqual([
      [2, 'retired'],
      [4, 'retired'],
      [4, 'retired'],
    ]);
    const again = await run(line, { home });
    expect(JSON.parse(again.stdout)).toMatchObject([1, 2, 3].map(() => ({ status: 'unchanged' })));
  });
});

test.each(['license retire CD3AE-2B80E-1662B-2FCA9', 'license edit CD3AE-2B80E-1662B-2FCA9 --size-allowance 6'])(
  '%s, a code that nobody has: how to find it',
  async (line) => {
    const { run } = await openSandbox();
    const { exitCode, error } = await run(`${line} -o json`);
    expect([exitCode, error?.hint]).toEqual([
      5,
      "A part of a key needs a star: chatelaine license list --code '*2FCA2'\nTo find it by its user: chatelaine license list",
    ]);
  },
);

test('asks on a terminal, naming the users', async () => {
  const { run } = await openSandbox();
  const no = await run(`license retire ${code}`, { tty: true, stdin: 'n\n' });
  expect(no.exitCode).toBe(130);
  expect(no.stderr).toContain('retire  physio-7731  4 -> 1, ends with FCA2');
  expect(no.stderr).toContain("Retire the license of 'physio-7731'?");
  expect((await run(`license view ${code} -o json`)).stdout).toContain('physio-7731');
});

test.each([
  [['', 'false', 'FALSE', '0', 'no'], 130],
  [['true', '1', 'yes', 'woodpecker'], 0],
])('CI set to %j: exit code %i where the answer is no', async (values, exitCode) => {
  for (const CI of values) {
    const { run } = await openSandbox();
    const ran = await run(`license retire ${code}`, { tty: true, stdin: 'n\n', env: { CI } });
    expect([CI, ran.exitCode]).toEqual([CI, exitCode]);
  }
});
