import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import {
  idsBetween,
  openChatServer,
  topicOf,
  type ChatServer,
  type ChatServerOptions,
  type DeleteReply,
  type Meanwhile,
} from '../../helpers/chat-server.ts';
import { alarmByHand } from '../../helpers/clock.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

/** A topic of three messages in channel 5, and another one. */
const lunch = topicOf('lunch', [1, 2, 3]);
const tea = topicOf('tea', [11, 12]);
const line = 'topic delete 5 lunch --confirm lunch --no-archive';

const success = { result: 'success', msg: '' };
const complete = { ...success, complete: true };
const partial = { ...success, complete: false };
const timedOut = { result: 'partially_completed', code: 'REQUEST_TIMEOUT', msg: '' };
const gateway = '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>';

function kitchen(options: Partial<ChatServerOptions> = {}): Promise<ChatServer> {
  return openChatServer({ messages: [...lunch, ...tea], ...options });
}

const deletions = ({ seen }: ChatServer): number => seen.filter(({ path }) => path.endsWith('/delete_topic')).length;
const left = ({ messages }: ChatServer): readonly number[] => messages.map(({ id }) => id);

describe('it is repeated until the topic is empty', () => {
  test.each<[string, readonly DeleteReply[]]>([
    ['complete at once', []],
    ['complete false, twice', [{ deletes: 1, body: partial }, { deletes: 1, body: partial }, {}]],
    [
      'partially completed (levels 154 to 210), then a success that says nothing more',
      [{ deletes: 2, body: timedOut }, { body: success }],
    ],
    ['an HTML 502 after some progress', [{ status: 502, body: gateway, deletes: 1 }, {}]],
    ['"complete" that was not, then it is', [{ deletes: 1, body: complete }]],
  ])('%s', async (_what, replies) => {
    const server = await kitchen({ deleteReply: (call) => replies[call - 1] });

    const { exitCode, stdout } = await server.run(`${line} -o json`);

    expect({ exitCode, rows: JSON.parse(stdout) as unknown, left: left(server) }).toEqual({
      exitCode: 0,
      rows: [
        {
          stream_id: 5,
          channel: 'kitchen',
          topic_name: 'lunch',
          messages: 3,
          deleted: 3,
          arrived: 0,
          deeper: 0,
          at_least: false,
          status: 'deleted',
        },
      ],
      left: [11, 12],
    });
  });

  const refused = (code: string | undefined, status = 400): DeleteReply => ({
    status,
    body: { result: 'error', ...(code === undefined ? {} : { code }), msg: 'Invalid channel ID' },
    deletes: 1,
  });

  test('level 153: any error may be a timeout that kept what it deleted', async () => {
    const reply = refused('BAD_REQUEST', 403);
    const server = await kitchen({ level: 153, deleteReply: (call) => (call === 1 ? reply : undefined) });

    expect(await server.run(line)).toMatchObject({ exitCode: 0 });
    expect(left(server)).toEqual([11, 12]);
  });

  test('level 154: a refusal is a refusal', async () => {
    const server = await kitchen({ level: 154, deleteReply: () => refused('BAD_REQUEST') });

    const { exitCode, stdout, error } = await server.run(`${line} -o json`);

    expect({ exitCode, msg: error?.server?.msg, calls: deletions(server) }).toEqual({
      exitCode: 6,
      msg: 'Invalid channel ID',
      calls: 1,
    });
    expect(JSON.parse(stdout)).toMatchObject([{ at_least: false }]);
    expect(error?.hint).toContain('archived');
  });

  test.each([
    ['not an administrator', 400, 'UNAUTHORIZED_PRINCIPAL'],
    ['a key that was taken back', 401, 'UNAUTHORIZED'],
  ])('%s is exit 4 at once, at every level', async (_what, status, code) => {
    for (const level of [140, 372]) {
      const server = await kitchen({ level, deleteReply: () => ({ ...refused(code, status), deletes: 0 }) });

      const { exitCode, error } = await server.run(`${line} -o json`);

      expect({ exitCode, code: error?.server?.code, calls: deletions(server) }).toEqual({
        exitCode: 4,
        code,
        calls: 1,
      });
    }
  });

  test.each([
    ['a refusal', 400, 'BAD_REQUEST', 8],
    ['a key that was taken back', 401, 'UNAUTHORIZED', 4],
  ])('%s after a batch was deleted: what is deleted and left is named', async (_what, status, code, exitCode) => {
    const server = await kitchen({
      deleteReply: (call) => (call === 1 ? { deletes: 1, body: partial } : { ...refused(code, status), deletes: 0 }),
    });

    const { exitCode: exit, error } = await server.run(`${line} -o json`);

    expect({ exit, left: left(server) }).toEqual({ exit: exitCode, left: [1, 2, 11, 12] });
    expect(error?.message).toContain("; 2 of 3 messages of 'lunch' were left when last seen");
  });

  test.each<[string, DeleteReply]>([
    ['complete: false', { deletes: 0, body: partial }],
    ['complete: true', { deletes: 0, body: complete }],
    ['502', { deletes: 0, status: 502, body: gateway }],
  ])('two rounds without progress (%s): exit 8 with what is left', async (_what, reply) => {
    const server = await kitchen({ deleteReply: () => reply });

    const { exitCode, error } = await server.run(`${line} -o json`);

    expect({ exitCode, retryable: error?.retryable, calls: deletions(server) }).toEqual({
      exitCode: 8,
      retryable: true,
      calls: 2,
    });
    expect(error?.message).toContain('3 of 3 messages are left');
  });

  test('a server that stays away: exit 8, to be run again', async () => {
    const server = await kitchen({ deletesPerCall: 1, awayAfter: 1 });

    const { exitCode, error } = await server.run(`${line} -o json`);

    expect({ exitCode, retryable: error?.retryable }).toEqual({ exitCode: 8, retryable: true });
    expect(error?.message).toContain("3 of 3 messages of 'lunch' were left when last seen");
  });

  test('a timeout of our own is followed by a look at what is left', async () => {
    const { alarm, ring } = alarmByHand(3_600_000);
    const { sandbox, run: runThere } = await openSandbox({
      faults: readFaults('POST /api/v1/streams/1/delete_topic=hang-after#1', 1),
      log: ({ method }) => (method === 'POST' ? ring() : undefined),
    });

    const line = 'topic delete 1 lunch --confirm lunch --no-archive --timeout 1h -o json';
    const { exitCode, error } = await runThere(line, { alarm });

    expect(exitCode).toBe(8);
    expect(error?.message).toContain('are no longer visible to this account');
    expect(sandbox.state.topic('general', 'lunch')).toEqual([]);
  });

  test('errors of a server that makes progress do not add up to longer and longer waits', async () => {
    const late = { status: 400, body: { result: 'error', code: 'REQUEST_TIMEOUT', msg: 'late' }, deletes: 1 };
    const server = await kitchen({
      level: 150,
      messages: topicOf('lunch', idsBetween(1, 30)),
      deleteReply: (call) => (call < 30 ? late : {}),
    });

    const { exitCode, slept } = await server.run(line);

    expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 0, calls: 30 });
    expect(slept).toEqual(Array.from({ length: 29 }, () => 500));
  });
});

