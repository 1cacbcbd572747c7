import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  backoff,
  decide,
  endingOf,
  holdBack,
  openGate,
  retryAfter,
  type RetryDecision,
  type AttemptEnding,
  type Repeat,
} from '../../../src/api/http/retry.ts';
import { sleptClock } from '../../helpers/clock.ts';

const seed = { seed: 20_260_301 };

describe('what a status is', () => {
  test.each<[number, AttemptEnding]>([
    [200, 'answered'],
    [204, 'answered'],
    [301, 'answered'],
    [400, 'answered'],
    [401, 'answered'],
    [403, 'answered'],
    [404, 'answered'],
    [408, 'answered'],
    [429, 'held back'],
    [500, 'broke'],
    [501, 'broke'],
    [502, 'overloaded'],
    [503, 'overloaded'],
    [504, 'overloaded'],
    [520, 'broke'],
  ])('%d: %s', (status, ending) => expect(endingOf(status)).toBe(ending));
});

/** The contract's section 5, row by row. */
describe('what happens next', () => {
  test.each<[AttemptEnding, RetryDecision, RetryDecision, RetryDecision]>([
    // ending, every GET and PATCH of absolute values, a POST that must not happen twice, delete_topic
    ['answered', 'take', 'take', 'take'],
    ['held back', 'wait', 'wait', 'wait'],
    ['overloaded', 'repeat', 'leave unconfirmed', 'take'],
    ['broke', 'take', 'leave unconfirmed', 'take'],
    ['unsent', 'repeat', 'repeat', 'repeat'],
    ['barred', 'give up', 'give up', 'give up'],
    ['unconfirmed', 'repeat', 'leave unconfirmed', 'give up'],
  ])('%s', (ending, safe, once, byCaller) => {
    const decisions = (['safe', 'if unprocessed', 'by caller'] as const satisfies Repeat[]).map((repeat) =>
      decide(repeat, ending),
    );
    expect(decisions).toEqual([safe, once, byCaller]);
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
    [{ 'retry-after': 2 }, '60', 2000],
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
  ])('%j and header %j: %j ms', (body, header, span) => expect(retryAfter(body, header, now)).toBe(span));

  test('is never negative and never not a number, whatever the server sends', () => {
    const spoken = fc.oneof(
      fc.double(),
      fc.integer(),
      fc.string(),
      fc.date().map(String),
      fc.constant(null),
      fc.anything(),
    );
    fc.assert(
      fc.property(
        spoken,
        fc.option(fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String))),
        (body, header) => {
          const wait = retryAfter({ 'retry-after': body }, header ?? undefined, now);
          expect(wait === undefined || wait >= 0).toBe(true);
        },
      ),
      seed,
    );
  });

  test('is at least what was asked for, and never less than a second where nothing was', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 0, max: 1e8 })),
        fc.nat(40),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (asked, attempt, random) => {
          const wait = holdBack(asked ?? undefined, attempt, random);
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

describe('the gate', () => {
  test('is open until it is closed, and again after the moment', async () => {
    const clock = sleptClock();
    const gate = openGate(clock);
    expect(gate.wait('a')).toBe(0);

    gate.closeUntil('a', 1500);
    expect(gate.wait('a')).toBe(1500);

    await clock.sleep(1000);
    expect(gate.wait('a')).toBe(500);

    await clock.sleep(1000);
    expect(gate.wait('a')).toBe(0);
  });

  test('an earlier moment does not open it earlier, a later one keeps it closed', () => {
    const gate = openGate(sleptClock());

    gate.closeUntil('a', 2000);
    gate.closeUntil('a', 1000);
    expect(gate.wait('a')).toBe(2000);

    gate.closeUntil('a', 3000);
    expect(gate.wait('a')).toBe(3000);
  });

  test('another line stays open', () => {
    const gate = openGate(sleptClock());

    gate.closeUntil('a', 2000);

    expect(gate.wait('b')).toBe(0);
  });
});
