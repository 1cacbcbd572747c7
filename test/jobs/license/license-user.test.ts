import { expect, test } from 'vitest';
import type { Creation } from '../../../src/api/licensing/license-writes.ts';
import { Failure } from '../../../src/core/failure.ts';
import { whileClaimed, type UserClaims } from '../../../src/jobs/license/license-user.ts';
import { createLicense, type CreatingApi } from '../../../src/jobs/license/create-license.ts';

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
  };
  return { calls, claims };
}

const unused = (): never => {
  throw new Error('not asked for');
};

const settling = {
  settle: 5000,
  retries: 5,
  now: () => 5,
  elapsed: () => 5,
  sleep: unused,
  note: unused,
  warn: unused,
};

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
  const isEnd = kind === 'answered' || kind === 'unanswered';
  const api: CreatingApi = {
    async create(_fields, before) {
      await before?.();
      if (!isEnd) throw new Failure(kind, 'no');
      return creation(kind);
    },
    ofUser: unused,
    deciding: unused,
  };
  const creating = { ...settling, before: undefined };
  const fields = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
  const work = whileClaimed('ada', { ...settling, claims }, (user) => createLicense(api, fields, user, creating));
  await expect(work).rejects.toThrow(isEnd ? 'not known' : 'no');
  expect(calls).toEqual(['take ada', 'posting ada', ...(ended === undefined ? [] : [ended]), 'release ada']);
});

test('a claim that cannot be given back is a warning, and the result is kept', async () => {
  const warnings: string[] = [];
  const claims: UserClaims = {
    take: async () => new Map(),
    ended: async () => undefined,
    posting: async () => undefined,
    release: () => Promise.reject(new Failure('unavailable', 'disk full')),
  };
  const ensuring = { claims, warn: (text: string) => void warnings.push(text) };
  expect(await whileClaimed('ada', ensuring, () => Promise.resolve('key'))).toBe('key');
  expect(warnings).toEqual(['disk full; later runs for the same users will wait a little']);
});
