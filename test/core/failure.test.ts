import { expect, test } from 'vitest';
import { Failure } from '../../src/core/failure.ts';

test('a failure has a cause only where one is given, and may be tried again where its kind says so', () => {
  expect(Object.hasOwn(new Failure('usage', 'x'), 'cause')).toBe(false);
  expect(new Failure('usage', 'x', { cause: 7 }).cause).toBe(7);
  const kinds = ['unavailable', 'incomplete', 'usage'] as const;
  expect(kinds.map((kind) => new Failure(kind, 'x').retryable)).toEqual([true, true, false]);
  expect(new Failure('incomplete', 'x', { retryable: false }).retryable).toBe(false);
});
