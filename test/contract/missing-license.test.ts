import { expect, test } from 'vitest';
import { fakeService, run } from '../helpers/run.ts';

const page = '<!doctype html><title>Not Found</title><h1>Not Found</h1>';
const code = 'CD3AE-2B80E-1662B-2FCA2';
const path = `/v1/license/${code}/`;

const looks = [
  { method: 'GET', path },
  { method: 'GET', path: '/v1/license/' },
];

test.each([
  ['license view CODE', `license view ${code}`, looks],
  ['license view CODE CODE', `license view ${code} ${code}`, [...looks, ...looks]],
  ['license edit CODE', `license edit ${code} --size-allowance 3`, looks.slice(0, 1)],
  ['license retire CODE', `license retire ${code}`, looks.slice(0, 1)],
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
