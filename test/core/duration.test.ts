import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/core/duration.ts';

test.each([
  ['0s', 0],
  ['400ms', 400],
])('%s is %i ms', (text, span) => {
  expect(parseDuration(text)).toBe(span);
});

const noDurations = ['', '5', 's', '-5s', '1.5s', '5s ', '5S', '5w', '5m30', '1e3s', '٥s', '1234567890s', '5s\n'];

test.each(noDurations)('%j is no duration', (text) => {
  expect(() => parseDuration(text)).toThrow(
    expect.objectContaining({
      kind: 'usage',
      message: `'${text}' is not a duration`,
      details: { hint: 'Write numbers and units: 400ms, 30s, 5m, 1h30m, 7d.' },
    }) as Error,
  );
});

test.each([
  [0, '0ms'],
  [999, '999ms'],
  [1000, '1s'],
  [1500, '1.5s'],
  [59_940, '59.9s'],
  [60_000, '1m'],
  [190_000, '3m10s'],
  [190_400, '3m10.4s'],
  [119_990, '2m'],
  [3_600_000, '1h'],
  [129_600_000, '1d12h'],
])('%i ms reads %s', (span, text) => {
  expect(formatDuration(span)).toBe(text);
});

test('whole seconds below a thousand days come back as they were', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 86_400_000 }), (seconds) => {
      expect(parseDuration(formatDuration(seconds * 1000))).toBe(seconds * 1000);
    }),
    { seed: 1 },
  );
});

test('a moment a thousand years away can be written as a date; a longer duration is refused', () => {
  expect(new Date(Date.UTC(2026, 0, 1) + parseDuration('365250d')).toISOString()).toMatch(/^3026-/);
  expect(() => parseDuration('365251d')).toThrow("the duration '365251d' is longer than 1000 years");
});
