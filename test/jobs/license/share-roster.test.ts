import { expect, test } from 'vitest';
import { shareRoster } from '../../../src/jobs/license/share-roster.ts';
import type { Claims } from '../../../src/store/claims.ts';
import { sleptClock } from '../../helpers/clock.ts';

const rows = Array.from({ length: 450 }, (_, index) => ({
  remote_user: `user-${index}`,
  app_code: 7,
  size_allowance: 4,
}));
const [first, second] = rows as [(typeof rows)[0], (typeof rows)[0]];
const fourth = rows[3] ?? first;
const last = rows[449] ?? first;

/** The clock of the ledger is so far ahead. */
const ahead = 50_000;

/** Claims of which another machine holds some, in a time that only sleeping moves. */
function shared(others: Set<string>, posted: ReadonlyMap<string, number> = new Map()) {
  const calls: string[] = [];
  const soon: (readonly string[])[] = [];
  const clock = sleptClock(1_000_000);
  /** How far the clock of the ledger was set since the list. */
  let step = 0;
  const own: Claims = {
    isShared: true,
    takeFree: async (users) => {
      calls.push(`take ${users.length}`);
      return {
        now: clock.now() + step + ahead,
        histories: new Map([...posted].map(([user, time]) => [user, { posted: time }])),
        held: users.filter((user) => others.has(user)),
        holder: 'process 1 on box',
      };
    },
    busy: async (users) => {
      calls.push(`busy ${users.length}`);
      const count = users.filter((user) => others.has(user)).length;
      return { now: clock.now() + step + ahead, count, holder: 'process 1 on box' };
    },
    take: () => Promise.reject(new Error('not asked for')),
    ended: async () => undefined,
    posting: async (_user, following = () => []) => void soon.push(following()),
    release: async (users) => void calls.push(`release ${users.length}`),
    lost: () => undefined,
  };
  const claims = shareRoster(rows, {
    claims: new Map([[7, own]]),
    listedAt: 1_000_000,
    before: new Map([[7, 1_000_000 + ahead]]),
    elapsed: clock.elapsed,
    sleep: async (span) => {
      await clock.sleep(span);
      if (clock.now() > 1_001_000) for (const user of ['user-1', 'user-3']) others.delete(user);
    },
    note: (text) => void calls.push(text),
    warn: () => undefined,
  });
  return {
    claims,
    calls,
    soon,
    pass: clock.pass,
    set: (span: number) => void (step += span),
  };
}

test('rows are claimed in portions, each when its first row is reached', async () => {
  const { claims, calls } = shared(new Set());
  expect(await Promise.all(rows.slice(0, 3).map((row) => claims.claim(row)))).toEqual([
    'claimed',
    'claimed',
    'claimed',
  ]);
  expect(calls).toEqual(['take 100']);
  await claims.claim(last);
  expect(calls).toEqual(['take 100', 'take 1']);
  expect(await claims.othersDone([first])).toEqual([]);
  expect(calls.at(-1)).toBe('release 100');
  await claims.releaseAll();
  expect(calls.at(-1)).toBe('release 1');
});

test('rows that another machine holds are left to it; those that the next list does not show are claimed after that list', async () => {
  const { claims, calls, pass } = shared(new Set(['user-1', 'user-3']));
  expect(await claims.claim(first)).toBe('claimed');
  expect(await claims.claim(second)).toBe('held');
  expect(await claims.othersDone([first])).toEqual([second, fourth]);
  expect(calls.slice(0, 4)).toEqual([
    'take 100',
    'release 97',
    'busy 2',
    'waiting for process 1 on box, which is creating licenses of 2 of the users',
  ]);
  pass(1000);
  claims.listed({ listedAt: 1_010_000, missing: [second] });
  expect([await claims.claim(second), await claims.claim(fourth)]).toEqual(['claimed', 'held']);
  // The second portion goes on to the first row that nobody asked for before.
  expect(calls.filter((call) => call.startsWith('take'))).toEqual(['take 100', 'take 2']);
  expect(await claims.othersDone([])).toEqual([]);
});

test('a machine that never ends with its users is waited for up to a limit', async () => {
  const { claims } = shared(new Set(['user-2']));
  await claims.claim(first);
  await expect(claims.othersDone([])).rejects.toThrow(
    'waited too long for process 1 on box, which is creating licenses of one of the users',
  );
});

