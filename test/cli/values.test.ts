import { describe, expect, test } from 'vitest';
import { readGlobals } from '../../src/cli/values.ts';
import type { Environment } from '../../src/core/system.ts';
import { fakeService, openSandbox, run } from '../helpers/run.ts';
import type { FakeService } from '../helpers/service.ts';

const globalsIn = (env: Environment) => readGlobals([], env, {});

test.each([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])('a switch in the environment is read: %s', (text, quiet) => {
  expect(globalsIn({ CHATELAINE_QUIET: text })).toMatchObject({ quiet });
});

test('any other text of a switch is refused with its name', () => {
  expect(() => globalsIn({ CHATELAINE_QUIET: 'yes' })).toThrow("CHATELAINE_QUIET: 'yes' is neither true nor false");
});

test('the negated twin of a switch says the opposite', () => {
  expect(globalsIn({ CHATELAINE_NO_HEADER: '1' })).toMatchObject({ header: false });
  expect(globalsIn({ CHATELAINE_NO_HEADER: '0' })).toMatchObject({ header: true });
});

describe('an option of one value that is typed with two', () => {
  test.each([
    [
      'license ensure --remote-user a1 --remote-user a2 --size-allowance 3',
      "--remote-user was given 2 values: 'a1', 'a2'",
    ],
    [
      'license ensure --remote-user a --size-allowance 3 --size_allowance=4',
      "--size-allowance was given 2 values: '3', '4'",
    ],
    ['license create --remote-user a --remote-user b --size-allowance 3', "--remote-user was given 2 values: 'a', 'b'"],
    ['license apply - --max-create 0 --max-create 100', "--max-create was given 2 values: '0', '100'"],
    ['topic delete general lunch --confirm x --confirm lunch', "--confirm was given 2 values: 'x', 'lunch'"],
    [
      'topic delete general lunch --confirm lunch --max-messages 1 --max-messages 1000',
      "--max-messages was given 2 values: '1', '1000'",
    ],
    ['--profile a license list -p b', "--profile was given 2 values: 'a', 'b'"],
    ['auth login licensing --read-only --no-read-only', '--read-only was given 2 values: on, off'],
    ['topic delete general lunch --archive here --no-archive', "--archive was given 2 values: 'here', off"],
  ])('is exit 2, and nothing is sent: %s', async (line, message) => {
    const { exitCode, error } = await run(fakeService(), `${line} -o json`, { stdin: '[]' });
    expect([exitCode, error?.message, error?.hint]).toEqual([2, message, 'Give it one value.']);
  });

  test('does not repeat one that looks like a key', async () => {
    const key = 'Ab12'.repeat(8);
    const { exitCode, stderr } = await run(fakeService(), `license list --app-code 7 --app-code ${key}`);
    expect([exitCode, stderr.includes(key)]).toEqual([2, false]);
  });
});

test('the same value twice is once', async () => {
  const { run: send, sandbox } = await openSandbox();
  const line = 'license ensure --remote-user one --remote_user=one --size-allowance 3 --size-allowance 3 -q -q';
  expect((await send(line)).exitCode).toBe(0);
  expect(sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'one')).toHaveLength(1);
});

describe('of the other global options the last counts, as an alias or a wrapper needs it', () => {
  const listed = (service: FakeService) =>
    service.expect({ method: 'GET', path: '/v1/license/' }).reply(200, [{ license_code: 'k', remote_user: 'ada' }]);

  test.each([
    ['-o json license list -o csv', 'license_code,remote_user,app_code,size_allowance\nk,ada,,\n'],
    ['-o csv license -o yaml list -o csv -o ndjson', '{"license_code":"k","remote_user":"ada"}\n'],
    ['--json license list -o csv', 'license_code,remote_user,app_code,size_allowance\nk,ada,,\n'],
    ['-o csv license list --json --jq length', '1\n'],
    ['-o csv license list --no-header --header', 'license_code,remote_user,app_code,size_allowance\nk,ada,,\n'],
    ['--header license list -o csv --no-header', 'k,ada,,\n'],
    ['-o csv license list -o excel --no-header', '\uFEFFk,ada,,\r\n'],
    ['license list -o EXCEL_SEMICOLON --no-header', '\uFEFFk;ada;;\r\n'],
  ])('%s', async (line, stdout) => {
    const service = fakeService();
    listed(service);
    expect((await run(service, line)).stdout).toBe(stdout);
  });
});

