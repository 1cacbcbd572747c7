import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFaults } from '../../../src/sandbox/faults.ts';
import type { LogEntry } from '../../../src/sandbox/serve.ts';
import type { LicenseRecord } from '../../../src/sandbox/records.ts';
import type { SandboxOptions } from '../../helpers/sandbox.ts';
import { emptyHome, fakeService, openSandbox, run as runWith, type RunOptions } from '../../helpers/run.ts';

/** Ten licenses of user-0 to user-9, of size 4, and these. */
async function serviceWith(
  planted: readonly [user: string, size: number][] = [],
  options: Partial<SandboxOptions> = {},
) {
  const home = emptyHome();
  const license = (remote_user: string, size_allowance: number, index: number): LicenseRecord => {
    const license_code = `key-${String(1000 + index)}`;
    return { license_code, remote_user, app_code: 4711, size_allowance, created: '2026-03-01T12:00:00Z' };
  };
  const ten = Array.from({ length: 10 }, (_, index): [string, number] => [`user-${index}`, 4]);
  const { run, sandbox } = await openSandbox({
    ...options,
    seed: (state) => {
      for (const { license_code } of state.licenses.rows()) state.licenses.remove(license_code);
      for (const [index, [user, size]] of [...ten, ...planted].entries()) {
        const row = license(user, size, index);
        state.licenses.put(row.license_code, row);
      }
    },
  });
  const apply = (users: readonly string[], words: string, given: RunOptions = {}) =>
    run(`license apply - --input-format csv --retire-missing ${words}`, {
      home,
      stdin: ['remote_user,size_allowance', ...users.map((user) => `${user},4`), ''].join('\n'),
      ...given,
    });
  const held = () =>
    sandbox.state.licenses().map(({ remote_user, size_allowance }) => `${remote_user} ${size_allowance}`);
  return { apply, run, home, held, state: sandbox.state };
}

const ada = { license_code: 'K-1', remote_user: 'ada', size_allowance: 4, app_code: 7 };
const users = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `user-${from + index}`);
const statusOf = ({ stdout }: { readonly stdout: string }) =>
  (JSON.parse(stdout) as { remote_user: string; status: string; change: string | null }[])
    .filter(({ status }) => status !== 'unchanged')
    .map(({ remote_user, status, change }) => `${remote_user} ${status} ${change ?? ''}`.trim());

test('users in no row are retired after the rows, and one undo brings them back', async () => {
  const { apply, held, run, home } = await serviceWith([['left-2026-01-eve-1010', 1]]);

  const ran = await apply(['ada', ...users(2, 10)], '--max-retire 2 -o json');

  expect({ exitCode: ran.exitCode, rows: statusOf(ran) }).toEqual({
    exitCode: 0,
    rows: ['ada created', 'user-0 retired 4 -> 1', 'user-1 retired 4 -> 1'],
  });
  expect(ran.lines).toEqual([
    expect.stringMatching(/^1 created, 8 unchanged, 2 retired on /),
    expect.stringMatching(/^undo: chatelaine license undo \w{4}$/),
  ]);
  const left = ['left-2026-03-user-0-1000 1', 'left-2026-03-user-1-1001 1', 'left-2026-01-eve-1010 1'];
  expect(
    held()
      .filter((text) => text.startsWith('left'))
      .sort(),
  ).toEqual([...left].sort());
  expect((await apply(['ada', ...users(2, 10)], '--max-retire 0 -o json')).exitCode).toBe(0);

  const history = await run('license history -o json --fields remote_user,change', { home });
  expect(JSON.parse(history.stdout)).toEqual([
    { remote_user: 'ada', change: 'created' },
    { remote_user: 'left-2026-03-user-0-1000', change: 'retired user-0' },
    { remote_user: 'left-2026-03-user-1-1001', change: 'retired user-1' },
  ]);
  const undone = await run(`license undo ${/undo (\w{4})/.exec(ran.stderr)?.[1] ?? ''} -y`, { home });
  expect(undone.exitCode).toBe(0);
  expect(held()).toEqual(expect.arrayContaining(['user-0 4', 'user-1 4', 'left-2026-01-eve-1010 1', 'ada 4']));
});

test('a name that is like one of a row is named and stays; a note says what --where does', async () => {
  const { apply, held } = await serviceWith([['User-9', 4]]);

  const ran = await apply(users(1, 10), '--max-retire 5 -o json --where size_allowance=4');

  expect(statusOf(ran)).toEqual(['user-0 retired 4 -> 1']);
  expect(ran.lines.filter((line) => line.startsWith('note: '))).toEqual([
    'note: 9 of 9 rows are taken: size_allowance is 4',
    "note: 'User-9' is not retired: the roster has the similar name 'user-9'",
    'note: users of rows that --where omits are retired too',
  ]);
  expect(held()).toContain('User-9 4');
});

