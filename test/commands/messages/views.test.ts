import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  idsBetween,
  openChatServer,
  topicOf,
  type ChatServer,
  type ChatServerOptions,
} from '../../helpers/chat-server.ts';
import { emptyHome } from '../../helpers/run.ts';

const ids = idsBetween(1, 1010);

/** The plan hides all below the third page while the second one is read, or from then on. */
async function hiding(stays: boolean, size: number): Promise<ChatServer> {
  let page = 0;
  const options: { -readonly [K in keyof ChatServerOptions]: ChatServerOptions[K] } = {
    messages: topicOf('lunch', idsBetween(1, 2 * size + 3)),
    channels: [{ stream_id: 5, name: 'kitchen' }],
    meanwhile(_messages, { parameters }) {
      const isPage = parameters['num_after'] === String(size);
      if (isPage) page += 1;
      options.firstVisible = page === 2 && isPage ? 2 * size : stays && page > 1 ? 2 * size : 0;
    },
  };
  return openChatServer(options);
}

const folder = (): string => join(emptyHome(), 'kept');

test.each([
  ['messages fetch --channel 5 --all -o ndjson', true],
  ['messages fetch --channel 5 --all -o ndjson', false],
  ['archive pull KEPT --channel 5', true],
  ['archive pull KEPT --channel 5', false],
  ['topic list 5', true],
  ['topic list 5', false],
])('a limit of the plan that comes while pages are read is said: %s (it stays: %s)', async (line, stays) => {
  const { run } = await hiding(stays, line.startsWith('topic') ? 5000 : 1000);

  const { exitCode, stderr } = await run(line.replace('KEPT', folder()));

  expect(exitCode).toBe(0);
  expect(stderr).toContain('the plan of the organization hid messages while they were read');
});

test.each([true, false])('topic delete refuses a topic that the plan cuts meanwhile (it stays: %s)', async (stays) => {
  const server = await hiding(stays, 5000);

  const { exitCode, error } = await server.run('topic delete 5 lunch --confirm lunch --no-archive -o json');

  expect(exitCode).toBe(6);
  expect(error?.message).toContain('the Zulip plan hides older messages');
  expect(server.seen.filter(({ path }) => path.endsWith('/delete_topic'))).toEqual([]);
});

test('a message that is deleted while pages are read is no such limit', async () => {
  const { run } = await openChatServer({
    messages: topicOf('lunch', ids),
    meanwhile(messages, { parameters }) {
      if (parameters['anchor'] === '1000')
        messages.splice(0, messages.length, ...messages.filter(({ id }) => id !== 1000));
    },
  });

  const { exitCode, stderr, stdout } = await run('messages fetch --channel 5 --all -o ndjson');

  expect({ exitCode, count: stdout.trim().split('\n').length }).toEqual({ exitCode: 0, count: 1010 });
  expect(stderr).not.toContain('hid messages');
});

test('a recheck records no move where the limit is there for one of its requests', async () => {
  for (let nth = 1; nth <= 9; nth += 1) {
    let requests = 0;
    let isOn = false;
    const options: { -readonly [K in keyof ChatServerOptions]: ChatServerOptions[K] } = {
      messages: [...topicOf('lunch', idsBetween(1, 20)), ...topicOf('tea', idsBetween(21, 24))],
      channels: [{ stream_id: 5, name: 'kitchen' }],
      meanwhile(_messages, { path }) {
        if (isOn && path.endsWith('/messages')) requests += 1;
        options.firstVisible = requests === nth ? 15 : 0;
      },
    };
    const { run } = await openChatServer(options);
    const kept = folder();
    await run(`archive pull ${kept} --channel kitchen --topic lunch`);
    isOn = true;

    const { stdout } = await run(`archive pull ${kept} --recheck -o json`);

    expect({ nth, moved: (JSON.parse(stdout) as { moved: number }).moved }).toEqual({ nth, moved: 0 });
  }
});
