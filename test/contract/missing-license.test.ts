import { expect, test } from 'vitest';
import { fakeService, run } from '../helpers/run.ts';

const page = '<!doctype html><title>Not Found</title><h1>Not Found</h1>';
const code = 'CD3AE-2B80E-1662B-2FCA2';
const path = `/v1/license/${code}/`;
const license = { license_code: '0191A-86552', remote_user: 'ada', app_code: 7, size_allowance: 4 };

const looks = [
  { method: 'GET', path },
  { method: 'GET', path: '/v1/license/' },
];

test.each([
  ['license view CODE', `license view ${code}`, looks],
  ['license view CODE CODE', `license view ${code} ${code}`, [...looks, ...looks]],
  ['license edit CODE', `license edit ${code} --size-allowance 3`, looks],
  ['license retire CODE', `license retire ${code}`, looks],
])('where every path is an HTML 404, %s is 5 with both causes', async (_what, line, requests) => {
  const service = fakeService();
  for (const request of requests) service.expect(request).reply(404, page, { 'content-type': 'text/html' });

  const { exitCode, error } = await run(service, `${line} -o json`);

  service.done();
  expect(exitCode).toBe(5);
  expect(error?.message).toContain('no license has this code');
  expect(error?.hint).toContain('the base URL of the profile may be wrong');
  expect(error?.hint).toContain('chatelaine license list');
});

test('where the list is answered, an HTML 404 of the code says nothing of the base URL', async () => {
  const service = fakeService();
  service.expect({ method: 'GET', path }).reply(404, page, { 'content-type': 'text/html' });
  service.expect('GET /v1/license/').reply(200, [license]);

  const { exitCode, error } = await run(service, `license view ${code} -o json`);

  service.done();
  expect(exitCode).toBe(5);
  expect(error?.hint).toMatch(/^A key of this server is written XXXXX-XXXXX\. /);
  expect(error?.hint).not.toContain('base URL');
});