describe('nothing is sent', () => {
  test.each([
    [
      'where nobody is asked and no number is typed',
      users(1, 10),
      '',
      '--retire-missing needs --max-retire N without a terminal',
    ],
    [
      'above --max-retire',
      users(2, 10),
      '--max-retire 1',
      'this would retire more licenses than --max-retire 1: 2; nothing was changed',
    ],
    ['where the roster is empty', [], '--max-retire 99', 'standard input: no rows'],
  ])('%s', async (_when, rows, words, message) => {
    const { apply, held } = await serviceWith();
    const before = held();
    const ran = await apply(rows, `${words} -o json`);
    expect({ exitCode: ran.exitCode, message: ran.error?.message }).toEqual({ exitCode: 2, message });
    expect(held()).toEqual(before);
  });

  test('where more than half would go, unless a number allows it', async () => {
    const { apply, held } = await serviceWith();
    const rows = users(6, 10);
    const before = held();
    const script = await apply(rows, '--dry-run -o json');
    expect(script.error?.message).toBe('6 of 10 licenses would be retired: more than half; nothing was changed');
    expect(held()).toEqual(before);
    expect((await apply(users(5, 10), '--dry-run -o json')).exitCode).toBe(0);
    expect((await apply(rows, '--max-retire 6')).exitCode).toBe(0);
    expect(held().filter((text) => text.startsWith('left'))).toHaveLength(6);
  });

  test.each([
    ['is not whole', { count: 9, results: [ada] }, 8, 'incomplete'],
    [
      'does not say whose each license is',
      [ada, { license_code: 'K-2', size_allowance: 4, app_code: 7 }],
      7,
      'unavailable',
    ],
  ])('where the list %s', async (_what, list, exit, code) => {
    const service = fakeService();
    service.expect('GET /v1/license/?app_code=7').reply(200, list);
    const ran = await runWith(service, 'license apply - --input-format csv --retire-missing --max-retire 3 -o json', {
      stdin: 'remote_user,size_allowance\nada,4\n',
    });
    service.done();
    expect({ exitCode: ran.exitCode, code: ran.error?.code }).toEqual({ exitCode: exit, code });
  });

  test.each(['--max-retire 3'])('%s without --retire-missing', async (words) => {
    const ran = await runWith(fakeService(), `license apply - ${words} -o json`, { stdin: 'remote_user\nada\n' });
    expect({ exitCode: ran.exitCode, message: ran.error?.message }).toEqual({
      exitCode: 2,
      message: `${words.split(' ')[0] ?? ''} needs --retire-missing`,
    });
  });
});

test('a row that fails keeps everybody; the same command goes on when it is mended', async () => {
  const faults = readFaults('POST /v1/license/=500#9', 1);
  const { apply, held } = await serviceWith([], { faults });
  const failed = await apply(['ada', ...users(1, 10)], '--max-retire 1 --retries 0 --settle 10ms -o json');
  expect(failed.exitCode).toBe(9);
  expect(failed.stderr).toContain('no license was retired: that happens only once every row has its license');
  expect(held()).toContain('user-0 4');
});

test('a request that is lost while users are retired is found out', async () => {
  const faults = readFaults('PATCH /v1/license/*=drop-after#1', 1);
  const { apply, held } = await serviceWith([], { faults });
  const rows = users(3, 10);
  const words = '--max-retire 3 --retries 0 -o json';
  const first = await apply(rows, words);
  expect(first.exitCode).toBe(0);
  expect(held().filter((text) => text.startsWith('left'))).toHaveLength(3);
  expect(statusOf(await apply(rows, words))).toEqual([]);
});

test('on a terminal they are shown apart, and a no sends nothing', async () => {
  const { run, held, home } = await serviceWith();
  const file = join(home, 'roster.csv');
  writeFileSync(
    file,
    ['remote_user,size_allowance', 'ada,4', ...users(1, 10).map((user) => `${user},4`), ''].join('\n'),
  );
  const before = held();
  const ran = await run(`license apply ${file} --retire-missing`, { home, tty: true, stdin: 'n\n' });
  expect(ran.stderr).toMatch(/retire +user-0 +4 -> 1/);
  expect(ran.stderr).toContain('1 to create, 9 unchanged, 1 to retire on ');
  expect(ran.exitCode).toBe(130);
  expect(held()).toEqual(before);
  const agreed = await run(`license apply ${file} --retire-missing`, { home, tty: true, stdin: 'y\n' });
  expect(agreed.exitCode).toBe(0);
  expect(held()).toEqual(expect.arrayContaining(['ada 4', 'left-2026-03-user-0-1000 1']));
});

test('a dry run shows them, counts them as changes and sends nothing', async () => {
  const { apply, held } = await serviceWith();
  const before = held();
  const ran = await apply(users(1, 10), '--dry-run --exit-code -o json');
  expect({ exitCode: ran.exitCode, rows: statusOf(ran) }).toEqual({ exitCode: 10, rows: ['user-0 retire 4 -> 1'] });
  expect(ran.stderr).toContain('9 unchanged, 1 to retire on ');
  const lines = await apply(users(1, 10), '--dry-run -o curl');
  expect(lines.stdout).toContain('left-2026-03-user-0-1000');
  expect(held()).toEqual(before);
});

test.each([
  ['grace', 'grace 4', "the license of 'user-0' belongs to 'grace' now; it was not changed"],
  ['left-2026-03-user-0-1000', 'left-2026-03-user-0-1000 1', '1 created, 9 unchanged, 1 retired'],
])('a license that is of %s by then: %s', async (name, left, says) => {
  let rename = (): void => undefined;
  const log = ({ method }: LogEntry): void => {
    if (method === 'POST') rename();
  };
  const service = await serviceWith([], { log });
  const { apply, held, state } = service;
  rename = () =>
    state.change(({ licenses }) => {
      const row = licenses.rows().find(({ remote_user }) => remote_user === 'user-0');
      if (row) licenses.put(row.license_code, { ...row, remote_user: name });
    });

  const { exitCode, stderr } = await apply(['ada', ...users(1, 10)], '--max-retire 1 -o tsv');

  expect([exitCode, held().includes(left), stderr]).toEqual([
    name === 'grace' ? 8 : 0,
    true,
    expect.stringContaining(says),
  ]);
});
