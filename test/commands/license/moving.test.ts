import { describe, expect, test } from 'vitest';
import { listShapeNames } from '../../../src/sandbox/licensing/list-shapes.ts';
import type { LicenseShape } from '../../../src/sandbox/licensing/options.ts';
import type { LogEntry } from '../../../src/sandbox/serve.ts';
import { linkedClocks } from '../../helpers/clock.ts';
import { isWhole } from '../../helpers/extent.ts';
import { openSandbox } from '../../helpers/run.ts';

const moving = listShapeNames.filter((name) => name.startsWith('moving-'));
const users = Array.from({ length: 30 }, (_, index) => `user-${index}`);
const csv = (names: readonly string[]) => `remote_user,size_allowance\n${names.map((name) => `${name},4\n`).join('')}`;

/** A server of pages of ten whose 30 licenses change places while they are read. */
async function service(licenseShape: LicenseShape, names: readonly string[] = users) {
  const time = linkedClocks();
  const log: LogEntry[] = [];
  const { sandbox, run } = await openSandbox({
    clock: time.sandbox,
    licenseShape: { pageSize: 10, ...licenseShape },
    log: (entry) => void log.push(entry),
    seed(state) {
      for (const { license_code } of state.licenses.rows()) state.licenses.remove(license_code);
      for (const [index, remote_user] of names.entries()) {
        const license_code = `K-${index}`;
        const license = {
          license_code,
          remote_user,
          app_code: 4711,
          size_allowance: 4,
          created: '2026-03-01T12:00:00Z',
        };
        state.licenses.put(license_code, license);
      }
    },
  });
  const held = () =>
    sandbox.state
      .licenses()
      .map(({ remote_user }) => remote_user)
      .toSorted();
  const posts = () => log.filter(({ method }) => method === 'POST').length;
  return { run: (line: string, stdin = '') => run(line, { clock: time.client, stdin }), held, posts, log };
}

describe.each(moving)('%s', (list) => {
  test.each(['changed', 'ignored'] as const)(
    'filters %s: apply creates the one license that is missing',
    async (filters) => {
      const { run, held } = await service({ list, filters });
      const roster = [...users, 'new'];

      const plan = await run('license apply - --dry-run', csv(roster));
      const ran = await run('license apply - -q', csv(roster));
      const again = await run('license apply - -q', csv(roster));

      expect(plan.lines.at(-1)).toMatch(/^1 to create, 30 unchanged/);
      expect([plan, ran, again].map(({ exitCode, stderr }) => [exitCode, exitCode === 0 ? '' : stderr])).toEqual(
        [plan, ran, again].map(() => [0, '']),
      );
      expect(held()).toEqual(roster.toSorted());
    },
  );

  test('ensure finds each user on a server that ignores the filter', async () => {
    const { run, held } = await service({ list, filters: 'ignored' });
    // Of each page some, so that every place of a page is looked for.
    for (const user of users.filter((_user, index) => isWhole || index % 3 === 0)) {
      const ran = await run(`license ensure --remote-user ${user} --size-allowance 4`);
      expect(`${user} ${ran.exitCode} ${ran.stdout}`).toBe(`${user} 0 K-${users.indexOf(user)}\n`);
    }
    expect(held()).toEqual(users.toSorted());
  });

  test('the list and the audit show each license once', async () => {
    const { run } = await service({ list });
    const keys = (await run('license list -q')).stdout.trimEnd().split('\n');
    expect(new Set(keys).size).toBe(keys.length);
    expect((await run('license audit')).exitCode).toBe(0);
  });
});

test('a server that repeats the first license on each page has that habit: its list is whole', async () => {
  const { run } = await service({ list: 'pages' }, ['ada', ...users]);
  expect((await run('license audit')).exitCode).toBe(0);
});

test('on a paged server each user is looked up before the POST; on one page a list is the proof', async () => {
  const some = Array.from({ length: 25 }, (_, index) => `new-${index}`);
  const paged = await service({ list: 'pages' });
  const whole = await service({ list: 'results' });

  for (const { run } of [paged, whole]) expect((await run('license apply - -q', csv(some))).exitCode).toBe(0);

  const counts = ({ log }: typeof paged) =>
    ['GET', 'POST'].map((name) => log.filter(({ method }) => method === name).length);
  // Three pages, 25 look-ups (the first is the one that shows that filters work), and six pages to confirm.
  expect(counts(paged)).toEqual([3 + 1 + 24 + 6 + 0, 25]);
  expect(counts(whole)).toEqual([2, 25]);
});

test('where page one tells of far more licenses than there are rows, users are looked up and no list is read', async () => {
  const many = Array.from({ length: 900 }, (_, index) => `other-${index}`);
  const { run, log } = await service({ list: 'pages' }, many);

  expect((await run('license apply - -q --dry-run', csv(users.slice(0, 21)))).exitCode).toBe(0);

  expect(log).toHaveLength(1 + 21);
});

test('a key that a page shows twice is one license', async () => {
  const { run, posts } = await service({ list: 'results' }, ['ada']);
  expect(posts()).toBe(0);
  expect((await run('license ensure --remote-user ada --size-allowance 4')).stdout).toBe('K-0\n');
});
