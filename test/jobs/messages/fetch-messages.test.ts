import { describe, expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf, type ChatServer } from '../../helpers/chat-server.ts';

/** Noon of 2026-03-01, the moment at which runs begin. */
const now = Date.UTC(2026, 2, 1, 12) / 1000;

async function fetched(
  server: ChatServer,
  line: string,
): Promise<{ exitCode: number; ids: number[]; lines: unknown[] }> {
  const { exitCode, stdout, lines } = await server.run(`messages fetch ${line} -q -o json`);
  return {
    exitCode,
    ids: stdout === '' ? [] : (JSON.parse(stdout) as { id: number }[]).map(({ id }) => id),
    lines: lines.map((text) => JSON.parse(text) as unknown),
  };
}

const limitedWarning = [{ warning: expect.stringContaining('limits the history') as string }];

describe('a history that the plan limits', () => {
  const hidden = { messages: topicOf('lunch', idsBetween(1, 4000)) };

  test.each([
    ['a first page of visible and hidden messages', 500, '--all', idsBetween(500, 4000)],
    ['a first page of hidden messages only', 2500, '--all', idsBetween(2500, 4000)],
    ['--anchor 0 is the oldest', 2500, '--anchor 0 --all', idsBetween(2500, 4000)],
    ['the first N', 2500, '--anchor oldest --limit 7', idsBetween(2500, 2506)],
    ['the first N, without the anchor', 2500, '--anchor oldest --no-include-anchor --limit 7', idsBetween(2500, 2506)],
    ['the newest N', 2500, '--limit 1700', idsBetween(2500, 4000)],
    ['times', 2500, '--since 2026-01-01', idsBetween(2500, 4000)],
    ['all hidden', 5000, '--all', []],
  ])('%s: all that is visible, and a warning', async (_what, firstVisible, line, ids) => {
    const server = await openChatServer({ ...hidden, firstVisible });

    expect(await fetched(server, line)).toEqual({ exitCode: 0, ids, lines: limitedWarning });
  });

  test('paging continues from anchor 1', async () => {
    const server = await openChatServer({ ...hidden, firstVisible: 3999 });

    await fetched(server, '--all');

    expect(server.seen.map(({ parameters }) => parameters['anchor'])).toEqual(['oldest', '1']);
  });
});

