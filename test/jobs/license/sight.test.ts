import { expect, test } from 'vitest';
import type { License } from '../../../src/api/licensing/license.ts';
import { lookAtUsers, type SightApi } from '../../../src/jobs/license/sight.ts';

const license = (remote_user: string, app_code: unknown = 7): License => ({
  key: `K-${remote_user}`,
  fields: { remote_user, app_code, size_allowance: 4 },
});

function listing(licenses: readonly License[]): SightApi {
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

  const sightOf = await lookAtUsers(listing(rows), 7, wanted, 4);

  const found = ['ada', 'Ben', '007', 'cy d', long, 'eve', 'user-1'].map((user) => {
    const sight = sightOf(user);
    if (sight.shows === 'licenses') return [user, sight.licenses.map(({ key }) => key)];
    return [user, sight.shows === 'near' ? `near ${sight.licenses[0].key ?? ''}` : sight];
  });
  expect(Object.fromEntries(found)).toEqual({
    ada: ['K-ada'],
    Ben: 'near K-ben',
    '007': 'near K-7',
    'cy d': 'near K-cyd',
    [long]: `near K-${long.slice(0, 30)}`,
    eve: 'near K-eve',
    'user-1': { shows: 'nothing', as: 'proof' },
  });
});
