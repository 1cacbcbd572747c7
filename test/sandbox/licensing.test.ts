import { expect, test } from 'vitest';
import { started } from './start.ts';

const ward = {
  license_code: '0191A-86552-95939-DF69B',
  remote_user: 'clinic-north/ward-3',
  app_code: 4711,
  size_allowance: 6,
  created: '2026-01-14T09:20:11Z',
};
const fresh = { remote_user: 'physio-9', app_code: 4711, size_allowance: 4 };
const created = { license_code: 'E936F-9B9E4-8FF8B-D3C75', ...fresh, created: '2026-03-16T09:00:00Z' };
const wardPath = `/license/${ward.license_code}/`;
const codes = (body: unknown) => (body as { license_code: string }[]).map(({ license_code }) => license_code);

test('POST issues a license: 201 and the license', async () => {
  const { licensing, log } = await started();

  expect(await licensing('POST', '/license/', { json: fresh })).toMatchObject({ status: 201, body: created });

  expect(log).toEqual([
    {
      ...{ time: Date.parse('2026-03-16T09:00:00Z'), api: 'licensing', method: 'POST', path: '/v1/license/' },
      ...{ status: 201, fault: null, committed: true },
    },
  ]);
});

test('names are not unique: the same user gets another license each time', async () => {
  const { licensing } = await started();

  const first = await licensing('POST', '/license/', { json: fresh });
  const second = await licensing('POST', '/license/', { json: fresh });
  const list = await licensing('GET', '/license/', { query: { remote_user: 'physio-9' } });

  expect(list.body).toEqual([first.body, second.body]);
  expect(new Set(codes(list.body)).size).toBe(2);
});

test.each([
  [
    {},
    {
      remote_user: ['This field is required.'],
      app_code: ['This field is required.'],
      size_allowance: ['This field is required.'],
    },
  ],
  [{ ...fresh, remote_user: '' }, { remote_user: ['This field may not be blank.'] }],
  [{ ...fresh, remote_user: 'x'.repeat(128) }, { remote_user: ['Ensure this field has no more than 127 characters.'] }],
  [{ ...fresh, remote_user: 'Zoë' }, { remote_user: ['Enter ASCII characters only.'] }],
  [{ ...fresh, remote_user: 7 }, { remote_user: ['Not a valid string.'] }],
  [{ ...fresh, app_code: '4711' }, { app_code: ['A valid integer is required.'] }],
  [{ ...fresh, size_allowance: 0 }, { size_allowance: ['Ensure this value is greater than or equal to 1.'] }],
  [{ ...fresh, size_allowance: 19 }, { size_allowance: ['Ensure this value is less than or equal to 18.'] }],
])('POST %j is 400 %j', async (json, body) => {
  const { licensing, sandbox } = await started();
  const before = sandbox.state.licenses().length;

  expect(await licensing('POST', '/license/', { json })).toMatchObject({ status: 400, body });

  expect(sandbox.state.licenses()).toHaveLength(before);
});

test.each([
  [undefined, 'Authentication credentials were not provided.'],
  ['Basic eDp5', 'Authentication credentials were not provided.'],
  ['Token a b', 'Invalid token header. Token string should not contain spaces.'],
  ['Token nobody', 'Invalid token.'],
])('Authorization: %s is 401: %s', async (authorization, detail) => {
  const { licensing } = await started();

  const answer = await licensing('GET', '/license/', { as: null, headers: authorization ? { authorization } : {} });

  expect(answer).toMatchObject({ status: 401, body: { detail }, headers: { 'www-authenticate': 'Token' } });
});

test('the list shows the licenses of the key’s application alone', async () => {
  const { licensing } = await started();

  expect((await licensing('GET', '/license/')).body).toHaveLength(6);
  expect((await licensing('GET', '/license/', { app: 4712 })).body).toHaveLength(4);
});

test.each([
  [{ remote_user: 'clinic-north/ward-3' }, [ward.license_code]],
  [{ remote_user: 'Clinic-North/ward-3' }, []],
  [{ remote_user: 'clinic-north/ward-3', app_code: '4711' }, [ward.license_code]],
  [{ app_code: '4712' }, []],
])('filter %j finds %j', async (query, found) => {
  const { licensing } = await started();

  expect(codes((await licensing('GET', '/license/', { query })).body)).toEqual(found);
});

