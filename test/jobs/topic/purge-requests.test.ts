import { expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { expiryOf, isRepeatable } from '../../../src/jobs/topic/purge-requests.ts';

test.each([
  [[0], 1000, 0, 7000],
  [[0], 1001, 0, 7002],
  [[100, 300], 3000, 1, 7300],
  [[100, 300], 3000, 2, 7600],
])('after waits of %j ms in %i ms, %i calls too late, a call at 5000 has until %i', (waits, span, earlier, expiry) => {
  expect(expiryOf(waits, span, 5000, earlier)).toBe(expiry);
});

const http = (status: number) => ({ http: { method: 'POST', url: '/', status } });
const server = (code: string) => ({ ...http(400), server: { code } });

test.each([
  ['unavailable', {}, 154, true],
  ['rejected', {}, 153, false],
  ['rejected', server('REQUEST_TIMEOUT'), 154, true],
  ['rejected', server('UNAUTHORIZED_PRINCIPAL'), 153, false],
  ['rejected', http(399), 153, false],
  ['rejected', http(400), 153, true],
  ['rejected', http(401), 153, false],
  ['rejected', http(402), 153, true],
  ['rejected', http(400), 154, false],
  ['rejected', http(400), undefined, false],
] as const)('a delete call that ends as %s, %j, at level %s is repeated: %s', (kind, details, level, isRepeated) => {
  expect(isRepeatable(new Failure(kind, 'no', details), level)).toBe(isRepeated);
});
