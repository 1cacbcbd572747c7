import { describe, expect, test } from 'vitest';
import type { LicenseShape } from '../../helpers/license-shapes.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';

/** Servers that decode a query twice, or read a + as a blank (docs/exactly-once.md, Names that servers change). */

const misreading: readonly (readonly [filters: 'twice' | 'blank', name: string, sign: string])[] = [
  ['twice', 'ada+1@clinic.test', '+'],
  ['twice', 'ada%41', '%'],
  ['twice', 'ada;1', ';'],
  ['twice', 'ada&1', '&'],
  ['twice', 'ada#1', '#'],
  ['blank', 'ada+1@clinic.test', '+'],
];

async function service(shape: LicenseShape, names: readonly string[] = []) {
  const { run, runElsewhere, log, created } = await licensingWorld(shape);
  for (const remote_user of names)
    expect(
      (await runElsewhere(['license', 'create', '--remote-user', remote_user, '--size-allowance', '4', '--yes', '-q']))
        .exitCode,
    ).toBe(0);
  log.length = 0;
  return {
    run: (args: readonly string[], stdin?: string) =>
      run([...args, '-o', 'json'], stdin === undefined ? {} : { stdin }),
    licensesOf: (user: string) => created().filter(({ remote_user }) => remote_user === user).length,
    gets: () => log.filter(({ method }) => method === 'GET').length,
  };
}

const roster = (users: readonly string[]): string =>
  JSON.stringify(users.map((remote_user) => ({ remote_user, size_allowance: 4 })));
const others = Array.from({ length: 25 }, (_, index) => `ward-${index}`);
const commands: readonly (readonly [string, (user: string) => readonly [readonly string[], string?]])[] = [
  ['ensure', (user) => [['license', 'ensure', '--remote-user', user, '--size-allowance', '4']]],
  ['apply of 1 row', (user) => [['license', 'apply', '-'], roster([user])]],
  ['apply of 26 rows', (user) => [['license', 'apply', '-'], roster([user, ...others])]],
];

describe.each(commands)('%s', (_what, line) => {
  test.each(misreading)(
    'a filter %s does not find %s: the whole list does, and nothing is doubled',
    async (filters, user) => {
      const { run, licensesOf } = await service({ filters, list_shape: 'pages' });
      await run(...line(user));
      expect(licensesOf(user)).toBe(1);
      expect((await run(...line(user))).exitCode).toBe(0);
      expect(licensesOf(user)).toBe(1);
    },
  );

  test.each(misreading)(
    'a filter %s, %s and a list without a total: 8 that names the sign',
    async (filters, user, sign) => {
      const { run, licensesOf } = await service({ filters, list_shape: 'array' });
      const { exitCode, stdout, error } = await run(...line(user));
      expect({ exitCode, count: licensesOf(user) }).toEqual({ exitCode: 8, count: 0 });
      expect(`${stdout}${error?.message ?? ''}`).toContain(`may misread its ${sign}`);
      const [args, stdin] = line(user);
      expect((await run([...args, '--trust-list'], stdin)).exitCode).not.toBe(8);
      expect(licensesOf(user)).toBe(1);
    },
  );
});

test('another name with the sign on page one shows that the filter reads it: two requests more, once a run', async () => {
  const { run, gets, licensesOf } = await service({ list_shape: 'array' }, ['bob+1', 'eve+1']);
  await run(['license', 'ensure', '--remote-user', 'ada', '--size-allowance', '4']);
  const plain = gets();
  expect((await run(['license', 'ensure', '--remote-user', 'ada+1', '--size-allowance', '4'])).exitCode).toBe(0);
  expect(gets() - plain).toBe(plain + 2);
  const users = Array.from({ length: 20 }, (_, index) => `new+${index}`);
  const before = gets();
  expect((await run(['license', 'apply', '-'], roster(users))).exitCode).toBe(0);
  // The name that the run before created is in the history: no page is read.
  expect(gets() - before).toBe(20 * plain + 1);
  expect(users.map(licensesOf)).toEqual(users.map(() => 1));
});

test('so does a name with the sign that the history has: one request more, and no list', async () => {
  const { run, gets, licensesOf } = await service({ list_shape: 'array' });
  const ensure = (user: string) => ['license', 'ensure', '--remote-user', user, '--size-allowance', '4'];
  await run(ensure('ada'));
  const plain = gets();
  expect((await run([...ensure('bob+1'), '--trust-list'])).exitCode).toBe(0);
  const before = gets();
  expect((await run(ensure('eve+1'))).exitCode).toBe(0);
  expect({ gets: gets() - before, made: licensesOf('eve+1') }).toEqual({ gets: plain + 1, made: 1 });
});

test('a name that the history has, and that the filter does not find, shows nothing', async () => {
  const { run, licensesOf } = await service({ filters: 'blank', list_shape: 'array' });
  const ensure = (user: string) => ['license', 'ensure', '--remote-user', user, '--size-allowance', '4'];
  await run([...ensure('bob+1'), '--trust-list']);
  expect(licensesOf('bob+1')).toBe(1);
  expect((await run(ensure('eve+1'))).exitCode).toBe(8);
  expect(licensesOf('eve+1')).toBe(0);
});

test.each(misreading)('commands that look a user up, at a filter %s, with %s', async (filters, user, sign) => {
  const { run, licensesOf } = await service({ filters, list_shape: 'array' }, ['mia']);
  const named = ['--remote-user', user];
  for (const args of [
    ['license', 'view', ...named],
    ['license', 'list', ...named],
    ['license', 'retire', ...named, '--yes'],
    ['license', 'rename', 'mia', user, '--yes'],
  ]) {
    const { exitCode, error } = await run(args);
    expect({ args, exitCode, message: error?.message }).toEqual({
      args,
      exitCode: 8,
      message: expect.stringContaining(`may misread its ${sign}`) as string,
    });
  }
  expect(licensesOf(user)).toBe(0);
});

test.each(misreading)(
  'a license that only the list shows is viewed and renamed, at a filter %s: %s',
  async (filters, user) => {
    const { run, licensesOf } = await service({ filters }, [user]);
    const { exitCode, stdout } = await run(['license', 'view', '--remote-user', user]);
    expect({ exitCode, user: (JSON.parse(stdout) as { remote_user: string }[])[0]?.remote_user }).toEqual({
      exitCode: 0,
      user,
    });
    expect((await run(['license', 'rename', user, 'ada-2', '--yes'])).exitCode).toBe(0);
    expect([licensesOf(user), licensesOf('ada-2')]).toEqual([0, 1]);
  },
);

test.each(misreading)('create warns that a filter %s may misread %s, and creates', async (filters, user, sign) => {
  const { run, licensesOf } = await service({ filters, list_shape: 'array' });
  const { exitCode, stderr } = await run(['license', 'create', '--remote-user', user, '--size-allowance', '4']);
  expect([exitCode, licensesOf(user)]).toEqual([0, 1]);
  expect(stderr).toContain(`may misread its ${sign}`);
});