describe('somebody is at work in the topic meanwhile', () => {
  /** One message more before each request that `when` chooses. */
  const posting = (when: (anchor: string | undefined, calls: number) => boolean): Meanwhile => {
    let next = 100;
    return (messages, { parameters }, calls) => {
      if (!when(parameters['anchor'], calls)) return;
      next += 1;
      messages.push(...topicOf('lunch', [next]));
    };
  };

  test('who posts all the time does not stop the deletion of what was there: exit 8 with the right reason', async () => {
    const server = await openChatServer({
      messages: topicOf('lunch', idsBetween(1, 50)),
      deletesPerCall: 10,
      meanwhile: posting(() => true),
    });

    const { exitCode, error } = await server.run(`${line} -o json`);

    expect(exitCode).toBe(8);
    expect(error?.message).toContain('the 56 original messages are gone; 5 newer messages are left');
    expect(left(server).filter((id) => id <= 50)).toEqual([]);
  });

  test('what arrives before the last call is deleted and counted', async () => {
    const server = await openChatServer({
      messages: topicOf('lunch', idsBetween(1, 50)),
      deletesPerCall: 20,
      meanwhile: posting((anchor, calls) => anchor === 'newest' && calls > 0 && calls < 3),
    });

    const { exitCode, stdout } = await server.run(`${line} -o json`);

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ messages: 50, deleted: 52 }]);
    expect(left(server)).toEqual([]);
  });

  test.each([
    [
      'all ids from level 300 on',
      300,
      /1 of 10 messages were not deleted.*'#kitchen > ✔ lunch'; 0 were deleted, 9 are no/,
      0,
    ],
    // Eight are asked for, and one of them is found: of the others nobody knows.
    ['a sample below', 299, /at least 1 of 10 messages were not deleted.*'#kitchen > ✔ lunch'/, 0],
  ])(
    'a topic that is renamed in the middle: exit 8 naming the new name; %s',
    async (_what, level, message, deleted) => {
      const server = await openChatServer({
        level,
        messages: topicOf('lunch', idsBetween(1, 10)),
        deleteReply: () => ({ deletes: 9, body: partial }),
        meanwhile(messages, { parameters }, calls) {
          if (calls === 1 && parameters['anchor'] === 'newest') for (const row of messages) row.subject = '✔ lunch';
        },
      });

      const { exitCode, error, stdout } = await server.run(`${line} -o json`);

      expect(exitCode).toBe(8);
      expect(error?.message).toMatch(message);
      expect(JSON.parse(stdout)).toMatchObject([{ deleted }]);
      expect(left(server)).toEqual([1]);
    },
  );

  test('messages that are moved into another channel are found there', async () => {
    const server = await openChatServer({
      messages: topicOf('lunch', idsBetween(1, 10)),
      meanwhile(messages, { path }) {
        if (!path.endsWith('/delete_topic')) return;
        for (const row of messages.slice(0, 4)) Object.assign(row, { stream_id: 6, display_recipient: 'attic' });
      },
    });

    const { exitCode, error } = await server.run(`${line} -o json`);

    expect(exitCode).toBe(8);
    expect(error?.message).toContain("4 of 10 messages were not deleted and are in '#attic > lunch'; 6 were deleted");
  });
});

