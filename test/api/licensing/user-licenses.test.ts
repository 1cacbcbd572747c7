import { expect, test } from 'vitest';
import type { License } from '../../../src/api/licensing/license.ts';
import { licensesOfUser } from '../../../src/api/licensing/user-licenses.ts';
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
  const found = await licensesOfUser({ remote_user: 'ada', app_code: 7 }, { rows, random: () => 0 });
  expect(found.exact.map(({ key }) => key)).toEqual(['K-ada']);
  expect(found.unfiltered && [...found.unfiltered.licenses]).toEqual(unfiltered);
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
  const look = licensesOfUser({ remote_user: 'ada', app_code: 7 }, { rows, random: () => 0 });
  const api = { list: rows, ofUser: () => look };
  const users = ['ada', ...Array.from({ length: 30 }, (_unused, index) => `user-${index}`)];

  const one = await lookUp(api, { remote_user: 'ada', app_code: 7 });
  const many = await listUsers(api, 7, users, { concurrency: 1 });

  expect([one.shows, many.lookupResult('ada')?.shows]).toEqual([shows, shows]);
});
