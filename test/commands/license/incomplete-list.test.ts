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
  const users = named('user', 150);

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
    expect(asked.stderr.match(/\d+ to create, \d+ unchanged on/g)).toEqual(['2 to create, 152 unchanged on']);
    expect([counts()[1], held().toSorted()]).toEqual([2, [...roster, 'eve', 'mia'].toSorted()]);
  });

  test('a similar name that the list shows in place of the own license does not count', async () => {
    const { run, held } = await service(['ADA', ...users, 'ada']);

    const ran = await run('license apply -', csv([...named('user', 21), 'ada']));

    expect([ran.exitCode, ran.lines.at(-1)]).toEqual([0, expect.stringMatching(/^22 unchanged on/)]);
    expect(held()).toHaveLength(152);
  });

  test.each(sampleOf(1, ['cut', 'cut-newest', 'cut-counted'] as const))(
    '%s: apply creates nothing for 150 who have one',
    async (list) => {
      const { run, held, counts } = await service(users, { list_shape: list });

      const plan = await run('license apply - -n', csv(users));
      expect(counts()[1]).toBe(0);
      const limited = await run('license apply - --max-create 0 -q', csv(users));
      const first = await run('license apply -', csv(users));
      const second = await run('license apply -', csv(users));

      const runs = [plan, first, second];
      expect([limited, ...runs].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
      for (const { lines } of runs) expect(lines.at(-1)).toMatch(/^150 unchanged on/);
      expect(held()).toEqual(users);
    },
  );
});

