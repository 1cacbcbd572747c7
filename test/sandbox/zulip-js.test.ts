import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { started } from './start.ts';

type Answer = Promise<Record<string, unknown>>;
interface Client {
  callEndpoint(endpoint: string, method?: string, params?: Record<string, unknown>): Answer;
  readonly messages: {
    retrieve(params: Record<string, unknown>): Answer;
    send(params: Record<string, unknown>): Answer;
  };
  readonly server: { settings(): Answer };
  readonly users: {
    retrieve(params?: object): Answer;
    me: {
      getProfile(): Answer;
    };
  };
  readonly streams: {
    retrieve(params?: object): Answer;
    getStreamId(name: string): Answer;
    topics: { retrieve(params: { stream_id: number }): Answer };
  };
  readonly queues: { register(params: object): Answer };
}
type Connect = (config: { username: string; apiKey: string; realm: string }) => Promise<Client>;

/** The official client of the chat service, which knows nothing of this sandbox. */
const connect = createRequire(import.meta.url)('zulip-js') as Connect;

async function client() {
  const { sandbox } = await started();
  const [mara] = sandbox.chat.accounts;
  const config = { username: mara?.email ?? '', apiKey: mara?.api_key ?? '', realm: sandbox.chat.site };
  return { sandbox, zulip: await connect(config) };
}

test('fetches messages', async () => {
  const { zulip } = await client();

  const { messages, ...flags } = await zulip.messages.retrieve({
    ...{ anchor: 'newest', num_before: 2, num_after: 0, apply_markdown: false },
    narrow: [
      { operator: 'channel', operand: 'general' },
      { operator: 'topic', operand: 'lunch' },
    ],
  });

  expect(flags).toEqual({
    ...{ result: 'success', msg: '', anchor: 10_000_000_000_000_000 },
    ...{ found_anchor: false, found_oldest: false, found_newest: true, history_limited: false },
  });
  expect((messages as { content: string }[]).map(({ content }) => content)).toEqual([
    'There was a topic for that, but yes: second floor of the shipyard, until two.',
    'Found it, excellent dumplings.',
  ]);
});

test('asks for the server and for itself', async () => {
  const { zulip } = await client();

  expect(await zulip.server.settings()).toMatchObject({ result: 'success', zulip_feature_level: 489 });
  expect(await zulip.users.me.getProfile()).toMatchObject({
    result: 'success',
    full_name: 'Mara Lindqvist',
    is_admin: true,
  });
});

test('changes a setting, with its parameters in the query', async () => {
  const { zulip, sandbox } = await client();

  expect(await zulip.callEndpoint('/settings', 'PATCH', { color_scheme: 2, full_name: 'Mara' })).toEqual({
    result: 'success',
    msg: '',
  });

  expect(sandbox.state.users()[0]).toMatchObject({ full_name: 'Mara', settings: { color_scheme: 2 } });
});

test('deletes a topic, with a multipart form', async () => {
  const { zulip, sandbox } = await client();

  const answer = await zulip.callEndpoint('/streams/1/delete_topic', 'POST', { topic_name: 'who has dock 4?' });

  expect(answer).toEqual({ result: 'success', msg: '', complete: true });
  expect(sandbox.state.topic('general', 'who has dock 4?')).toEqual([]);
});

test('reads users, channels and topics', async () => {
  const { zulip, sandbox } = await client();
  const newest = sandbox.state.messages().findLast(({ stream_id }) => stream_id === 1);

  expect(await zulip.users.retrieve()).toMatchObject({ result: 'success', members: { length: 8 } });
  expect(await zulip.streams.retrieve()).toMatchObject({
    result: 'success',
    streams: [{ name: 'general' }, {}, {}, {}, {}],
  });
  expect(await zulip.streams.getStreamId('firmware')).toEqual({ result: 'success', msg: '', stream_id: 2 });
  expect(await zulip.streams.topics.retrieve({ stream_id: 1 })).toHaveProperty('topics.0.max_id', newest?.id);
});

test('posts, and reads what it posted', async () => {
  const { zulip, sandbox } = await client();

  const { id } = await zulip.messages.send({ type: 'stream', to: 'general', topic: 'zulip-js', content: 'hello' });

  expect(sandbox.state.topic('general', 'zulip-js')).toMatchObject([{ id, content: 'hello' }]);
});

test('learns that there are no event queues, in JSON', async () => {
  const { zulip } = await client();

  expect(await zulip.queues.register({ event_types: ['message'] })).toMatchObject({ result: 'success' });
});

test('gets the words of a wrong key', async () => {
  const { sandbox } = await client();
  const config = { username: 'mara@harbour.example', apiKey: 'x'.repeat(32), realm: sandbox.chat.site };

  const answer = await (await connect(config)).messages.retrieve({ anchor: 'newest' });

  expect(answer).toEqual({ result: 'error', msg: 'Invalid API key', code: 'UNAUTHORIZED' });
});
