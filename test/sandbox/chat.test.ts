import { expect, test } from 'vitest';
import { started } from './start.ts';

const bad = (msg: string) => ({ result: 'error', msg, code: 'UNAUTHORIZED' });
const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const maraKey = 'SandboxKeyOfMara0000000000000000';

test.each([
  ['a key nobody has', basicOf(`mara@harbour.example:${'a'.repeat(32)}`), 'Invalid API key'],
  ['a key of somebody else', basicOf(`tomas@harbour.example:${maraKey}`), 'Invalid API key'],
  ['a key of another form', basicOf('mara@harbour.example:short'), 'Malformed API key'],
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
  ['two colons', basicOf(`mara@harbour.example:${maraKey}:x`), 'Invalid authorization header for basic auth'],
  ['three words', `${basicOf(`mara@harbour.example:${maraKey}`)} x`, 'Invalid authorization header for basic auth'],
])('401 UNAUTHORIZED for %s', async (_name, authorization, msg) => {
  const { chat } = await started();

  const answer = await chat('GET', '/users/me', { as: null, headers: { authorization } });

  expect(answer).toMatchObject({ status: 401, body: bad(msg), headers: { 'www-authenticate': 'Basic realm="zulip"' } });
  expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
});

test('401 for everybody in a deactivated organization', async () => {
  const { chat, sandbox } = await started();
  sandbox.state.organize({ deactivated: true });

  expect((await chat('GET', '/users/me')).body).toEqual(bad('This organization has been deactivated'));
});

test('the address is compared without regard to case and outer blanks', async () => {
  const { chat } = await started();
  const headers = { authorization: basicOf(` Mara@HARBOUR.example :${maraKey}`) };

  expect((await chat('GET', '/users/me', { as: null, headers })).status).toBe(200);
});

test('another scheme than Basic is 400', async () => {
  const { chat } = await started();

  const answer = await chat('GET', '/users/me', { as: null, headers: { authorization: `Token ${maraKey}` } });

  expect(answer).toMatchObject({
    status: 400,
    body: { result: 'error', msg: 'This endpoint requires HTTP basic authentication.', code: 'BAD_REQUEST' },
  });
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
  ['GET', '/messages/'],
  ['POST', '/streams/-1/delete_topic'],
  ['POST', '/streams/one/delete_topic'],
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
  ['GET', '/saved_snippets/1', 'DELETE, PATCH'],
  ['PUT', '/navigation_views', 'GET, POST, HEAD'],
])('%s %s is 405, JSON under the content type of a page', async (method, path, allow) => {
  const { chat } = await started();

  expect(await chat(method, path, { as: null })).toMatchObject({
    status: 405,
    headers: { 'content-type': 'text/html; charset=utf-8', allow },
    body: { result: 'error', msg: 'Method Not Allowed', allowed_methods: allow.split(', ') },
  });
});

test.each([
  ['POST', '/server_settings', 'GET, HEAD'],
  ['GET', '/fetch_api_key', 'POST'],
])('%s %s, which needs no account, is 405 without a body', async (method, path, allow) => {
  const { chat } = await started();

  expect(await chat(method, path, { as: null })).toMatchObject({ status: 405, headers: { allow }, body: '' });
});

test('OPTIONS is 204', async () => {
  const { chat } = await started();

  expect(await chat('OPTIONS', '/messages')).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, POST' } });
});

test('a POST form may name another method, which then counts as an ignored parameter', async () => {
  const { chat, sandbox } = await started();

  const answer = await chat('POST', '/settings', { form: { method: 'patch', color_scheme: '2' } });

  expect(answer.body).toEqual({ result: 'success', msg: '', ignored_parameters_unsupported: ['method'] });
  expect(sandbox.state.users()[0]?.settings).toMatchObject({ color_scheme: 2 });
});

test('a long GET goes through as a POST form', async () => {
  const { chat } = await started();
  const message_ids = JSON.stringify(Array.from({ length: 2000 }, (_, index) => 1001 + index));

  const answer = await chat('POST', '/messages', { form: { method: 'GET', message_ids } });

  expect(answer).toMatchObject({
    status: 200,
    body: { result: 'success', ignored_parameters_unsupported: ['method'] },
  });
});

test('the form is looked at before the query, and the last of a repeated name counts', async () => {
  const { chat, sandbox } = await started();
  const name = () => sandbox.state.users()[0]?.full_name;

  await chat('PATCH', '/settings?full_name=From+query', { form: { full_name: 'From form' } });
  expect(name()).toBe('From form');
  await chat('PATCH', '/settings?full_name=One&full_name=Two');
  expect(name()).toBe('Two');
});