test.each(['0', '-2', 'x', '1e0', '1234567890'])('limit=%s is none: a page has its usual size', async (limit) => {
  const { licensing } = await started({ ownShape: { list_shape: 'next', page_size: 4 } });
  const { body } = await licensing('GET', '/license/', { query: { limit } });
  expect((body as { readonly results: readonly object[] }).results).toHaveLength(4);
});

test('pages by limit and offset, and by page', async () => {
  const { licensing, sandbox } = await started({ licenseShape: { page_size: 2 } });
  const at = (query: string) => `${sandbox.licensing.base_url}/v1/license/?${query}`;

  const middle = await licensing('GET', '/license/', { query: { limit: '3', offset: '2' } });
  expect(middle.body).toMatchObject({ count: 6, next: at('limit=2&offset=4'), previous: at('limit=2&offset=0') });
  const last = await licensing('GET', '/license/', { query: { page: '3', app_code: '4711' } });
  expect(last.body).toMatchObject({ count: 6, next: null, previous: at('page=2&app_code=4711') });
});

test('GET, PUT and PATCH of one license', async () => {
  const { licensing } = await started();

  expect(await licensing('GET', wardPath)).toMatchObject({ status: 200, body: ward });
  expect(await licensing('PATCH', wardPath, { json: { size_allowance: 9 } })).toMatchObject({
    status: 200,
    body: { ...ward, size_allowance: 9 },
  });
  expect(await licensing('PUT', wardPath, { json: { remote_user: 'ward-3' } })).toMatchObject({
    status: 400,
    body: { app_code: ['This field is required.'], size_allowance: ['This field is required.'] },
  });
  const next = { remote_user: 'ward-3', app_code: 4711, size_allowance: 18 };
  expect((await licensing('PUT', wardPath, { json: next })).body).toEqual({ ...ward, ...next });
  expect((await licensing('GET', wardPath)).body).toEqual({ ...ward, ...next });
  expect((await licensing('PATCH', wardPath, { json: {} })).status).toBe(200);
});

test('another application’s license is not seen, and nothing is written for another application', async () => {
  const { licensing, sandbox } = await started();
  const before = sandbox.state.licenses();

  for (const method of ['GET', 'PUT', 'PATCH']) {
    const answer = await licensing(method, wardPath, { app: 4712, ...(method === 'GET' ? {} : { json: fresh }) });
    expect(answer, method).toMatchObject({ status: 404, body: { detail: 'Not found.' } });
  }
  const forbidden = { status: 403, body: { detail: 'The API key belongs to another application.' } };
  expect(await licensing('POST', '/license/', { json: { ...fresh, app_code: 4712 } })).toMatchObject(forbidden);
  expect(await licensing('PATCH', wardPath, { json: { app_code: 4712 } })).toMatchObject(forbidden);
  expect(sandbox.state.licenses()).toBe(before);
});

test.each([
  ['a sensor that was lent: the earliest', { mac_address: 'D4:22:CD:00:03:02' }, 200, 'physio-7731'],
  ['any spelling', { mac_address: 'd422cd000302' }, 200, 'physio-7731'],
  ['with its application', { mac_address: 'D4-22-CD-00-03-01', app_code: '4711' }, 200, 'clinic-north/ward-3'],
])('first activation of %s', async (_name, query, status, remote_user) => {
  const { licensing } = await started();

  expect(await licensing('GET', '/first-activation/', { query })).toMatchObject({ status, body: { remote_user } });
});

test.each([
  [{ mac_address: 'FF:FF:FF:FF:FF:FF' }, 404, { detail: 'Not found.' }],
  [{ mac_address: 'D4:22:CD:00:03:04' }, 404, { detail: 'Not found.' }],
  [{ mac_address: 'D4:22:CD:00:03:01', app_code: '4712' }, 404, { detail: 'Not found.' }],
  [{ mac_address: 'D4:22:CD:00:03:01', app_code: 'x' }, 400, { app_code: ['A valid integer is required.'] }],
  [{}, 400, { mac_address: ['This field is required.'] }],
])('first activation of %j is %i', async (query, status, body) => {
  const { licensing } = await started();

  expect(await licensing('GET', '/first-activation/', { query })).toMatchObject({ status, body });
});

