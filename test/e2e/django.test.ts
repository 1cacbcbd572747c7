import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installDjango, startDjango, type Backend } from '../helpers/django.ts';
import { isWhole } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { startPostgres, type Cluster } from '../helpers/postgres.ts';
import { start, temporaryHome, type Done } from './program.ts';

/**
 * A day of an operator at a licensing backend that is none of ours: Django REST framework and PostgreSQL, judged by
 * SQL. Each row is a variable of test/django/README.md.
 */

const days: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['one page', {}],
  ['pages by number', { DRF_PAGE: 'number', DRF_PAGE_SIZE: '7' }],
  ['pages by limit', { DRF_PAGE: 'limit', DRF_PAGE_SIZE: '7' }],
  ['pages by cursor', { DRF_PAGE: 'cursor', DRF_PAGE_SIZE: '7' }],
  ['the newest change first', { DRF_PAGE: 'number', DRF_PAGE_SIZE: '7', DRF_ORDER: 'modified' }],
  ['a filter in any case', { DRF_LOOKUP: 'iexact' }],
  ['a filter that finds parts of names', { DRF_LOOKUP: 'icontains' }],
  ['a filter that finds beginnings of names', { DRF_LOOKUP: 'startswith' }],
  ['a POST that takes up to a second', { DRF_SLOW: '1' }],
  ['one license a user', { DRF_UNIQUE: '1' }],
  ['a throttle', { DRF_RATE: '300/min' }],
  ['JSON alone', { DRF_JSON: '1' }],
  ['pages of errors', { DRF_DEBUG: '1' }],
  ['no transaction around a request', { DRF_ATOMIC: '0' }],
];

const names = [...Array.from({ length: 30 }, (_, index) => `person-${index}`), 'a+b@c.example', "O'Neill & Sons; 5%"];
const csv = (rows: readonly (readonly [string, number])[]): string =>
  ['remote_user,size_allowance', ...rows.map(([name, size]) => `"${name}",${size}`), ''].join('\n');

test('each variable of a day is one that the README of the backend explains', () => {
  const explained = readFileSync('test/django/README.md', 'utf8');
  const variables = new Set(days.flatMap(([, set]) => Object.keys(set)));
  expect(variables.size).toBeGreaterThan(5);
  expect([...variables].filter((name) => !explained.includes(`\`${name}`))).toEqual([]);
});

if (isWhole)
  describe('a backend of Django REST framework', { ...needs('django'), ...needs('postgresql') }, () => {
    let cluster: Cluster;

    beforeAll(async () => {
      installDjango();
      cluster = await startPostgres();
    }, 600_000);

    afterAll(() => cluster.stop());

    test.each(days)('a day: %s', { ...needs('django'), ...needs('postgresql') }, async (_what, variables) => {
      const backend = await startDjango(cluster, variables);
      try {
        await liveADay(backend);
      } finally {
        await backend.stop();
      }
    });
  });

async function liveADay(backend: Backend): Promise<void> {
  const { run, home } = operator(backend);
  const sizes = new Map(names.map((name) => [name, 4]));
  const done = async (line: string, code = 0): Promise<Done> => {
    const ended = await run(line);
    expect
      .soft({ line, code: ended.code, stderr: code === ended.code ? '' : ended.stderr })
      .toEqual({ line, code, stderr: '' });
    return ended;
  };
  const right = async (): Promise<void> => {
    const held = await backend.licenses();
    expect(held.map(({ remote_user, size_allowance }) => [remote_user, size_allowance]).toSorted()).toEqual(
      [...sizes].toSorted(),
    );
  };

  writeFileSync(join(home, 'roster.csv'), csv([...sizes]));
  // A list without a total does not show that its filter reads a +.
  await done('license apply roster.csv --yes --settle 3s --trust-list');
  await right();
  await done('license apply roster.csv --yes --settle 3s');
  await done('license ensure --remote-user person-3 --size-allowance 9');
  sizes.set('person-3', 9);
  await done('license ensure --remote-user grace --size-allowance 2 --settle 3s');
  sizes.set('grace', 2);
  await right();
  for (const name of ['person-1', 'person-2']) sizes.set(name, 7);
  sizes.set('late', 5);
  writeFileSync(join(home, 'roster.csv'), csv([...sizes]));
  await done('license apply roster.csv --yes --settle 3s');
  await right();
  const renamed = await done('license rename person-5 person-five');
  sizes.set('person-five', sizes.get('person-5') ?? 0);
  sizes.delete('person-5');
  await right();
  await done(`license undo ${/license undo (\w+)/.exec(renamed.stderr)?.[1] ?? ''} --yes`);
  sizes.set('person-5', sizes.get('person-five') ?? 0);
  sizes.delete('person-five');
  await right();
  const listed = await done('license list -o ndjson');
  expect(listed.stdout.trimEnd().split('\n')).toHaveLength(sizes.size);
  await done('license view --remote-user nobody', 5);
  await done('license view NO-SUCH-KEY', 5);
  await done('license create --remote-user ada --size-allowance 99 --yes', 2);
  await done('license audit --roster roster.csv', 0);
  await done('license retire --remote-user person-9 --yes');
  expect((await backend.licenses()).some(({ remote_user }) => remote_user === 'person-9')).toBe(false);
  expect(await backend.licenses()).toHaveLength(sizes.size);
}

function operator({ baseUrl, appCode, token }: Backend): {
  readonly home: string;
  run(line: string): Promise<Done>;
} {
  const home = temporaryHome();
  const env = { CHATELAINE_BASE_URL: baseUrl, CHATELAINE_APP_CODE: String(appCode), CHATELAINE_API_KEY: token };
  return { home, run: (line) => start(line, { home, env }).ended };
}
