import { expect, test } from 'vitest';
import { started, type Running } from './start.ts';

const prototypeNames = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

test.each(prototypeNames)('%s is no operator and no operand', async (name) => {
  const { chat } = await started();
  const narrow = (...terms: string[][]) =>
    chat('GET', '/messages', { query: { anchor: 'newest', narrow: JSON.stringify(terms) } });

  expect(await narrow([name, 'x'])).toMatchObject({ status: 400, body: { desc: `unknown operator ${name}` } });
  for (const operator of ['is', 'has']) {
    const desc = `unknown '${operator}' operand ${name}`;
    expect(await narrow([operator, name])).toMatchObject({ status: 400, body: { desc } });
  }
  expect(await narrow(['channels', name])).toMatchObject({ body: { desc: `unknown channels operand ${name}` } });
  const form = { type: name, to: 'general', topic: 't', content: 'c' };
  expect((await chat('POST', '/messages', { form })).status).toBe(400);
});

test('channels: those that the caller may enter, an id by name, and topics by their last message', async () => {
  const { chat, sandbox } = await started();

  const { body } = await chat('GET', '/streams', { as: 'jonas' });
  const topics = await chat('GET', '/users/me/1/topics');

  expect((body as { streams: { name: string }[] }).streams.map(({ name }) => name)).toEqual([
    ...['general', 'firmware', 'releases', 'social'],
  ]);
  expect((await chat('GET', '/get_stream_id', { query: { stream: 'General' } })).body).toMatchObject({ stream_id: 1 });
  expect(await chat('GET', '/get_stream_id', { query: { stream: 'nope' } })).toMatchObject({
    status: 400,
    body: { result: 'error', msg: "Invalid channel name 'nope'", code: 'BAD_REQUEST' },
  });
  const [newest] = (topics.body as { topics: { name: string; max_id: number }[] }).topics;
  expect(newest?.max_id).toBe(sandbox.state.messages().findLast(({ stream_id }) => stream_id === 1)?.id);
  expect((await chat('GET', '/users/me/4/topics')).body).toMatchObject({ msg: 'Invalid channel ID' });
});

test.each([
  ['GET', '/events'],
  ['GET', '/realm/emoji'],
  ['POST', '/messages/flags'],
  ['GET', '/users/8'],
  ['PATCH', '/messages/1001'],
  ['DELETE', '/messages/1001'],
  ['DELETE', '/navigation_views/inbox'],
  ['PATCH', '/saved_snippets/1'],
])('%s %s is an error in JSON that says what the sandbox lacks', async (method, path) => {
  const { chat } = await started();

  expect(await chat(method, path)).toMatchObject({
    status: 400,
    body: {
      result: 'error',
      msg: `The sandbox does not have this endpoint: ${method} /api/v1${path}`,
      code: 'NOT_IN_SANDBOX',
    },
  });
});

test.each([
  ['127.0.0.1:8080', 200],
  ['[::1]:8080', 200],
  ['localhost', 200],
  ['LOCALHOST:1', 200],
  ['rebound.example:8080', 421],
  ['localhost.example', 421],
  ['127.0.0.1.example', 421],
])('a host that is neither an address nor localhost is refused: %s', async (host, status) => {
  const { chat, licensing } = await started();
  const headers = { host };
  expect((await chat('GET', '/users/me', { headers })).status).toBe(status);
  expect((await licensing('GET', '/license/', { headers })).status).toBe(status);
});

const login = (username: string, password: string) => ({ as: null, form: { username, password } });
const post = (type: string, to: string) => ({ form: { type, to, topic: 't', content: 'c' } });
const ofType = (type: string, form = {}) => ({ form, headers: { 'content-type': type } });
const noJson = 'JSON parse error - Expecting value: line 1 column 1 (char 0)';
const issue = (send: object): Parameters<Running['licensing']> => ['POST', '/license/', send];
const license = { remote_user: 'ada', app_code: '4711', size_allowance: '4' };

test.each<[Parameters<Running['chat']>, status: number, body: unknown, api?: 'licensing']>([
  [['OPTIONS', '/license/'], 200, { name: 'License', renders: ['application/json'] }, 'licensing'],
  [['DELETE', '/license/'], 405, { detail: 'Method "DELETE" not allowed.' }, 'licensing'],
  [issue({ json: [] }), 400, { non_field_errors: ['Invalid data. Expected a dictionary.'] }, 'licensing'],
  [issue(ofType('application/json', { '{': '' })), 400, { detail: noJson }, 'licensing'],
  [
    issue(ofType('text/plain', license)),
    415,
    { detail: 'Unsupported media type "text/plain" in request.' },
    'licensing',
  ],
  [['POST', '/license/', ofType('text/plain')], 400, { remote_user: ['This field is required.'] }, 'licensing'],
  [['POST', '/license/', { form: license }], 201, { remote_user: 'ada', size_allowance: 4 }, 'licensing'],
  [['GET', '/license/', { query: { app_code: 'x' } }], 400, { app_code: ['Enter a number.'] }, 'licensing'],
  [['OPTIONS', '/messages'], 204, ''],
  [['GET', '/fetch_api_key'], 405, ''],
  [['POST', '/fetch_api_key', login(' MARA@harbour.example', 'sandbox-password-of-mara')], 200, { user_id: 8 }],
  [['POST', '/fetch_api_key', login('mara@harbour.example', 'x')], 401, { code: 'AUTHENTICATION_FAILED' }],
  [['POST', '/fetch_api_key', login('oskar@harbour.example', 'sandbox-password-of-oskar')], 401, { result: 'error' }],
  [['GET', '/messages/1400'], 200, { message: { id: 1400, avatar_url: null } }],
  [['GET', '/messages/1'], 400, { msg: 'Invalid message(s)' }],
  [['POST', '/messages', post('stream', '1')], 200, { result: 'success' }],
  [['POST', '/messages', post('stream', '99')], 400, { msg: "Channel with ID '99' does not exist", stream_id: 99 }],
  [['POST', '/messages', post('stream', '"General"')], 200, { result: 'success' }],
  [['POST', '/messages', post('stream', 'none')], 400, { msg: "Channel 'none' does not exist", stream: 'none' }],
  [['POST', '/messages', post('direct', '[9, 10]')], 200, { result: 'success' }],
  [['POST', '/messages', post('direct', 'ines@harbour.example,x')], 400, { code: 'BAD_REQUEST' }],
])('%j is %i', async (call, status, body, api) => {
  const answer = await (await started())[api ?? 'chat'](...call);
  expect(answer).toMatchObject({ status, body });
  expect('content-length' in answer.headers).toBe(status !== 204);
});
