import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  askedBy,
  backoff,
  openGate,
  rateLimitWait,
  nextStep,
  type NextStep,
  type Repeat,
} from '../../../src/api/http/retry.ts';
import { connectError, endingOf, sentError, type AttemptEnding } from '../../../src/api/http/transport-error.ts';

const coded = (code: string): Error => Object.assign(new Error(code), { code });
const connectEnding = (code: string): AttemptEnding => connectError(coded(code), 'licenses.test').ending;
const sentEnding = (code: string): AttemptEnding => sentError(coded(code)).ending;

const seed = { seed: 20_260_301 };

/** The contract's section 5, row by row. */
describe('what happens next', () => {
  test.each<[string, AttemptEnding, 'an answer' | 'no answer', NextStep, NextStep, NextStep, NextStep]>([
    // every GET and PATCH of absolute values, a POST that must not happen twice, api, delete_topic
    ['200', endingOf(200), 'an answer', 'end', 'end', 'end', 'end'],
    ['429', endingOf(429), 'an answer', 'wait', 'wait', 'wait', 'wait'],
    ['503', endingOf(503), 'an answer', 'repeat', 'leave unconfirmed', 'end', 'end'],
    ['408', endingOf(408), 'an answer', 'repeat', 'leave unconfirmed', 'end', 'end'],
    ['500', endingOf(500), 'an answer', 'end', 'leave unconfirmed', 'end', 'end'],
    ['refused', connectEnding('ECONNREFUSED'), 'no answer', 'repeat', 'repeat', 'repeat', 'repeat'],
    ['no such name', connectEnding('ENOTFOUND'), 'no answer', 'end', 'end', 'end', 'end'],
    ['reset', sentEnding('ECONNRESET'), 'no answer', 'repeat', 'leave unconfirmed', 'leave unconfirmed', 'end'],
    [
      'headers too large',
      sentEnding('UND_ERR_HEADERS_OVERFLOW'),
      'no answer',
      ...(['end', 'leave unconfirmed', 'leave unconfirmed', 'end'] as const),
    ],
  ])('%s', (_what, ending, last, safe, unprocessed, once, byCaller) => {
    const repeats = ['safe', 'if unprocessed', 'once', 'by caller'] as const satisfies Repeat[];
    expect(repeats.map((repeat) => nextStep(repeat, ending, last))).toEqual([safe, unprocessed, once, byCaller]);
    expect(nextStep('never', ending, last)).toBe('end');
  });
});

describe('the wait that an answer asks for', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');

  test.each<[unknown, string | undefined, number | undefined]>([
    [{ 'retry-after': 28.706_807 }, undefined, 28_707],
    [{ 'retry-after': 0.008 }, undefined, 8],
    [{ 'retry-after': 0 }, undefined, 0],
    [{ 'retry-after': 86_400 }, undefined, 86_400_000],
    [{ 'retry-after': '1.5' }, undefined, 1500],
    [{ 'retry-after': 2 }, '60', 60_000],
    [{ 'retry-after': null }, undefined, undefined],
    [{ 'retry-after': null }, '3', 3000],
    [{ 'retry-after': -1 }, '3', 3000],
    [{ 'retry-after': true }, undefined, undefined],
    [{}, '28.706807374954224', 28_707],
    [undefined, '120', 120_000],
    [undefined, ' 5 ', 5000],
    [undefined, '.5', 500],
    [undefined, '5.', 5000],
    [undefined, 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    [undefined, 'Sun, 01 Mar 2026 11:00:00 GMT', 0],
    [undefined, '', undefined],
    [undefined, 'soon', undefined],
    [undefined, '-5', undefined],
    [undefined, 'NaN', undefined],
    [undefined, 'Infinity', undefined],
    [undefined, '1e3', undefined],
    ['text', undefined, undefined],
    [null, undefined, undefined],
    [[], undefined, undefined],
  ])('%j and header %j: %j ms', (body, header, span) =>
    expect(askedBy({ body, headers: { 'retry-after': header } }, now)).toBe(span),
  );

  test('is at least what was asked for, and never less than a second where nothing was', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 0, max: 1e8 })),
        fc.nat(40),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (asked, attempt, random) => {
          const wait = rateLimitWait(asked ?? undefined, attempt, random);
          expect(wait).toBeGreaterThan(asked ?? 999);
          expect(wait).toBeLessThanOrEqual((asked ?? 0) + 30_075);
        },
      ),
      seed,
    );
  });
});

test('the back-off doubles to half a minute, anything between nothing and the whole of it', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 50].map((attempt) => backoff(attempt, 1))).toEqual([
    500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
  ]);
  expect(backoff(3, 0)).toBe(0);
  expect(backoff(3, 0.5)).toBe(2000);
});

test('after a 429 what is asked for is waited, from the third one on with a back-off beside it', () => {
  expect([1, 2, 3, 4].map((attempt) => rateLimitWait(2000, attempt, 1))).toEqual([2075, 2075, 3075, 4075]);
  expect([0, 1, 2].map((attempt) => rateLimitWait(undefined, attempt, 0.9))).toEqual([1000, 1000, 1800]);
});

test('what is in turn is one at a time, of each bucket', async () => {
  const gate = openGate({ elapsed: () => 0 });
  let [underWay, together] = [0, 0];
  const work = async (): Promise<string> => {
    underWay += 1;
    together = Math.max(together, underWay);
    await Promise.resolve();
    underWay -= 1;
    return 'done';
  };
  const bug = gate.inTurn('one', () => Promise.reject(new Error('bug')));
  const four = Promise.all([1, 2, 3, 4].map(() => gate.inTurn('one', work)));
  await expect(bug).rejects.toThrow('bug');
  expect([await four, together]).toEqual([['done', 'done', 'done', 'done'], 1]);
  together = 0;
  await Promise.all(['one', 'two'].map((bucket) => gate.inTurn(bucket, work)));
  expect(together).toBe(2);
});