describe('a list that is cut in silence, and a filter that is ignored', () => {
  const ignored = { filters: 'ignored' } as const;
  const users = named('user', 150);

  test.each([1, 20, 25, 30, 100])(
    'a list of %i without a total: nothing is created without --trust-list',
    async (length) => {
      const { run, held, counts } = await service(users, { ...ignored, page_size: length });

      const ran = await run('license apply - -o json', csv(users));
      const few = await run('license apply -', csv(users.slice(-3)));
      const plan = await run('license apply - -n', csv(users));
      const ensured = await run('license ensure --remote-user user-149 --size-allowance 4');

      expect([ran, few, plan, ensured].map(({ exitCode }) => exitCode)).toEqual([8, 8, 8, 8]);
      expect(ran.error?.message).toContain(`${length} unchanged, ${150 - length} failed`);
      expect(ensured.stderr).toMatch(new RegExp(`its list of ${length} licenses? has no total`));
      expect(ensured.stderr).toContain('--trust-list');
      expect([counts()[1], held()]).toEqual([0, users]);
    },
  );

  test('a list without a total, of pages that are full but the last, is whole', async () => {
    const { run, held } = await service(users, { ...ignored, list_shape: 'next-url', page_size: 40 });

    const ensured = await run('license ensure --remote-user new --size-allowance 4');

    expect([ensured.exitCode, held()]).toEqual([0, [...users, 'new']]);
  });

  test('where the list shows fewer licenses than were answered, no third one is offered', async () => {
    const { run, held } = await service(users, { ...ignored, page_size: 20 });
    const home = emptyHome();
    const ensure = 'license ensure --remote-user new --size-allowance 4 --trust-list --settle 0s -o json';

    const [first, second] = [await run(ensure, '', { home }), await run(ensure, '', { home })];

    expect([first.exitCode, second.exitCode, held().length]).toEqual([9, 9, 151]);
    expect(first.stdout).toContain('license_code');
    expect(first.stderr + second.stderr).not.toContain('--send-again');
    expect(second.error?.hint).toContain('Ask who runs the server');
  });

  test('--trust-list: a whole list of 100 licenses is one', async () => {
    const { run, held } = await service(users.slice(0, 100), { ...ignored, page_size: 1000 });

    const refused = await run('license ensure --remote-user new --size-allowance 4');
    const ensured = await run('license ensure --remote-user new --size-allowance 4 --trust-list');

    expect([refused.exitCode, ensured.exitCode]).toEqual([8, 0]);
    expect(held()).toEqual([...users.slice(0, 100), 'new']);
  });

  test('an empty list has no length: a roster is begun, and goes on with --trust-list once the list is not empty', async () => {
    const { run, held } = await service([], ignored);
    expect((await run('license apply -', csv(users.slice(0, 50)))).exitCode).toBe(8);
    expect(held().length).toBeGreaterThan(0);
    expect((await run('license apply - --trust-list', csv(users.slice(0, 50)))).exitCode).toBe(0);
    expect(held().toSorted()).toEqual(users.slice(0, 50).toSorted());
  });

  // What the list does not show is an answer that stays open.
  describe.each([
    ['cut', 9],
    ['cut-newest', 8],
    ['cut-counted', 9],
  ] as const)('%s at 30', (list, exitCode) => {
    const shape = { ...ignored, list_shape: list, page_size: 30 };

    test.each([
      ['apply of many', csv(users)],
      ['apply of few', csv([...users.slice(0, 5), ...users.slice(-5)])],
    ])('%s, --trust-list: one POST shows that the list is cut, and no other follows', async (_what, roster) => {
      const { run, held, counts } = await service(users, shape);

      const ran = await run('license apply - -o json --trust-list', roster);

      expect([ran.exitCode, counts()[1], held().length]).toEqual([exitCode, 1, users.length + 1]);
      expect(ran.error?.message).toContain('its list is cut');
      const status = exitCode === 9 ? 'unknown' : 'created';
      expect(JSON.parse(ran.stdout)).toContainEqual(expect.objectContaining({ status }));
    });

    test('ensure prints the key, and says that the list is cut', async () => {
      const { run, counts } = await service(users, shape);

      const ran = await run('license ensure --remote-user new --size-allowance 4 --trust-list');

      expect([ran.exitCode, counts()[1]]).toEqual([exitCode, 1]);
      expect(ran.stdout).toMatch(/^\S+\n$/);
      expect(ran.stderr).toContain(exitCode === 8 ? 'its list is cut' : 'the list does not show the license');
    });
  });

  describe.each(sampleOf(1, ['500', 'html', 'reset']))('the list after the first POST is not answered: %s', (kind) => {
    const shape = { list_shape: 'array', ...ignored } as const;
    const users = named('user', 30);

    test.each([
      ['ensure', 'license ensure --remote-user new --size-allowance 4 --trust-list', ''],
      ['apply', 'license apply - -o json --trust-list', csv([...named('new', 30)])],
    ])('%s: the answered key is printed', async (what, line, roster) => {
      const whole = await service(users, shape);
      expect((await whole.run(line, roster)).exitCode).toBe(0);
      // `apply` ends with one list for all that it created.
      const passed = (whole.counts()[0] ?? 0) - (what === 'apply' ? 2 : 1);
      const { run, sandbox } = await service(users, { ...shape, fault: `GET /v1/license/=${kind}#999+${passed}` });

      const ran = await run(line, roster);

      const made = sandbox.state.licenses().slice(30);
      expect(made).toHaveLength(1);
      expect(ran.stdout).toContain(made[0]?.license_code);
      if (what === 'ensure')
        expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining('could not be confirmed')]);
      else {
        expect(ran.exitCode).toBe(8);
        expect(JSON.parse(ran.stdout)).toContainEqual(expect.objectContaining({ status: 'created' }));
      }
    });
  });

  test('a list that lags is read again after --settle', async () => {
    const { run, held, counts } = await service(named('user', 30), { list_shape: 'array', ...ignored, stale: 2000 });

    const ran = await run('license apply - --trust-list', csv(named('new', 30)));

    expect([ran.exitCode, counts()[1], held().length]).toEqual([0, 30, 60]);
  });

  test.each([
    ['ensure', 'license ensure --remote-user new --size-allowance 4 --trust-list', ''],
    ['apply', 'license apply - --trust-list', csv(named('new', 30))],
  ])('%s: a POST without an answer is not sent again before the list has shown one', async (_what, line, roster) => {
    const fault = 'POST /v1/license/=drop-before#1';
    const { run, held, counts } = await service(named('user', 30), { list_shape: 'array', ...ignored, fault });

    const ran = await run(line, roster);

    expect([ran.exitCode, counts()[1], held().length]).toEqual([9, 1, 30]);
  });
});
