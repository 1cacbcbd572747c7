import { expect, test } from 'vitest';
import { Answer } from '../../../src/api/http/answer.ts';
import { listPages } from '../../../src/api/licensing/license-list.ts';
import { pageReader, type Page } from '../../../src/api/licensing/list-page.ts';

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

test.each([
  [2_000_000, 0, undefined],
  [2_000_001, 0, 'it has more than 2,000,000 rows'],
  [0, 1024 ** 3, undefined],
  [0, 1024 ** 3 + 1, 'its pages are longer than 1 GiB'],
])('a list of %i rows and %i bytes', async (length, size, problem) => {
  const answer = new Answer({ method: 'GET', url: 'http://a.test/', status: 200 }, {}, Buffer.from(''));
  Object.defineProperty(answer, 'size', { value: size });
  const page = { rows: new Array<never>(length), answer, total: 0, next: undefined };
  const readPage = () => Promise.resolve(page as unknown as Page);
  const reading = (async () => {
    for await (const { place } of listPages(readPage, {}, 'part')) expect(place).toBe(1);
    return undefined;
  })();
  const failure = await reading.catch((cause: unknown) => (cause as Error).message);
  if (problem === undefined) expect(failure).toBeUndefined();
  else expect(failure).toContain(problem);
});
