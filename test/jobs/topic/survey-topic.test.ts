import { expect, test } from 'vitest';
import { timeText } from '../../../src/jobs/topic/survey-topic.ts';

test.each([
  [1_772_000_000, '2026-02-25T06:13:20Z'],
  [null, null],
  [Infinity, null],
  [1e300, null],
])('%s seconds are %s', (seconds, text) => {
  expect(timeText(seconds)).toBe(text);
});
