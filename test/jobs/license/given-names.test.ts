import { expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { givenNames, nameGiven, type SendChange } from '../../../src/jobs/license/given-names.ts';
import type { QueuedClaims } from '../../../src/store/claims.ts';
import { openQueue } from '../../../src/store/queue.ts';
import { sleptClock } from '../../helpers/clock.ts';

const ann = { remote_user: 'ann', app_code: 7 };
const license = { key: 'K-1', fields: { license_code: 'K-1', remote_user: 'ann' } };

/** Names of a run, with all that it asks of its claims; `posted`: when those of that name were asked for last. */
function namesWith({ held = [], posted }: { held?: readonly string[]; posted?: number } = {}) {
  const calls: string[] = [];
  const clock = sleptClock(1_000_000);
  const parts = { ...clock, settle: 5000, note: () => undefined, warn: (text: string) => void calls.push(text) };
  const queue = openQueue([], { ...parts, by: 'run' });
  const claims: QueuedClaims = {
    isShared: false,
    take: () => Promise.reject(new Error('nobody waits for a name')),
    takeFree: async (users) => {
      calls.push(`take ${users.join(' ')}`);
      const histories = posted === undefined ? [] : users.map((user) => [user, { posted }] as const);
      return { now: clock.elapsed(), histories: new Map(histories), held, holder: undefined };
    },
    busy: () => Promise.reject(new Error('not asked')),
    posting: async (user) => void calls.push(`posting ${user}`),
    ended: async (user, end) => void calls.push(`${end.event} ${user} ${'unanswered' in end ? end.unanswered : ''}`),
    release: async (users) => void calls.push(`release ${users.join(' ')}`),
    lost: () => undefined,
    queue,
  };
  return { names: givenNames({ ...parts, claimsOf: async () => claims }), calls, clock, queue };
}

const answered: SendChange = async (before) => (await before?.(), license);

test('names are taken in one step, and each once; what is given is asked for from then on', async () => {
  const { names, calls } = namesWith();
  await names.take([ann, { ...ann, remote_user: 'bob' }, { remote_user: 'no application' }]);
  expect(await names.give(ann, answered)).toBe(license);
  await names.end();
  expect(calls).toEqual(['take ann bob', 'posting ann', 'ended ann 0', 'release ann bob']);
});

test('a name that another run has is not given, and nothing is sent', async () => {
  const { names, calls } = namesWith({ held: ['ann'] });
  await names.take([ann]);
  expect(names.isHeld(ann)).toBe(true);
  await expect(names.give(ann, answered)).rejects.toMatchObject({ kind: 'unavailable' });
  await names.end();
  expect(calls).toEqual(['take ann', 'release ']);
});

test('a change without an answer is pending at once, as a POST is', async () => {
  const { names, calls, queue } = namesWith();
  const silent: SendChange = async (before) => {
    await before?.();
    queue.unanswered();
    throw new Failure('unavailable', 'no answer');
  };
  await expect(names.give(ann, silent)).rejects.toThrow('no answer');
  expect([calls.at(-1), (await queue.look()).pending]).toEqual(['ended ann 1', 1]);
});

test.each([
  ['is refused', new Failure('rejected', 'no', { http: { method: 'PATCH', url: '', status: 400 } })],
  ['never reached the server', new Failure('unavailable', 'connection refused')],
])('a change that %s gives no name', async (_what, failure) => {
  const { names, calls, queue } = namesWith();
  const failing: SendChange = async (before) => {
    await before?.();
    throw failure;
  };
  await expect(names.give(ann, failing)).rejects.toBe(failure);
  await names.end();
  expect([calls.filter((call) => call.startsWith('ended')), (await queue.look()).pending]).toEqual([[], 0]);
});

test.each([
  ['never', undefined, [], undefined],
  ['a second ago', 999_000, [4000], { since: 1_004_000, until: 1_009_000 }],
  ['a minute ago', 940_000, [], { since: 945_000, until: 950_000 }],
])('names that were asked for %s: when a lookup says that they are free', async (_when, posted, slept, deciding) => {
  const { names, clock } = namesWith(posted === undefined ? {} : { posted });
  await names.take([ann]);
  expect([await names.settled(), clock.slept]).toEqual([deciding, slept]);
});

test.each([
  ['the same user', { remote_user: 'ann' }, undefined],
  ['another size', { size_allowance: 3 }, undefined],
  ['another user', { remote_user: 'bob' }, { remote_user: 'bob', app_code: 7 }],
  ['another application', { app_code: 8 }, { remote_user: 'ann', app_code: 8 }],
])('a change to %s gives this name', (_what, fields, name) => {
  const found = { key: 'K-1', fields: { remote_user: 'ann', app_code: 7, size_allowance: 4 } };
  expect(nameGiven(found, fields)).toEqual(name);
});
