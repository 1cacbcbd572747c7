import { expect, test } from 'vitest';
import { Answer } from '../../../src/api/http/answer.ts';
import { refuse } from '../../../src/api/licensing/license-answer.ts';
import { Failure } from '../../../src/core/failure.ts';

function refusalOf(status: number, missing?: string): string {
  const http = { method: 'GET', url: 'https://licenses.test/v1/license/K/', status };
  const answer = new Answer(http, {}, Buffer.from('{"detail":"no"}'));
  try {
    refuse(answer, missing);
  } catch (cause) {
    if (cause instanceof Failure) return `${cause.kind}: ${cause.message}; ${cause.details.hint ?? 'no hint'}`;
    throw cause;
  }
  return 'none';
}

test.each([
  [200, undefined, /^none$/],
  [300, undefined, /^rejected: the server redirects/],
  [399, undefined, /^rejected: the server redirects/],
  [401, undefined, /^auth: .*\(401\): no/],
  [403, 'no such license', /^auth: .*\(403\): no/],
  [404, 'no such license', /^not_found: no such license; no hint$/],
  [404, undefined, /^rejected: .*; Check the base URL/],
  [400, 'no such license', /^rejected: the licensing API.*; no hint$/],
  [499, 'no such license', /^rejected: /],
  [500, 'no such license', /^unavailable: .*\(500\): no/],
])('%d, with %j for a missing one, is %s', (status, missing, text) => {
  expect(refusalOf(status, missing)).toMatch(text);
});
