import { expect, test } from 'vitest';
import { Answer } from '../../../src/api/http/answer.ts';
import { listPages } from '../../../src/api/licensing/license-list.ts';
import { pageReader } from '../../../src/api/licensing/list-page.ts';

test.each([
  ['4,000 rows', { rows: 4000, bytes: 1024 ** 3 }, 4000, 5],
  ['a tenth of a GiB', { rows: 4000, bytes: 1024 }, 1000, 1],
])('a list without an end is incomplete at %s', async (_what, limits, most, pages) => {
  let asked = 0;
  const send = () => {
    asked += 1;
    const results = Array.from({ length: 1000 }, (_, row) => ({ remote_user: `user-${asked}-${row}` }));
    const body = JSON.stringify({ next: `/v1/license/?page=${asked + 1}`, results });
    return Promise.resolve(new Answer({ method: 'GET', url: 'http://a.test/', status: 200 }, {}, Buffer.from(body)));
  };
  const readPage = pageReader(() => Promise.resolve({ send }));
  let rows = 0;
  const reading = (async () => {
    for await (const page of listPages(readPage, {}, 'whole', limits)) rows += page.rows.length;
  })();
  await expect(reading).rejects.toMatchObject({ kind: 'incomplete' });
  expect([rows, asked]).toEqual([most, pages]);
});