describe('--since and --until', () => {
  /** 5,000 messages, forty seconds apart, with holes in their ids; the last one is at the beginning of the run. */
  const ids = idsBetween(1, 5000).map((index) => index * 37 + (index % 5));
  const messages = topicOf('log', ids, { begins: now - 199_960, every: 40 });
  const scan = (since: number, until: number): number[] =>
    messages.filter(({ timestamp }) => since <= timestamp && timestamp < until).map(({ id }) => id);
  const at = (text: string): number => Date.parse(text) / 1000;

  test.each<[string, number[]]>([
    ['--since 2026-02-28 --until 2026-03-01', scan(at('2026-02-28T00:00Z'), at('2026-03-01T00:00Z'))],
    ['--since 12h', scan(now - 43_200, Infinity)],
    ['--since 1h --until 30m', scan(now - 3600, now - 1800)],
    [
      '--since 2026-02-28T10:00:00Z --until 2026-02-28T10:00:00.5Z',
      scan(at('2026-02-28T10:00:00Z'), at('2026-02-28T10:00:01Z')),
    ],
    ['--since 2026-02-28T10:00:00.5Z --limit 3', scan(at('2026-02-28T10:00:01Z'), Infinity).slice(0, 3)],
    ['--until 2026-02-28T10:00:00Z --limit 3', scan(0, at('2026-02-28T10:00:00Z')).slice(-3)],
    ['--until 2026-02-28T10:00:00Z', scan(0, at('2026-02-28T10:00:00Z'))],
    ['--until 2027-01-01 --limit 3', ids.slice(-3)],
    ['--since 2020-01-01 --all', ids],
    ['--since 2027-01-01', []],
    ['--until 2020-01-01', []],
    ['--until 2020-01-01 --limit 5', []],
  ])('%s is what a full scan gives', async (line, wanted) => {
    const server = await openChatServer({ messages });

    expect(await fetched(server, line)).toEqual({ exitCode: 0, ids: wanted, lines: [] });
    expect(server.seen.length).toBeLessThan(wanted.length / 1000 + 40);
  });

  test('messages whose times are a little out of order are compared one by one', async () => {
    const disordered = messages.map((message, index) => ({
      ...message,
      timestamp: message.timestamp - (index % 3) * 20,
    }));
    const server = await openChatServer({ messages: disordered });
    const [since, until] = [now - 3600, now - 1800];

    expect((await fetched(server, '--since 1h --until 30m')).ids).toEqual(
      disordered.filter(({ timestamp }) => since <= timestamp && timestamp < until).map(({ id }) => id),
    );
  });

  test('nothing there at all', async () => {
    expect(await fetched(await openChatServer({ messages: [] }), '--since 7d')).toEqual({
      exitCode: 0,
      ids: [],
      lines: [],
    });
  });

  test.each<[string, string, (parameters: Readonly<Record<string, string>>) => boolean]>([
    ['the newest message', '--since 12h', ({ num_before }) => num_before === '1'],
    ['the newest message', '--until 1h --limit 5', ({ num_before }) => num_before === '1'],
    ['the oldest message', '--since 12h', ({ anchor, num_after }) => anchor === 'oldest' && num_after === '1'],
    ['a message in between', '--since 12h', ({ anchor, num_after }) => num_after === '1' && anchor !== 'oldest'],
  ])(
    'an empty answer to the search for %s (%s) that does not say it is the last: exit 7',
    async (_what, line, hides) => {
      const server = await openChatServer({ messages, hides });

      const { exitCode, stdout, stderr } = await server.run(`messages fetch ${line} -o ndjson`);

      expect({ exitCode, shown: stdout.length }).toEqual({ exitCode: 7, shown: 0 });
      expect(stderr).toContain('the server sent nothing more, but did not mark the list as complete');
    },
  );

  test.each([
    ['--since yesteryear', /--since: 'yesteryear' is not a time/],
    ['--until 7x', /--until: '7x' is not a time/],
    ['--since 1h --until 2h', /--since 1h is not before --until 2h/],
    ['--since 1h --anchor 5', /--since and --anchor exclude each other/],
  ])('%s is exit 2, and nothing is sent', async (line, message) => {
    const server = await openChatServer({ messages: [] });

    const { exitCode, error } = await server.run(`messages fetch ${line} -o json`);

    expect({ exitCode, seen: server.seen }).toEqual({ exitCode: 2, seen: [] });
    expect(error?.message).toMatch(message);
  });
});

describe('a selection that the server ignored', () => {
  test('a narrow: exit 7, and no message is shown', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', [1, 2]), ignoresNarrow: 'says' });

    const { exitCode, stdout, error } = await server.run('messages fetch --topic tea -o json');

    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(error?.message).toContain('ignored narrow');
    expect(error?.retryable).toBe(false);
  });
});

test('--all with --anchor newest is everything', async () => {
  const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 1200)) });

  expect((await fetched(server, '--all --anchor newest')).ids).toEqual(idsBetween(1, 1200));
});

test('messages that are posted and deleted between pages: each once, ascending', async () => {
  const server = await openChatServer({
    messages: topicOf('lunch', idsBetween(1, 2500)),
    meanwhile(messages, _request) {
      messages.splice(0, 300);
      messages.push(...topicOf('lunch', [(messages.at(-1)?.id ?? 0) + 1]));
    },
  });

  const { ids } = await fetched(server, '--all');

  expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  expect(ids.slice(-3)).toEqual([2501, 2502, 2503]);
});
