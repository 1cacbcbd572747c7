import { expect, test } from 'vitest';
import type { errorShapes, nameChanges } from '../../src/sandbox/licensing/shapes/license-body.ts';
import { cacheShapes } from '../../src/sandbox/licensing/shapes/cache.ts';
import type { writeShapes } from '../../src/sandbox/licensing/shapes/write-shapes.ts';
import { listShapes } from '../../src/sandbox/licensing/shapes/list-shapes.ts';
import { readFaults } from '../../src/sandbox/faults.ts';
import { started, type Reply } from './start.ts';

/** The six licenses of the sample application. */
const users = [
  'clinic-north/ward-3',
  'clinic-north/gait-lab',
  'dr.abara@clinic-south.example',
  'physio-7731',
  'physio-7740',
  'O\'Neill, "Gait" & Sons',
];

interface Page {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** What is beside the rows; undefined where the body is the array itself. */
  readonly beside?: Record<string, unknown>;
  /** Name of the array in the body. */
  readonly under?: string;
}

/** What each shape says of a first page of four licenses and a last page of two; URLs are without their origin. */
const paged: Readonly<Record<string, readonly [first: Page, last: Page]>> = {
  pages: object(
    { count: 6, next: '/v1/license/?page=2', previous: null },
    { count: 6, next: null, previous: '/v1/license/?page=1' },
  ),
  'next-path': object({ next: '/v1/license/?page=2' }, { next: null }),
  'next-query': object({ next: '?page=2' }, { next: null }),
  'next-url': object({ next_url: '/v1/license/?page=2' }, { next_url: null }),
  'next-page-url': object({ next_page_url: '/v1/license/?page=2' }, { next_page_url: null }),
  'next-links': object({ links: { next: '/v1/license/?page=2' } }, { links: { next: null } }),
  'next-hal': object({ _links: { next: { href: '/v1/license/?page=2' } } }, { _links: {} }),
  'next-rel': object({ links: [{ rel: 'next', href: '/v1/license/?page=2' }] }, { links: [] }),
  'next-page': object({ next_page: 2 }, { next_page: null }),
  'next-page-token': object({ nextPageToken: '2' }, {}),
  'has-more': object({ has_more: true }, { has_more: false }),
  count: object({ count: 6 }, { count: 6 }),
  'pagination-total': object({ pagination: { total: 6 } }, { pagination: { total: 6 } }),
  'total-count-header': array({ 'x-total-count': '6' }, { 'x-total-count': '6' }),
  'content-range': [
    { status: 206, headers: { 'content-range': 'licenses 0-3/6' } },
    { status: 206, headers: { 'content-range': 'licenses 4-5/6' } },
  ],
  'link-header': array({ link: '</v1/license/?page=2>; rel="next"' }, {}),
  'link-header-bare': array({ link: '</v1/license/?page=2>; rel=next' }, {}),
  'link-header-single': array({ link: "</v1/license/?page=2>; rel='next'" }, {}),
  'link-header-two-words': array({ link: '</v1/license/?page=2>; rel="last next"' }, {}),
  'link-header-comma': array({ link: '</v1/license/?page=2>; title="more, and more"; rel="next"' }, {}),
};

function object(first: Record<string, unknown>, last: Record<string, unknown>): readonly [Page, Page] {
  return [
    { beside: first, under: 'results' },
    { beside: last, under: 'results' },
  ];
}

function array(first: Record<string, string>, last: Record<string, string>): readonly [Page, Page] {
  return [{ headers: first }, { headers: last }];
}

test.each(Object.entries(paged))('a list of the shape %s: its first and its last page', async (list, [first, last]) => {
  const { licensing, sandbox } = await started({
    licenseShape: { list_shape: list as keyof typeof listShapes, page_size: 4 },
  });
  const seen = async (query: Record<string, string>, expected: Page) =>
    pageIn(await licensing('GET', '/license/', { query }), expected, sandbox.licensing.base_url);

  expect(await seen({}, first)).toEqual(shownPage(first, 0, 4));
  expect(await seen(list === 'next-page-token' ? { pageToken: '2' } : { page: '2' }, last)).toEqual(
    shownPage(last, 4, 6),
  );
});

function shownPage({ status = 200, headers = {}, beside }: Page, from: number, to: number) {
  return { status, headers, beside, users: users.slice(from, to) };
}

