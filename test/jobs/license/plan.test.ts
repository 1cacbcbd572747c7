import { expect, test } from 'vitest';
import { planClaimed } from '../../../src/jobs/license/plan.ts';
import { noRequests } from '../../../src/store/request-history.ts';
import { sleptClock } from '../../helpers/clock.ts';

test('open answers whose licenses the list shows are closed', async () => {
  const rows = Array.from({ length: 25 }, (_, index) => ({
    remote_user: `user-${index}`,
    app_code: 7,
    size_allowance: 4,
  }));
  const users = rows.map(({ remote_user }) => remote_user);
  const closed: string[] = [];
  const clock = sleptClock(0);
  const own = {
    isShared: true,
    takeFree: async () => ({ now: 0, histories: new Map(), held: [], holder: undefined }),
    release: async (some: readonly string[], shown?: ReadonlySet<string>) =>
      void closed.push(...some.filter((user) => shown?.has(user))),
    busy: async () => ({ now: 0, count: 0, holder: undefined }),
    take: async () => new Map(),
    ended: async () => undefined,
    posting: async () => undefined,
    lost: () => undefined,
  };
  const list = async function* () {
    for (const row of rows) yield { key: `key of ${row.remote_user}`, fields: row };
  };
  const ofUser = async () => ({ exact: [], near: [], unfiltered: undefined });
  const planning = {
    rules: {
      settle: 5000,
      retries: 5,
      wants: 'one license',
      similar: 'refuse',
      uncounted: 'refuse',
      recreate: 'refuse',
      sendAgain: new Set<string>(),
    },
    concurrency: 1,
    creations: { of: async () => undefined, others: async () => [], isReset: new Map() },
    licensing: () => ({ list, ofUser, deciding: () => ({ list, ofUser }) }),
    elapsed: clock.elapsed,
  } as const;
  const { plan } = await planClaimed(rows, planning, {
    claims: new Map([[7, own]]),
    job: { history: () => noRequests },
    openAnswers: async () => new Map(users.map((user) => [user, { status: 201, time: 0, key_end: 'code' }])),
    elapsed: clock.elapsed,
    sleep: clock.sleep,
    note: () => undefined,
    warn: () => undefined,
  });
  expect(plan.rows.every(({ step }) => 'outcome' in step && step.outcome === 'unchanged')).toBe(true);
  expect(closed).toEqual(users);
});
