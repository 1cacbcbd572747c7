import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { claimedRows } from '../../../src/jobs/license/claim-users.ts';
import type { Claims } from '../../../src/store/claims.ts';

test('claims are given back one group after another', async () => {
  let time = 0;
  let open = 0;
  const seen: number[] = [];
  const claims: Claims = {
    take: async () => ({ posted: new Map(), answers: new Map() }),
    answered: async () => undefined,
    posting: async () => undefined,
    release: async () => {
      open += 1;
      seen.push(open);
      await setImmediate();
      open -= 1;
    },
  };
  const rows = claimedRows({
    claims: new Map([[7, claims]]),
    elapsed: () => (time += 3000),
    warn: (text) => expect.unreachable(text),
  });
  const users = ['ada', 'bob', 'eve'].map((remote_user) => ({ app_code: 7, remote_user }));
  for (const user of users) rows.add(user);

  await Promise.all([...users.map((user) => rows.release(user)), rows.releaseAll()]);

  expect(seen.length).toBeGreaterThan(1);
  expect(Math.max(...seen)).toBe(1);
});
