import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf, type ServedMessage } from '../../helpers/chat-server.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

// What the account did not receive is found in a private channel by a narrow on that channel alone
// (docs/apis.md, Private channels).

const shared = { invite_only: true, history_public_to_subscribers: true };
const kitchen = { stream_id: 5, name: 'kitchen' };
const vault = { stream_id: 9, name: 'vault', ...shared };

function moveTo(messages: readonly ServedMessage[], ids: readonly number[]): void {
  for (const message of messages)
    if (ids.includes(message.id)) Object.assign(message, { stream_id: 9, display_recipient: 'vault' });
}

/** Topics in which every third message is moved into the private channel while its call runs. */
function moving(channels: readonly object[], level = 372) {
  const moved = idsBetween(1, 20).filter((id) => id % 3 === 0);
  return openChatServer({
    ...{ level, unreceived: [9], channels: channels as [] },
    messages: [
      ...topicOf('lunch', idsBetween(1, 15)),
      ...topicOf('tea', idsBetween(16, 20)),
      ...topicOf('x', [99], vault),
    ],
    meanwhile(messages, { path }, calls) {
      const isOf = (id: number): boolean => (calls === 1 ? id <= 15 : id > 15);
      if (path.endsWith('/delete_topic')) moveTo(messages, moved.filter(isOf));
    },
  });
}

test.each([489, 256])(
  'level %d: what was moved into a private channel during a purge is not deleted, and named',
  async (level) => {
    const server = await moving([kitchen, vault], level);

    const { exitCode, stdout, error } = await server.run('topic delete 5 lunch --confirm lunch -o json');

    expect(exitCode).toBe(8);
    // The row is written before the search.
    expect(JSON.parse(stdout)).toMatchObject([{ deleted: 15, status: 'deleted' }]);
    expect(error?.message).toMatch(/ [1-5] of 15 messages were not deleted and are in '#vault > lunch'/);
  },
);

test('the messages of several topics are asked for together, after the last one', async () => {
  const server = await moving([kitchen, vault]);

  const home = emptyHome();

  const { exitCode, stdout, stderr, error } = await server.run('topic delete 5 lunch tea --confirm 2 -o json', {
    home,
  });

  expect(exitCode).toBe(8);
  expect(JSON.parse(stdout)).toMatchObject([
    { topic_name: 'lunch', deleted: 15, status: 'deleted' },
    { topic_name: 'tea', messages: 5, deleted: 5, status: 'deleted' },
  ]);
  expect(error?.message).toContain("topic 'lunch': 5 of 15 messages were not deleted and are in '#vault > lunch'");
  expect(stderr).toContain("topic 'tea': 1 of 5 messages were not deleted and are in '#vault > tea'");
  const history = await server.run('topic history -o json', { home });
  expect(JSON.parse(history.stdout)).toMatchObject([
    { topic_name: 'lunch', deleted: 10, status: 'incomplete' },
    { topic_name: 'tea', deleted: 4, status: 'incomplete' },
  ]);
  const asked = server.seen.filter(({ parameters }) => parameters['narrow']?.includes('"operand":9}'));
  expect(asked.map(({ parameters }) => JSON.parse(parameters['message_ids'] ?? '') as number[])).toEqual([
    idsBetween(1, 20),
  ]);
});

test.each([
  ['protected history', { ...vault, history_public_to_subscribers: false }],
  ['public', { ...vault, invite_only: false }],
])('a channel that is not private with shared history is not asked (%s)', async (_what, channel) => {
  const server = await moving([kitchen, channel]);

  await server.run('topic delete 5 lunch --confirm lunch');

  expect(server.seen.filter(({ parameters }) => parameters['narrow']?.includes('"operand":9}'))).toEqual([]);
});

test('a run sends at most 200 such requests, and a line says in how many channels nobody looked', async () => {
  const channels = idsBetween(100, 302).map((stream_id) => ({ ...vault, stream_id, name: `team ${stream_id}` }));
  const server = await openChatServer({ messages: topicOf('lunch', [1, 2, 3]), channels });

  const { exitCode, stdout, stderr } = await server.run('topic delete 5 lunch --confirm lunch -o json');

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ deleted: 3, status: 'deleted' }]);
  expect(stderr).toContain('missing messages were not searched for in 3 private channels');
  expect(server.seen.filter(({ parameters }) => /"operand":[123]\d\d}/.test(parameters['narrow'] ?? ''))).toHaveLength(
    200,
  );
});

