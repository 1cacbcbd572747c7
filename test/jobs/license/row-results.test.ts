import { expect, test } from 'vitest';
import { Failure, type FailureKind } from '../../../src/core/failure.ts';
import { resultOf, RowOutcomes, type RowResult } from '../../../src/jobs/license/row-results.ts';

test.each<[FailureKind, RowResult['status'], FailureKind]>([
  ['config', 'unchanged', 'config'],
  ['config', 'created', 'incomplete'],
  ['auth', 'created', 'auth'],
])('a %s failure that ends a run after a row that is %s is %s', (kind, status, end) => {
  const outcomes = new RowOutcomes({ where: 'a server', again: 'again' }, 2);
  const asked = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
  outcomes.add({ result: resultOf(asked, status, null), failure: undefined });
  expect(outcomes.failureOf(new Failure(kind, 'it is so'))?.kind).toBe(end);
});
