import { expect, test } from 'vitest';
import { openQueue } from '../../../src/store/queue.ts';
import type { Creation } from '../../../src/api/licensing/license-writes.ts';
import { Failure } from '../../../src/core/failure.ts';
import { giveLicense, type UserClaims } from '../../../src/jobs/license/give-license.ts';
import type { Rules } from '../../../src/jobs/license/step.ts';
import type { LicensingApi } from '../../../src/api/licensing/licensing.ts';

/** Claims that note what they are asked for. */
function recorded() {
  const calls: string[] = [];
  const claims: UserClaims = {
    take: async (users) => {
      calls.push(`take ${users.join()}`);
      return new Map();
    },
    ended: async (user, { event, time }) => void calls.push(`${event} ${user}@${time}`),
    posting: async (user) => void calls.push(`posting ${user}`),
    release: async (users) => void calls.push(`release ${users.join()}`),
    lost: () => undefined,
    queue: openQueue([], { ...giving, by: '', settle: 5000 }),
  };
  return { calls, claims };
}

const unused = (): never => {
  throw new Error('not asked for');
};

const rules: Rules = {
  ...{ settle: 5000, retries: 5, wants: 'one license', similar: 'refuse', uncounted: 'refuse' },
  recreate: 'refuse',
  sendAgain: new Set(),
};
const giving = {
  ...{ now: () => 5, elapsed: () => 5, sleep: async () => undefined, note: () => undefined, warn: unused },
  creations: { of: async () => undefined, others: async () => [], isReset: new Map() },
  ...{ rules, signal: new AbortController().signal, record: async () => undefined },
};
const fields = { remote_user: 'ada', app_code: 7, size_allowance: 4 };

/** A service that lists nobody, until it is asked for a lookup that decides. */
function apiOf(create: LicensingApi['create']): LicensingApi {
  const refused = (): never => {
    throw new Failure('rejected', 'not read');
  };
  return {
    create,
    ofUser: async () => ({ exact: [], near: [] }),
    list: refused,
    ...{ rows: refused, nobody: () => 'nobody' },
    deciding: () => ({ list: refused, ofUser: refused }),
    ...{ view: unused, update: unused, replace: unused, firstActivation: unused },
  };
}

const creation = (state: 'answered' | 'unanswered'): Creation =>
  state === 'answered'
    ? { state, http: { method: 'POST', url: '/', status: 201 }, license: undefined, license_is: 'as asked' }
    : { state, failure: new Failure('unknown', 'lost') };

test.each([
  ['an answer', 'answered', 'answered ada@5'],
  ['a lost answer', 'unanswered', 'ended ada@5'],
  ['an interruption', 'cancelled', 'ended ada@5'],
  ['a refusal', 'rejected', undefined],
  ['a refused key', 'auth', undefined],
] as const)('after %s how the POST ended is recorded, and the user is given back', async (_what, kind, ended) => {
  const { calls, claims } = recorded();
  const isEnd = kind === 'answered' || kind === 'unanswered';
  const api = apiOf(async (_fields, before) => {
    await before?.();
    if (!isEnd) throw new Failure(kind, 'no');
    return creation(kind);
  });
  const work = giveLicense(api, fields, { ...giving, claims });
  await expect(work).rejects.toThrow(isEnd ? 'not read' : 'no');
  expect(calls).toEqual(['take ada', 'posting ada', ...(ended === undefined ? [] : [ended]), 'release ada']);
});

test('a claim that cannot be given back is a warning, and the result is kept', async () => {
  const warnings: string[] = [];
  const claims = { ...recorded().claims, release: () => Promise.reject(new Failure('unavailable', 'disk full')) };
  const warn = (text: string): void => void warnings.push(text);
  const license = { key: 'K-1', fields };
  const api = { ...apiOf(unused), ofUser: async () => ({ exact: [license], near: [] }) };
  expect(await giveLicense(api, fields, { ...giving, claims, warn })).toMatchObject({ license, status: 'unchanged' });
  expect(warnings).toEqual(['disk full; later runs for the same users will wait a little']);
});
