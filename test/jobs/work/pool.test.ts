import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { gather } from '../../helpers/gather.ts';
import { limiter } from '../../../src/core/batch.ts';
import { Failure } from '../../../src/core/failure.ts';
import { resultsInOrder, pool } from '../../../src/jobs/work/pool.ts';

/** Work that takes so many turns of the event loop. */
async function after(turns: number): Promise<number> {
  for (let left = turns; left > 0; left -= 1) await setImmediate();
  return turns;
}

describe('pool', () => {
  test('yields results as they come, so many at a time', async () => {
    let running = 0;
    let most = 0;
    const results = await gather(
      pool([9, 1, 3, 20], 2, async (span) => {
        running += 1;
        most = Math.max(most, running);
        await after(span);
        running -= 1;
        return span;
      }),
    );

    expect({ results, most }).toEqual({ results: [1, 3, 9, 20], most: 2 });
  });

  test('after a failure nothing is begun, and what is running is yielded before it is thrown', async () => {
    const begun: number[] = [];
    const results: number[] = [];
    const reading = async (): Promise<void> => {
      const work = async (span: number): Promise<number> => {
        begun.push(span);
        if (span === 1) throw new Error('one');
        return after(span);
      };
      for await (const result of pool([4, 1, 6, 7, 8], 3, work)) results.push(result);
    };

    await expect(reading()).rejects.toThrow('one');

    expect({ begun, results }).toEqual({ begun: [4, 1, 6], results: [4, 6] });
  });

  test('a refused key counts more than what failed before it', async () => {
    const work = async (kind: 'auth' | 'rejected' | 'unavailable'): Promise<never> => {
      if (kind !== 'unavailable') await after(3);
      throw new Failure(kind, 'it failed');
    };
    await expect(gather(pool(['rejected', 'auth', 'unavailable'], 3, work))).rejects.toMatchObject({ kind: 'auth' });
  });

  test('a reader who leaves waits for what is running, and no more is begun', async () => {
    const ended: number[] = [];
    for await (const result of pool([1, 5, 5, 5], 2, async (span) => {
      await after(span);
      ended.push(span);
      return span;
    })) {
      expect(result).toBe(1);
      break;
    }

    expect(ended).toEqual([1, 5]);
  });
});

describe('results in the order of their keys', () => {
  const [one, two, three] = [{ key: 1 }, { key: 2 }, { key: 3 }];

  test('wait for those before them; a key without a result is left out once no more come', async () => {
    const results = resultsInOrder<{ key: number }, string>();
    const read: string[] = [];
    const reading = (async () => {
      for (const key of [one, two, three]) {
        const result = await results.take(key);
        if (result !== undefined) read.push(result);
      }
    })();
    results.put(three, 'three');
    await after(2);
    expect(read).toEqual([]);

    results.put(one, 'one');
    await after(2);
    expect(read).toEqual(['one']);

    results.close();
    await reading;
    expect(read).toEqual(['one', 'three']);
  });
});

describe('limiter', () => {
  test('are given in the order in which they were asked for, after a failure too', async () => {
    const limit = limiter(2);
    const order: number[] = [];
    const work = (number: number) =>
      limit(async () => {
        order.push(number);
        await after(2);
        if (number === 1) throw new Error('one');
      });

    const ended = await Promise.allSettled([1, 2, 3, 4, 5].map(work));

    expect(order).toEqual([1, 2, 3, 4, 5]);
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled']);
  });

  test('never more than so many at once', async () => {
    const limit = limiter(3);
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, () =>
        limit(async () => {
          most = Math.max(most, (running += 1));
          await after(1);
          running -= 1;
        }),
      ),
    );
    expect(most).toBe(3);
  });
});

test('with a limit of 1, steps run one after another, also after one that throws', async () => {
  const inOrder = limiter(1);
  const seen: string[] = [];
  const step = (name: string) => () => void seen.push(name);

  const first = inOrder(async () => {
    await after(3);
    seen.push('first');
    throw new Error('first');
  });
  const second = inOrder(step('second')).then(step('what awaited the second'));
  const third = inOrder(step('third'));

  await expect(first).rejects.toThrow('first');
  await Promise.all([second, third]);
  expect(seen).toEqual(['first', 'second', 'what awaited the second', 'third']);
});
