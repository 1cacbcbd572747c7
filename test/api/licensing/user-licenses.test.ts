import { expect, test } from 'vitest';
import type { LicenseFilter } from '../../../src/api/licensing/license-list.ts';
import type { License } from '../../../src/api/licensing/license.ts';
import { licensesOfUser, type Rows } from '../../../src/api/licensing/user-licenses.ts';
import { lookUp } from '../../../src/jobs/license/license-user.ts';
import { listUsers } from '../../../src/jobs/license/list-users.ts';

const license = (remote_user?: string): License => ({ key: `K-${remote_user}`, fields: { remote_user, app_code: 7 } });

test.each([
  ['those of another user', ['ada', 'ben'], ['K-ada', 'K-ben']],
  ['the same name in other letters', ['ada', 'Ada'], undefined],
  ['one without a name', ['ada', undefined], undefined],
  ['no other rows', ['ada'], undefined],
])('beside the rows of the user who was asked for: %s', async (_what, names, unfiltered) => {
  const rows = async function* () {
    yield* names.map(license);
  };
  const found = await licensesOfUser(
    { remote_user: 'ada', app_code: 7 },
    { rows, random: () => 0, filter: { reads: new Set<string>() } },
  );
  expect(found.exact.map(({ key }) => key)).toEqual(['K-ada']);
  expect(found.unfiltered && [...found.unfiltered.licenses]).toEqual(unfiltered);
});

test('a list without a filter whose pages tell of more rows at each reading decides nothing', async () => {
  let readings = 0;
  const rows: Rows = async function* (_filter, heard) {
    readings += 1;
    heard?.({ next: undefined, total: 2, pages: 1, count: 1 }, 1);
    yield license('ben');
  };
  const asked = licensesOfUser({ remote_user: 'ada' }, { rows, random: () => 0, filter: { reads: new Set<string>() } });

  await expect(asked).rejects.toMatchObject({
    kind: 'incomplete',
    message: expect.stringContaining('moves') as string,
  });
  expect(readings).toBe(4);
});

/** A server that ignores the filter, and lists these beside others. */
const odd: readonly (readonly [string, unknown, unknown, string])[] = [
  ['a name that is an object', { id: 1 }, 7, 'incomplete'],
  ['a name that is null', null, 7, 'incomplete'],
  ['a name that is a list', ['ada'], 7, 'incomplete'],
  ['a masked name that may be the asked one', 'a*a', 7, 'incomplete'],
  ['a masked name in other letters', 'AD…', 7, 'incomplete'],
  ['a name of which nothing is shown', '•••', 7, 'incomplete'],
  ['a masked name of somebody else', 'b*n', 7, 'nothing'],
  ['an application that is an object', 'ada', { code: 7 }, 'near'],
  ['an application that is a text', 'ada', 'ehr', 'near'],
  ['an application that is true', 'ada', true, 'near'],
  ['an application with a zero', 'ada', '07', 'near'],
];

test.each(odd)('a list without a filter has %s', async (_what, remote_user, app_code, shows) => {
  const unknown = { key: 'K-1', fields: { remote_user, app_code } } as License;
  const rows = async function* () {
    yield* [license('ben'), unknown];
  };
  const look = licensesOfUser(
    { remote_user: 'ada', app_code: 7 },
    { rows, random: () => 0, filter: { reads: new Set<string>() } },
  );
  const api = { list: rows, ofUser: () => look };
  const users = ['ada', ...Array.from({ length: 30 }, (_unused, index) => `user-${index}`)];

  const one = await lookUp(api, { remote_user: 'ada', app_code: 7 });
  const many = await listUsers(api, 7, users, { concurrency: 1 });

  expect([one.shows, many.lookupResult('ada')?.shows]).toEqual([shows, shows]);
});

