import { expect, test } from 'vitest';
import {
  afterEvent,
  joinHistories,
  noRequests,
  onElapsed,
  type RecordedHistory,
  type RequestEvent,
} from '../../src/store/request-history.ts';

const after = (...events: readonly RequestEvent[]): RecordedHistory => events.reduce(afterEvent, noRequests);
const answered = { event: 'answered', status: 201, time: 10, key_end: 'wxyz' } as const;
const answer = { status: 201, time: 10, key_end: 'wxyz' };

test.each<readonly [string, readonly RequestEvent[]]>([
  ['is being sent, as before a kill', [{ event: 'sent', time: 20 }]],
  ['ended without an answer', [{ event: 'ended', time: 20, unanswered: 1 }]],
  [
    'was not sent',
    [
      { event: 'sent', time: 20 },
      { event: 'unsent', time: 30 },
    ],
  ],
  [
    'was refused',
    [
      { event: 'sent', time: 20 },
      { event: 'refused', time: 30 },
    ],
  ],
])('an answer that no list has shown stays though a request after it %s', (_what, events) => {
  expect(after({ event: 'sent', time: 0 }, answered, ...events)).toMatchObject({ answer });
});

test('a repeat that was not sent leaves the request before it open', () => {
  const repeat = [
    { event: 'sent', time: 0 },
    { event: 'sent', time: 20 },
    { event: 'unsent', time: 30 },
  ] as const;
  expect(after(...repeat)).toMatchObject({ posted: 30, unanswered: 1 });
});

test('a first request that was not sent is none', () => {
  expect(after({ event: 'sent', time: 0 }, { event: 'unsent', time: 10 }).posted).toBeUndefined();
});

test('a POST without a recorded end counts as later than any moment, and as now', () => {
  const sent = after({ event: 'sent', time: 0 });
  expect(joinHistories({ posted: 1e15 }, sent).posted).toBe('end not recorded');
  expect(onElapsed(sent, { now: () => 5000, elapsed: () => 70 }).posted).toBe(70);
  expect(after({ event: 'sent', time: 0 }, { event: 'confirmed', time: 40 }).posted).toBe(40);
  expect(onElapsed({ posted: 4000 }, { now: () => 5000, elapsed: () => 70 }).posted).toBe(-930);
});