test('what the ledger remembers of a row counts; a list of half a day ago counts for nothing', async () => {
  const { claims, pass } = shared(new Set(), new Map([['user-0', 900_000 + ahead]]));
  await claims.claim(first);
  expect([claims.history(first).posted, claims.history(second).posted]).toEqual([900_000, undefined]);
  pass(43_200_001);
  await claims.claim(last);
  expect(claims.history(last).posted).toBe(1_000_000 + 43_200_001);
});

test('a POST is recorded together with those of the next 99 rows that are claimed and not begun', async () => {
  const { claims, soon } = shared(new Set(['user-2']));
  await claims.claim(first);
  await claims.posting(first);
  await claims.posting(second);
  await claims.release(second);
  expect(soon[0]).toEqual(
    rows
      .slice(1, 100)
      .map(({ remote_user }) => remote_user)
      .filter((user) => user !== 'user-2'),
  );
  expect(soon[1]).toEqual(rows.slice(3, 100).map(({ remote_user }) => remote_user));
  await claims.posting(rows[99] ?? first);
  expect(soon[2]).toEqual([]);
});

test.each([600_000, -600_000])(
  'a clock of the ledger that is set by %i ms between list and claim makes no POST seem earlier, beside the list or from now',
  async (span) => {
    const { claims, pass, set } = shared(new Set(), new Map([['user-0', 1_001_000 + ahead]]));
    pass(3000);
    set(span);
    await claims.claim(first);
    expect(claims.history(first).posted).toBeGreaterThanOrEqual(1_001_000);
  },
);

test("the age of a list is one of the ledger's clock, which goes on while the machine sleeps", async () => {
  const { claims, set } = shared(new Set());
  set(43_200_001);
  await claims.claim(first);
  expect(claims.history(first).posted).toBe(1_000_000 + 43_200_001);
});

test('rows of each application are claimed at once on one machine, given back in groups, and all at the end', async () => {
  const calls: string[] = [];
  const at = (app_code: number): Claims => ({
    isShared: false,
    take: () => Promise.reject(new Error('not asked for')),
    takeFree: async (users) => {
      calls.push(`take ${app_code} ${users.join()}`);
      const histories = new Map(app_code === 8 ? [['dora', { posted: 400 }]] : []);
      return { now: 0, histories, held: [], holder: undefined };
    },
    busy: async () => ({ now: 0, count: 0, holder: undefined }),
    ended: async (user, { event, time }) => void calls.push(`${event} ${user}@${time}`),
    posting: async () => undefined,
    release: async (users, shown) => {
      const words = users.map((user) => `${user}${shown?.has(user) ? ' confirmed' : ''}`);
      calls.push(`release ${app_code} ${words.join()}`);
    },
    lost: () => undefined,
  });
  const row = (remote_user: string, app_code: number) => ({ remote_user, app_code, size_allowance: 4 });
  const [ada, ben, cy, dora] = [row('ada', 7), row('ben', 7), row('cy', 7), row('dora', 8)];
  let time = 0;
  const claims = shareRoster([ada, ben, cy, dora], {
    claims: new Map([7, 8].map((app_code) => [app_code, at(app_code)])),
    listedAt: 0,
    before: new Map(),
    elapsed: () => time,
    sleep: async () => undefined,
    note: () => undefined,
    warn: () => undefined,
  });
  expect(await claims.claim(ada)).toBe('claimed');
  expect([claims.history(ada).posted, claims.history(dora).posted]).toEqual([undefined, 400]);

  await claims.ended(ada, { event: 'ended', time: 100, unanswered: 1 });
  claims.confirmed(ada);
  await claims.release(ada);
  time = 2001;
  await claims.release(ben);
  await claims.ended(cy, { event: 'answered', time: 3000, status: 201 });
  await claims.releaseAll();
  await claims.releaseAll();

  expect(calls).toEqual([
    'take 7 ada,ben,cy',
    'take 8 dora',
    'ended ada@100',
    'release 7 ada confirmed,ben',
    'answered cy@3000',
    'release 7 cy',
    'release 8 dora',
  ]);
});