describe('which channel', () => {
  const numbered = [
    ...topicOf('lunch', [1, 2, 3]),
    ...topicOf('lunch', [21], { stream_id: 9, channel: '2024' }),
    ...topicOf('lunch', [31], { stream_id: 2024, channel: 'archive' }),
    ...topicOf('lunch', [41], { stream_id: 8, channel: '8' }),
  ];

  test.each([
    ['5', [1, 2, 3]],
    ['id:5', [1, 2, 3]],
    ['kitchen', [1, 2, 3]],
    ['name:KITCHEN', [1, 2, 3]],
    ['name:2024', [21]],
    ['id:2024', [31]],
    ['8', [41]],
  ])('%s', async (channel, gone) => {
    const server = await openChatServer({ messages: numbered });

    const { exitCode, stdout } = await server.run([
      'topic',
      'delete',
      channel,
      'lunch',
      '--confirm',
      'lunch',
      '--no-archive',
      '-o',
      'json',
    ]);

    expect({ exitCode, left: left(server) }).toEqual({
      exitCode: 0,
      left: numbered.map(({ id }) => id).filter((id) => !gone.includes(id)),
    });
    // The server's spelling is shown.
    expect((JSON.parse(stdout) as { channel: string }[])[0]?.channel).toBe(
      numbered.find(({ id }) => id === gone[0])?.display_recipient,
    );
  });

  test('digits that are also the name of another channel: exit 2, nothing is deleted', async () => {
    const server = await openChatServer({ messages: numbered });

    const { exitCode, error } = await server.run('topic delete 2024 lunch --confirm lunch -o json');

    expect({ exitCode, calls: deletions(server), hint: error?.hint }).toEqual({
      exitCode: 2,
      calls: 0,
      hint: 'Write id:2024 or name:2024.',
    });
    expect(error?.message).toContain("'2024' is the id of the channel 'archive' and the name of another channel");
  });

  test.each(['nowhere', '77', 'id:77'])('%s is not there: exit 5', async (channel) => {
    const server = await kitchen();

    const { exitCode, error } = await server.run(`topic delete ${channel} lunch --confirm lunch -o json`);

    expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 5, calls: 0 });
    expect(error?.message).toBe(`no channel '${channel.replace('id:', '')}'`);
    expect(error?.hint).toBe('Give a name or an id that channel list shows.');
  });

  test.each<[string, ChatServerOptions['ignoresNarrow'], string]>([
    ['says that it ignored the narrow, asked by name', 'says', 'kitchen'],
    ['answers with another channel, asked by name', 'silent', 'kitchen'],
    ['answers with another channel, asked by id', 'silent', '5'],
    ['answers with another topic', 'silent', 'id:7'],
  ])('a server that %s: exit 7, nothing is deleted', async (_what, ignoresNarrow, channel) => {
    const other = topicOf('dinner', [51, 52], { stream_id: 7, channel: 'dining room' });
    const server = await kitchen({ messages: [...lunch, ...tea, ...other], ignoresNarrow });

    const { exitCode, error } = await server.run(`topic delete ${channel} lunch --confirm lunch -o json`);

    expect({ exitCode, calls: deletions(server), code: error?.code }).toEqual({
      exitCode: 7,
      calls: 0,
      code: 'unavailable',
    });
  });
});

