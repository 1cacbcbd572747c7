import { expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { fakeService, run } from '../helpers/run.ts';
import type { FakeService } from '../helpers/service.ts';
import { contracts } from './exchanges.ts';
import {
  calls,
  envelope,
  errors,
  message,
  messageQueries,
  namesOfTheText,
  refusedLicenses,
  refusedQueries,
  refusedSettings,
  settingLevels,
  settingValues,
} from './specification.ts';

const success = { result: 'success', msg: '' };

function answersLevel(service: FakeService, level: number): void {
  service.expect('GET /api/v1/server_settings').reply(200, { ...success, zulip_feature_level: level });
}

const most = Math.max(...Object.values(settingValues).map((values) => Object.keys(values).length));
/** What is sent in a request of its own. */
const apart = ['full_name', 'email'];

test.each(Array.from({ length: most }, (_, place) => place))('PATCH /settings: value %i of each', async (place) => {
  const rows = Object.entries(settingValues).flatMap(([name, values]) =>
    Object.entries(values)
      .slice(place, place + 1)
      .flatMap(([typed, sent]) => (apart.includes(name) ? [] : [{ name, typed, sent }])),
  );
  const service = fakeService();
  // Before level 454 the home view is recent_topics, and before 425 there is google-blob.
  answersLevel(service, 424);
  const form = Object.fromEntries(rows.map(({ name, sent }) => [name, sent]));
  service.expect({ method: 'PATCH', path: '/api/v1/settings', form }).reply(200, success);

  const { exitCode } = await run(service, ['settings', 'set', ...rows.map(({ name, typed }) => `${name}=${typed}`)]);

  service.done();
  expect(exitCode).toBe(0);
});

test.each(apart)('PATCH /settings: %s', async (name) => {
  const service = fakeService();
  const [value = ''] = Object.values(settingValues[name] ?? {});
  service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { [name]: value } }).reply(200, success);

  const { exitCode } = await run(service, ['settings', 'set', `${name}=${value}`]);

  service.done();
  expect(exitCode).toBe(0);
});

test('PATCH /settings: old_password and new_password', async () => {
  const service = fakeService();
  const form = { old_password: 'old one', new_password: 'new two' };
  service.expect({ method: 'PATCH', path: '/api/v1/settings', form }).reply(200, success);

  const stdin = 'old_password=old one\nnew_password=new two\n';
  const { exitCode } = await run(service, 'settings set --from - -o json', { stdin });

  service.done();
  expect(exitCode).toBe(0);
});

test('PATCH /settings: each value that a setting does not take is named, and nothing is sent', async () => {
  // A message names at most twenty.
  for (let at = 0; at < refusedSettings.length; at += 20) {
    const refused = refusedSettings.slice(at, at + 20);
    const service = fakeService();
    const words = refused.map(([name, typed]) => `${name}=${typed}`);

    const { exitCode, error } = await run(service, ['settings', 'set', ...words, '-o', 'json']);

    expect({ exitCode, seen: service.seen }).toEqual({ exitCode: 2, seen: [] });
    expect(error?.message.split('\n').map((line) => line.split(':')[0])).toEqual(refused.map(([name]) => name));
  }
});

test.each(sampleOf(12, Object.entries(settingLevels)))(
  'a server that ignores %s below level %i: the error says so',
  async (name, level) => {
    const [typed = '', sent = ''] = Object.entries(settingValues[name] ?? {})[0] ?? [];
    const service = fakeService();
    answersLevel(service, level - 1);
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form: { [name]: sent } })
      .reply(200, { ...success, ignored_parameters_unsupported: [name] });

    const { exitCode, error } = await run(service, ['settings', 'set', `${name}=${typed}`, '-o', 'json']);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toContain(`${name} (needs level ${level})`);
  },
);

