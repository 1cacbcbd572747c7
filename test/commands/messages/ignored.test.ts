import { expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

type Query = Readonly<Record<string, string>>;

function plan(service: FakeService, query: Query, more: object, messages: readonly object[] = [{ id: 5 }]): void {
  service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(200, {
    ...{ result: 'success', msg: '', anchor: 5, found_anchor: true, found_newest: true, found_oldest: true },
    ...{ history_limited: false, messages, ...more },
  });
}

const around = { anchor: '5', num_before: '1', num_after: '1' };
const level = (service: FakeService) =>
  service.expect('GET /api/v1/server_settings').reply(200, { result: 'success', msg: '', zulip_feature_level: 100 });

test.each([
  ['--anchor 5 --num-before 1 --num-after 1', around, 'anchor'],
  ['--anchor 5 --num-before 1 --num-after 1', around, 'num_before'],
  ['--anchor 5 --num-before 1 --num-after 1', around, 'num_after'],
  ['--num-before 1 --num-after 1 --use-first-unread-anchor', { ...around, anchor: 'first_unread' }, 'anchor'],
  ['--anchor 5 --limit 1', { anchor: '5', num_before: '0', num_after: '1' }, 'anchor'],
  ['--anchor 5 --num-before 1 --num-after 1 --raw-content', { ...around, apply_markdown: 'false' }, 'apply_markdown'],
])('%s: what is typed and ignored is exit 6 after the data, with --envelope too', async (words, query, name) => {
  for (const envelope of ['', ' --envelope']) {
    const service = fakeService();
    plan(service, query, { ignored_parameters_unsupported: [name] });
    level(service);

    const { exitCode, stdout, error } = await run(service, `messages fetch ${words}${envelope} -o json`);

    service.done();
    expect({ exitCode, message: error?.message }).toEqual({
      exitCode: 6,
      message: `the server (level 100) ignored: ${name}`,
    });
    expect(stdout).toContain('"id": 5'.replace(' ', envelope === '' ? '' : ' '));
  }
});

test('what paging added by itself and the server ignored is no failure', async () => {
  for (const envelope of ['', ' --envelope']) {
    const service = fakeService();
    const query = { anchor: 'newest', num_before: '1', num_after: '0' };
    plan(service, query, { ignored_parameters_unsupported: ['anchor', 'num_after'] });

    const { exitCode } = await run(service, `messages fetch --limit 1${envelope} -o json`);

    service.done();
    expect(exitCode).toBe(0);
  }
});

test('--envelope of a limited history warns', async () => {
  const service = fakeService();
  plan(service, around, { history_limited: true });

  const { exitCode, stderr } = await run(
    service,
    'messages fetch --anchor 5 --num-before 1 --num-after 1 --envelope -o json',
  );

  service.done();
  expect({ exitCode, warned: stderr.includes('the plan of the organization limits') }).toEqual({
    exitCode: 0,
    warned: true,
  });
});

test('--ids prints the messages that it asked for, and no other', async () => {
  const service = fakeService();
  plan(service, { message_ids: '[5]' }, {}, [{ id: 5 }, { id: 6 }]);

  const { exitCode, stdout } = await run(service, 'messages fetch --ids 5 -o json');

  service.done();
  expect({ exitCode, ids: (JSON.parse(stdout) as { id: number }[]).map(({ id }) => id) }).toEqual({
    ...{ exitCode: 0, ids: [5] },
  });
});