describe('what is in the topic', () => {
  test('organization, account, channel and every spelling are shown before', async () => {
    const server = await kitchen({ messages: [...topicOf('lunch', [1]), ...topicOf('LUNCH', [2])] });

    const { exitCode, lines } = await server.run('topic delete KITCHEN lunch --confirm wrong');

    expect(exitCode).toBe(2);
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^Harbour \(127\.0\.0\.1:\d+\), as ada@chat\.test, channel 'kitchen' \(id 5\):$/),
      "topic 'lunch': 2 messages on 2026-02-25; spelled 'lunch', 'LUNCH'",
    ]);
    expect((await server.run('topic delete KITCHEN lunch --confirm wrong --no-archive -q')).lines).toHaveLength(1);
  });

  test.each([
    ['calibration', "Similar names: '✔ calibration', 'Calibration 2'."],
    ['teas', "Similar names: 'tea'."],
    ['nothing', 'List the topics: chatelaine topic list kitchen'],
  ])('a topic without messages, %s, is exit 5 with %s, and nothing is deleted', async (topic, hint) => {
    const more = [...topicOf('✔ calibration', [20]), ...topicOf('Calibration 2', [21]), ...topicOf('x', [22])];
    const server = await kitchen({ messages: [...lunch, ...tea, ...more] });

    const { exitCode, error } = await server.run(`topic delete 5 lunch ${topic} --confirm 2 --no-archive -o json`);

    expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 5, calls: 0 });
    expect(error?.message).toContain(`'${topic}'`);
    expect(error?.hint).toContain(hint);
  });

  test('--missing-ok: a repeated purge is exit 0, without a question', async () => {
    const server = await kitchen();
    await server.run(line);

    const { exitCode, stdout } = await server.run('topic delete 5 lunch --missing-ok -o json');

    expect({ exitCode, rows: JSON.parse(stdout) as unknown }).toMatchObject({
      exitCode: 0,
      rows: [{ topic_name: 'lunch', messages: 0, deleted: 0, status: 'missing' }],
    });
    expect(deletions(server)).toBe(1);
  });

  test('two spellings are one topic, and one that --missing-ok excuses counts for --confirm', async () => {
    const server = await kitchen();

    const { exitCode } = await server.run('topic delete 5 gone lunch LUNCH --missing-ok --confirm 2 --no-archive');

    expect([exitCode, left(server), deletions(server)]).toEqual([0, [11, 12], 1]);
  });

  test('the empty topic: from level 334 on, and sent as the empty text', async () => {
    const server = await kitchen({ level: 334, messages: topicOf('', [1, 2]) });

    const ran = await server.run(['topic', 'delete', '5', '', '--confirm', '', '--no-archive']);

    expect({ exitCode: ran.exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [] });
    const looks = server.seen.filter(({ parameters }) => parameters['narrow']?.includes('topic') === true);
    expect(new Set(looks.map(({ parameters }) => parameters['allow_empty_topic_name']))).toEqual(new Set(['true']));
    expect(looks.at(-1)?.parameters).toMatchObject({ apply_markdown: 'false' });
  });

  test('the empty topic below level 334 is exit 6, and nothing is looked up', async () => {
    const server = await kitchen({ level: 333 });

    expect(await server.run(['topic', 'delete', '5', '', '--confirm', ''])).toMatchObject({ exitCode: 6 });
    expect(server.seen).toHaveLength(1);
  });
});

