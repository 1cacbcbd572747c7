import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import type { LicenseShape } from '../../helpers/license-shapes.ts';
import { emptyHome, type RunOptions } from '../../helpers/run.ts';
import { licensingWorld, seedOf } from '../../helpers/licensing-world.ts';

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);
const csv = (names: readonly string[], size = 4) =>
  `remote_user,size_allowance\n${names.map((name) => `${name},${size}\n`).join('')}`;

/** A server that cuts its list and does not say so; these users have a license of size 4. */
async function service(users: readonly string[], { fault, ...licenseShape }: LicenseShape & { fault?: string } = {}) {
  const shape: LicenseShape = { list_shape: 'cut', ...licenseShape };
  const { run, log, ...world } = await licensingWorld(shape, fault, { seed: seedOf(users) });
  return {
    ...world,
    run: (line: string, stdin = '', options: RunOptions = {}) => run(line, { stdin, ...options }),
    held: world.users,
    /** How many requests there were since the last count. */
    counts: () => {
      const seen = log.splice(0);
      return ['GET', 'POST', 'PATCH'].map((name) => seen.filter(({ method }) => method === name).length);
    },
  };
}

describe('a list that is cut in silence, and a filter that is honest', () => {
  const users = named('user', 110);

  test('what is shown before the claims does not lie: --exit-code, twins, the question', async () => {
    const roster = ['ADA', ...users, 'ada'];
    const { run, held, counts } = await service(roster);
    const home = emptyHome();
    writeFileSync(join(home, 'roster.csv'), csv([...roster, 'eve', 'mia']));

    const plan = await run('license apply - -n --exit-code', csv(roster));
    const ran = await run('license apply -', csv(roster));
    expect([plan.exitCode, ran.exitCode, counts()[1]]).toEqual([0, 0, 0]);
    const asked = await run(`license apply ${join(home, 'roster.csv')}`, 'y\n', { home, tty: true });

    expect(asked.exitCode).toBe(0);
    expect(asked.stderr.match(/\d+ to create, \d+ unchanged on/g)).toEqual(['2 to create, 112 unchanged on']);
    expect([counts()[1], held().toSorted()]).toEqual([2, [...roster, 'eve', 'mia'].toSorted()]);
  });

  test('a similar name that the list shows in place of the own license does not count', async () => {
    const { run, held } = await service(['ADA', ...users, 'ada']);

    const ran = await run('license apply -', csv([...named('user', 21), 'ada']));

    expect([ran.exitCode, ran.lines.at(-1)]).toEqual([0, expect.stringMatching(/^22 unchanged on/)]);
    expect(held()).toHaveLength(112);
  });

  test.each(sampleOf(1, ['cut', 'cut-newest', 'cut-counted'] as const))(
    '%s: apply creates nothing for 110 who have one',
    async (list) => {
      const { run, held, counts } = await service(users, { list_shape: list });

      const plan = await run('license apply - -n', csv(users));
      expect(counts()[1]).toBe(0);
      const limited = await run('license apply - --max-create 0 -q', csv(users));
      const first = await run('license apply -', csv(users));
      const second = await run('license apply -', csv(users));

      // A plan believes the total of a list.
      const runs = list === 'cut-counted' ? [first, second] : [plan, first, second];
      expect([limited, plan, first, second].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
      for (const { lines } of runs) expect(lines.at(-1)).toMatch(/^110 unchanged on/);
      expect(held()).toEqual(users);
    },
  );
});

describe('a list that is cut in silence, and a filter that is ignored', () => {
  const ignored = { filters: 'ignored' } as const;
  const users = named('user', 150);

  test.each(sampleOf(1, [20, 25, 30, 100]))(
    'a list of %i without a total: nothing is created without --trust-list',
    async (length) => {
      const { run, held, counts } = await service(users, { ...ignored, page_size: length });

      const ran = await run('license apply - -o json', csv(users));
      const few = await run('license apply -', csv(users.slice(-3)));
      const plan = await run('license apply - -n', csv(users.slice(-3)));
      const ensured = await run('license ensure --remote-user user-149 --size-allowance 4');

      expect([ran, few, plan, ensured].map(({ exitCode }) => exitCode)).toEqual([8, 8, 8, 8]);
      expect(ran.error?.message).toContain(`${length} unchanged, ${150 - length} failed`);
      expect(ensured.stderr).toMatch(new RegExp(`its list of ${length} licenses? has no total`));
      expect(ensured.stderr).toContain('--trust-list');
      expect([counts()[1], held()]).toEqual([0, users]);
    },
  );

  test('--trust-list: a list that grows from nothing counts', async () => {
    const { run, held } = await service([], ignored);
    expect((await run('license apply - --trust-list', csv(users.slice(0, 50)))).exitCode).toBe(0);
    expect(held().toSorted()).toEqual(users.slice(0, 50).toSorted());
    expect((await run('license retire --remote-user new --trust-list')).exitCode).toBe(5);
  });

  test.each(['cut', 'cut-counted'] as const)(
    '%s at 30, --trust-list: the first POST shows that the list is cut, and no other follows',
    async (list) => {
      const { run, held, counts } = await service(users, { ...ignored, list_shape: list, page_size: 30 });

      const ran = await run('license apply - -o json --trust-list', csv(users));

      expect([ran.exitCode, counts()[1], held().length]).toEqual([9, 1, users.length + 1]);
      expect(JSON.parse(ran.stdout)).toContainEqual(expect.objectContaining({ status: 'unknown' }));
    },
  );

  test('the newest 30, --trust-list: rows that have no lookup yet create nothing once two lists differ', async () => {
    const { run, counts } = await service(users, { ...ignored, list_shape: 'cut-newest', page_size: 30 });

    const ran = await run('license apply - -o json --trust-list --concurrency 1', csv(users));

    expect([ran.exitCode, counts()[1]]).toEqual([8, 1]);
    expect(ran.stdout).toContain('the server truncates its list after 30 licenses');
  });

  test('a list that lags is read again after --settle', async () => {
    const { run, held, counts } = await service(named('user', 30), { list_shape: 'array', ...ignored, stale: 2000 });

    const ran = await run('license apply - --trust-list', csv(named('new', 30)));

    expect([ran.exitCode, counts()[1], held().length]).toEqual([0, 30, 60]);
  });

  test.each([
    ['ensure', 'license ensure --remote-user new --size-allowance 4 --trust-list', '', 1],
    ['apply', 'license apply - --trust-list', csv(named('new', 30)), 30],
  ])('%s: a POST without an answer is sent again once the list does not show it', async (_what, line, roster, made) => {
    const fault = 'POST /v1/license/=drop-before#1';
    const { run, held, counts } = await service(named('user', 30), { list_shape: 'array', ...ignored, fault });

    const ran = await run(line, roster);

    expect([ran.exitCode, counts()[1], held().length]).toEqual([0, made + 1, 30 + made]);
  });
});
