import { expect, test } from 'vitest';
import { countBefore } from '../../src/core/halving.ts';

test('as many items come before as are asked for, in lists of every length', () => {
  for (let length = 0; length < 9; length += 1)
    for (let count = 0; count <= length; count += 1) {
      const asked = new Set<number>();
      const items = Array.from({ length }, (_, index) => index);
      expect(countBefore(items, (item) => (asked.add(item), item < count))).toBe(count);
      expect(asked.size).toBeLessThanOrEqual(4);
    }
});