/** The parts of an answer that say which page it is. */
function pageIn({ status, headers, body }: Reply, { under }: Page, origin: string) {
  const own = Object.entries(headers).filter(([name]) => ['link', 'x-total-count', 'content-range'].includes(name));
  const { [under ?? '']: inside, ...others } = body as Record<string, unknown>;
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(origin, ''));
  return {
    status,
    headers: plain(Object.fromEntries(own)),
    beside: under === undefined ? undefined : plain(others),
    users: usersIn(under === undefined ? body : inside),
  };
}

function usersIn(list: unknown): string[] {
  return (list as { remote_user: string }[]).map(({ remote_user }) => remote_user);
}

test('a list whose following pages are empty', async () => {
  const { licensing, sandbox } = await started({ licenseShape: { list_shape: 'next-empty', page_size: 4 } });

  const first = (await licensing('GET', '/license/')).body as { next: string; results: unknown[] };
  const second = await licensing('GET', `/license/${new URL(first.next).search}`);

  expect(first.next).toBe(`${sandbox.licensing.base_url}/v1/license/?page=2`);
  expect(usersIn(first.results)).toEqual(users.slice(0, 4));
  expect(second.body).toEqual({ next: null, results: [] });
});

test.each(['results', 'licenses', 'data', 'items'] as const)('all rows under %s', async (list) => {
  const { licensing } = await started({ licenseShape: { list_shape: list } });

  const { body } = await licensing('GET', '/license/');

  expect(Object.keys(body as object)).toEqual([list]);
  expect(usersIn((body as Record<string, unknown>)[list])).toEqual(users);
});

/** The users on the first page and on the second one, by their places, at the first reading and at the second. */
const moved = {
  'moving-front': [
    [0, 1, 2, 3],
    [3, 4],
    [5, 0, 1, 2],
    [3, 4],
  ],
  'moving-end': [
    [0, 1, 2, 3],
    [5, 0],
    [1, 2, 3, 4],
    [5, 0],
  ],
  'moving-hidden': [[0, 1, 2, 3], [5], [0, 1, 2, 3], [4, 5]],
} as const;

test.each(Object.entries(moved))('a list of the shape %s moves at each second reading', async (list, places) => {
  for (const name of [list, `${list}-uncounted`] as (keyof typeof listShapes)[]) {
    const { licensing } = await started({ licenseShape: { list_shape: name, page_size: 4 } });
    const pages = [];
    for (const page of ['1', '2', '1', '2']) {
      const { body } = await licensing('GET', '/license/', { query: { page } });
      pages.push(usersIn((body as { results: unknown }).results));
      expect('count' in (body as object)).toBe(name === list);
    }
    expect(pages).toEqual(places.map((some) => some.map((place) => users[place])));
  }
});

test.each<[keyof typeof listShapes, number, number]>([
  ['cut', 0, 4],
  ['cut-newest', 2, 6],
  ['cut-counted', 0, 4],
])('a list of the shape %s is cut and does not say so', async (list, from, to) => {
  const { licensing } = await started({ licenseShape: { list_shape: list, page_size: 4 } });

  const { status, headers, body } = await licensing('GET', '/license/');
  const hidden = await licensing('GET', '/license/', { query: { remote_user: users[from === 0 ? 5 : 0] ?? '' } });

  const rows = list === 'cut-counted' ? (body as { results: unknown }).results : body;
  expect([status, headers['link'], usersIn(rows)]).toEqual([200, undefined, users.slice(from, to)]);
  expect(list === 'cut-counted' ? body : { count: 4, results: rows }).toEqual({ count: 4, results: rows });
  expect(JSON.stringify(hidden.body)).toContain(`"remote_user":${JSON.stringify(users[from === 0 ? 5 : 0])}`);
});

test('each shape of a list is tried in this file', () => {
  const cut = ['cut', 'cut-newest', 'cut-counted'];
  const whole = ['array', 'results', 'licenses', 'data', 'items', 'next-empty'];

  const moving = Object.keys(moved).flatMap((name) => [name, `${name}-uncounted`]);
  expect(Object.keys(listShapes).sort()).toEqual([...whole, ...cut, ...moving, ...Object.keys(paged)].sort());
});

