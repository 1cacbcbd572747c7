import { expect, test } from 'vitest';
import { started } from './start.ts';

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

test('users: a hidden address is made up for everybody, and the real one is shown to whom it may be', async () => {
  const { chat } = await started();
  const members = async (as: string) => ((await chat('GET', '/users', { as })).body as { members: object[] }).members;

  const made = { email: 'user8@harbour.example' };
  expect((await members('mara'))[0]).toMatchObject({ ...made, delivery_email: 'mara@harbour.example', role: 200 });
  expect((await members('tomas'))[0]).toMatchObject({ ...made, delivery_email: null });
  expect(await members('mara')).toHaveLength(8);
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

test('a message is posted unread, and read by its number', async () => {
  const { chat, sandbox } = await started();
  const form = { type: 'channel', to: '"general"', topic: 'news', content: '**one**' };
  const { id } = (await chat('POST', '/messages', { form, as: 'tomas' })).body as { id: number };
  const url = `/messages/${id}`;

  expect((await chat('GET', url, { query: { apply_markdown: 'false' } })).body).toMatchObject({
    raw_content: '**one**',
    message: { flags: [], subject: 'news', content: '**one**' },
  });
  sandbox.state.change(({ messages }) => messages.remove(id));
  expect((await chat('GET', url)).body).toMatchObject({ msg: 'Invalid message(s)' });
});

test('a direct message goes to addresses and ids', async () => {
  const { chat, sandbox } = await started();
  const send = (to: string) => chat('POST', '/messages', { form: { type: 'direct', to, content: 'hello' } });

  expect((await send('[9]')).status).toBe(200);
  expect((await send('tomas@harbour.example, user10@harbour.example')).status).toBe(200);

  expect(
    sandbox.state
      .messages()
      .slice(-2)
      .map(({ people }) => people),
  ).toEqual([
    [8, 9],
    [8, 9, 10],
  ]);
  expect((await send('nobody@harbour.example')).body).toMatchObject({ msg: "Invalid email 'nobody@harbour.example'" });
});

test.each([
  [430, { web_inbox_show_channel_folders: 'true' }, ['web_inbox_show_channel_folders']],
  [431, { web_inbox_show_channel_folders: 'true' }, undefined],
  [443, { color_scheme: '2', target_users: '{"user_ids":[9]}' }, ['target_users']],
  [444, { color_scheme: '2', target_users: '{"user_ids":[9]}' }, undefined],
])('at level %i %o is ignored: %o', async (featureLevel, form, ignored) => {
  const { chat, sandbox } = await started({ featureLevel });

  const { body } = await chat('PATCH', '/settings', { form });

  expect((body as { ignored_parameters_unsupported?: string[] }).ignored_parameters_unsupported).toEqual(ignored);
  const [mara, tomas] = sandbox.state.users();
  const changesOther = featureLevel === 444;
  expect([mara?.settings['color_scheme'], tomas?.settings['color_scheme']]).toEqual(
    'color_scheme' in form ? (changesOther ? [undefined, 2] : [2, undefined]) : [undefined, undefined],
  );
});

test.each([
  ['tomas', { target_users: '{"user_ids":[8]}' }, 'Must be an organization administrator'],
  ['mara', { target_users: '{}' }, 'Either user_ids or group_ids must be provided.'],
  ['mara', { target_users: '{"user_ids":[9]}', timezone: 'UTC' }, 'Cannot change this setting for other users.'],
])('%s cannot change settings with %o', async (as, form, msg) => {
  const { chat } = await started();

  expect((await chat('PATCH', '/settings', { form, as })).body).toMatchObject({ result: 'error', msg });
});

test.each([
  [87, ['zulip_merge_base', 'realm_web_public_access_enabled', 'realm_url']],
  [115, ['realm_web_public_access_enabled', 'realm_url']],
  [256, ['realm_url']],
  [257, []],
])('server_settings of level %i lacks %o', async (featureLevel, missing) => {
  const { chat } = await started({ featureLevel });
  const { body } = await chat('GET', '/server_settings');

  const all = ['zulip_merge_base', 'realm_web_public_access_enabled', 'realm_url'];
  expect(all.filter((name) => !(name in (body as object)))).toEqual(missing);
});

test('first_unread in a narrow on a muted channel does not heed the muting', async () => {
  const { chat } = await started();
  const form = { type: 'stream', to: 'social', topic: 'cake', content: 'at four' };
  const { id } = (await chat('POST', '/messages', { form, as: 'ines' })).body as { id: number };
  const anchor = async (...terms: string[][]) => {
    const query = { anchor: 'first_unread', num_after: '1', narrow: JSON.stringify(terms) };
    return ((await chat('GET', '/messages', { query })).body as { anchor: number }).anchor;
  };

  expect(await anchor(['topic', 'cake'])).toBe(10_000_000_000_000_000);
  expect(await anchor(['channel', 'social'], ['topic', 'cake'])).toBe(id);
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
