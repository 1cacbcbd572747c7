import { expect, test } from 'vitest';
import { batched } from '../../src/core/batch.ts';
import { nextTurn } from '../../src/core/outside.ts';

test('what comes while a batch is written is the next batch, and one that fails fails for its own items alone', async () => {
  const batches: string[] = [];
  let finish = (): void => undefined;
  const add = batched<string>(async (items) => {
    batches.push(items.join());
    await new Promise<void>((resolve) => (finish = resolve));
    if (items.includes('bad')) throw new Error('not written');
  });
  const first = Promise.allSettled([add('one'), add('bad')]);
  await expect.poll(() => batches).toEqual(['one,bad']);
  const second = Promise.allSettled([add('two'), add('three')]);
  await nextTurn();
  expect(batches).toEqual(['one,bad']);
  finish();
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect.poll(() => batches).toEqual(['one,bad', 'two,three']);
  finish();
  expect((await second).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
});

test('a batch is gathered until it is due', async () => {
  const batches: string[] = [];
  let isDue = (): void => undefined;
  const add = batched<string>(
    async (items) => void batches.push(items.join()),
    () => new Promise<void>((resolve) => (isDue = resolve)),
  );
  const written = [add('one')];
  await Promise.resolve();
  written.push(add('two'));
  isDue();
  await Promise.all(written);
  expect(batches).toEqual(['one,two']);
});
