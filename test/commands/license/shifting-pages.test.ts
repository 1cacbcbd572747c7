import { expect, test } from 'vitest';
import type { LicenseShape } from '../../helpers/license-shapes.ts';
import { run as runAt } from '../../helpers/run.ts';
import { licensingWorld, seedOf } from '../../helpers/licensing-world.ts';
import { fakeService } from '../../helpers/service.ts';

const users = Array.from({ length: 30 }, (_, index) => `user-${index}`);
const csv = (names: readonly string[]) => `remote_user,size_allowance\n${names.map((name) => `${name},4\n`).join('')}`;

/** A server of pages of ten. */
async function service(licenseShape: LicenseShape, names: readonly string[] = users) {
  const { run, ...world } = await licensingWorld({ page_size: 10, ...licenseShape }, '', { seed: seedOf(names) });
  return { ...world, run: (line: string, stdin = '') => run(line, { stdin }) };
}

const row = (name: string) => ({ license_code: `K-${name}`, remote_user: name, app_code: 7, size_allowance: 4 });

/** The users of each page of a list. */
type Pages = readonly (readonly string[])[];

/** A server that answers each reading of its list with the next of these, page by page. */
function readings(each: readonly Pages[]) {
  const server = fakeService();
  for (const pages of each)
    for (const [index, names] of pages.entries()) {
      const next = index + 1 < pages.length ? `?page=${index + 2}` : null;
      const path = index === 0 ? 'GET /v1/license/' : `GET /v1/license/?page=${index + 1}`;
      server.expect(path).reply(200, { results: names.map(row), next });
    }
  return server;
}

test.each<[string, readonly Pages[], string[], number]>([
  [
    'two readings that repeat a license',
    [
      [
        ['a', 'b'],
        ['a', 'c'],
        ['a', 'd'],
      ],
      [
        ['a', 'b'],
        ['a', 'c'],
        ['a', 'd'],
      ],
    ],
    ['a', 'b', 'c', 'd'],
    8,
  ],
  [
    'a license on two pages: the pages moved, and the next reading shows what was on none of them',
    [
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
      [
        ['d', 'a'],
        ['b', 'c'],
      ],
    ],
    ['a', 'b', 'c', 'd'],
    0,
  ],
  ['a license twice on one page: no sign that pages moved', [[['a', 'a'], ['b']]], ['a', 'b'], 0],
])('%s', async (_what, each, listed, exitCode) => {
  const server = readings(each);
  const ran = await runAt(server, 'license list --fields remote_user -o csv --no-header');
  expect([ran.stdout.trimEnd().split('\n'), ran.exitCode]).toEqual([listed, exitCode]);
  server.done();
});

test('each user is looked up before the POST, whatever the pages of the list', async () => {
  const some = Array.from({ length: 25 }, (_, index) => `new-${index}`);
  const paged = await service({ list_shape: 'pages' });
  const whole = await service({ list_shape: 'results' });

  for (const { run } of [paged, whole]) expect((await run('license apply - -q', csv(some))).exitCode).toBe(0);

  const counts = ({ log }: typeof paged) =>
    ['GET', 'POST'].map((name) => log.filter(({ method }) => method === name).length);
  // Three pages, 25 lookups, eight of other forms, one of the first license, and six pages to confirm the others.
  expect(counts(paged)).toEqual([3 + 25 + 8 + 1 + 6, 25]);
  expect(counts(whole)).toEqual([1 + 25 + 8 + 1 + 1, 25]);
});

test('where page one tells of far more licenses than there are rows, users are looked up and no list is read', async () => {
  const many = Array.from({ length: 1010 }, (_, index) => `other-${index}`);
  const { run, log } = await service({ list_shape: 'pages' }, many);

  expect((await run('license apply - -q --dry-run', csv(users.slice(0, 20)))).exitCode).toBe(0);

  expect(log).toHaveLength(1 + 20);
});

test('a key that a page shows twice is one license', async () => {
  const server = fakeService();
  server.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, [row('ada'), row('ada')]);
  server.expect('GET /v1/license/K-ada/').reply(200, row('ada'));

  const ran = await runAt(server, 'license ensure --remote-user ada --size-allowance 4');

  expect(ran).toMatchObject({ exitCode: 0, stdout: 'K-ada\n' });
  expect(ran.stderr).not.toContain('several licenses');
  server.done();
});
