import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  idsBetween,
  openChatServer,
  topicOf,
  type ChatServer,
  type Meanwhile,
  type ServedMessage,
} from '../../helpers/chat-server.ts';
import { emptyHome } from '../../helpers/run.ts';

/**
 * The list of ids of a page is of one moment, and a message of it may be newer: at each page of a narrow, so many
 * times, the oldest message of the topic shows the place that it has from then on.
 */
function renaming(times: number, narrow = '"lunch"', to: Partial<ServedMessage> = { subject: 'renamed' }): Meanwhile {
  let left = times;
  return (messages, { path, parameters }) => {
    const shown = messages.find(({ cached }) => cached !== undefined);
    if (shown) Object.assign(shown, shown.cached, { cached: undefined });
    const isPage = path.endsWith('/messages') && parameters['narrow']?.includes(narrow) === true;
    if (!isPage || parameters['num_after'] === '0' || parameters['message_ids'] !== undefined || left === 0) return;
    left -= 1;
    const next = messages.find(({ stream_id, subject }) => stream_id === 5 && subject === 'lunch');
    if (next) next.cached = to;
  };
}

const lunch = idsBetween(1, 9);
const open = (times: number): Promise<ChatServer> =>
  openChatServer({
    messages: [...topicOf('lunch', lunch), ...topicOf('tea', [11]), ...topicOf('brunch', [12])],
    meanwhile: renaming(times),
  });

describe('a page with messages of another place is requested again', () => {
  test.each([
    [1, [2000]],
    [2, [2000, 7000]],
  ])('messages fetch: after 2 s, then after 7 s, renamed %d times', async (times, waits) => {
    const { run } = await open(times);

    const { exitCode, stdout, slept } = await run('messages fetch --channel kitchen --topic lunch --all -o json');

    const found = (JSON.parse(stdout) as { readonly id: number }[]).map(({ id }) => id);
    expect({ exitCode, found, slept }).toEqual({ exitCode: 0, found: lunch.slice(times), slept: waits });
  });

  test.each([
    [['--channel', 'kitchen', '--topic', 'lunch']],
    [['--narrow', '[["channel","kitchen"],["topic","lunch"]]']],
  ])('%j, messages of another place three times: exit 7, and the same command may be run again', async (words) => {
    const { run, seen } = await open(Infinity);

    const { exitCode, stdout, error, slept } = await run(['messages', 'fetch', ...words, '--all', '-o', 'ndjson']);

    expect({ exitCode, stdout, slept, requests: seen.length }).toEqual({
      ...{ exitCode: 7, stdout: '', slept: [2000, 7000], requests: 3 },
    });
    expect(error).toMatchObject({
      message: 'the server ignored the narrow: it returned message 3 of #kitchen > renamed',
      retryable: true,
    });
  });

  test('archive pull', async () => {
    const { run } = await open(1);

    const { exitCode, stdout } = await run(
      `archive pull ${join(emptyHome(), 'kept')} --channel kitchen --topic lunch --both -o json`,
    );

    expect({ exitCode, ...(JSON.parse(stdout) as object) }).toMatchObject({ exitCode: 0, messages: 8 });
  });

  test('topic list of all channels goes on after one with messages of another place', async () => {
    const { run } = await openChatServer({
      messages: [
        ...topicOf('lunch', lunch),
        ...topicOf('boxes', [12], { stream_id: 6, channel: 'attic' }),
        ...topicOf('wine', [13], { stream_id: 9, channel: 'cellar' }),
      ],
      channels: [
        { stream_id: 5, name: 'kitchen' },
        { stream_id: 6, name: 'attic' },
      ],
      meanwhile: renaming(Infinity, ':5}', { stream_id: 9, display_recipient: 'cellar' }),
    });

    const { exitCode, stdout, error } = await run('topic list --all-channels -o ndjson');

    const rows = stdout.trim().split('\n');
    expect({ exitCode, rows: rows.map((line) => (JSON.parse(line) as { channel: string }).channel) }).toEqual({
      ...{ exitCode: 8, rows: ['attic'] },
    });
    expect(error).toMatchObject({ message: 'the topics of 1 of 2 channels are not listed', retryable: true });
  });

  test('archive pull of all channels goes on after one with messages of another place', async () => {
    const { run } = await openChatServer({
      messages: [...topicOf('lunch', lunch), ...topicOf('boxes', [12], { stream_id: 6, channel: 'attic' })],
      channels: [
        { stream_id: 5, name: 'kitchen' },
        { stream_id: 6, name: 'attic' },
      ],
      meanwhile: renaming(Infinity, ':5}', { stream_id: 9, display_recipient: 'cellar' }),
    });

    const { exitCode, stdout, stderr } = await run(`archive pull ${emptyHome()}/all --all-channels -o ndjson`);

    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { channel: string; status: string });
    expect({ exitCode, rows: rows.map(({ channel, status }) => [channel, status]) }).toEqual({
      ...{
        exitCode: 8,
        rows: [
          ['kitchen', 'failed'],
          ['attic', 'pulled'],
        ],
      },
    });
    expect(stderr).toContain(
      "channel 'kitchen' (id 5): the server ignored the narrow: it returned message 3 of #cellar",
    );
  });

  test('topic delete goes on, and leaves what has another name', async () => {
    const { run, messages } = await open(1);

    const { exitCode, stdout } = await run('topic delete 5 tea lunch brunch --confirm 3 -o json');

    const rows = JSON.parse(stdout) as { readonly deleted: number }[];
    expect({ exitCode, deleted: rows.map(({ deleted }) => deleted), left: messages.map(({ id }) => id) }).toEqual({
      ...{ exitCode: 0, deleted: [1, 8, 1], left: [1] },
    });
  });
});

