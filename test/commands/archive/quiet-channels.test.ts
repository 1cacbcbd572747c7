import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf, type ChatServer } from '../../helpers/chat-server.ts';
import { linkedClocks } from '../../helpers/clock.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

const kitchen = topicOf('lunch', idsBetween(1, 3), { stream_id: 5, channel: 'kitchen' });
const garden = topicOf('roses', idsBetween(10, 11), { stream_id: 7, channel: 'garden' });
const channels = [
  { stream_id: 5, name: 'kitchen' },
  { stream_id: 7, name: 'garden' },
];

function pulling(server: Pick<ChatServer, 'run'>, folder = join(emptyHome(), 'all')) {
  return async (more = '') => {
    const ran = await server.run(`archive pull ${folder} --all-channels -o json ${more}`);
    const rows = JSON.parse(ran.stdout || '[]') as { channel: string; status: string; added: number }[];
    return { ...ran, added: rows.map(({ channel, status, added }) => [channel, status, added]) };
  };
}

test('a night with nothing new in 20 channels costs six requests and one for each channel with late ids', async () => {
  const all = idsBetween(1, 20);
  const rows = all.flatMap((id) => topicOf('x', [id * 20], { stream_id: id, channel: `c${id}` }));
  const server = await openChatServer({
    messages: [...rows, ...topicOf('x', [10_000, 10_001], { stream_id: 3, channel: 'c3' })],
    channels: all.map((id) => ({ stream_id: id, name: `c${id}` })),
  });
  const pull = pulling(server);
  await pull();
  const before = server.seen.length;

  const { exitCode, added } = await pull();

  expect(exitCode).toBe(0);
  expect(added).toHaveLength(20);
  expect(new Set(added.map(([, status, count]) => `${status} ${count}`))).toEqual(new Set(['pulled 0']));
  expect(server.seen.slice(before).map(({ path }) => path.replace('/api/v1/', ''))).toEqual([
    'streams',
    'users/me',
    ...Array.from({ length: 5 }, () => 'messages'),
  ]);
});

test('a recheck of 20 channels costs one request for each, and topic list asks nothing of a channel without messages', async () => {
  const all = idsBetween(1, 20);
  const rows = all.flatMap((id) => topicOf('x', [id * 20], { stream_id: id, channel: `c${id}` }));
  const empty = idsBetween(21, 30).map((id) => ({ stream_id: id, name: `c${id}`, first_message_id: null }));
  const server = await openChatServer({
    messages: rows,
    channels: [...all.map((id) => ({ stream_id: id, name: `c${id}` })), ...empty],
  });
  const pull = pulling(server);
  await pull();
  const before = server.seen.length;
  await pull('--recheck');
  const between = server.seen.length;
  const list = await server.run('topic list --all-channels -o ndjson');

  const ofChannels = (from: number, to?: number) =>
    server.seen.slice(from, to).filter(({ parameters: { narrow = '' } }) => {
      const id = Number(/"operand":(\d+)/.exec(narrow)?.[1]);
      return id > 0 && (from === between || id <= 20);
    }).length;
  expect([ofChannels(before, between), ofChannels(between)]).toEqual([20, 20]);
  expect(list.exitCode).toBe(0);
});

test('what is new in one of many channels is brought, and the others are not asked', async () => {
  const server = await openChatServer({ messages: [...kitchen, ...garden, ...far(1)], channels: [...channels, attic] });
  const pull = pulling(server);
  await pull();
  server.messages.push(...topicOf('roses', [9_500], { stream_id: 7, channel: 'garden' }));
  const before = server.seen.length;

  const { added } = await pull();

  expect(added).toEqual([
    ['kitchen', 'pulled', 0],
    ['garden', 'pulled', 1],
    ['attic', 'pulled', 0],
  ]);
  const asked = server.seen.slice(before).map(({ parameters }) => parameters['narrow'] ?? '');
  expect(asked.filter((narrow) => narrow.includes('"operand":5'))).toEqual([]);
  expect(asked.filter((narrow) => narrow.includes('"operand":7'))).toHaveLength(1);
});

const attic = { stream_id: 9, name: 'attic' };
const far = (count: number) => topicOf('old', idsBetween(9_000, 8_999 + count), { stream_id: 9, channel: 'attic' });

