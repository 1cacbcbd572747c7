import { expect, test } from 'vitest';
import { fakeService, openSandbox, run } from '../../helpers/run.ts';

const register = {
  method: 'POST',
  path: '/api/v1/register',
  form: { fetch_event_types: '["user_settings"]', event_types: '[]' },
};
const removal = { method: 'DELETE', path: '/api/v1/events', form: { queue_id: 'q:1' } };
const done = { result: 'success', msg: '' };

test('settings get reads by one call, and removes the queue that it made', async () => {
  const service = fakeService();
  const user_settings = { color_scheme: 2, timezone: 'Asia/Tokyo', a_new_one: true, emojiset_choices: [{ key: 'x' }] };
  service.expect(register).reply(200, { ...done, queue_id: 'q:1', user_settings });
  service.expect(removal).reply(200, done);

  const { exitCode, stdout } = await run(service, 'settings get -o json');

  service.done();
  expect({ exitCode, rows: JSON.parse(stdout) as unknown }).toEqual({
    exitCode: 0,
    rows: [
      { name: 'timezone', value: 'Asia/Tokyo' },
      { name: 'color_scheme', value: 2, value_name: 'dark' },
      { name: 'a_new_one', value: true },
    ].sort((one, other) => orderOf(stdout, one.name) - orderOf(stdout, other.name)),
  });
  expect(orderOf(stdout, 'a_new_one')).toBeGreaterThan(orderOf(stdout, 'timezone'));
});

const orderOf = (text: string, name: string): number => text.indexOf(name);

test('a setting that the server does not tell has no value; one that is none is exit 2', async () => {
  const { run: sandboxed } = await openSandbox({ featureLevel: 442 });

  const { exitCode, stdout } = await sandboxed('settings get full-name color_scheme new_password -o json');

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { name: 'full_name', value: 'Mara Lindqvist' },
    { name: 'color_scheme', value: 1 },
    { name: 'new_password', value: null },
  ]);
  expect(await sandboxed('settings get colour_scheme')).toMatchObject({ exitCode: 2 });
});

test('a read-only profile and a dry run read settings too', async () => {
  const { run: sandboxed } = await openSandbox({ featureLevel: 442 });
  const env = { CHATELAINE_READ_ONLY: '1' };

  expect(await sandboxed('settings get emojiset', { env })).toMatchObject({ exitCode: 0 });
  expect((await sandboxed('settings get emojiset -n --no-header')).stdout).toBe('emojiset\tgoogle\t\n');
});

test.each([
  ['the event system is down', 400, { result: 'error', code: 'BAD_REQUEST', msg: 'Could not allocate event queue' }, 6],
  ['a refused key', 401, { result: 'error', code: 'UNAUTHORIZED', msg: 'Invalid API key' }, 4],
  ['a rate limit', 429, '<h1>busy</h1>', 7],
])('%s: one attempt, and the error that it is', async (_what, status, body, exit) => {
  const service = fakeService();
  service.expect(register).reply(status, body);

  const { exitCode } = await run(service, 'settings get');

  service.done();
  expect(exitCode).toBe(exit);
});

test('a server that does not tell settings is exit 6 with its level', async () => {
  const { run: sandboxed } = await openSandbox({ featureLevel: 88 });

  const { exitCode, error } = await sandboxed('settings get -o json');

  expect({ exitCode, message: error?.message, hint: error?.hint }).toEqual({
    exitCode: 6,
    message: 'this server does not report the settings of an account: it has level 88',
    hint: 'That needs level 89.',
  });
  expect(await sandboxed('settings get full_name')).toMatchObject({ exitCode: 0 });
});

test('a terminal gets a line for each setting', async () => {
  const { run: runHere } = await openSandbox();
  const lines = async (line: string) => (await runHere(line, { tty: true })).stdout.split('\n').slice(0, -1);
  expect(await lines('settings set color_scheme=dark --raw nosuch=1')).toEqual([
    'color_scheme = dark',
    'nosuch = 1 (ignored)',
  ]);
  expect(await lines('settings get color_scheme timezone')).toEqual(['color_scheme = dark', 'timezone = ']);
});
