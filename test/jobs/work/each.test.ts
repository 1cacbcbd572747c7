import { expect, test } from 'vitest';
import { Failure, type FailureKind } from '../../../src/core/failure.ts';
import { gather } from '../../helpers/gather.ts';
import { each, failuresByReason, type FailedRow } from '../../../src/jobs/work/each.ts';

/** Works on one argument for each kind; `ok` succeeds. */
async function ending(...kinds: readonly (FailureKind | 'ok')[]): Promise<Failure> {
  const work = async ({ kind }: { readonly kind: FailureKind | 'ok' }): Promise<void> => {
    if (kind !== 'ok') throw new Failure(kind, `it is ${kind}`);
  };
  const items = kinds.map((kind, index) => ({ kind, name: 'ABCDE'.charAt(index) }));
  const ended: unknown = await gather(each(items, ({ name }) => name, work)).catch((cause: unknown) => cause);
  if (!(ended instanceof Failure)) throw new Error('nothing failed');
  return ended;
}

test.each<[FailureKind, FailureKind, string]>([
  ['unavailable', 'incomplete', 'it is unavailable; not done: C, D'],
  ['auth', 'auth', 'it is auth'],
  ['config', 'incomplete', 'it is config; not done: C, D'],
  ['usage', 'incomplete', 'it is usage; not done: C, D'],
  ['cancelled', 'cancelled', 'it is cancelled'],
])('%s at the third argument ends the run, and names what failed before', async (kind, end, message) => {
  expect(await ending('ok', 'not_found', kind, 'ok')).toMatchObject({
    kind: end,
    message: `${message}\n1 failed before (B):\n  it is not_found`,
  });
});

test('what may have happened before the end outweighs that the rest is not done', async () => {
  expect(await ending('unknown', 'unavailable', 'ok')).toMatchObject({
    kind: 'unknown',
    message: 'it is unavailable; not done: B, C\n1 failed before (A):\n  it is unknown',
    retryable: false,
  });
});

test('failures are grouped by their reason, and stand whole', async () => {
  const { message } = await ending('not_found', 'ok', 'rejected', 'not_found');
  expect(message).toBe('2 of 4 failed (A and 1 more):\n  it is not_found\n1 of 4 failed (C):\n  it is rejected');
});

test('of 21 reasons the last is counted, of 20 none', () => {
  const rows = Array.from({ length: 21 }, (_, index): FailedRow => ['ada', `reason ${index}`]);
  expect(failuresByReason(rows).slice(40)).toEqual(['and 1 other reason']);
  expect(failuresByReason(rows.slice(1))).toHaveLength(40);
});

test.each<readonly (readonly (FailureKind | 'ok')[])[]>([
  [['unknown', 'rejected']],
  [['rejected', 'unknown', 'not_found']],
  [['unknown', 'ok']],
  [['unknown', 'rejected', 'unavailable', 'ok']],
])('of several failures one that may have happened counts, wherever it is: %j', async (kinds) => {
  expect(await ending(...kinds)).toMatchObject({ kind: 'unknown', retryable: false });
});

test.each<FailureKind>(['unavailable', 'auth'])('%s at the first argument is the failure itself', async (kind) => {
  expect(await ending(kind, 'ok')).toMatchObject({ kind, message: `it is ${kind}` });
});