test('a run that ends before it asked private channels leaves its purges open, and the same command ends them', async () => {
  const server = await openChatServer({
    messages: [...topicOf('lunch', [1, 2]), ...topicOf('tea', [3]), ...topicOf('x', [99], vault)],
    channels: [kitchen, vault],
    deleteReply: (call) =>
      call === 2 ? { status: 401, body: { result: 'error', code: 'UNAUTHORIZED', msg: 'No' }, deletes: 0 } : undefined,
  });
  const home = emptyHome();

  const first = await server.run('topic delete 5 lunch tea --confirm 2 -o json', { home });
  const second = await server.run('topic delete 5 lunch tea --confirm 2 -o json', { home });

  expect(first.exitCode).toBe(4);
  expect(JSON.parse(first.stdout)).toMatchObject([
    { topic_name: 'lunch', deleted: 2, status: 'deleted' },
    { topic_name: 'tea', deleted: 0, status: 'incomplete' },
  ]);
  expect(second.exitCode).toBe(0);
  expect(JSON.parse(second.stdout)).toMatchObject([
    { topic_name: 'lunch', deleted: 2, status: 'deleted' },
    { topic_name: 'tea', deleted: 1, status: 'deleted' },
  ]);
});

test('a recheck finds what was moved into a private channel, and takes back what an earlier one said is gone', async () => {
  const channels = [kitchen, vault];
  const server = await openChatServer({
    messages: [...topicOf('lunch', idsBetween(1, 60)), ...topicOf('x', [99], vault)],
    unreceived: [9],
    channels,
  });
  const folder = join(emptyHome(), 'archive');
  await server.run(`archive pull ${folder} --channel 5`);
  moveTo(server.messages, idsBetween(1, 50));
  server.messages.splice(
    server.messages.findIndex(({ id }) => id === 60),
    1,
  );
  channels.pop();
  const before = await server.run(`archive pull ${folder} --recheck -o json`);
  channels.push(vault);

  const after = await server.run(`archive pull ${folder} --recheck -o json`);
  const again = await server.run(`archive pull ${folder} --recheck -o json`);

  expect(JSON.parse(before.stdout)).toMatchObject({ gone: 51, moved: 0 });
  expect(JSON.parse(after.stdout)).toMatchObject({ gone: 0, moved: 50, back: 50 });
  expect(after.stderr).toContain('1 archived message is no longer visible');
  expect(JSON.parse(again.stdout)).toMatchObject({ gone: 0, moved: 0, back: 0, edited: 0 });
});

test('the sandbox shows what an account did not receive in a private channel with shared history by a narrow on it alone', async () => {
  const { run, sandbox } = await openSandbox({});
  const ids = sandbox.state.messages().flatMap(({ id, stream_id }) => (stream_id === 5 ? [id] : []));
  sandbox.state.change(({ channels }) => {
    const leads = channels.get(5);
    if (leads) channels.put(5, { ...leads, subscribers: [8, 9].map((user_id) => ({ user_id, since: 10 ** 9 })) });
  });
  const found = async (narrow: object[]): Promise<number[]> => {
    const query = ['-f', `message_ids=${JSON.stringify(ids)}`, '-f', `narrow=${JSON.stringify(narrow)}`];
    const { stdout } = await run(['api', 'chat', 'GET', 'messages', ...query]);
    return (JSON.parse(stdout) as { messages: { id: number }[] }).messages
      .map(({ id }) => id)
      .sort((one, other) => one - other);
  };

  expect(ids.length).toBeGreaterThan(0);
  expect(await found([{ operator: 'channel', operand: 5 }])).toEqual(ids);
  for (const narrow of [
    [],
    [{ operator: 'channels', operand: 'public' }],
    [{ operator: 'is', operand: 'unread' }],
    [
      { operator: 'channel', operand: 5 },
      { operator: 'is', operand: 'unread' },
    ],
  ])
    expect(await found(narrow)).toEqual([]);
});
