import { expect, test } from 'vitest';
import type { Creation } from '../../../src/api/licensing/license-writes.ts';
import { Failure } from '../../../src/core/failure.ts';
import { claimRoster, whileClaimed } from '../../../src/jobs/license/claim-users.ts';
import type { Claims } from '../../../src/store/claims.ts';

const row = (remote_user: string, app_code: number) => ({ remote_user, app_code });
const rows = [row('ada', 7), row('ben', 7), row('cy', 7), row('dora', 8)];

/** Claims that note what they are asked for. */
function recorded(asked: ReadonlyMap<string, number> = new Map()) {
  const calls: string[] = [];
  const at = (app_code: number): Claims => ({
    take: async (users) => {
      calls.push(`take ${app_code} ${users.join()}`);
      return new Map(app_code === 8 ? [...asked].map(([user, posted]) => [user, { posted }]) : []);
    },
    ended: async (user, { event, time }) => void calls.push(`${event} ${user}@${time}`),
    posting: async (user) => void calls.push(`posting ${user}`),
    release: async (users) => {
      const words = users.map(({ remote_user, isConfirmed }) => `${remote_user}${isConfirmed ? ' confirmed' : ''}`);
      calls.push(`release ${app_code} ${words.join()}`);
    },
  });
  return { calls, claims: new Map([7, 8].map((app_code) => [app_code, at(app_code)])) };
}

test('the users of each application are claimed, given back in groups, and all at the end', async () => {
  const { calls, claims } = recorded(new Map([['dora', 400]]));
  let time = 0;
  const claimed = await claimRoster(rows, { claims, elapsed: () => time, warn: () => undefined });
  const [ada, ben, cy, dora] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0], (typeof rows)[0]];
  expect([claimed.history(ada).posted, claimed.history(dora).posted]).toEqual([undefined, 400]);

  await claimed.ended(ada, { event: 'ended', time: 100, unanswered: 1 });
  claimed.confirmed(ada);
  await claimed.release(ada);
  time = 2001;
  await claimed.release(ben);
  await claimed.ended(cy, { event: 'answered', time: 3000, status: 201 });
  await claimed.releaseAll();
  await claimed.releaseAll();

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

const creation = (state: 'answered' | 'unanswered'): Creation =>
  state === 'answered'
    ? { state, http: { method: 'POST', url: '/', status: 201 }, license: undefined, license_is: 'as asked' }
    : { state, heard: 'nothing', failure: new Failure('unknown', 'lost') };

test.each([
  ['an answer', 'answered', 'answered ada@5'],
  ['a lost answer', 'unanswered', 'ended ada@5'],
  ['an interruption', 'cancelled', 'ended ada@5'],
  ['a refusal', 'rejected', undefined],
  ['a refused key', 'auth', undefined],
] as const)('after %s how the POST ended is recorded, and the user is given back', async (_what, kind, ended) => {
  const { calls, claims } = recorded();
  const own = claims.get(7);
  if (!own) throw new Error('no claims');
  const isEnd = kind === 'answered' || kind === 'unanswered';
  const work = whileClaimed('ada', { claims: own, now: () => 5, warn: () => undefined }, ({ post }) =>
    post(async (posting) => {
      await posting();
      if (!isEnd) throw new Failure(kind, 'no');
      return creation(kind);
    }),
  );
  await (isEnd ? expect(work).resolves.toEqual(creation(kind)) : expect(work).rejects.toThrow('no'));
  expect(calls).toEqual(['take 7 ada', 'posting ada', ...(ended === undefined ? [] : [ended]), 'release 7 ada']);
});

test('a claim that cannot be given back is a warning, and the result is kept', async () => {
  const warnings: string[] = [];
  const claims: Claims = {
    take: async () => new Map(),
    ended: async () => undefined,
    posting: async () => undefined,
    release: () => Promise.reject(new Failure('unavailable', 'disk full')),
  };
  const ensuring = { claims, now: () => 5, warn: (text: string) => void warnings.push(text) };
  expect(await whileClaimed('ada', ensuring, () => Promise.resolve('key'))).toBe('key');
  expect(warnings).toEqual(['disk full; later runs for the same users will wait a little']);
});