describe('a history that the plan limits', () => {
  test.each([
    ['some of it is hidden', 2],
    ['all of it is hidden', 4],
  ])('%s: refused with exit 6, nothing is deleted', async (_what, firstVisible) => {
    const server = await kitchen({ firstVisible });

    const { exitCode, error } = await server.run(`${line} -o json`);

    expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 6, calls: 0 });
    expect(error).toMatchObject({ retryable: false, hint: expect.stringContaining('--include-hidden') as string });
  });

  test('--include-hidden deletes all of it, and says so before', async () => {
    const server = await openChatServer({
      messages: topicOf('lunch', idsBetween(1, 15)),
      firstVisible: 12,
      deletesPerCall: 4,
    });

    const root = join(emptyHome(), 'kept');

    const words = 'topic delete 5 lunch --confirm lunch --include-hidden';
    const { exitCode, stdout, stderr } = await server.run(`${words} --archive ${root} -o json`);

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [] });
    const head = readFileSync(join(root, readdirSync(root)[0] ?? '', 'archive.json'), 'utf8');
    expect(JSON.parse(head)).toMatchObject({ history_limited: true });
    expect(JSON.parse(stdout)).toMatchObject([{ messages: 4, deleted: 4 }]);
    expect(stderr).toContain('and older ones that the plan hides');
    expect(stderr).toContain("topic 'lunch': at least 4 messages were deleted; those that the plan hid");
  });

  test.each([
    ['after the survey', 6, 0, [1, 2, 3], "nothing of the topic 'lunch' was"],
    ['after a call', 8, 1, [1, 2], "nothing more of the topic 'lunch' is"],
  ])('that advances %s: exit %i, and no call follows', async (_when, exit, calls, rest, what) => {
    let isLate = false;
    const server = await openChatServer({
      ...{ messages: [...lunch, ...tea], deletesPerCall: 1 },
      get firstVisible() {
        return isLate ? 2 : 0;
      },
      meanwhile: (_messages, { parameters: { anchor, narrow = '' } }, count) =>
        void (isLate ||= anchor === 'newest' && narrow.includes('topic') && count === calls),
    });

    const { exitCode, error } = await server.run(`${line} -o json`);

    expect({ exitCode, calls: deletions(server), left: left(server) }).toEqual({
      ...{ exitCode: exit, calls, left: [...rest, 11, 12] },
    });
    expect(error?.message).toBe(`${what} deleted: the Zulip plan hides older messages, which cannot be archived`);
  });

  test('another topic of the channel is not refused', async () => {
    const server = await kitchen({ firstVisible: 5 });

    expect(await server.run('topic delete 5 tea --confirm tea --no-archive')).toMatchObject({ exitCode: 0 });
    expect(left(server)).toEqual([1, 2, 3]);
  });
});

describe('the question', () => {
  test.each([
    ['missing without a terminal', ['topic', 'delete', '5', 'lunch']],
    ['another spelling', ['topic', 'delete', '5', 'lunch', '--confirm', 'Lunch']],
    ['the empty text', ['topic', 'delete', '5', 'lunch', '--confirm', '']],
    ['a number for one topic', ['topic', 'delete', '5', 'lunch', '--confirm', '1']],
    ['-y is no answer', ['topic', 'delete', '5', 'lunch', '-y']],
  ])('%s: exit 2, nothing deleted', async (_what, args) => {
    const server = await kitchen();

    const { exitCode, stdout } = await server.run(args);

    expect({ exitCode, stdout, calls: deletions(server) }).toEqual({ exitCode: 2, stdout: '', calls: 0 });
  });

  test('CHATELAINE_CONFIRM and CHATELAINE_YES are no answer', async () => {
    const server = await kitchen();

    const { exitCode } = await server.run('topic delete 5 lunch', {
      env: { CHATELAINE_CONFIRM: 'lunch', CHATELAINE_YES: '1' },
    });

    expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 2, calls: 0 });
  });

  test.each([
    ['2', 0, []],
    ['lunch', 2, [1, 2, 3, 11, 12]],
  ])('several topics want their number: --confirm %s is exit %d', async (confirm, exitCode, rest) => {
    const server = await kitchen();

    const ran = await server.run(`topic delete 5 lunch tea LUNCH --confirm ${confirm} --no-archive`);

    expect({ exitCode: ran.exitCode, left: left(server) }).toEqual({ exitCode, left: rest });
  });

  test.each([
    ['lunch\n', 0],
    ['Lunch\n', 130],
    ['\n', 130, '', ', general chat,'],
    ['general chat\n', 0, '', ', general chat,'],
  ])(
    'on a terminal the name is typed: %j is exit %d, also under -y',
    async (stdin, exitCode, topic = 'lunch', name = '') => {
      const server = await kitchen({ messages: [...lunch, ...topicOf('', [4])] });

      const ran = await server.run(['topic', 'delete', '5', topic, '-y', '--no-archive'], { tty: true, stdin });

      expect(ran.stderr).toContain(`Type the topic's name${name} to delete it permanently: `);
      expect({ exitCode: ran.exitCode, calls: deletions(server) }).toEqual({ exitCode, calls: exitCode === 0 ? 1 : 0 });
    },
  );
});

