import { expect, test } from 'vitest';
import type { License } from '../../../src/api/licensing/license.ts';
import { licensesOfUser } from '../../../src/api/licensing/user-licenses.ts';

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
