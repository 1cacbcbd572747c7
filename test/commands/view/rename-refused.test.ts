import { expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };
const taken = { result: 'error', code: 'BAD_REQUEST', msg: 'Navigation view already exists.' };
const path = '/api/v1/navigation_views/narrow/a';

function renames(service: FakeService) {
  return service.expect({ method: 'PATCH', path, form: { name: 'New' } });
}

function lists(service: FakeService, name: string, others: readonly object[] = []): void {
  const navigation_views = [{ fragment: 'narrow/a', is_pinned: true, name }, ...others];
  service.expect('GET /api/v1/navigation_views').reply(200, { ...done, navigation_views });
}

test('a name that another view has: which one', async () => {
  const service = fakeService();
  renames(service).reply(400, taken);
  lists(service, 'Old', [{ fragment: 'narrow/b', is_pinned: true, name: 'New' }]);

  const { exitCode, error } = await run(service, 'view rename narrow/a New -o json');

  service.done();
  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 6,
    message: "the view 'narrow/b' has the name 'New' already",
  });
});

test.each([
  ['view pin narrow/a', { is_pinned: 'true' }, { fragment: 'narrow/a', is_pinned: null, status: 'ignored' }],
  ['view hide narrow/a', { is_pinned: 'false' }, { fragment: 'narrow/a', is_pinned: null, status: 'ignored' }],
  [
    'view rename narrow/a New --pin',
    { is_pinned: 'true', name: 'New' },
    { fragment: 'narrow/a', name: 'New', is_pinned: null, status: 'ignored' },
  ],
])('%s: what the server ignored is a row, and named: exit 6', async (line, form, row) => {
  const service = fakeService();
  service
    .expect({ method: 'PATCH', path, form })
    .reply(200, { ...done, ignored_parameters_unsupported: ['is_pinned'] });

  const { exitCode, stdout, error } = await run(service, `${line} -o json`);

  service.done();
  expect({ exitCode, message: error?.message }).toEqual({ exitCode: 6, message: 'the server ignored: is_pinned' });
  expect(JSON.parse(stdout)).toEqual([row]);
});