const long = 'a-name-of-exactly-30-characters';
type Filter = (name: string, asked: string) => boolean;
const filters: Readonly<Record<string, Filter>> = {
  exact: (name, asked) => name === asked,
  iexact: (name, asked) => name.toLowerCase() === asked.toLowerCase(),
  icontains: (name, asked) => name.toLowerCase().includes(asked.toLowerCase()),
  startswith: (name, asked) => name.startsWith(asked),
  endswith: (name, asked) => name.endsWith(asked),
  // The application, the size and the name in one text.
  search: (name, asked) => `7 ${name} 4`.includes(asked),
};
const names = [
  ...['ab', 'x-ab', 'ab-x', 'u', `${long}-9`, `9-${long}`, 'user30', 'user300', 'ada.lovelace', 'MIA', 'zz-q', 'q-zz'],
  ...Array.from({ length: 30 }, (_unused, index) => `other-${index}`),
];
/** Of whom, and what a lookup shows by each filter; by those that are not named, as by `exact`. */
const users: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ['ab', 'licenses', {}],
  ['user30', 'licenses', {}],
  ['user3', 'nothing', {}],
  ['zz', 'nothing', {}],
  ['ada', 'nothing', {}],
  ['lovelace', 'nothing', {}],
  [long, 'nothing', {}],
  ['u', 'licenses', {}],
  ['mia', 'nothing', { iexact: 'near', icontains: 'near' }],
  // Of a name of one character no part can be asked for.
  ['z', 'nothing', { icontains: 'near', startswith: 'near', endswith: 'near', search: 'near' }],
];

test.each(Object.entries(filters).flatMap(([name, filter]) => users.map((user) => [name, filter, ...user] as const)))(
  'a filter %s: %#',
  async (name, filter, remote_user, exact, others) => {
    const server = serverOf(filter);
    const expected = others[name] ?? exact;

    const one = await lookUp(server(), { remote_user, app_code: 7 });
    const many = Array.from({ length: 30 }, (_unused, index) => `new-${index}`);
    const listed = await listUsers(server(), 7, [remote_user, ...many], { concurrency: 1 });
    const few = await listUsers(server(), 7, [remote_user, ...many.slice(0, 3)], { concurrency: 1 });

    const results = [one, few.lookupResult(remote_user), listed.lookupResult(remote_user)];
    // A similar name in the list counts whatever the filter shows.
    const byList = remote_user === 'mia' ? 'near' : expected;
    expect(results.map((result) => result?.shows)).toEqual([expected, expected, byList]);
    expect(results.some((result) => result?.unfiltered)).toBe(false);
  },
);

function serverOf(filter: Filter, log: string[] = []) {
  return () => {
    const known = { reads: new Set<string>() };
    const rows = async function* ({ remote_user = '' }: LicenseFilter) {
      log.push(remote_user);
      yield* names.filter((name) => filter(name, remote_user)).map(license);
    };
    return {
      async *list() {
        yield* names.map(license);
      },
      ofUser: (asked: { readonly remote_user: string }) =>
        licensesOfUser({ ...asked, app_code: 7 }, { rows, random: () => 0, filter: known }),
    };
  };
}

test('three requests tell once that a filter finds parts of names', async () => {
  const log: string[] = [];
  const api = serverOf(filters['icontains'] ?? (() => false), log)();
  for (const remote_user of ['user3', 'ada', 'lovelace', 'ab']) await lookUp(api, { remote_user, app_code: 7 });

  expect(log).toEqual(['user3', expect.stringContaining('control'), 'user', 'ada', 'lovelace', 'ab']);
});

test('a name that is a part of others is found by its parts: two control queries', async () => {
  const log: string[] = [];
  await lookUp(serverOf(filters['endswith'] ?? (() => false), log)(), { remote_user: 'lovelace', app_code: 7 });

  expect(log).toEqual(['lovelace', expect.stringContaining('control'), 'lovelac', 'ovelace']);
});

test('a server that cuts names in its filter too brings the same shorter row to both: near', async () => {
  const cut = 'a-name-of-20-charact';
  const rows = async function* ({ remote_user = '' }: LicenseFilter) {
    if (cut === remote_user.slice(0, 20)) yield license(cut);
  };
  for (const remote_user of [`${cut}e`, `${cut}ers`]) {
    const found = await licensesOfUser(
      { remote_user, app_code: 7 },
      { rows, random: () => 0, filter: { reads: new Set<string>() } },
    );
    expect(found).toMatchObject({ exact: [], near: [{ key: `K-${cut}` }] });
  }
});

test('an application without licenses has none whose name a filter could misread', async () => {
  const rows = async function* (): AsyncGenerator<License> {};
  const asked = { remote_user: 'ada+1', app_code: 7 };
  const found = await licensesOfUser(asked, { rows, random: () => 0, filter: { reads: new Set<string>() } });
  expect(found).toEqual({ exact: [], near: [] });
});
