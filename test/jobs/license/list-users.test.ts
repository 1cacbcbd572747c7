import { describe, expect, test } from 'vitest';
import type { License } from '../../../src/api/licensing/license.ts';
import { listUsers, type ListingApi } from '../../../src/jobs/license/list-users.ts';

const license = (remote_user: string, app_code: unknown = 7): License => ({
  key: `K-${remote_user}`,
  fields: { remote_user, app_code, size_allowance: 4 },
});

function listing(licenses: readonly License[]): ListingApi {
  return {
    async *list() {
      yield* licenses;
    },
    ofUser: async () => ({ exact: [], near: [] }),
  };
}

test('one list separates exact from near names, and leaves other users out', async () => {
  const long = 'a-name-that-is-longer-than-thirty-characters';
  const others = Array.from({ length: 20 }, (_, index) => `user-${index}`);
  const wanted = ['ada', 'Ben', '007', 'cy d', long, 'eve', ...others];
  const rows = [
    license('ada'),
    license('ADA'),
    license('ben'),
    license('7'),
    license('cyd'),
    license(long.slice(0, 30)),
    license('eve', 'seven'),
    license('eve', 8),
    license('nobody'),
    license(long.slice(0, 29)),
  ];

  const { lookupResult, nearOf } = await listUsers(listing(rows), 7, wanted, { concurrency: 4 });

  // The filter is asked for the first user who is not shown, and shows nothing.
  expect(lookupResult('Ben')).toEqual({ shows: 'near', licenses: [license('ben')] });
  const found = ['ada', 'Ben', '007', 'cy d', long, 'eve', 'user-1'].map((user) => {
    const result = lookupResult(user);
    if (result?.shows === 'licenses') return [user, result.licenses.map(({ key }) => key)];
    return [
      user,
      nearOf(user)
        .map(({ key = '' }) => `near ${key}`)
        .join() || result,
    ];
  });
  expect(Object.fromEntries(found)).toEqual({
    ada: ['K-ada'],
    Ben: 'near K-ben',
    '007': 'near K-7',
    'cy d': 'near K-cyd',
    [long]: `near K-${long.slice(0, 30)}`,
    eve: 'near K-eve',
    'user-1': undefined,
  });
});

test('few users are looked up one by one until an answer shows that the filter is ignored', async () => {
  const users = Array.from({ length: 20 }, (_unused, index) => `user-${index}`);
  const all = users.slice(1).map((user) => license(user));
  const [lists, looks]: [string[], string[]] = [[], []];
  const unfiltered = { licenses: new Set<string>(), mayBeCut: false };
  const api: ListingApi = {
    async *list() {
      lists.push('list');
      yield* all;
    },
    async ofUser({ remote_user }) {
      looks.push(remote_user);
      return { exact: all.filter(({ fields }) => fields['remote_user'] === remote_user), near: [], unfiltered };
    },
  };

  const { lookupResult } = await listUsers(api, 7, users, { concurrency: 4 });

  expect({ lists: lists.length, looks }).toEqual({ lists: 2, looks: users.slice(0, 4) });
  expect(users.map((user) => lookupResult(user)?.shows)).toEqual(['nothing', ...all.map(() => 'licenses')]);
});

describe('where the server ignores the filter, the list is read twice', () => {
  const users = Array.from({ length: 30 }, (_unused, index) => `user-${index}`);
  const all = users.map((user) => license(user));
  const without = (...names: string[]) => all.filter(({ fields }) => !names.includes(String(fields['remote_user'])));

  /** Each reading of the list shows the next of these, on two pages. */
  async function look(...each: readonly (readonly License[])[]) {
    let count = 0;
    const api: ListingApi = {
      async *list(_filter, _extent, heard) {
        // The first list shows that users are missing, and the look-up of one that the filter is ignored.
        const shown = each[count - 1] ?? [];
        count += 1;
        heard?.({ next: '?page=2', total: shown.length, pages: 0, count: shown.length }, 1);
        yield* shown;
        heard?.({ next: undefined, total: shown.length, pages: 0, count: 0 }, 2);
      },
      ofUser: async () => ({ exact: [], near: [], unfiltered: { licenses: new Set(), mayBeCut: false } }),
    };
    const { lookupResult } = await listUsers(api, 7, users, { concurrency: 4 });
    const shown = (user: string) => {
      const result = lookupResult(user);
      return result?.shows === 'licenses' ? result.licenses.map(({ key }) => key) : result?.shows;
    };
    return { shown, count: () => count - 1, listed: () => lookupResult('user-3')?.unfiltered?.licenses };
  }

  test('what such a list holds is what the last reading shows', async () => {
    const { listed } = await look([...without('user-3'), license('gone')], without('user-3'));
    expect([listed()?.size, listed()?.has('K-gone')]).toEqual([29, false]);
  });

  test('two that show nothing of the same users are a look', async () => {
    const { shown, count } = await look(without('user-3'), without('user-3'));
    expect([shown('user-3'), shown('user-4'), count()]).toEqual(['nothing', ['K-user-4'], 2]);
  });

  test('a pair that disagrees is read again, and what any reading shows is there', async () => {
    const { shown, count } = await look(
      without('user-3', 'user-9'),
      without('user-3'),
      without('user-3', 'user-5'),
      without('user-3', 'user-5'),
    );
    expect([shown('user-3'), shown('user-9'), shown('user-5'), count()]).toEqual([
      'nothing',
      ['K-user-9'],
      ['K-user-5'],
      4,
    ]);
  });

  test('a license that a pair before has shown comes and goes: the next pair need not agree on it', async () => {
    const other = [without('user-3'), without('user-3', 'user-9')];
    const { shown, count } = await look(...other, ...other, ...other);
    expect([shown('user-3'), shown('user-9'), count()]).toEqual(['nothing', ['K-user-9'], 4]);
  });

  test('after three pairs that disagree nothing is known of the users that none shows', async () => {
    const hidden = ['user-3', 'user-5', 'user-7', 'user-9'];
    const pairs = [0, 1, 2].flatMap((index) => [
      without(...hidden.slice(0, 4 - index)),
      without(...hidden.slice(0, 3 - index)),
    ]);
    const { shown, count } = await look(...pairs, ...pairs);
    expect([shown('user-3'), shown('user-5'), count()]).toEqual(['incomplete', ['K-user-5'], 6]);
  });

  test('a license that one reading shows counts, and not the near name that the other shows in its place', async () => {
    const near = license('USER-3');
    const { shown } = await look(without('user-9'), [...without('user-3', 'user-9'), near]);
    expect([shown('user-3'), shown('user-9')]).toEqual([['K-user-3'], 'nothing']);
  });

  test('one key that a reading shows twice is one license', async () => {
    const twice = [...without('user-9'), license('user-3')];
    const { shown } = await look(twice, twice);
    expect(shown('user-3')).toEqual(['K-user-3']);
  });
});
