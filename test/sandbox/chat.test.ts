import { expect, test } from 'vitest';
import { started } from './start.ts';

const bad = (msg: string) => ({ result: 'error', msg, code: 'UNAUTHORIZED' });
const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const maraKey = 'SandboxKeyOfMara0000000000000000';

test.each([
  ['a key nobody has', basicOf(`mara@harbour.example:${'a'.repeat(32)}`), 'Invalid API key'],
  ['a key of somebody else', basicOf(`tomas@harbour.example:${maraKey}`), 'Invalid API key'],
  [
    'a deactivated account',
    basicOf('oskar@harbour.example:SandboxKeyOfOskar000000000000000'),
    'Account is deactivated',
  ],
  [
    'an incoming webhook',
    basicOf('crash-reports-bot@harbour.example:SandboxKeyOfSentryHook0000000000'),
    'This API is not available to incoming webhook bots.',
  ],
])('401 UNAUTHORIZED for %s', async (_name, authorization, msg) => {
  const { chat } = await started();

  const answer = await chat('GET', '/users/me', { as: null, headers: { authorization } });

  expect(answer).toMatchObject({ status: 401, body: bad(msg), headers: { 'www-authenticate': 'Basic realm="zulip"' } });
  expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
});

test('who accepts pages and has no credentials is sent to the login page', async () => {
  const { chat } = await started();

  const answer = await chat('GET', '/users/me', { as: null, headers: { accept: 'text/html' } });

  expect(answer).toMatchObject({
    status: 302,
    body: '',
    headers: { location: '/login/?next=%2Fapi%2Fv1%2Fusers%2Fme' },
  });
});

test.each([
  ['GET', '/nosuch'],
  ['POST', '/streams/-1/delete_topic'],
  ['DELETE', '/saved_snippets/x'],
])('%s %s is an unknown page, with or without credentials', async (method, path) => {
  const { chat } = await started();

  const answer = await chat(method, path, { as: null });

  expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(answer.body).toContain('<title>Page not found</title>');
});

test.each([
  ['PUT', '/settings', 'PATCH'],
  ['GET', '/streams/1/delete_topic', 'POST'],
])('%s %s is 405, JSON under the content type of a page', async (method, path, allow) => {
  const { chat } = await started();

  expect(await chat(method, path, { as: null })).toMatchObject({
    status: 405,
    headers: { 'content-type': 'text/html; charset=utf-8', allow },
    body: { result: 'error', msg: 'Method Not Allowed', allowed_methods: allow.split(', ') },
  });
});

test('a POST form may name another method, which then counts as an ignored parameter', async () => {
  const { chat, sandbox } = await started();

  const answer = await chat('POST', '/settings', { form: { method: 'patch', color_scheme: '2' } });

  expect(answer.body).toEqual({ result: 'success', msg: '', ignored_parameters_unsupported: ['method'] });
  expect(sandbox.state.users()[0]?.settings).toMatchObject({ color_scheme: 2 });
});

test('the form is looked at before the query, and the last of a repeated name counts', async () => {
  const { chat, sandbox } = await started();
  const name = () => sandbox.state.users()[0]?.full_name;

  await chat('PATCH', '/settings?full_name=From+query', { form: { full_name: 'From form' } });
  expect(name()).toBe('From form');
  await chat('PATCH', '/settings?full_name=One&full_name=Two');
  expect(name()).toBe('Two');
});

test('a JSON body is not read: a success that does nothing', async () => {
  const { chat, sandbox, log } = await started();

  const answer = await chat('PATCH', '/settings', { json: { full_name: 'Somebody' } });

  expect(answer.body).toEqual({ result: 'success', msg: '' });
  expect(sandbox.state.users()[0]?.full_name).toBe('Mara Lindqvist');
  expect(log.map(({ committed }) => committed)).toEqual([false]);
});

test('ignored parameters are named in the order of their names', async () => {
  const { chat } = await started();

  const { body } = await chat('GET', '/users/me?zeta=1&alpha=1&client=x');

  expect(body).toMatchObject({ ignored_parameters_unsupported: ['alpha', 'zeta'] });
});

test('rate limit: headers count down, the refused call costs nothing, and the whole allowance comes back', async () => {
  const { chat, clock } = await started({ rateLimit: { perMinute: 2 }, featureLevel: 421 });
  const second = Math.floor(clock.now() / 1000);
  const limits = (remaining: number, reset: number) => ({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset),
  });

  expect((await chat('GET', '/users/me')).headers).toMatchObject(limits(1, second + 60));
  clock.advance(20_000);
  expect((await chat('GET', '/users/me')).headers).toMatchObject(limits(0, second + 80));
  clock.advance(1_250);
  const refused = await chat('GET', '/users/me');
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '38.75', ...limits(0, second + 80) },
    body: { result: 'error', msg: 'API usage exceeded rate limit', 'retry-after': 38.75, code: 'RATE_LIMIT_HIT' },
  });
  expect((await chat('GET', '/users/me', { as: 'tomas' })).status).toBe(200);
  clock.advance(38_750);
  expect((await chat('GET', '/users/me')).status).toBe(200);
});

test('credentials are checked before the rate limit, the rate limit before the role, the role before parameters', async () => {
  const { chat } = await started({ rateLimit: { perMinute: 2 } });

  const first = await chat('POST', '/streams/999/delete_topic', { as: 'tomas' });
  expect(first.body).toMatchObject({ code: 'UNAUTHORIZED_PRINCIPAL' });
  expect((await chat('PATCH', '/settings', { as: 'release-bot', form: { color_scheme: 'x' } })).body).toMatchObject({
    msg: 'This endpoint does not accept bot requests.',
  });
  await chat('POST', '/streams/999/delete_topic', { as: 'tomas' });
  expect((await chat('POST', '/streams/999/delete_topic', { as: 'tomas' })).status).toBe(429);
  expect((await chat('GET', '/users/me', { as: null })).status).toBe(401);
});

test('server_settings counts against no allowance', async () => {
  const { chat } = await started({ rateLimit: { perMinute: 2 } });

  const statuses = [];
  for (let call = 0; call < 3; call += 1) statuses.push((await chat('GET', '/server_settings', { as: null })).status);

  expect(statuses).toEqual([200, 200, 200]);
  expect((await chat('GET', '/server_settings')).headers).not.toHaveProperty('x-ratelimit-limit');
});

test('a form of several parts without a boundary has no fields', async () => {
  const { chat } = await started();
  const headers = { 'content-type': 'multipart/form-data' };

  expect(await chat('PATCH', '/settings', { json: 'x', headers })).toMatchObject({ status: 200, body: { msg: '' } });
});

test('a body of more than 25 MiB is refused by the proxy', async () => {
  const { chat } = await started();
  const bytes = 25 * 1024 * 1024;
  const send = (length: number) => chat('POST', '/users', { json: 'x'.repeat(length - 2) });

  expect(await send(bytes)).toMatchObject({ status: 405 });
  const page = '<html><head><title>413 Request Entity Too Large</title></head><body></body></html>';
  expect(await send(bytes + 1)).toMatchObject({ status: 413, body: page });
});
