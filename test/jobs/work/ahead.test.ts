import { expect, test } from 'vitest';
import { gather } from '../../helpers/gather.ts';
import { ahead } from '../../../src/jobs/work/pool.ts';

/** Notes when each item is asked for. */
function source(count: number, failAt = Infinity) {
  const seen: string[] = [];
  async function* items(): AsyncGenerator<number> {
    try {
      for (let item = 1; item <= count; item += 1) {
        seen.push(`asked ${item}`);
        await Promise.resolve();
        if (item === failAt) throw new Error(`no ${item}`);
        yield item;
      }
    } finally {
      seen.push('ended');
    }
  }
  return { seen, items: items() };
}

test('the next item is asked for before this one is used, and no more than that', async () => {
  const { seen, items } = source(4);
  for await (const item of ahead(items)) {
    await new Promise(setImmediate);
    seen.push(`used ${item}`);
  }
  expect(seen).toEqual([
    ...['asked 1', 'asked 2', 'used 1', 'asked 3', 'used 2', 'asked 4', 'used 3', 'ended', 'used 4'],
  ]);
});

test('a failure comes after the items before it', async () => {
  const used: number[] = [];
  const all = async (): Promise<void> => {
    for await (const item of ahead(source(4, 3).items)) {
      await new Promise(setImmediate);
      used.push(item);
    }
  };
  await expect(all()).rejects.toThrow('no 3');
  expect(used).toEqual([1, 2]);
});

test('an interruption does not wait for the item that is being awaited', async () => {
  let asked = 0;
  async function* slow(): AsyncGenerator<number> {
    asked += 1;
    yield 1;
    asked += 1;
    await new Promise(() => undefined);
  }
  for await (const item of ahead(slow())) {
    expect(item).toBe(1);
    break;
  }
  expect(asked).toBe(2);
});

test('nothing, and one', async () => {
  expect(await gather(ahead(source(0).items))).toEqual([]);
  expect(await gather(ahead(source(1).items))).toEqual([1]);
});