test.each([
  [{ list_shape: 'data' }, { data: [ward], total: 1 }],
  [{ list_shape: 'next' }, { count: 1, next: null, previous: null, results: [ward] }],
  [{ list_shape: 'masked' }, [{ ...ward, license_code: '*****-*****-*****-DF69B' }]],
] as const)('a server of shape %j lists %j', async (ownShape, body) => {
  const { licensing } = await started({ ownShape });

  expect((await licensing('GET', '/license/', { query: { remote_user: ward.remote_user } })).body).toEqual(body);
});

test('pages link to one another, and keep the rest of the query', async () => {
  const { licensing, sandbox } = await started({ ownShape: { list_shape: 'next', page_size: 3 } });
  const list = `${sandbox.licensing.base_url}/v1/license/?app_code=4711`;
  const page = (query: object) => licensing('GET', '/license/', { query: { app_code: '4711', ...query } });

  const first = (await page({})).body;
  const second = (await page({ page: '2' })).body;

  expect(first).toMatchObject({ count: 6, next: `${list}&page=2`, previous: null });
  expect(second).toMatchObject({ count: 6, next: null, previous: `${list}&page=1` });
  expect([...codes((first as Page).results), ...codes((second as Page).results)]).toHaveLength(6);
  expect(await page({ page: '3' })).toMatchObject({ status: 404, body: { detail: 'Invalid page.' } });
  expect(await page({ limit: '2' })).toMatchObject({
    ...{ status: 200, body: { next: `${list}&limit=2&offset=2`, previous: null } },
  });
  expect((await page({ limit: '2', offset: '1' })).body).toMatchObject({
    ...{ next: `${list}&limit=2&offset=3`, previous: `${list}&limit=2&offset=0` },
  });
  expect((await page({ remote_user: 'nobody' })).body).toMatchObject({ count: 0, results: [] });
});

interface Page {
  readonly results: readonly unknown[];
}

test('a change may not be made, and be answered with no field of the license', async () => {
  const { licensing } = await started({ ownShape: { write_shape: 'nothing' } });

  const answer = await licensing('PATCH', wardPath, { json: { size_allowance: 9 } });

  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { message: 'Saved.' } });
  expect((await licensing('GET', wardPath)).body).toEqual(ward);
  expect(await licensing('POST', '/license/', { json: fresh })).toMatchObject({ status: 201, body: created });
});

test('names may be kept in lower case, by filters too', async () => {
  const { licensing } = await started({ ownShape: { names: 'lower' } });

  await licensing('POST', '/license/', { json: { ...fresh, remote_user: 'Physio-9' } });

  expect((await licensing('GET', '/license/', { query: { remote_user: 'PHYSIO-9' } })).body).toEqual([created]);
});

test('filters may be ignored', async () => {
  const { licensing } = await started({ ownShape: { filters: 'ignored' } });

  expect(codes((await licensing('GET', '/license/', { query: { remote_user: 'nobody' } })).body)).toHaveLength(6);
});

test('a list may show a license, and each change, only so long after', async () => {
  const { licensing, clock } = await started({ ownShape: { stale: 2000 } });
  const sizes = async () =>
    ((await licensing('GET', '/license/', { query: { remote_user: 'physio-9' } })).body as (typeof fresh)[]).map(
      ({ size_allowance }) => size_allowance,
    );
  const resize = (size_allowance: number) =>
    licensing('PATCH', `/license/${created.license_code}/`, { json: { size_allowance } });

  await licensing('POST', '/license/', { json: fresh });
  clock.advance(1999);
  await resize(5);
  expect(await sizes()).toEqual([]);
  clock.advance(1);
  expect(await sizes()).toEqual([4]);
  clock.advance(1999);
  expect(await sizes()).toEqual([5]);
});

test('calls may be limited: 429 with whole seconds', async () => {
  const { licensing, clock } = await started({ rateLimit: { licensing: 1 } });
  await licensing('GET', wardPath);
  clock.advance(12_400);

  expect(await licensing('GET', wardPath)).toMatchObject({
    status: 429,
    headers: { 'retry-after': '48' },
    body: { detail: 'Request was throttled. Expected available in 48 seconds.' },
  });
  expect((await licensing('GET', '/license/', { app: 4712 })).status).toBe(200);
});
