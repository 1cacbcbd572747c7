import { expect, test } from 'vitest';
import { Answer } from '../../../src/api/http/answer.ts';
import { licensingApi } from '../../../src/api/licensing/licensing.ts';

/** A server whose every page names a next one. */
async function readEndless(page: readonly object[], size: number) {
  let asked = 0;
  const send = () => {
    asked += 1;
    const answer = new Answer(
      { method: 'GET', url: 'http://licensing.test/v1/license/', status: 200 },
      {},
      { bytes: Buffer.from('{}'), spool: undefined, size },
    );
    answer.readAs({ next: `/v1/license/?page=${asked + 1}`, results: [{ remote_user: `user-${asked}` }, ...page] });
    return Promise.resolve(answer);
  };
  const api = licensingApi(
    async () => ({ send }),
    () => 0.5,
  );
  let rows = 0;
  const reading = (async () => {
    for await (const _ of api.list({})) rows += 1;
  })();
  const failure = await reading.catch((cause: unknown) => cause);
  return { failure, rows, asked };
}

test('a list without an end is incomplete at 2,000,000 rows', async () => {
  const page = Array.from({ length: 399_999 }, () => ({ remote_user: 'ada' }));
  const { failure, rows, asked } = await readEndless(page, 1000);
  expect(failure).toMatchObject({ kind: 'incomplete', message: expect.stringContaining('2,000,000 rows') as string });
  expect([rows, asked]).toEqual([2_000_000, 6]);
});

test('a list without an end is incomplete at 1 GiB of text', async () => {
  const { failure, rows, asked } = await readEndless([], 256 * 1024 * 1024);
  expect(failure).toMatchObject({ kind: 'incomplete', message: expect.stringContaining('1 GiB') as string });
  expect([rows, asked]).toEqual([5, 5]);
});