describe('--max-messages', () => {
  test.each([
    ['4', 2, [1, 2, 3, 11, 12]],
    ['5', 0, []],
  ])('counts all topics: %s is exit %d', async (most, exitCode, rest) => {
    const server = await kitchen();

    const ran = await server.run(`topic delete 5 lunch tea --confirm 2 --no-archive --max-messages ${most}`);

    expect({ exitCode: ran.exitCode, left: left(server) }).toEqual({ exitCode, left: rest });
  });

  test.each([
    ['arrive', topicOf('lunch', idsBetween(100, 120))],
    ['are moved in, with ids of their own', topicOf('lunch', idsBetween(20, 40))],
  ])('looks again right before the call: messages %s after the question', async (_what, more) => {
    const server = await kitchen({
      messages: topicOf('lunch', [50]),
      meanwhile(messages, { parameters }, calls) {
        const isLook = isTopic(parameters) && parameters['anchor'] === 'newest';
        if (calls === 0 && isLook && messages.length === 1) messages.unshift(...more);
        messages.sort((one, other) => one.id - other.id);
      },
    });

    const { exitCode, error, stderr } = await server.run(
      'topic delete 5 lunch --confirm lunch --no-archive --max-messages 1 -o json',
    );

    expect([exitCode, deletions(server), stderr.includes('messages arrived')]).toEqual([2, 0, false]);
    expect(error?.message).toContain(
      "22 messages of 'lunch' would be deleted, more than the 1 that --max-messages allows",
    );
  });

  test('looks again before every later call: exit 8 with what is left', async () => {
    const server = await kitchen({
      messages: topicOf('lunch', idsBetween(1, 10)),
      deletesPerCall: 5,
      meanwhile(messages, _request, calls) {
        if (calls === 1 && messages.length === 5) messages.push(...topicOf('lunch', [101, 102, 103]));
      },
    });

    const { exitCode, error, stderr } = await server.run(`${line} --max-messages 10 -o json`);

    expect([exitCode, deletions(server), stderr.includes('3 messages arrived')]).toEqual([8, 1, true]);
    expect(error?.message).toContain('5 of the original messages are left');
  });
});

const isTopic = ({ narrow = '' }: Readonly<Record<string, string>>): boolean => narrow.includes('topic');

test('a last look that shows nothing, and does not say that nothing is there, is no end: exit 8', async () => {
  const server = await kitchen({
    hides: (query) => isTopic(query) && query['anchor'] === 'newest' && deletions(server) > 0,
  });

  const { exitCode, stdout, stderr } = await server.run(`${line} -o json`);

  expect({ exitCode, left: left(server) }).toEqual({ exitCode: 8, left: [11, 12] });
  expect(JSON.parse(stdout)).toMatchObject([{ messages: 3, deleted: 0, status: 'incomplete' }]);
  expect(stderr).toContain('did not mark the list as complete');
});

test('a look for the channel that shows nothing, and does not say that nothing is there: exit 7, nothing is deleted', async () => {
  const server = await kitchen({ hides: (query) => !isTopic(query) && query['num_before'] === '1' });

  expect(await server.run(line)).toMatchObject({ exitCode: 7, stdout: '' });
  expect(deletions(server)).toBe(0);
});

test('a dry run sends no write, wants no answer, and shows the plan, with -o curl the requests', async () => {
  const server = await kitchen({ messages: [...lunch, ...topicOf('tea & cake', [11])] });

  const { exitCode, stdout } = await server.run(['topic', 'delete', '5', 'lunch', 'tea & cake', '-n', '-o', 'json']);

  expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 0, calls: 0 });
  expect(JSON.parse(stdout)).toMatchObject(
    ['lunch', 'tea & cake'].map((topic_name) => ({ topic_name, deleted: 0, status: 'would be deleted' })),
  );
  const curl = await server.run(['topic', 'delete', '5', 'lunch', 'tea & cake', '-n', '-o', 'curl']);
  expect(curl.stdout).toMatch(/topic_name=lunch[^]*topic_name=tea\+%26\+cake/);
  expect(deletions(server)).toBe(0);
});

