import { expect, test } from 'vitest';
import { fingerprint, fingerprintsOf, type Fingerprints } from '../../../src/core/fingerprints.ts';
import { claimRoster } from '../../../src/jobs/roster/claim-roster.ts';
import { rosterOf } from '../../../src/jobs/roster/roster.ts';
import type { Claims } from '../../../src/store/lock/claims.ts';

const row = (remote_user: string, app_code: number) => ({ remote_user, app_code, size_allowance: 4 });
const [ada, ben, cy, dora] = [row('ada', 7), row('ben', 7), row('cy', 7), row('dora', 8)];
const rows = [ada, ben, cy, dora];

function namesIn({ has }: Fingerprints): string[] {
  return rows.map(({ remote_user }) => remote_user).filter((name) => has(fingerprint(name)));
}

/** Claims that note what they are asked for, and tell which jobs died. */
function recorded(abandoned: readonly string[] = []) {
  const calls: string[] = [];
  const at = (app_code: number): Claims => ({
    take: async (users) => {
      calls.push(`take ${app_code} ${namesIn(users).join()}`);
      return new Set(app_code === 8 ? abandoned : []);
    },
    free: async (users) => void calls.push(`free ${app_code} ${namesIn(users).join()}`),
  });
  return { calls, claims: new Map([7, 8].map((app_code) => [app_code, at(app_code)])) };
}

test('the users of each application are claimed, given back in portions, and at the end all but the open ones', async () => {
  const { calls, claims } = recorded();
  let time = 0;
  const claimed = await claimRoster(rosterOf(rows), {
    claims,
    known: undefined,
    now: () => time,
    warn: () => undefined,
  });
  expect(calls.splice(0)).toEqual(['take 7 ada,ben,cy', 'take 8 dora']);
  await claimed.free(ada);
  time = 2000;
  await claimed.free(dora);
  expect(calls).toEqual([]);
  time = 2001;
  await claimed.free(ben);
  expect(calls.splice(0)).toEqual(['free 7 ada,ben', 'free 8 dora']);
  await claimed.freeAllBut([cy]);
  expect(calls).toEqual(['free 7 ada,ben', 'free 8 dora']);
});

test.each([
  [[], undefined, false],
  [['another'], undefined, true],
  [['mine'], 'mine', false],
  [['mine', 'another'], 'mine', true],
])('after dead jobs %j, with %j on record here, rows are abandoned: %s', async (dead, known, abandoned) => {
  const { claims } = recorded(dead);
  const claimed = await claimRoster(rosterOf(rows), { claims, known, now: () => 0, warn: () => undefined });
  expect(claimed.abandoned).toBe(abandoned);
});

test('a roster tells the users of each application, and whether one stands twice', () => {
  const { users } = rosterOf([...rows, { remote_user: 'dora', app_code: 8, size_allowance: 5 }]);
  expect(users.get(7)).toMatchObject({ values: fingerprintsOf(['ada', 'ben', 'cy']).values, repeats: false });
  expect(users.get(8)).toMatchObject({ values: fingerprintsOf(['dora']).values, repeats: true });
});
