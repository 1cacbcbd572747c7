import { expect, test } from 'vitest';
import { fakeService, run } from '../helpers/run.ts';

const success = { result: 'success', msg: '' };

test.each([
  ['narrow/a%20b', 'narrow/a%20b', 'narrow/a%2520b'],
  ['narrow/a%2Fb', 'narrow/a%2Fb', 'narrow/a%252Fb'],
  ['#narrow/a%20b', 'narrow/a b', 'narrow/a%20b'],
  ['https://chat.test/#narrow/a%20b', 'narrow/a b', 'narrow/a%20b'],
])('a fragment is sent as view list prints it, and decoded as the browser shows it: %s', async (...words) => {
  const [typed, fragment, path] = words;
  const service = fakeService();
  service
    .expect({ method: 'PATCH', path: `/api/v1/navigation_views/${path}`, form: { is_pinned: 'true' } })
    .reply(200, success);

  const { exitCode, stdout } = await run(service, ['view', 'pin', typed, '-o', 'json']);

  service.done();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual([{ fragment, is_pinned: true }]);
});
