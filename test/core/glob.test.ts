import { expect, test } from 'vitest';
import { matchesGlob } from '../../src/core/glob.ts';

test.each<[string, string, boolean]>([
  ['ada', 'adam', false],
  ['a*', 'ada', true],
  ['*d*', 'ada', true],
  ['a?a', 'ada', true],
  ['a?a', 'a\u{1F642}a', true],
  ['??', 'ada', false],
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['a**b*c', 'a-b-b-c', true],
  ['a*b*b', 'ab', false],
  ['A*', 'ada', false],
])('%j on %j is %s', (pattern, text, matches) => {
  expect(matchesGlob([pattern], text)).toBe(matches);
});

test('a pattern of many stars ends in time', () => {
  expect(matchesGlob([`${'*a'.repeat(500)}b`], 'a'.repeat(5000))).toBe(false);
});
