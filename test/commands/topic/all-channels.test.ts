import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  idsBetween,
  openChatServer,
  topicOf,
  type ChatServer,
  type ChatServerOptions,
} from '../../helpers/chat-server.ts';
import { sampleOf } from '../../helpers/extent.ts';
import { emptyHome } from '../../helpers/run.ts';

/** The moment at which runs begin. */
const now = Date.UTC(2026, 2, 1, 12) / 1000;
const old = { begins: now - 100 * 86_400 };
const attic = { stream_id: 6, channel: 'attic' };
const channels = [
  { stream_id: 6, name: 'attic' },
  { stream_id: 5, name: 'kitchen' },
  { stream_id: 7, name: 'empty', first_message_id: null },
];
const messages = [
  ...topicOf('lunch', idsBetween(1, 5), old),
  ...topicOf('Tea, "black"', [11, 12], old),
  ...topicOf('', [15], old),
  ...topicOf('today', [21], { begins: now - 60 }),
  ...topicOf('lunch', idsBetween(31, 34), { ...old, ...attic }),
  ...topicOf('\u{2714} boxes', [41], { ...old, ...attic }),
];

const open = (more: Partial<ChatServerOptions> = {}): Promise<ChatServer> =>
  openChatServer({ messages, channels, ...more });
const left = (server: ChatServer): readonly number[] => server.messages.map(({ id }) => id);
const deletions = ({ seen }: ChatServer): number => seen.filter(({ path }) => path.endsWith('/delete_topic')).length;

/** A file of what topic list says is old. */
async function oldTopics(server: ChatServer, format = 'ndjson', words = '--older-than 30d'): Promise<string> {
  const file = join(emptyHome(), `old.${format}`);
  const { stdout } = await server.run(`topic list --all-channels ${words} -o ${format} -q`);
  writeFileSync(file, stdout);
  return file;
}

describe('topic list --all-channels', () => {
  test('has the rows of each channel by its id, and totals', async () => {
    const { exitCode, stdout, stderr } = await (await open()).run('topic list --all-channels --older-than 30d -o json');

    const rows = JSON.parse(stdout) as { stream_id: number; channel: string; topic_name: string; messages: number }[];
    expect(exitCode).toBe(0);
    const found = rows.map((row) => [row.stream_id, row.channel, row.topic_name, row.messages].join()).sort();
    expect(found).toEqual([
      ...['5,kitchen,,1', '5,kitchen,Tea, "black",2', '5,kitchen,lunch,5'],
      ...['6,attic,lunch,4', '6,attic,\u{2714} boxes,1'],
    ]);
    expect(rows.map(({ stream_id }) => stream_id)).toEqual([5, 5, 5, 6, 6]);
    expect(stderr).toContain('channels: 3, topics: 5, messages: 13\n');
  });

  test('--not-channel leaves channels out; one that is not there is exit 5, and nothing is listed', async () => {
    const server = await open();

    const { stdout } = await server.run('topic list --all-channels --not-channel KITCHEN --not-channel id:7 -o ndjson');
    const wrong = await server.run('topic list --all-channels --not-channel kitchn -o json');

    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { channel: string }).channel),
    ).toEqual(['attic', 'attic']);
    expect({ exitCode: wrong.exitCode, stdout: wrong.stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(wrong.error?.message).toBe("no channel 'kitchn'; kitchen is id:5");
  });

  test.each([
    'topic list',
    'topic list kitchen --all-channels',
    'topic list kitchen --not-channel attic',
    'topic list kitchen --older-than soon',
    'topic delete --confirm 1',
    'topic delete --match x* --confirm 1',
  ])('%s is exit 2, and nothing is asked', async (line) => {
    const server = await open();

    expect(await server.run(line)).toMatchObject({ exitCode: 2 });
    expect(server.seen).toEqual([]);
  });

  test('a channel that fails: what came before it is shown, exit 8', async () => {
    const server = await open({ hides: ({ narrow = '', anchor }) => anchor === 'oldest' && narrow.includes('6') });

    const { exitCode, stdout, error, lines } = await server.run('topic list --all-channels -o json');

    expect({ exitCode, rows: (JSON.parse(stdout) as unknown[]).length }).toEqual({ exitCode: 8, rows: 4 });
    expect(lines.slice(0, -1)).toEqual([
      '{"warning":"channel \'attic\': the server sent nothing more, but did not mark the list as complete"}',
      '{"warning":"channel \'empty\': the chat server refused the request: Invalid narrow operator: unknown channel 7"}',
    ]);
    expect(error?.message).toContain('the topics of 1 of 3 channels are not listed');
  });
});