describe('lists gather', () => {
  test.each([
    ['license list --match ada --fields remote_user --fields size_allowance -o csv --no-header', 'ada,4\n'],
    ['--fields size_allowance license list --match ben --fields remote_user -o csv --no-header', '5,ben\n'],
    ['license list --match a* --match cl?o --fields remote_user -o csv --no-header', 'ada\ncleo\n'],
    ['license list --remote-user ben --remote-user ada --fields remote_user -o csv --no-header', 'ben\nada\n'],
    ['license list --remote-user ben --remote-user ada --limit 1 --fields remote_user -o csv --no-header', 'ben\n'],
    ['license view --remote-user ben --remote-user ada --fields remote_user -o csv --no-header', 'ben\nada\n'],
  ])('%s', async (line, stdout) => {
    const { run: send } = await openSandbox();
    for (const [index, remote_user] of ['ada', 'ben', 'cleo'].entries())
      expect((await send(`license create --remote-user ${remote_user} --size-allowance ${index + 4}`)).exitCode).toBe(
        0,
      );
    expect((await send(line)).stdout).toBe(stdout);
  });

  test('a view of several users names those that have no license, after the others', async () => {
    const { run: send } = await openSandbox();
    await send('license create --remote-user ada --size-allowance 4');
    const line = 'license view --remote-user x --remote-user ada --remote-user y -o ndjson --fields remote_user';
    const { exitCode, stdout, error } = await send(line);
    expect([exitCode, stdout, error?.message]).toEqual([5, '{"remote_user":"ada"}\n', "no license: 'x', 'y'"]);
  });

  test('--ids 3 --ids 1,2', async () => {
    const { run: send } = await openSandbox();
    const one = await send('messages fetch --ids 1449,1450,1451 -o ndjson --fields id');
    const two = await send('messages fetch --ids 1451 --ids 1449,1450 -o ndjson --fields id');
    expect([two.exitCode, two.stdout]).toEqual([one.exitCode, one.stdout]);
    expect(one.stdout).not.toBe('');
  });
});

describe('--remote-user - is the one line of standard input', () => {
  const ensure = 'license ensure --remote-user - --size-allowance 3';

  test.each(['ada\n', 'ada', '\r\nada\r\n'])('%j', async (stdin) => {
    const { run: send, sandbox } = await openSandbox();
    expect((await send(ensure, { stdin })).exitCode).toBe(0);
    const names = sandbox.state.licenses().map(({ remote_user }) => remote_user);
    expect([names.includes('ada'), names.includes('-')]).toEqual([true, false]);
  });

  test.each([
    ['', '--remote-user: standard input is empty'],
    ['ada\nben\n', '--remote-user: standard input has 2 lines'],
    [' ada\n', '--remote-user: begins or ends with a space'],
  ])('%j is exit 2, and nothing is sent', async (stdin, message) => {
    const { exitCode, error } = await run(fakeService(), `${ensure} -o json`, { stdin });
    expect([exitCode, error?.message]).toEqual([2, message]);
  });

  test.each(['license create --remote-user=-', 'license list --remote-user -', 'license edit k --remote-user -'])(
    'so it is for %s',
    async (line) => {
      const { exitCode, error } = await run(fakeService(), `${line} -o json`, { stdin: '' });
      expect([exitCode, error?.message]).toEqual([2, '--remote-user: standard input is empty']);
    },
  );

  test('of two that ask for it both are refused', async () => {
    const { exitCode, error } = await run(fakeService(), 'license edit - --remote-user - -o json', { stdin: 'k\n' });
    expect([exitCode, error?.message]).toEqual([2, 'only one argument can come from standard input']);
  });
});
