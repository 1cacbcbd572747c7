import { describe, expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { openSandbox } from '../../helpers/run.ts';

/** The moment at which runs begin. */
const now = Date.UTC(2026, 2, 1, 12) / 1000;
const day = 86_400;

const messages = [
  ...topicOf('Lunch', [1], { begins: now - 100 * day }),
  ...topicOf('lunch', [2, 3], { begins: now - 50 * day, every: day }),
  ...topicOf('✔ battery', [4, 6], { begins: now - 40 * day, every: day }),
  ...topicOf('calibration log', idsBetween(10, 2509), { begins: now - 3000, every: 1 }),
  ...topicOf('', [2600], { begins: now - 20 }),
  ...topicOf('lunch', [5], { stream_id: 6, channel: 'attic' }),
];

async function listed(line: string, more: { readonly firstVisible?: number } = {}) {
  const server = await openChatServer({ messages, ...more });
  const { exitCode, stdout, lines } = await server.run(`topic list ${line} -o json`);
  expect(server.seen.at(-1)?.parameters).toMatchObject({ allow_empty_topic_name: 'true', apply_markdown: 'false' });
  return { exitCode, lines, rows: JSON.parse(stdout) as { readonly topic_name: string }[] };
}

test('each topic with count, first and last date, the newest first; spellings are one topic', async () => {
  const place = { stream_id: 5, channel: 'kitchen' };
  expect(await listed('kitchen')).toEqual({
    exitCode: 0,
    lines: [],
    rows: [
      {
        ...{ ...place, topic_name: '', messages: 1, resolved: false, first_id: 2600, last_id: 2600 },
        ...{ first_time: '2026-03-01T11:59:40Z', last_time: '2026-03-01T11:59:40Z' },
      },
      {
        ...{ ...place, topic_name: 'calibration log', messages: 2500, resolved: false, first_id: 10, last_id: 2509 },
        ...{ first_time: '2026-03-01T11:10:00Z', last_time: '2026-03-01T11:51:39Z' },
      },
      {
        ...{ ...place, topic_name: '✔ battery', messages: 2, resolved: true, first_id: 4, last_id: 6 },
        ...{ first_time: '2026-01-20T12:00:00Z', last_time: '2026-01-21T12:00:00Z' },
      },
      {
        ...{ ...place, topic_name: 'lunch', messages: 3, resolved: false, first_id: 1, last_id: 3 },
        ...{ first_time: '2025-11-21T12:00:00Z', last_time: '2026-01-11T12:00:00Z' },
      },
    ],
  });
});

describe('what is listed', () => {
  test.each([
    ["--match 'LUN*'", ['lunch']],
    ["--match '*b?ttery'", ['✔ battery']],
    ['--match nothing', []],
    ['--older-than 38d', ['✔ battery', 'lunch']],
    ['--older-than 45d', ['lunch']],
    ['--older-than 1h', ['✔ battery', 'lunch']],
  ])('%s', async (line, names) => {
    const { rows } = await listed(`5 ${line}`);

    expect(rows.map(({ topic_name }) => topic_name)).toEqual(names);
  });
});

test('what the plan hides is a warning, and everything visible is counted', async () => {
  const { exitCode, lines, rows } = await listed('5', { firstVisible: 2000 });

  expect(exitCode).toBe(0);
  expect(rows).toMatchObject([{ topic_name: '' }, { topic_name: 'calibration log', messages: 510 }]);
  expect(lines).toEqual([expect.stringContaining('limits the history')]);
});

test('a channel that is not there is exit 5', async () => {
  const server = await openChatServer({ messages });

  expect(await server.run('topic list cellar')).toMatchObject({ exitCode: 5 });
});

test('the sandbox: every topic of a channel', async () => {
  const { sandbox, run } = await openSandbox();

  const { exitCode, stdout } = await run('topic list general -o json');

  const ids = sandbox.state.messages().filter(({ stream_id }) => stream_id === 1);
  const rows = JSON.parse(stdout) as { topic_name: string; messages: number }[];
  expect(exitCode).toBe(0);
  // `Lunch` and `lunch` are one.
  expect(rows.map(({ topic_name }) => topic_name.toLowerCase()).sort()).toEqual(
    [...new Set(ids.map(({ subject }) => subject.toLowerCase()))].sort(),
  );
  expect(rows.reduce((sum, row) => sum + row.messages, 0)).toBe(ids.length);
});

test('a server that does not list its channels: --all-channels is exit 6', async () => {
  const { exitCode, error } = await (await openChatServer({ messages })).run('topic list --all-channels -o json');

  expect({ exitCode, message: error?.message }).toEqual({ exitCode: 6, message: 'this server does not list channels' });
});
