import { expect, test } from 'vitest';
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
      return { posted: app_code === 8 ? asked : new Map(), answers: new Map() };
    },
    answered: async (answers) => void calls.push(`answered ${[...answers.keys()].join()}`),
    posting: async (user) => void calls.push(`posting ${user}`),
    release: async (users) => {
      const words = users.map(({ remote_user, posted }) => `${remote_user}${posted === undefined ? '' : `@${posted}`}`);
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
  expect([claimed.past(ada).posted, claimed.past(dora).posted]).toEqual([undefined, 400]);

  claimed.posted(ada, 100, 0);
  await claimed.release(ada);
  time = 2001;
  await claimed.release(ben);
  claimed.posted(cy, 3000, 1);
  await claimed.releaseAll();
  await claimed.releaseAll();

  expect(calls).toEqual([
    'take 7 ada,ben,cy',
    'take 8 dora',
    'release 7 ada@100,ben',
    'release 7 cy@3000',
    'release 8 dora',
  ]);
});

test.each([
  ['a result', undefined, '@5'],
  ['a lost answer', 'unknown', '@5'],
  ['an interruption', 'cancelled', '@5'],
  ['a refusal', 'rejected', ''],
  ['a refused key', 'auth', ''],
] as const)('after %s the user is given back', async (_what, kind, posted) => {
  const { calls, claims } = recorded();
  const own = claims.get(7);
  if (!own) throw new Error('no claims');
  const work = whileClaimed('ada', { claims: own, now: () => 5, warn: () => undefined }, ({ post }) =>
    post(() => (kind ? Promise.reject(new Failure(kind, 'no')) : Promise.resolve('key'))),
  );
  await (kind ? expect(work).rejects.toThrow('no') : expect(work).resolves.toBe('key'));
  expect(calls).toEqual(['take 7 ada', `release 7 ada${posted}`]);
});

test('a claim that cannot be given back is a warning, and the result is kept', async () => {
  const warnings: string[] = [];
  const claims: Claims = {
    take: async () => ({ posted: new Map(), answers: new Map() }),
    answered: async () => undefined,
    posting: async () => undefined,
    release: () => Promise.reject(new Failure('unavailable', 'disk full')),
  };
  const ensuring = { claims, now: () => 5, warn: (text: string) => void warnings.push(text) };
  expect(await whileClaimed('ada', ensuring, () => Promise.resolve('key'))).toBe('key');
  expect(warnings).toEqual(['disk full; later runs for the same users will wait a little']);
});
