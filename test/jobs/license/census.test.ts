import { expect, test } from 'vitest';
import type { License } from '../../../src/api/licensing/license.ts';
import { takeCensus, type CensusApi } from '../../../src/jobs/license/census.ts';

const license = (remote_user: string, app_code: unknown = 7): License => ({
  key: `K-${remote_user}`,
  fields: { remote_user, app_code, size_allowance: 4 },
});

function listing(licenses: readonly License[]): CensusApi {
  return {
    async *list() {
      yield* licenses;
    },
    ofUser: () => Promise.reject(new Error('not asked for')),
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

  const census = await takeCensus(listing(rows), 7, wanted, 4);

  const found = [...census].map(([user, listed]) => [
    user,
    'exact' in listed ? [listed.exact.length, listed.near.map(({ key }) => key)] : listed,
  ]);
  expect(Object.fromEntries(found)).toEqual({
    ada: [1, []],
    Ben: [0, ['K-ben']],
    '007': [0, ['K-7']],
    'cy d': [0, ['K-cyd']],
    [long]: [0, [`K-${long.slice(0, 30)}`]],
    eve: [0, ['K-eve']],
  });
});