test('a multipart form is read like any other', async () => {
  const { sandbox } = await started();
  const form = new FormData();
  form.set('full_name', 'Mara L.');
  form.set('file', new Blob(['x']), 'x.txt');

  const answer = await fetch(`${sandbox.chat.site}/api/v1/settings`, {
    method: 'PATCH',
    body: form,
    headers: { authorization: basicOf(`mara@harbour.example:${maraKey}`) },
  });

  expect(await answer.json()).toEqual({ result: 'success', msg: '' });
  expect(sandbox.state.users()[0]?.full_name).toBe('Mara L.');
});

test('a JSON body is not read: a success that does nothing', async () => {
  const { chat, sandbox, log } = await started();

  const answer = await chat('PATCH', '/settings', { json: { full_name: 'Somebody' } });

  expect(answer.body).toEqual({ result: 'success', msg: '' });
  expect(sandbox.state.users()[0]?.full_name).toBe('Mara Lindqvist');
  expect(log.map(({ committed }) => committed)).toEqual([false]);
});

test.each([
  [489, '/messages?anchor=newest&num_before=0&num_after=0&zeta=1&alpha=1&client=x', ['alpha', 'zeta']],
  [167, '/users/me?alpha=1', ['alpha']],
  [166, '/users/me?alpha=1', undefined],
])('at level %i %s names as ignored %j', async (featureLevel, path, ignored) => {
  const { chat } = await started({ featureLevel });

  const { body } = await chat('GET', path);

  expect((body as Record<string, unknown>)['ignored_parameters_unsupported']).toEqual(ignored);
});

test.each([
  ['DELETE', '/saved_snippets/1?alpha=1'],
  ['GET', '/server_settings?alpha=1'],
])('%s %s never names ignored parameters', async (method, path) => {
  const { chat } = await started();

  const answer = await chat(method, path);

  expect(answer.status).toBe(200);
  expect(answer.body).not.toHaveProperty('ignored_parameters_unsupported');
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

test.each([
  [489, { zulip_version: '12.2', zulip_feature_level: 489 }],
  [421, { zulip_version: '11.4', zulip_feature_level: 421 }],
  [372, { zulip_version: '10.4', zulip_feature_level: 372 }],
  [371, { zulip_version: '10.0', zulip_feature_level: 371 }],
  [100, { zulip_version: '4.11', zulip_feature_level: 100 }],
])('server_settings at level %i', async (featureLevel, fields) => {
  const { chat } = await started({ featureLevel });

  expect((await chat('GET', '/server_settings', { as: null })).body).toMatchObject(fields);
});

test('a server of level 0 does not report its level', async () => {
  const { chat } = await started({ featureLevel: 0 });

  const { body } = await chat('GET', '/server_settings', { as: null });

  expect(body).toMatchObject({ result: 'success', zulip_version: '2.1.8' });
  expect(body).not.toHaveProperty('zulip_feature_level');
});

test('users/me tells what a read-back needs', async () => {
  const { chat } = await started();

  expect((await chat('GET', '/users/me', { as: 'tomas' })).body).toMatchObject({
    ...{ result: 'success', msg: '', user_id: 9, email: 'tomas@harbour.example', full_name: 'Tomás Ferreira' },
    ...{ is_admin: false, is_bot: false, role: 400, timezone: 'Europe/Lisbon' },
  });
});

test('HEAD answers like GET without a body', async () => {
  const { chat } = await started();

  const answer = await chat('HEAD', '/users/me');

  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: '' });
});

test.each([
  [76, 'BAD_REQUEST'],
  [75, undefined],
])('level %i: the code of a plain refusal is %s', async (featureLevel, code) => {
  const { chat } = await started({ featureLevel });

  const { body } = await chat('GET', '/messages', { query: { anchor: 'x', num_before: '0', num_after: '0' } });

  expect(body).toEqual({ result: 'error', msg: 'Invalid anchor', ...(code ? { code } : {}) });
});

test.each([
  [36, 'RATE_LIMIT_HIT'],
  [35, undefined],
])('level %i: the code of a rate limit is %s', async (featureLevel, code) => {
  const { chat } = await started({ featureLevel, rateLimit: { perMinute: 1 } });
  await chat('GET', '/users/me');

  const { body } = await chat('GET', '/users/me');

  const known = { result: 'error', msg: 'API usage exceeded rate limit', 'retry-after': 60 };
  expect(body).toEqual({ ...known, ...(code ? { code } : {}) });
});

test('specific codes are there at every level', async () => {
  const { chat } = await started({ featureLevel: 1 });

  const { body } = await chat('POST', '/streams/1/delete_topic', { form: {} });

  expect(body).toMatchObject({ code: 'REQUEST_VARIABLE_MISSING', var_name: 'topic_name' });
});