describe('a channel that is renamed while its topic is deleted', () => {
  const renamedTo = async (listed: string) => {
    const channels = [{ stream_id: 5, name: 'kitchen' }];
    const server = await openChatServer({
      messages: topicOf('lunch', lunch),
      channels,
      deletesPerCall: 4,
      meanwhile(messages, { path }, calls) {
        if (!path.endsWith('/messages') || calls === 0) return;
        for (const message of messages) message.display_recipient = 'salon';
        channels.splice(0, 1, { stream_id: 5, name: listed });
      },
    });
    const { exitCode, error } = await server.run('topic delete 5 lunch --confirm lunch -o json');
    return { server, exitCode, error };
  };

  test('is the same channel where the list of channels says so', async () => {
    const { exitCode, server } = await renamedTo('salon');

    expect({ exitCode, left: server.messages.length }).toEqual({ exitCode: 0, left: 0 });
  });

  test('is another one where it does not: refused, and nothing more is deleted', async () => {
    const { exitCode, error, server } = await renamedTo('kitchen');

    expect({ exitCode, left: server.messages.length }).toEqual({ exitCode: 8, left: 5 });
    expect(error?.message).toContain("asked for 'kitchen', the server returned message 1 of another channel");
  });
});

test('messages of another channel under the id of the channel: refused before a deletion', async () => {
  const server = await openChatServer({
    messages: topicOf('lunch', lunch),
    channels: [{ stream_id: 5, name: 'kitchen' }],
    meanwhile(messages, { parameters }) {
      const isSurvey = parameters['narrow']?.includes('"lunch"') === true;
      for (const message of messages) message.display_recipient = isSurvey ? 'salon' : 'kitchen';
    },
  });

  const { exitCode, error } = await server.run('topic delete 5 lunch --confirm lunch -o json');

  const calls = server.seen.filter(({ path }) => path.endsWith('/delete_topic')).length;
  expect({ exitCode, calls, left: server.messages.length }).toEqual({ exitCode: 7, calls: 0, left: 9 });
  expect(error?.message).toContain("asked for 'kitchen', the server returned message 1 of another channel");
});

test('a server that says between two calls that it ignored the narrow: nothing more is deleted', async () => {
  let isIgnoring = false;
  const server = await openChatServer({
    messages: topicOf('lunch', lunch),
    deletesPerCall: 4,
    get ignoresNarrow() {
      return isIgnoring ? ('says' as const) : undefined;
    },
    meanwhile: (_messages, _request, calls) => void (isIgnoring = calls > 0),
  });

  const { exitCode } = await server.run('topic delete 5 lunch --confirm lunch -o json');

  expect({ exitCode, left: server.messages.length }).toEqual({ exitCode: 8, left: 5 });
});
