import { describe, expect, test } from 'vitest';
import { emptyQueue, queueAfter, queueAt, type LeftRequests, type QueueState } from '../../src/store/queue.ts';

/** docs/exactly-once.md, A server has a queue. */

const settle = 5000;
const own = (posts: number, others = 0): LeftRequests => ({ by: 'me', posts, others, settle });
const begun = (posts: number, at: number): QueueState => queueAfter(emptyQueue, at, own(posts), 'left');

describe('of n requests none counts as not carried out before n times --settle', () => {
  test.each([
    [1, 15_000],
    [2, 20_000],
    [4, 30_000],
  ])('n = %i', (posts, until) => {
    expect(queueAt(begun(posts, 10_000), 10_000, settle)).toEqual({ pending: posts, until, isSlow: true });
  });

  test('after the last end of one of them', () => {
    expect(queueAt(queueAfter(begun(1, 10_000), 12_000, own(2), 'left'), 12_000, settle).until).toBe(22_000);
  });

  test('after the last moment at which one was shown', () => {
    expect(queueAt(queueAfter(begun(2, 10_000), 14_000, own(1), 'shown'), 14_000, settle).until).toBe(19_000);
  });
});

test('a lookup without an answer counts in n, and moves no moment: a rough network ends', () => {
  const state = queueAfter(begun(1, 10_000), 12_000, own(1, 1), 'more');
  expect(queueAt(state, 12_000, settle)).toMatchObject({ pending: 1, until: 20_000 });
});

test('then nothing is pending, and the server is slow for a minute more', () => {
  const state = begun(1, 10_000);
  expect(queueAt(state, 15_000, settle)).toMatchObject({ pending: 0, isSlow: true });
  expect(queueAt(state, 75_000, settle).isSlow).toBe(false);
});
