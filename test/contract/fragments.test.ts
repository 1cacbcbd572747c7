import { expect, test } from 'vitest';
import { fakeService, run } from '../helpers/run.ts';

const success = { result: 'success', msg: '' };
const views = ['narrow/a%20b', 'narrow/a%2Fb', 'narrow/a/b', 'narrow/c d'].map((fragment) => ({
  ...{ fragment, is_pinned: false, name: fragment === 'narrow/a/b' ? '50% off' : null },
}));

test.each([
  ['narrow/a%20b', 'narrow/a%20b', 'narrow/a%2520b'],
  ['#narrow/a%20b', 'narrow/a%20b', 'narrow/a%2520b'],
  ['https://chat.test/#narrow/a%20b', 'narrow/a%20b', 'narrow/a%2520b'],
  ['narrow/a%2Fb', 'narrow/a%2Fb', 'narrow/a%252Fb'],
  ['narrow/c%20d', 'narrow/c d', 'narrow/c%20d'],
  ['#narrow/e%20f', 'narrow/e f', 'narrow/e%20f'],
  ['50% off', 'narrow/a/b', 'narrow/a/b'],
])('a view that the list has as typed is that one, and only another is decoded: %s', async (typed, fragment, path) => {
  const service = fakeService();
  service.expect('GET /api/v1/navigation_views').reply(200, { ...success, navigation_views: views });
  service
    .expect({ method: 'PATCH', path: `/api/v1/navigation_views/${path}`, form: { is_pinned: 'true' } })
    .reply(200, success);

  const { exitCode, stdout } = await run(service, ['view', 'pin', typed, '-o', 'json']);

  service.done();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual([{ fragment, is_pinned: true }]);
});

test('where the server lists no views, what is typed is decoded', async () => {
  const service = fakeService();
  service.expect('GET /api/v1/navigation_views').reply(404, '<h1>Not Found</h1>');
  service
    .expect({ method: 'PATCH', path: '/api/v1/navigation_views/narrow/a%20b', form: { is_pinned: 'false' } })
    .reply(200, success);

  const { exitCode } = await run(service, 'view hide narrow/a%20b -o json');

  service.done();
  expect(exitCode).toBe(0);
});

test('rename takes a fragment as view list prints it', async () => {
  const service = fakeService();
  service.expect('GET /api/v1/navigation_views').reply(200, { ...success, navigation_views: views });
  service
    .expect({ method: 'PATCH', path: '/api/v1/navigation_views/narrow/a%252Fb', form: { name: 'A' } })
    .reply(200, success);

  const { exitCode } = await run(service, 'view rename narrow/a%2Fb A -o json');

  service.done();
  expect(exitCode).toBe(0);
});
