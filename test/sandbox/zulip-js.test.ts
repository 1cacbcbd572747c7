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

test('posts, and reads what it posted', async () => {
  const { zulip, sandbox } = await client();

  const { id } = await zulip.messages.send({ type: 'stream', to: 'general', topic: 'zulip-js', content: 'hello' });

  expect(sandbox.state.topic('general', 'zulip-js')).toMatchObject([{ id, content: 'hello' }]);
});
