import { expect, test } from 'vitest';
import { nearNames } from '../../../src/schema/nearest.ts';
import { isSameName } from '../../../src/schema/topic.ts';

test.each([
  ['Lunch', 'lUNCH', true],
  ['Café', 'CAFÉ', true],
  ['ı', 'I', true],
  ['ſ', 's', true],
  ['ς', 'σ', true],
  ['µ', 'μ', true],
  ['ß', 'ẞ', false],
  ['ß', 'ss', false],
  ['lunch', 'lunch ', false],
  ['✔ lunch', 'lunch', false],
])('%s and %s are one name for the server: %s', (one, other, isSame) => {
  expect(isSameName(one, other)).toBe(isSame);
});

test('the nearest names come first; a resolved topic is as near as its name', () => {
  expect(nearNames('calibration', ['other', 'calibratoin', '✔ Calibration', 'calibration log 2026', 'x'])).toEqual([
    '✔ Calibration',
    'calibratoin',
    'calibration log 2026',
  ]);
  expect(nearNames('zzz', ['lunch'])).toEqual([]);
});