const errors: Readonly<Record<keyof typeof errorShapes, unknown>> = {
  detail: { detail: 'Not found.' },
  'error-results': { error: 'Not found.', results: [] },
  'errors-data': { data: [], errors: ['Not found.'] },
  'success-items': { success: false, items: [] },
  'status-licenses': { status: 'error', message: 'Not found.', licenses: [] },
  'result-failed': { result: 'failed', reason: 'Not found.' },
  'non-field-errors': { non_field_errors: ['Not found.'] },
  'code-number': { code: 403, error: 'Not found.' },
  'code-word': { code: 'BAD_REQUEST', message: 'Not found.' },
  'request-id': { error: 'Not found.', request_id: 'req-7f3a' },
  text: 'Not found.',
};

test.each(Object.entries(errors))('an error of the shape %s has status 200', async (error, body) => {
  const { licensing } = await started({
    licenseShape: { error_shape: error as keyof typeof errorShapes },
    faults: readFaults('GET /v1/license/=error-in-200#1', 1),
  });

  const refused = await licensing('GET', '/license/none/');
  const broken = await licensing('GET', '/license/');
  const whole = await licensing('GET', '/license/');

  expect({ status: refused.status, body: refused.body }).toEqual({ status: 200, body });
  const said = JSON.stringify(body).replaceAll('Not found.', 'Something went wrong.');
  expect({ status: broken.status, body: broken.body }).toEqual({ status: 200, body: JSON.parse(said) as unknown });
  expect(usersIn(whole.body)).toEqual(users);
});

const ada = { remote_user: 'ada', app_code: 4711, size_allowance: 4 };
const created = { license_code: 'E936F-9B9E4-8FF8B-D3C75', ...ada, created: '2026-03-16T09:00:00Z' };
const resized = { ...created, size_allowance: 9 };
const ward = { license_code: '0191A-86552-95939-DF69B', remote_user: 'clinic-north/ward-3' };
const wrong = { detail: 'Something went wrong.' };

/** Status and body after a POST and after a PATCH, and the size that is kept. */
const writes: Readonly<Record<keyof typeof writeShapes, readonly [number, unknown, number, unknown, number]>> = {
  license: [201, created, 200, resized, 9],
  wrapped: [201, { license: created }, 200, { license: resized }, 9],
  array: [201, [created], 200, [resized], 9],
  key: [201, created.license_code, 200, created.license_code, 9],
  echo: [201, created, 200, resized, 9],
  text: [202, 'Accepted', 202, 'Accepted', 9],
  empty: [201, '', 200, '', 9],
  'no-content': [204, '', 204, '', 9],
  old: [201, created, 200, created, 9],
  unchanged: [201, created, 200, created, 4],
  'other-user': [201, expect.objectContaining(ward), 200, expect.objectContaining(ward), 9],
  'other-key': [
    201,
    { ...created, license_code: ward.license_code },
    200,
    { ...resized, license_code: ward.license_code },
    9,
  ],
  error: [200, wrong, 200, wrong, 9],
  redirect: [302, '', 200, resized, 9],
};

test.each(Object.entries(writes))('writes of the shape %s', async (write, [status, body, statusOf, bodyOf, kept]) => {
  const { licensing, sandbox } = await started({ licenseShape: { write_shape: write as keyof typeof writeShapes } });

  const posted = await licensing('POST', '/license/', { json: ada });
  const patched = await licensing('PATCH', `/license/${created.license_code}/`, { json: { size_allowance: 9 } });

  expect({ status: posted.status, body: posted.body }).toEqual({ status, body });
  expect({ status: patched.status, body: patched.body }).toEqual({ status: statusOf, body: bodyOf });
  expect(posted.headers['location']).toBe(
    write === 'redirect' ? `${sandbox.licensing.base_url}/v1/license/` : undefined,
  );
  const own = sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'ada');
  expect(own.map(({ size_allowance }) => size_allowance)).toEqual([kept]);
});

const long = 'x'.repeat(29) + ' yz';

/** What is sent and what comes back. */
const changes: Readonly<Record<keyof typeof nameChanges, readonly [string, Record<string, unknown>]>> = {
  lower: ['Ada L', { remote_user: 'ada l' }],
  upper: ['Ada L', { remote_user: 'ADA L' }],
  domain: ['Ada@EXAMPLE.com', { remote_user: 'Ada@example.com' }],
  blanks: ['Ada L', { remote_user: 'AdaL' }],
  plus: ['ada+l', { remote_user: 'ada l' }],
  tags: ['ada<b>l', { remote_user: 'adal' }],
  dot: ['ada.', { remote_user: 'ada' }],
  decimal: ['1.50', { remote_user: '1.5' }],
  'cut-20': [long, { remote_user: 'x'.repeat(20) }],
  'cut-64': ['x'.repeat(70), { remote_user: 'x'.repeat(64) }],
  trim: [' Ada  L ', { remote_user: 'Ada  L' }],
  collapse: ['Ada  \t L', { remote_user: 'Ada L' }],
  cut: [long, { remote_user: `${'x'.repeat(29)} ` }],
  number: ['007', { remote_user: 7 }],
  'text-codes': ['Ada', { remote_user: 'Ada', app_code: '4711' }],
};