describe('topic delete --from rows of channel and topic', () => {
  test.each(sampleOf(1, ['ndjson', 'json', 'csv', 'tsv']))('takes what topic list prints as %s', async (format) => {
    const server = await open();
    const [file, root] = [await oldTopics(server, format), join(emptyHome(), 'purges')];

    const { exitCode, stdout, stderr } = await server.run(
      `topic delete --from ${file} --confirm 5 --archive ${root} -o json`,
    );

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [21] });
    const rows = JSON.parse(stdout) as { stream_id: number; topic_name: string; deleted: number; status: string }[];
    expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'deleted'));
    expect(rows.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(13);
    expect(stderr).toContain("as ada@chat.test, channel 'kitchen' (id 5):\ntopic '");
    expect(stderr).toContain("as ada@chat.test, channel 'attic' (id 6):\ntopic '");
    expect(stderr).toContain('channels: 2, topics: 5, messages: 13\n');
    expect(
      readdirSync(root)
        .map((name) => name.split('-')[0])
        .sort(),
    ).toEqual(['5', '5', '5', '6', '6']);
    const verified = await server.run(`archive verify ${root} -o json`);
    expect({ exitCode: verified.exitCode, problems: verified.stdout }).toEqual({ exitCode: 0, problems: '[]\n' });
    expect(verified.stderr).toContain('archives: 5, messages: 13');
  });

  test('the number of topics is asked for, and another number deletes nothing', async () => {
    const server = await open();
    const file = await oldTopics(server);

    expect(await server.run(`topic delete --from ${file} --confirm 4`)).toMatchObject({ exitCode: 2 });
    expect(await server.run(`topic delete --from ${file}`)).toMatchObject({ exitCode: 2 });
    expect(await server.run(`topic delete --from ${file} --max-messages 12 --confirm 5`)).toMatchObject({
      exitCode: 2,
    });
    expect(deletions(server)).toBe(0);
  });

  test.each([
    ['{"topic_name":"lunch"}', 'stream_id and channel are both missing'],
    ['{"stream_id":5}', 'topic_name is missing'],
    [
      '{"stream_id":5,"topic_name":"lunch"}\n{"stream_id":5,"topic_name":"LUNCH"}',
      "topic 'LUNCH' is already on line 1",
    ],
    ['{"stream_id":5,"channel":"attic","topic_name":"lunch"}', "the channel 5 is 'kitchen', and the file says 'attic'"],
    ['stream_id,messages\n5,3\n', 'the header lacks topic_name'],
    ['messages\n3\n', 'Write the file as topic list -o ndjson prints it.'],
    ['', 'no rows'],
  ])('%s: exit 2, and nothing is deleted', async (text, message) => {
    const server = await open();

    const { exitCode, error } = await server.run('topic delete --from - --confirm 1 -o json', { stdin: text });

    expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 2, calls: 0 });
    expect([error?.message, ...(error?.problems ?? []), error?.hint].join('\n')).toContain(message);
  });

  test.each([0, 1])(
    '--older-than refuses a topic with a younger message after %i calls, and deletes the others',
    async (from) => {
      const young = topicOf('lunch', [90], { ...attic, begins: now - 60 });
      let isListed = false;
      const server = await open({
        meanwhile: (all, _request, calls) => void (isListed && calls === from && all.push(...young.splice(0))),
      });
      const file = await oldTopics(server);
      isListed = true;

      const { exitCode, error } = await server.run(`topic delete --from ${file} --older-than 30d --confirm 5 -o json`);

      expect({ exitCode, left: left(server) }).toEqual({ exitCode: 8, left: [21, 31, 32, 33, 34, 90] });
      expect(error?.message).toContain("topic '#attic > lunch' has a message of 2026-03-01");
    },
  );

  test('each line and warning names the channel: topics of one name are in several', async () => {
    const server = await open();
    const file = await oldTopics(server);
    let calls = 0;
    const arriving = await open({
      meanwhile: (all, { path }) => {
        if (!path.endsWith('/delete_topic')) return;
        calls += 1;
        if (calls === 1) all.push(...topicOf('lunch', [90], { ...old, stream_id: 5 }));
      },
      deletesPerCall: 3,
    });

    const { stderr } = await arriving.run(`topic delete --from ${file} --confirm 5`);

    const named = stderr.split('\n').filter((one) => /^topic '/.test(one) && !/: \d+ messages? (from|on) /.test(one));
    expect(named).toHaveLength(5);
    expect(named.filter((one) => !/^topic '#(kitchen|attic) > /.test(one))).toEqual([]);
  });

  test('the same command continues, with the same number, hours later too; topics of one name are told apart', async () => {
    let isDown = true;
    const unauthorized = { status: 401, body: { result: 'error', code: 'UNAUTHORIZED' }, deletes: 0 };
    const server = await open({ deleteReply: (call) => (call > 2 && isDown ? unauthorized : {}) });
    const [file, home] = [await oldTopics(server), emptyHome()];
    const line = `topic delete --from ${file} --older-than 30d --confirm 5 -o json`;

    const first = await server.run(line, { home });
    isDown = false;
    const second = await server.run(line, { home, now: (now + 7200) * 1000 });
    const third = await server.run(line, { home });

    expect(first.exitCode).toBe(4);
    expect(second.exitCode).toBe(0);
    const rows = JSON.parse(second.stdout) as { status: string }[];
    expect(rows.map(({ status }) => status)).toEqual(['missing', 'missing', 'deleted', 'deleted', 'deleted']);
    expect(left(server)).toEqual([21]);
    expect(third.exitCode).toBe(5);
  });
});