test('a private channel with shared history is asked each night: its messages are in no feed', async () => {
  const server = await openChatServer({
    messages: [...kitchen, ...garden, ...far(1)],
    channels: [
      { stream_id: 5, name: 'kitchen', invite_only: true, history_public_to_subscribers: true },
      ...[{ stream_id: 7, name: 'garden' }, attic],
    ],
    unreceived: [5],
  });
  const pull = pulling(server);
  await pull();
  server.messages.splice(5, 0, ...topicOf('lunch', [20], { stream_id: 5, channel: 'kitchen' }));

  expect((await pull()).added[0]).toEqual(['kitchen', 'pulled', 1]);
});

test('a channel that failed one night is asked the next one, however far the others are', async () => {
  let isDown = false;
  const server = await openChatServer({
    ...{ messages: [...kitchen, ...garden, ...far(1)], channels: [...channels, attic] },
    hides: ({ narrow = '' }) => isDown && narrow.includes('"operand":7'),
  });
  const pull = pulling(server);
  await pull();
  server.messages.push(...topicOf('roses', [9_500], { stream_id: 7, channel: 'garden' }));
  server.messages.push(...topicOf('old', [20_000], { stream_id: 9, channel: 'attic' }));
  isDown = true;
  const failed = await pull('--retries 0');
  isDown = false;

  const { added } = await pull();

  expect(failed).toMatchObject({ exitCode: 8 });
  expect(added).toEqual([
    ['kitchen', 'pulled', 0],
    ['garden', 'pulled', 1],
    ['attic', 'pulled', 0],
  ]);
});

test('what only a narrow selects is asked in every channel: an old message may come to match', async () => {
  const server = await openChatServer({ messages: [...kitchen, ...garden, ...far(1)], channels: [...channels, attic] });
  const pull = pulling(server);
  await pull('--topic lunch');
  const before = server.seen.length;

  await pull('--topic lunch');

  const asked = server.seen.slice(before).map(({ parameters }) => parameters['narrow'] ?? '');
  expect(asked.filter((narrow) => narrow.includes('"lunch"')).length).toBe(3);
});

test('where the news takes more pages than there are channels, each channel is asked instead', async () => {
  const server = await openChatServer({ messages: [...kitchen, ...garden], channels });
  const pull = pulling(server);
  await pull();
  server.messages.push(...topicOf('roses', idsBetween(100, 3_200), { stream_id: 7, channel: 'garden' }));
  const before = server.seen.length;

  const { added } = await pull();

  expect(added).toEqual([
    ['kitchen', 'pulled', 0],
    ['garden', 'pulled', 3_101],
  ]);
  const ofAll = server.seen.slice(before).filter(({ parameters: { num_after, narrow } }) => {
    return Number(num_after) > 1 && !narrow?.includes('"channel"');
  });
  expect(ofAll).toHaveLength(3);
});

test('a post in a public channel that the account does not follow is brought', async () => {
  const { run, sandbox } = await openSandbox();
  const pull = pulling({ run });
  await pull();
  for (let count = 0; count < 1100; count += 1) sandbox.state.post({ channel: 'general', topic: 'x', content: 'x' });
  await pull();
  sandbox.state.post({ channel: 'releases', topic: 'x', content: 'new' });

  const { added } = await pull();

  expect(added.filter(([, , count]) => count !== 0)).toEqual([['releases', 'pulled', 1]]);
});

const hour = { featureLevel: 442, rateLimit: { perMinute: 1000, perHour: 10 } };

test.each([
  ['archive pull', 4, (folder: string) => `archive pull ${folder} --all-channels`],
  ['topic list', 7, () => 'topic list --all-channels'],
])('%s says what is left when the requests of the hour are used up', async (_name, others, line) => {
  const { run } = await openSandbox(hour);
  for (let other = 0; other < others; other += 1) await run('channel list');

  const { exitCode, error } = await run(`${line(join(emptyHome(), 'all'))} -o json`);

  expect(exitCode).toBe(8);
  expect(error?.message).toMatch(/^\d of 5 channels are left: .*the server asks to wait/);
  expect(error?.hint).toContain('--deadline');
  expect(error?.retryable).toBe(true);
});

test('with --deadline a run waits until the hour is over, and ends', async () => {
  const clocks = linkedClocks();
  const { run } = await openSandbox({ ...hour, clock: clocks.sandbox });
  const folder = join(emptyHome(), 'all');
  for (let other = 0; other < 3; other += 1) await run('channel list', { clock: clocks.client });

  const { exitCode } = await run(`archive pull ${folder} --all-channels --deadline 3h`, { clock: clocks.client });

  expect(exitCode).toBe(0);
  expect(clocks.slept.filter((span) => span > 3_000_000)).toHaveLength(1);
});