test.each(Object.entries(changes))('names of the change %s', async (names, [remote_user, shown]) => {
  const { licensing } = await started({ licenseShape: { names: names as keyof typeof nameChanges } });

  const { body } = await licensing('POST', '/license/', { json: { ...ada, remote_user } });
  const listed = await licensing('GET', '/license/', { query: { remote_user, app_code: '4711' } });

  expect(body).toEqual({ ...created, ...shown });
  expect(listed.body).toEqual([{ ...created, ...shown }]);
});

test.each([
  ['changed', ['ada'], ['ada']],
  ['exact', [], ['ada']],
  ['ignored', 7, 7],
] as const)('filters are %s', async (filters, byTyped, byKept) => {
  const { licensing } = await started({ licenseShape: { names: 'lower', filters } });
  await licensing('POST', '/license/', { json: { ...ada, remote_user: 'Ada' } });
  const found = async (remote_user: string) =>
    (await licensing('GET', '/license/', { query: { remote_user } })).body as { remote_user: string }[];
  const reported = (list: { remote_user: string }[]) => (list.length === 7 ? 7 : list.map((row) => row.remote_user));

  expect(reported(await found('Ada'))).toEqual(byTyped);
  expect(reported(await found('ada'))).toEqual(byKept);
});

test('a list that lags shows a license, and each change, only so long after', async () => {
  const { licensing, clock } = await started({ licenseShape: { stale: 2000 } });
  const listed = async () =>
    ((await licensing('GET', '/license/', { query: { remote_user: 'ada' } })).body as (typeof ada)[]).map(
      ({ size_allowance }) => size_allowance,
    );
  const resize = (size_allowance: number) =>
    licensing('PATCH', `/license/${created.license_code}/`, { json: { size_allowance } });

  await licensing('POST', '/license/', { json: ada });
  clock.advance(1999);
  await resize(5);
  expect(await listed()).toEqual([]);
  clock.advance(1);
  expect(await listed()).toEqual([4]);
  await resize(6);
  expect(await listed()).toEqual([4]);
  clock.advance(1999);
  expect(await listed()).toEqual([5]);
  clock.advance(1);
  expect(await listed()).toEqual([6]);
  expect((await licensing('GET', `/license/${created.license_code}/`)).body).toMatchObject({ size_allowance: 6 });
});

test.each([
  ['age', { age: '1', 'x-cache': 'HIT', date: 'Mon, 16 Mar 2026 09:00:00 GMT' }, 6],
  ['date', { age: undefined, 'x-cache': undefined, date: 'Mon, 16 Mar 2026 09:00:00 GMT' }, 6],
  ['none', { age: '3', 'x-cache': 'HIT', date: 'Mon, 16 Mar 2026 09:00:01 GMT' }, 7],
  ['obedient', { age: undefined, 'x-cache': undefined, date: 'Mon, 16 Mar 2026 09:00:01 GMT' }, 7],
] as const)('a cache of the shape %s', async (cache_shape, marks, rows) => {
  const { licensing, clock } = await started({ licenseShape: { cache: 3000, cache_shape } });
  const list = async () => {
    const { headers, body } = await licensing('GET', '/license/', { headers: { 'cache-control': 'no-cache' } });
    const { age, date, 'x-cache': cache } = headers;
    return { marks: { age, 'x-cache': cache, date }, rows: (body as unknown[]).length };
  };

  expect((await list()).rows).toBe(6);
  await licensing('POST', '/license/', { json: ada });
  clock.advance(1999);
  expect(await list()).toEqual({ marks, rows });
  clock.advance(1001);
  expect((await list()).rows).toBe(7);
});

test('every cache is tried in this file', () => {
  expect(Object.keys(cacheShapes)).toEqual(['age', 'date', 'obedient', 'none']);
});