test.each(messageQueries)('GET /messages, %s: %s', async (_name, words, query) => {
  const service = fakeService();
  const messages = /\[42/.test(query['message_ids'] ?? '') ? [{ id: 42 }, { id: 43 }] : [];
  service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(200, { ...envelope, messages });

  const { exitCode } = await run(service, `messages fetch ${words} -o json`);

  service.done();
  expect(exitCode).toBe(0);
});

test.each(refusedQueries)('GET /messages, an error of the specification: %s is sent to no server', async (words) => {
  const service = fakeService();

  const { exitCode } = await run(service, `messages fetch ${words} -o json`);

  expect({ exitCode, seen: service.seen }).toEqual({ exitCode: 2, seen: [] });
});

const around = { anchor: '42', num_before: '0', num_after: '0' };
const fetchOne = 'messages fetch --anchor 42 --num-before 0 --num-after 0';

function answersMessage(service: FakeService): void {
  service
    .expect({ method: 'GET', path: '/api/v1/messages', query: around })
    .reply(200, { ...envelope, messages: [message] });
}

test('each field of a message is printed as it was sent', async () => {
  const service = fakeService();
  answersMessage(service);
  answersMessage(service);

  const whole = await run(service, `${fetchOne} -o json`);
  const named = await run(service, `${fetchOne} --fields ${Object.keys(message).join()} -o ndjson`);

  service.done();
  expect((JSON.parse(whole.stdout) as object[])[0]).toMatchObject(message);
  expect(named.stdout).toBe(`${JSON.stringify(message)}\n`);
});

test('each field of the answer is printed with --envelope', async () => {
  const service = fakeService();
  answersMessage(service);

  const { exitCode, stdout } = await run(service, `${fetchOne} --envelope -o json`);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ...envelope, messages: [message] });
});

test.each(calls)('$names: $line', async ({ line, answer, ...request }) => {
  const service = fakeService();
  const isLicense = request.path.startsWith('/v1/license/');
  const license = { license_code: 'CODE-1234', remote_user: 'ada', app_code: 7, size_allowance: 4 };
  if (isLicense) service.expect({ method: 'GET', path: request.path }, 2).reply(200, license);
  const { method, path, json, form } = request;
  service.expect({ method, path, ...(json && { json }), ...(form && { form }) }).reply(200, answer);

  const { exitCode } = await run(service, `${line} -o json`);

  service.done();
  expect(exitCode).toBe(0);
});

test.each(refusedLicenses)('%s is sent to no server', async (line) => {
  const service = fakeService();

  const { exitCode } = await run(service, `${line} -o json`);

  expect({ exitCode, seen: service.seen }).toEqual({ exitCode: 2, seen: [] });
});

test.each(errors)('$condition ($status, $code) is exit $exit, with the words of the server', async (row) => {
  const service = fakeService();
  const { code, msg } = row;
  service.expect(row.request).reply(row.status, { result: 'error', code, msg });
  if (row.condition.includes('custom name') || row.line.startsWith('view '))
    service.expect('GET /api/v1/navigation_views').reply(200, { ...success, navigation_views: [] });

  const { exitCode, error } = await run(service, `${row.line} -o json`);

  expect({ exitCode, server: error?.server }).toEqual({ exitCode: row.exit, server: { code, msg } });
});

test('the tables, and the exchanges of contracts, have every name of the text', () => {
  const tables = [
    ...Object.keys(settingValues),
    ...['old_password', 'new_password', 'code'],
    ...messageQueries.map(([name]) => name),
    ...Object.keys(message),
    ...calls.flatMap(({ names }) => names.split(' ')),
    ...Object.keys(envelope),
    ...['messages', 'ignored_parameters_unsupported'],
  ];
  const exchanges = JSON.stringify(contracts);

  expect(namesOfTheText.filter((name) => !tables.includes(name) && !exchanges.includes(name))).toEqual([]);
  expect(tables.filter((name) => !namesOfTheText.includes(name))).toEqual([]);
});
