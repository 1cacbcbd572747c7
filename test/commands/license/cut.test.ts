import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LicenseShape } from '../../../src/sandbox/licensing/options.ts';
import type { LogEntry } from '../../../src/sandbox/serve.ts';
import { linkedClocks } from '../../helpers/clock.ts';
import { emptyHome, openSandbox, type RunOptions } from '../../helpers/run.ts';

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);
const csv = (names: readonly string[], size = 4) =>
  `remote_user,size_allowance\n${names.map((name) => `${name},${size}\n`).join('')}`;

/** A server that cuts its list and does not say so; these users have a license of size 4. */
async function service(users: readonly string[], licenseShape: LicenseShape = {}) {
  const time = linkedClocks();
  const log: LogEntry[] = [];
  const { sandbox, run } = await openSandbox({
    clock: time.sandbox,
    licenseShape: { list_shape: 'cut', ...licenseShape },
    log: (entry) => void log.push(entry),
    seed(state) {
      for (const { license_code } of state.licenses.rows()) state.licenses.remove(license_code);
      for (const [index, remote_user] of users.entries())
        state.licenses.put(`K-${index}`, {
          ...{ license_code: `K-${index}`, remote_user, app_code: 4711, size_allowance: 4 },
          created: '2026-03-01T12:00:00Z',
        });
    },
  });
  return {
    run: (line: string, stdin = '', options: RunOptions = {}) => run(line, { clock: time.client, stdin, ...options }),
    held: () => sandbox.state.licenses().map(({ remote_user }) => remote_user),
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
    expect([counts()[1], held()]).toEqual([2, [...roster, 'eve', 'mia']]);
  });

  test('a similar name that the list shows in place of the own license does not count', async () => {
    const { run, held } = await service(['ADA', ...users, 'ada']);

    const ran = await run('license apply -', csv([...named('user', 21), 'ada']));

    expect([ran.exitCode, ran.lines.at(-1)]).toEqual([0, expect.stringMatching(/^22 unchanged on/)]);
    expect(held()).toHaveLength(152);
  });

  test.each(['cut', 'cut-newest', 'cut-counted'] as const)(
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
