import { describe, expect, test } from 'vitest';
import { openOrigin, type Origin, type Reply } from '../../helpers/origin.ts';
import { runAlone, type Ran } from '../../helpers/run.ts';

const ada = { license_code: 'K-1', remote_user: 'ada', app_code: 7, size_allowance: 4 };
const bob = { license_code: 'K-2', remote_user: 'bob', app_code: 7, size_allowance: 2 };

/** Runs a command against a server whose answers these are, one for each page that may be asked for. */
async function ask(line: string, pages: Readonly<Record<string, Reply>>): Promise<Ran & { readonly origin: Origin }> {
  const origin = await openOrigin(({ url }) => pages[url] ?? { status: 418, body: '{}' });
  const env = {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${origin.port}`,
    CHATELAINE_API_KEY: 'licensing-key-5f1d0c',
    CHATELAINE_APP_CODE: '7',
  };
  return { ...(await runAlone(line, { env })), origin };
}

const page = (body: unknown, headers: Record<string, string> = {}, status = 200): Reply => ({
  status,
  headers,
  body: JSON.stringify(body),
});

/** Answers that hint at more rows than the two that they hold, and name no URL for them. */
const parts: readonly (readonly [string, Reply])[] = [
  ['count', page({ count: 30, results: [ada, bob] })],
  ['count as text', page({ count: '30', results: [ada, bob] })],
  ['total_count beside a next that is null', page({ total_count: 30, next: null, data: [ada, bob] })],
  ['pagination.total', page({ pagination: { total: 30 }, data: [ada, bob] })],
  ['meta.page.total', page({ meta: { page: { total: 30 } }, data: [ada, bob] })],
  ['total with a value', page({ total: { value: 30, relation: 'eq' }, data: [ada, bob] })],
  ['total_pages', page({ page: 1, total_pages: 3, items: [ada, bob] })],
  ['meta.last_page', page({ meta: { current_page: 1, last_page: 3 }, data: [ada, bob] })],
  ['has_more', page({ has_more: true, data: [ada, bob] })],
  ['hasNextPage', page({ pageInfo: { hasNextPage: true }, data: [ada, bob] })],
  ['last of a slice', page({ content: [ada, bob], numberOfElements: 2, size: 2, last: false })],
  ['isLastPage', page({ isLastPage: false, values: [ada, bob] })],
  ['a full page', page({ page: 1, per_page: 2, count: 2, data: [ada, bob] })],
  ['truncated', page({ truncated: true, data: [ada, bob] })],
  ['next_page that is a number', page({ next_page: 2, results: [ada, bob] })],
  ['nextPageToken', page({ nextPageToken: 'abc', items: [ada, bob] })],
  ['next_cursor', page({ response_metadata: { next_cursor: 'abc' }, items: [ada, bob] })],
  ['a cursor', page({ cursor: 'abc', items: [ada, bob] })],
  ['a next that is no URL', page({ next: 'page-2', results: [ada, bob] })],
  ['a link without a query', page({ links: { next: { href: '/v1/license/pages/2/' } }, data: [ada, bob] })],
  ['X-Total-Count', page([ada, bob], { 'x-total-count': '30' })],
  ['X-Pagination', page([ada, bob], { 'x-pagination': '{"TotalCount":30}' })],
  ['206 with Content-Range', page([ada, bob], { 'content-range': 'items 0-1/30' }, 206)],
  ['206 with an open Content-Range', page([ada, bob], { 'content-range': 'items 0-1/*' }, 206)],
  ['206 alone', page([ada, bob], {}, 206)],
];

describe('a list that hints at more rows than it holds is printed, with exit 8', () => {
  test.each(parts)('%s', async (_what, reply) => {
    const { exitCode, stdout, error } = await ask('license list -o json', { '/v1/license/': reply });

    expect({ exitCode, code: error?.code }).toEqual({ exitCode: 8, code: 'incomplete' });
    expect(error?.message).toMatch(/reports 3|has more rows.*: its response says (?!undefined)|full \(2 rows\)/);
    expect(JSON.parse(stdout)).toEqual([ada, bob]);
  });

  test.each(parts)('%s: --limit asks for a part and is not judged', async (_what, reply) => {
    const { exitCode, stdout } = await ask('license list --limit 5 -q', { '/v1/license/': reply });

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'K-1\nK-2\n' });
  });
});

describe('an answer that holds all rows is whole', () => {
  test.each<[string, Reply]>([
    ['an equal count', page({ count: 2, limit: 2, next: null, results: [ada, bob] })],
    ['a smaller count, and no next', page({ count: 1, next: '', next_page: 0, nextToken: '', results: [ada, bob] })],
    ['a count that is null', page({ count: null, total: false, limit: 2, results: [ada, bob] })],
    ['has_more false', page({ has_more: false, cursor: 'abc', limit: 2, data: [ada, bob] })],
    ['one page of one', page({ page: 1, per_page: 2, total_pages: 1, items: [ada, bob] })],
    ['links to nowhere', page({ _links: { next: { href: null }, self: { href: '?page=1' } }, items: [ada, bob] })],
    ['a list of links without next', page({ links: [{ rel: 'prev', href: '?a=1' }], limit: 2, items: [ada, bob] })],
    ['X-Total-Count', page([ada, bob], { 'x-total-count': '2', 'x-next-page': '', 'x-nextjs-cache': 'HIT' })],
    ['206 with all rows', page([ada, bob], { 'content-range': 'items 0-1/2' }, 206)],
    ['a Link header with other relations', page([ada, bob], { link: '<?page=1>; rel="prev", <?a=1>; rel=nextish' })],
    [
      'fields of other things that count',
      page({ account: { total: 500, next: 'x' }, discount: 50, limit: 3, items: [ada, bob] }),
    ],
  ])('%s', async (_what, reply) => {
    const { exitCode, stdout, stderr } = await ask('license list -o json', { '/v1/license/': reply });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual([ada, bob]);
  });
});

describe('a next page that is named by a URL or a query is read on our own origin', () => {
  const second = page({ limit: 1, results: [bob] });

  test.each<[string, Reply]>([
    ['next', page({ next: 'https://evil.example/steal/?page=2', results: [ada] })],
    ['next_page', page({ next_page: '/v1/license/?page=2', results: [ada] })],
    ['next_url', page({ next_url: '?page=2', results: [ada] })],
    ['next_page_url beside a total', page({ total: 2, next_page_url: '?page=2', data: [ada] })],
    ['@odata.nextLink', page({ '@odata.nextLink': 'https://x.example/y?page=2', items: [ada] })],
    ['_links', page({ _links: { next: { href: '?page=2' } }, results: [ada] })],
    ['view', page({ view: { next: '?page=2' }, member: [ada], search: { mapping: [{}] } })],
    ['links with relations', page({ links: [{ rel: 'next', href: '?page=2' }], items: [ada] })],
    ['a link of several relations', page({ links: [{ rel: ['last', 'next'], href: '?page=2' }], items: [ada] })],
    ['paging.next beside has_more', page({ has_more: true, paging: { next: '?page=2' }, data: [ada] })],
    ["rel='next'", page([ada], { link: "</v1/license/?page=2>; rel='next'" })],
    ['rel=next', page([ada], { link: '</v1/license/?page=2>; rel=next' })],
    ['several relations', page([ada], { link: '<?page=9>; rel="prev", <?page=2>; rel="last next"' })],
    ['a comma in a parameter', page([ada], { link: '<?page=2>; title="one, two"; rel="next"' })],
    ['a first page without rows', page({ next: '?page=3', results: [] })],
    ['an encoded sign', page({ next: '?page=2&x=a%2Bb', results: [ada] })],
  ])('%s', async (_what, first) => {
    const { exitCode, stdout, origin } = await ask('license list -q', {
      '/v1/license/': first,
      '/v1/license/?page=2': second,
      '/v1/license/?page=3': page({ results: [ada, bob] }),
      '/v1/license/?page=2&x=a%2Bb': second,
    });

    expect({ exitCode, stdout, requests: origin.seen.length }).toEqual({
      exitCode: 0,
      stdout: 'K-1\nK-2\n',
      requests: 2,
    });
  });

  test.each<[string, Reply]>([
    ['without rows', page({ results: [] })],
    ['that counts more rows than both pages have', page({ count: 3, results: [bob] })],
    ['that counts more pages than there were', page({ total_pages: 3, results: [bob] })],
    ['that names itself', page({ next: '?page=2', results: [bob] })],
    ['that names the first', page({ next: '?app_code=7', results: [bob] })],
    ['that names no URL', page({ next: 'http://', results: [bob] })],
    ['that says error', page({ error: 'maintenance', results: [] })],
  ])('a second page %s ends the list with exit 8', async (_what, last) => {
    const { exitCode, stdout, origin } = await ask('license list --app-code 7 -q', {
      '/v1/license/?app_code=7': page({ next: '?page=2', results: [ada] }),
      '/v1/license/?page=2': last,
    });

    expect({ exitCode, requests: origin.seen.length }).toEqual({ exitCode: 8, requests: 2 });
    expect(stdout).toMatch(/^K-1\n/);
  });

  test('a second page that is gone (404) says that pages moved', async () => {
    const { exitCode, error } = await ask('license list -o json', {
      '/v1/license/': page({ next: '?page=2', results: [ada] }),
      '/v1/license/?page=2': page({ detail: 'Invalid page.' }, {}, 404),
    });

    const message = 'the list ends after 1 page: the next one is gone (404): pages moved while they were read';
    expect(error).toMatchObject({ exit: exitCode, message, retryable: true });
    expect([exitCode, error?.hint]).toEqual([8, undefined]);
  });
});

describe('an error inside 200 is no list', () => {
  test.each<[string, unknown]>([
    ['error', { error: 'maintenance', results: [] }],
    ['errors', { data: [], errors: [{ message: 'denied' }] }],
    ['errors beside rows', { data: [ada], errors: [{ message: 'denied' }] }],
    ['an object of errors', { errors: { app_code: ['unknown'] }, results: [] }],
    ['success false', { success: false, items: [] }],
    ['ok false', { ok: false, items: [] }],
    ['a status of HTTP', { code: 503, msg: 'busy', data: [] }],
    ['non_field_errors', { non_field_errors: ['no'] }],
    ['detail', { detail: 'Not allowed.' }],
    ['status error', { status: 'ERROR', message: 'quota', results: [] }],
    ['result failed', { result: 'failed', licenses: [] }],
  ])('%s: exit 6 with the words, and ensure sends no POST', async (_what, body) => {
    const listed = await ask('license list -o json', { '/v1/license/': page(body) });
    const ensured = await ask('license ensure --remote-user ada --size-allowance 4', {
      '/v1/license/?remote_user=ada&app_code=7': page(body),
    });

    expect({ exitCode: listed.exitCode, code: listed.error?.code }).toEqual({ exitCode: 6, code: 'rejected' });
    expect(ensured.exitCode).toBe(6);
    expect(ensured.origin.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  test.each<[string, unknown]>([
    ['null', { error: null, errors: [], detail: '', non_field_errors: {}, results: [ada] }],
    ['false', { error: false, success: true, status: 'ok', result: 'no error', code: 404, results: [ada] }],
  ])('words of an error that are %s say nothing', async (_what, body) => {
    expect(await ask('license list -q', { '/v1/license/': page(body) })).toMatchObject({
      exitCode: 0,
      stdout: 'K-1\n',
    });
  });

  test.each<[string, unknown, number]>([
    ['the only array, with objects', { things: [ada], page: 1 }, 0],
    ['the only array, empty', { things: [] }, 7],
    ['the only array, of texts', { messages: ['Not found.'] }, 7],
    ['two arrays', { one: [ada], other: [bob] }, 7],
    ['two arrays of rows', { results: [], licenses: [ada] }, 7],
    ['two arrays of rows, one of them under data', { data: [ada], items: [] }, 7],
    ['texts', ['K-1'], 7],
    ['null', null, 0],
    ['null under a name of lists', { results: null, page: 1 }, 0],
    ['null under another name', { things: null }, 7],
    ['a single object', { license_code: 'K-1' }, 7],
  ])('a list is %s: %j ends %i', async (_what, body, exitCode) => {
    expect((await ask('license list', { '/v1/license/': page(body) })).exitCode).toBe(exitCode);
  });
});

test.each<[unknown, string]>([
  [{ license_code: 'K-1', page: 1 }, 'no list of licenses (fields: license_code, page)'],
  [['K-1'], 'a row that is not a license'],
])('what is no list is named by its fields: %j', async (body, what) => {
  const { error } = await ask('license list -o json', { '/v1/license/': page(body) });
  expect(error).toMatchObject({ message: `the response of the licensing API contains ${what}`, retryable: false });
});

describe('a key of another application', () => {
  const other = { ...ada, app_code: 4711 };

  test.each<[string, string, Record<string, Reply>]>([
    ['list', 'license list -o json', { '/v1/license/': page([other]) }],
    ['audit', 'license audit -o json', { '/v1/license/': page([other]) }],
    [
      'list with --app-code, filtered by the server',
      'license list --app-code 7 -o json',
      { '/v1/license/?app_code=7': page([]), '/v1/license/': page([other]) },
    ],
    [
      'list with --app-code, not filtered by the server',
      'license list --app-code 7 -o json',
      { '/v1/license/?app_code=7': page([other]), '/v1/license/': page([other]) },
    ],
    [
      'audit with --app-code',
      'license audit --app-code 7 -o json',
      { '/v1/license/?app_code=7': page([]), '/v1/license/': page([other]) },
    ],
  ])('%s: exit 4 naming both codes', async (_what, line, pages) => {
    const { exitCode, error, stderr } = await ask(line, pages);

    expect({ exitCode, code: error?.code, message: error?.message }).toEqual({
      exitCode: 4,
      code: 'auth',
      message: 'this key belongs to application 4711, not 7',
    });
    expect(stderr).not.toContain('no findings');
  });

  test.each<[string, Reply]>([
    ['a row of our own', page([other, ada])],
    ['a row without a code', page([other, { license_code: 'K-9', remote_user: 'eve' }])],
    ['a code that is no integer', page([{ ...ada, app_code: 'harbour' }])],
    ['no rows', page([])],
  ])('%s proves nothing', async (_what, reply) => {
    expect((await ask('license list', { '/v1/license/': reply })).exitCode).toBe(0);
  });
});

test('a list whose pages come round again under new names ends with what it showed', async () => {
  const origin = await openOrigin(({ url }) => {
    const number = Number(new URL(url, 'http://page.invalid').searchParams.get('page') ?? 0);
    if (number > 40) return { status: 418, body: '{}' };
    return page({ results: [number % 2 === 0 ? ada : bob], next: `?page=${number + 1}` });
  });
  const env = {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${origin.port}`,
    CHATELAINE_API_KEY: 'licensing-key-5f1d0c',
    CHATELAINE_APP_CODE: '7',
  };
  const { exitCode, stdout, error } = await runAlone('license list -o json', { env });

  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 8,
    message: 'the list is not complete: a page repeats the rows of those before',
  });
  expect(JSON.parse(stdout)).toEqual([ada, bob]);
});