test('one topic that is refused does not keep the others: exit 8, and it is named', async () => {
  const server = await kitchen({
    deleteReply: (call) =>
      call === 1
        ? { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Not this one' }, deletes: 0 }
        : undefined,
  });

  const { exitCode, stdout, error } = await server.run('topic delete 5 lunch tea --confirm 2 --no-archive -o json');

  expect(exitCode).toBe(8);
  expect(JSON.parse(stdout)).toMatchObject([
    { topic_name: 'lunch', deleted: 0, status: 'incomplete' },
    { topic_name: 'tea', deleted: 2, status: 'deleted' },
  ]);
  expect(error?.message).toContain('1 of 2 failed (lunch):');
});

describe('Ctrl-C in a delete call', () => {
  const interrupted = (options: Partial<ChatServerOptions> = {}, ids = idsBetween(1, 10)) => {
    const interrupt = new AbortController();
    return kitchen({
      messages: topicOf('lunch', ids),
      deletesPerCall: 4,
      ...options,
      meanwhile(...given) {
        options.meanwhile?.(...given);
        if (given[2] === 2) interrupt.abort(new Failure('cancelled', 'interrupted'));
      },
    }).then((server) => ({ ...server, run: (words: string) => server.run(words, { interrupt: interrupt.signal }) }));
  };

  test('exit 130 after the answer and one look, so that the row says how many went, and the line that goes on', async () => {
    const server = await interrupted();

    const { exitCode, stdout, error } = await server.run(`${line} --no-archive -o json`);

    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject([{ messages: 10, deleted: 8, at_least: false, status: 'incomplete' }]);
    expect(error?.message).toBe("interrupted; 2 of 10 messages of 'lunch' were left when last seen");
    expect(error?.hint).toContain('chatelaine topic delete 5 lunch --no-archive');
    const since = server.seen.slice(server.seen.findLastIndex(({ path }) => path.endsWith('/delete_topic')) + 1);
    expect(since.map(({ parameters: { anchor, num_before } }) => ({ anchor, num_before }))).toEqual([
      { anchor: 'newest', num_before: '5000' },
    ]);
  });

  test('a call that is answered with 502 is looked after too', async () => {
    const reply = { status: 502, body: '<h1>Bad gateway</h1>', deletes: 3 };
    const server = await interrupted({ deleteReply: (call) => (call === 2 ? reply : undefined) });

    const { exitCode, error } = await server.run(`${line} -o json`);

    expect(exitCode).toBe(130);
    expect(error?.message).toBe("interrupted; 3 of 10 messages of 'lunch' were left when last seen");
  });

  test('what is below the one request counts as it was before', async () => {
    const server = await interrupted({ deletesPerCall: 100 }, idsBetween(1, 5300));

    const { stdout } = await server.run(`${line} --no-archive -o json`);

    expect(JSON.parse(stdout)).toMatchObject([{ messages: 5300, deleted: 200, at_least: false }]);
  });

  test('where that look fails the row says at least', async () => {
    const server = await interrupted({ awayAfter: 2 });

    const { exitCode, stdout, error } = await server.run(`${line} -o json`);

    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject([{ messages: 10, deleted: 4, at_least: true, status: 'incomplete' }]);
    expect(error?.message).toBe("interrupted; 6 of 10 messages of 'lunch' were left when last seen");
  });
});

test('--deadline in a purge is exit 8 with what is left', async () => {
  const { alarm, ring } = alarmByHand(3_600_000);
  const server = await kitchen({
    messages: topicOf('lunch', idsBetween(1, 200)),
    deletesPerCall: 1,
    deleteReply: (call) => {
      if (call === 20) ring();
      return undefined;
    },
  });

  const { exitCode, error } = await server.run(`${line} --deadline 1h -o json`, { alarm });

  expect({ exitCode, retryable: error?.retryable }).toEqual({ exitCode: 8, retryable: true });
  expect(error?.message).toMatch(/the deadline.*; \d+ of 200 messages of 'lunch' were left when last seen/);
});
