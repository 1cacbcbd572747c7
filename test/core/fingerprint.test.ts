import { expect, test } from 'vitest';
import { fingerprintOf } from '../../src/core/fingerprint.ts';

test.each([
  ['', 2_552_495_220_886_915],
  ['a', 2_818_621_726_882_049],
  ['license 4f1c9a', 3_807_850_360_407_506],
  ['\u{1F642} and more than thirty letters of a longer text', 5_539_889_438_028_402],
])('the fingerprint of %j stays what it is', (text, number) => {
  expect(fingerprintOf(text)).toBe(number);
});
