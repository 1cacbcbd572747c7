import { describe, expect, test } from 'vitest';
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

describe('view rename without an answer', () => {
  test('pauses as every call does, and looks before it sends the request again', async () => {
    const service = fakeService();
    renames(service).fail('ECONNRESET');
    lists(service, 'Old');
    renames(service).reply(503, '<h1>busy</h1>');
    lists(service, 'Old');
    renames(service).reply(200, done);

    const { exitCode, stdout, slept } = await run(service, 'view rename narrow/a New -o json');

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([{ fragment: 'narrow/a', name: 'New', status: 'renamed' }]);
    expect(slept).toEqual([500, 1000]);
  });

  test.each([
    ['--retries 0', 1],
    ['--retries 2', 3],
    ['', 6],
  ])('with %s it is sent %i times, then 9 with a hint', async (words, times) => {
    const service = fakeService();
    for (let count = 0; count < times; count += 1) {
      renames(service).fail('ECONNRESET');
      lists(service, 'Old');
    }

    const { exitCode, error } = await run(service, `view rename narrow/a New ${words} -o json`);

    service.done();
    expect({ exitCode, retryable: error?.retryable }).toEqual({ exitCode: 9, retryable: false });
    expect(error?.hint).toBe('Check the name of the view before you rename it again: chatelaine view list');
  });

  test.each([
    ['500', 500, { result: 'error', msg: 'Internal server error' }],
    ['a page in place of an answer', 200, '<h1>Sign in</h1>'],
  ])('after %s it is never sent again', async (_what, status, body) => {
    const service = fakeService();
    renames(service).reply(status, body);
    lists(service, 'Old');

    const { exitCode, error } = await run(service, 'view rename narrow/a New -o json');

    service.done();
    expect(exitCode).toBe(9);
    expect(error?.hint).toContain('view list');
  });

  test.each([500, 502])('a rename that the list shows after a %i is done', async (status) => {
    const service = fakeService();
    renames(service).reply(status, '<h1>no</h1>');
    lists(service, 'New');

    const { exitCode, stdout } = await run(service, 'view rename narrow/a New -o json');

    service.done();
    expect({ exitCode, status: (JSON.parse(stdout) as object[])[0] }).toMatchObject({
      exitCode: 0,
      status: { status: 'renamed' },
    });
  });
});

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
