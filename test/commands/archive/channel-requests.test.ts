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
  return (more = '') => server.run(`archive pull ${folder} --all-channels -o json ${more}`);
}

test('a night with nothing new costs one request for each channel, and so does a recheck', async () => {
  const all = idsBetween(1, 8);
  const empty = idsBetween(21, 24).map((id) => ({ stream_id: id, name: `c${id}`, first_message_id: null }));
  const server = await openChatServer({
    messages: all.flatMap((id) => topicOf('x', [id * 20], { stream_id: id, channel: `c${id}` })),
    channels: [...all.map((id) => ({ stream_id: id, name: `c${id}` })), ...empty],
  });
  const pull = pulling(server);
  await pull();
  const requests: number[] = [];
  for (const run of [() => pull(), () => pull('--recheck'), () => server.run('topic list --all-channels -o ndjson')]) {
    const before = server.seen.length;
    const { exitCode } = await run();
    expect(exitCode).toBe(0);
    const ids = server.seen.slice(before).map(({ parameters: { narrow = '' } }) => /"operand":(\d+)/.exec(narrow)?.[1]);
    requests.push(ids.filter((id) => Number(id) <= 8).length);
  }
  expect(requests).toEqual([8, 8, 8]);
});

test('what only a narrow selects is asked in every channel: an old message may come to match', async () => {
  const server = await openChatServer({ messages: [...kitchen, ...garden], channels });
  const pull = pulling(server);
  await pull('--topic lunch');
  const before = server.seen.length;

  await pull('--topic lunch');

  const asked = server.seen.slice(before).map(({ parameters }) => parameters['narrow'] ?? '');
  expect(asked.filter((narrow) => narrow.includes('"lunch"')).length).toBe(2);
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
  expect(error?.message).toMatch(
    /\d of 5 channels are left: .*the server asks to wait|the server asks to wait.*; the list ends before it/,
  );
  expect(error?.hint).toContain('--deadline');
  expect(error?.retryable).toBe(true);
});

test('with --deadline a run waits until the hour is over, and ends', async () => {
  const clocks = linkedClocks();
  const { run } = await openSandbox({ ...hour, clock: clocks.sandbox });
  const folder = join(emptyHome(), 'all');
  for (let other = 0; other < 5; other += 1) await run('channel list', { clock: clocks.client });

  const { exitCode } = await run(`archive pull ${folder} --all-channels --deadline 3h`, { clock: clocks.client });

  expect(exitCode).toBe(0);
  expect(clocks.slept.filter((span) => span > 3_000_000)).toHaveLength(1);
});
