import { expect, test } from 'vitest';
import { dueAt, isLate, pauseAfter, type Unanswered } from '../../../src/jobs/license/pending-writes.ts';

type OwnWrites = Parameters<typeof dueAt>[1];

/** It ran out of time at 2000, alone, and settles in 5000. */
const late: Unanswered = { id: 'x-1', sent: 1000, ended: 2000, n: 1, settle: 5000, laterPassed: undefined };
const broken: Unanswered = { ...late, ended: 1100 };
const quiet: OwnWrites = { last: 2000, underWay: 0 };

// The rows of docs/exactly-once.md, A place for each write.
test.each<[string, Unanswered, OwnWrites, number]>([
  ['a late one, while a write of this run waits for its answer', late, { last: 2000, underWay: 1 }, Infinity],
  ['a late one: settle after the last write of this run', late, quiet, 7000],
  ['a late one, after another that ended later', late, { last: 9000, underWay: 0 }, 14_000],
  ['a late one among four: four times as long', { ...late, n: 4 }, quiet, 22_000],
  ['a late one, however soon a later write was answered', { ...late, n: 4, laterPassed: 2100 }, quiet, 22_000],
  ['a longer settle of one of those counted', { ...late, settle: 9000 }, quiet, 11_000],
  ['a broken one that was alone', broken, quiet, 6100],
  ['a broken one that was alone, while another is under way', broken, { last: 9000, underWay: 3 }, 6100],
  ['a broken one among four', { ...broken, n: 4 }, quiet, 21_100],
  ['a broken one among four, and a later write was answered', { ...broken, n: 4, laterPassed: 1200 }, quiet, 6200],
  ['a broken one among four, and a much later one was', { ...broken, n: 4, laterPassed: 60_000 }, quiet, 21_100],
])('%s', (_what, request, own, due) => {
  expect(dueAt(request, own)).toBe(due);
});

test.each([
  [0, false],
  [249, false],
  [250, true],
])('a request without a response after %d ms is late: %s', (took, late) => {
  expect(isLate({ sent: 1000, ended: 1000 + took })).toBe(late);
});

test('pauses between lookups grow to a quarter of settle, and after ten to settle', () => {
  expect([0, 1, 2, 3, 4, 5, 9, 10].map((lookups) => pauseAfter(lookups, 5000))).toEqual([
    100, 200, 400, 800, 1250, 1250, 1250, 5000,
  ]);
  expect(pauseAfter(0, 40)).toBe(10);
});
