import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fingerprint, fingerprintsOf, inOrder } from '../../src/core/fingerprints.ts';

test('a fingerprint is the first 48 bits of the SHA-256', () => {
  // echo -n abc | sha256sum
  expect(fingerprint('abc')).toBe(0xba7816bf8f01);
});

test('what was put in is there, once and sorted, and what was not is not', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 40 }), fc.uniqueArray(fc.string()), (texts, others) => {
      const { has, repeats, values } = fingerprintsOf(texts);
      expect(texts.every((text) => has(fingerprint(text)))).toBe(true);
      expect(others.filter((text) => has(fingerprint(text)))).toEqual(others.filter((text) => texts.includes(text)));
      expect([...values]).toEqual(texts.map(fingerprint).sort((one, other) => one - other));
      expect(repeats).toBe(false);
    }),
    { seed: 5 },
  );
});

test('a text that stands twice is told, and kept once', () => {
  expect(fingerprintsOf(['a', 'b', 'a'])).toMatchObject({ repeats: true, values: fingerprintsOf(['b', 'a']).values });
});

test('numbers come in any order, and nothing is in nothing', () => {
  expect([...inOrder([3, 1, 2]).values]).toEqual([1, 2, 3]);
  expect(inOrder([]).has(0)).toBe(false);
});
