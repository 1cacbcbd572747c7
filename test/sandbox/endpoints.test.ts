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

test('users: a hidden address is made up for everybody, and the real one is shown to whom it may be', async () => {
  const { chat } = await started();
  const mara = async (as: string) => {
    const { body } = await chat('GET', '/users/8', { as });
    return (body as { user: object }).user;
  };

  const made = { email: 'user8@harbour.example' };
  expect(await mara('mara')).toMatchObject({ ...made, delivery_email: 'mara@harbour.example', role: 200 });
  expect(await mara('tomas')).toMatchObject({ ...made, delivery_email: null });
  expect((await chat('GET', '/users')).body).toMatchObject({ members: { length: 8 } });
  expect((await chat('GET', '/users/999')).body).toMatchObject({ msg: 'No such user' });
});

test.each([
  ['POST', '/register'],
  ['GET', '/events'],
  ['GET', '/realm/emoji'],
  ['POST', '/messages/flags'],
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

test('a message is posted unread, edited with its history, and deleted', async () => {
  const { chat, sandbox } = await started();
  const form = { type: 'channel', to: '"general"', topic: 'news', content: 'one' };
  const { id } = (await chat('POST', '/messages', { form, as: 'tomas' })).body as { id: number };
  const url = `/messages/${id}`;

  expect((await chat('GET', url)).body).toMatchObject({ raw_content: 'one', message: { flags: [], subject: 'news' } });
  expect((await chat('PATCH', url, { form: { content: 'two' } })).body).toMatchObject({
    msg: "You don't have permission to edit this message",
  });
  expect((await chat('PATCH', url, { form: { content: '**two**' }, as: 'tomas' })).body).toMatchObject({
    result: 'success',
  });
  expect((await chat('GET', url, { query: { apply_markdown: 'false' } })).body).toMatchObject({
    raw_content: '**two**',
    message: { content: '**two**', edit_history: [{ user_id: 9, prev_content: 'one' }] },
  });
  expect((await chat('DELETE', url, { as: 'jonas' })).body).toMatchObject({
    msg: "You don't have permission to delete this message",
  });
  expect((await chat('DELETE', url)).status).toBe(200);
  expect((await chat('GET', url)).body).toMatchObject({ msg: 'Invalid message(s)' });
  expect(sandbox.state.topic('general', 'news')).toEqual([]);
});

test.each([
  ['change_one', [1, 2]],
  ['change_later', [2, 1]],
  ['change_all', [3, 0]],
])('a topic is renamed, resolved or moved with %s', async (propagate_mode, [moved, stayed]) => {
  const running = await started();
  const [, second] = await posted(running, 3);

  const form = { topic: '✔ news', stream_id: '2', propagate_mode };
  const answer = await running.chat('PATCH', `/messages/${second}`, { form });

  expect(answer.body).toEqual({ result: 'success', msg: '', detached_uploads: [] });
  const there = running.sandbox.state.topic('firmware', '✔ news');
  expect([there.length, running.sandbox.state.topic('general', 'news').length]).toEqual([moved, stayed]);
  expect(there[0]?.edit_history?.[0]).toMatchObject({ prev_topic: 'news', topic: '✔ news', prev_stream: 1, stream: 2 });
  expect(there[0]?.recipient_id).toBe(102);
});

test.each([
  [{}, 'Nothing to change'],
  [{ topic: 'news' }, 'Nothing to change'],
  [{ content: 'x', stream_id: '2' }, 'Cannot change message content while changing channel'],
  [{ content: 'x', propagate_mode: 'change_all' }, 'Invalid propagate_mode without topic edit'],
  [{ topic: 'x', propagate_mode: 'all' }, 'Invalid propagate_mode: Value error, Not in the list of possible values'],
  [{ stream_id: '4' }, 'Invalid channel ID'],
])('a move of %o is refused', async (form, msg) => {
  const running = await started();
  const [first] = await posted(running, 1);

  expect(await running.chat('PATCH', `/messages/${first}`, { form })).toMatchObject({ status: 400, body: { msg } });
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

/** Posts to general, news, and gives the ids. */
async function posted({ chat }: Running, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let number = 1; number <= count; number += 1) {
    const form = { type: 'stream', to: 'general', topic: 'news', content: `news ${number}` };
    ids.push(((await chat('POST', '/messages', { form })).body as { id: number }).id);
  }
  return ids;
}
