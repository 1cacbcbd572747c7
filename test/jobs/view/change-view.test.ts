import { describe, expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const fragment = 'narrow/is/alerted';
const done = { result: 'success', msg: '' };
const rename = (service: FakeService) =>
  service.expect({ method: 'PATCH', path: `/api/v1/navigation_views/${fragment}`, form: { name: 'Watch' } });
const views = (service: FakeService) => service.expect('GET /api/v1/navigation_views');
const named = (name: string, is_pinned = false) => ({
  ...done,
  navigation_views: [
    { fragment: 'inbox', is_pinned: true, name: null },
    { fragment, is_pinned, name },
  ],
});
const taken = { result: 'error', code: 'BAD_REQUEST', msg: 'Navigation view already exists.' };

describe.each([
  ['reset', (service: FakeService) => rename(service).fail('ECONNRESET')],
  ['502', (service: FakeService) => rename(service).reply(502, '<h1>Bad gateway</h1>')],
  ['500', (service: FakeService) => rename(service).reply(500, { result: 'error', msg: 'Internal server error' })],
])('a rename unconfirmed: %s', (_what, loseAnswer) => {
  test('the list shows the new name: done', async () => {
    const service = fakeService();
    loseAnswer(service);
    views(service).reply(200, named('Watch'));

    const { exitCode, stdout } = await run(service, `view rename ${fragment} Watch -o json`);

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([{ fragment, name: 'Watch', status: 'renamed' }]);
  });

  test.each([
    ['no list', 404, '<h1>Not Found</h1>'],
    ['a list that is refused', 400, { result: 'error', code: 'BAD_REQUEST', msg: 'no' }],
    ['a list without the view', 200, { ...done, navigation_views: [] }],
    ['a list with the old name', 200, named('Alert Words')],
  ])('%s: exit 9', async (_list, status, body) => {
    const service = fakeService();
    loseAnswer(service);
    views(service).reply(status, body);

    const { exitCode, error } = await run(service, `view rename ${fragment} Watch -o json`);

    service.done();
    expect({ exitCode, code: error?.code, retryable: error?.retryable }).toEqual({
      exitCode: 9,
      code: 'unknown',
      retryable: false,
    });
  });

  test('a list that is not answered: exit 9', async () => {
    const service = fakeService();
    loseAnswer(service);
    service.expect('GET /api/v1/navigation_views', 6).fail('ECONNRESET');

    expect(await run(service, `view rename ${fragment} Watch`)).toMatchObject({ exitCode: 9 });
    service.done();
  });
});

const path = `/api/v1/navigation_views/${fragment}`;
const both = { method: 'PATCH', path, form: { is_pinned: 'true', name: 'Watch' } };

test.each([
  [true, 0],
  [false, 9],
])('an unconfirmed rename with --pin is done when the list shows both: is_pinned %s', async (is_pinned, exit) => {
  const service = fakeService();
  service.expect(both).fail('ECONNRESET');
  views(service).reply(200, named('Watch', is_pinned));

  const { exitCode, stdout } = await run(service, `view rename ${fragment} Watch --pin -o json`);

  service.done();
  expect([exitCode, stdout.includes('"renamed"')]).toEqual([exit, is_pinned]);
});

describe('a rename to the present name, which the server refuses', () => {
  test('is unchanged', async () => {
    const service = fakeService();
    rename(service).reply(400, taken);
    views(service).reply(200, named('Watch'));

    const { exitCode, stdout, stderr } = await run(service, `view rename ${fragment} Watch -o json`);

    service.done();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual([{ fragment, name: 'Watch', status: 'unchanged' }]);
  });

  test.each([
    [false, 6],
    [true, 0],
  ])('with --pin, and is_pinned %s before: exit %s', async (before, exit) => {
    const service = fakeService();
    service.expect(both).reply(400, taken);
    views(service).reply(200, named('Watch', before));

    const { exitCode, stdout, error } = await run(service, `view rename ${fragment} Watch --pin -o json`);

    service.done();
    expect([exitCode, error?.hint?.includes(`view pin ${fragment}`)]).toEqual([exit, before ? undefined : true]);
    const row = { fragment, name: 'Watch', is_pinned: true, status: 'unchanged' };
    expect(stdout === '' ? [] : JSON.parse(stdout)).toEqual(before ? [row] : []);
  });
});

test.each([
  ['the list shows another name', (service: FakeService) => views(service).reply(200, named('Alert Words'))],
  ['there is no list', (service: FakeService) => views(service).reply(404, '<h1>Not Found</h1>')],
  ['the list lacks the view', (service: FakeService) => views(service).reply(200, { ...done, navigation_views: [] })],
  [
    'the list is not answered',
    (service: FakeService) => service.expect('GET /api/v1/navigation_views', 6).fail('ECONNRESET'),
  ],
])('a refusal stays one where %s', async (_what, list) => {
  const service = fakeService();
  rename(service).reply(400, taken);
  list(service);

  const { exitCode, error } = await run(service, `view rename ${fragment} Watch -o json`);

  service.done();
  expect({ exitCode, msg: error?.server?.msg }).toEqual({ exitCode: 6, msg: 'Navigation view already exists.' });
});

test.each(['pin', 'hide'])('view %s is repeated unconfirmed: the same value again changes nothing', async (verb) => {
  const service = fakeService();
  const form = { is_pinned: String(verb === 'pin') };
  const call = { method: 'PATCH', path: `/api/v1/navigation_views/${fragment}`, form };
  service.expect(call).fail('ECONNRESET');
  service.expect(call).reply(503, '<h1>no</h1>');
  service.expect(call).reply(200, done);

  expect(await run(service, `view ${verb} ${fragment}`)).toMatchObject({ exitCode: 0 });
  service.done();
});
