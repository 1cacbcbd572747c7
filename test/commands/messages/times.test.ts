import { describe, expect, test } from 'vitest';
import { readTime } from '../../../src/commands/typed-time.ts';
import { sampleOf } from '../../helpers/extent.ts';
import { fakeService, run } from '../../helpers/run.ts';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { inZone } from '../../helpers/zone.ts';

/** A message each hour, from eight days before the run to its beginning. */
const hourly = (now: number) => topicOf('log', idsBetween(1, 193), { begins: now / 1000 - 8 * 86_400, every: 3600 });

test.each(
  sampleOf(1, [
    ['America/New_York', '2026-03-08T20:00Z', 'the clock went forward today'],
    ['Europe/Berlin', '2026-10-26T02:00Z', 'the clock went back yesterday'],
    ['Australia/Lord_Howe', '2026-04-05T14:00Z', 'the clock went back half an hour'],
    ['Pacific/Apia', '2012-01-03T02:00Z', 'the Friday was skipped'],
    ['America/Sao_Paulo', '2018-11-05T15:00Z', 'Sunday had no midnight'],
    ['America/Havana', '2025-11-03T15:00Z', 'Sunday had two'],
  ] as const),
)('%s at %s, where %s: --since a weekday begins with what -o text shows under it', async (TZ, text, _what) => {
  const now = Date.parse(text);
  inZone(TZ);
  const server = await openChatServer({ messages: hourly(now) });
  const shown = async (line: string): Promise<string> =>
    (await server.run(`messages fetch ${line} -o text`, { now, env: { TZ } })).stdout;
  const days = [...(await shown('--all')).matchAll(/^#kitchen > log — (\w+) .*$/gm)];
  // The oldest day may be cut, and the latest of each name is meant.
  const latest = new Map(days.slice(1).map(([heading, weekday]) => [weekday, heading]));

  expect(latest.size).toBe(TZ === 'Pacific/Apia' ? 6 : 7);
  for (const [weekday, heading] of latest) {
    const since = await shown(`--since ${weekday?.toLowerCase() ?? ''}`);
    expect(since.startsWith(`${heading}\n`)).toBe(true);
    const first = /^(\d\d:\d\d)/m.exec(since.slice(heading.length))?.[1];
    expect(await shown('--all')).toContain(`${heading}\n\n${first ?? ''}`);
  }
});

describe('the moment that was understood', () => {
  const words = 'messages fetch --since yesterday --until 2026-03-01T09:30 -o ndjson';

  test('is on standard error, with its zone', async () => {
    inZone('America/New_York');
    const server = await openChatServer({ messages: [] });

    expect((await server.run(words, { env: { TZ: 'America/New_York' } })).lines).toEqual([
      'note: --since yesterday: Saturday 2026-02-28T00:00:00-05:00',
      'note: --until 2026-03-01T09:30: Sunday 2026-03-01T09:30:00-05:00',
    ]);
  });

  test('is not under --quiet', async () => {
    const server = await openChatServer({ messages: [] });

    expect((await server.run(`${words} -q`)).stderr).toBe('');
  });
});

test('a clock that goes on while a time is read is not wrong', () => {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const warned: string[] = [];
  const clock = { now: () => (now += 1), checkZone: () => undefined, serverNow: () => undefined };
  const messages = { note: () => undefined, warn: (text: string) => void warned.push(text) };
  readTime('--since', '7d', { clock, ...messages } as never);
  expect(warned).toEqual([]);
});

describe('where the clock of this machine is wrong', () => {
  const server = Date.parse('2026-03-01T12:00:00Z');
  const days = [-3, -2, -1, 0].map((day, at) =>
    topicOf('log', [at + 1], { begins: server / 1000 + day * 86_400 - 60 }),
  );

  test.each([
    [
      '120 days ahead',
      120 * 86_400_000,
      '--since 2d',
      [3, 4],
      "the clock of this machine is 120d ahead of the server's",
    ],
    ['6 minutes ahead', 360_000, '--since 2d', [3, 4], "the clock of this machine is 6m ahead of the server's"],
    ['a year behind', -365 * 86_400_000, '--since 2d', [3, 4], "the clock of this machine is 365d behind the server's"],
    [
      '120 days ahead',
      120 * 86_400_000,
      '--until 2d',
      [1, 2],
      "the clock of this machine is 120d ahead of the server's",
    ],
    [
      '120 days ahead',
      120 * 86_400_000,
      '--until 2d --limit 1',
      [2],
      "the clock of this machine is 120d ahead of the server's",
    ],
    ['4 minutes ahead', 240_000, '--since 2d', [3, 4], undefined],
    ['120 days ahead', 120 * 86_400_000, '--since 2026-02-28T00:00Z', [3, 4], undefined],
  ])('%s (%d ms): %s counts from the time of the server', async (_what, skew, option, ids, wrong) => {
    const { run } = await openChatServer({ messages: days.flat(), now: server });
    const ran = await run(`messages fetch ${option} --fields id --no-header -o tsv`, { now: server + skew });
    expect(ran.stdout).toBe(ids.map((id) => `${id}\n`).join(''));
    const [flag = '', text = ''] = option.split(' ');
    const shown = text.length > 2 ? 'Saturday 2026-02-28T00:00:00+00:00' : 'Friday 2026-02-27T12:00:00+00:00';
    const at = wrong === undefined && skew === 240_000 ? 'Friday 2026-02-27T12:04:00+00:00' : shown;
    expect(ran.lines).toEqual([
      ...(wrong === undefined ? [] : [`warning: ${wrong}: ${flag} ${text} counts from the server's time`]),
      `note: ${flag} ${text}: ${at}`,
    ]);
  });

  test('topic list --older-than counts from it too, and topic delete deletes nothing', async () => {
    const { run, seen } = await openChatServer({ messages: days.flat(), now: server });
    const given = { now: server + 120 * 86_400_000 };
    expect((await run('topic list 5 --older-than 2d -o tsv --no-header', given)).stdout).toBe('');
    const ran = await run("topic delete 5 --match '*' --older-than 2d -y", given);
    expect(ran).toMatchObject({ exitCode: 7, stdout: '' });
    expect(ran.stderr).toBe(
      "chatelaine: the clock of this machine is 120d ahead of the server's, and --older-than depends on it: nothing was deleted\nhint: Set the clock of this machine.\n",
    );
    expect(seen.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test('a span that begins in the future of the server is exit 2', async () => {
    const { run } = await openChatServer({ messages: days.flat(), now: server });
    const ran = await run('messages fetch --since 2026-03-02 -o json', { now: server + 120 * 86_400_000 });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.error?.message).toBe('--since 2026-03-02 is in the future: nothing can be selected');
  });

  test('licenses are listed by the time of the server too', async () => {
    const service = fakeService();
    const rows = ['2026-02-27T11:00:00Z', '2026-02-28T12:00:00Z'].map((created, at) => ({
      ...{ license_code: `KEY-${at}`, remote_user: `user ${at}`, app_code: 7, size_allowance: 2, created },
    }));
    service.expect({ method: 'GET', path: '/v1/license/' }).reply(200, rows, { date: new Date(server).toUTCString() });
    const ran = await run(service, 'license list --since 2d --fields remote_user --no-header -o tsv', {
      now: server + 120 * 86_400_000,
    });
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'user 1\n' });
    expect(ran.lines.at(-1)).toBe('note: --since 2d: Friday 2026-02-27T12:00:00+00:00');
    service.done();
  });
});

test('a TZ that names no zone is exit 2, and nothing is sent', async () => {
  const server = await openChatServer({ messages: [] });

  const ran = await server.run('messages fetch --since today -o json', { env: { TZ: 'Nowhere/Town' } });

  expect({ exitCode: ran.exitCode, message: ran.error?.message, seen: server.seen }).toEqual({
    exitCode: 2,
    message: "--since: TZ names no time zone: 'Nowhere/Town'",
    seen: [],
  });
});

describe('a TZ that names no zone', () => {
  const warning = "warning: TZ names no time zone ('Nowhere/Town'): times are shown in UTC, marked Z";
  const messages = topicOf('log', [1, 2], { begins: Date.UTC(2026, 2, 1, 11) / 1000 });

  test.each([
    ['-o text', /^11:00Z {2}/m],
    ['-o table --fields id,timestamp', /\b2026-03-01 11:00Z/],
    ['-o excel --fields id,timestamp', /^1,2026-03-01 11:00Z\r$/m],
  ])('%s shows the times in Z, and one warning says so', async (options, shown) => {
    const { run } = await openChatServer({ messages });
    const ran = await run(`messages fetch --all ${options}`, { env: { TZ: 'Nowhere/Town' } });
    expect(ran).toMatchObject({ exitCode: 0, lines: [warning] });
    expect(ran.stdout).toMatch(shown);
  });

  test.each(['UTC0', ':/etc/localtime', undefined])('%s is not one', async (TZ) => {
    const { run } = await openChatServer({ messages });
    const ran = await run('messages fetch --all -o text', { env: { TZ } });
    expect(ran).toMatchObject({ exitCode: 0, lines: [] });
    expect(ran.stdout).toMatch(/^11:00 {2}/m);
  });
});

describe('--older-than', () => {
  const now = Date.UTC(2026, 2, 1, 12);
  const ages = [1, 20, 40, 100, 400].map((days) => ({ days, at: now / 1000 - days * 86_400 }));
  const messages = ages.flatMap(({ days, at }) => topicOf(`${days} days`, [1000 - days], { begins: at }));

  test.each([
    ['America/New_York', '2026-03-09T16:00Z', 'Sunday 2026-03-08T00:00:00-05:00'],
    ['Europe/Berlin', '2026-10-26T16:00Z', 'Sunday 2026-10-25T00:00:00+02:00'],
    ['Australia/Lord_Howe', '2026-04-06T04:00Z', 'Sunday 2026-04-05T00:00:00+11:00'],
    ['Pacific/Apia', '2011-12-31T02:00Z', 'Thursday 2011-12-29T00:00:00-10:00'],
    ['America/Sao_Paulo', '2018-11-05T15:00Z', 'Sunday 2018-11-04T01:00:00-02:00'],
    ['America/Havana', '2025-11-03T15:00Z', 'Sunday 2025-11-02T00:00:00-04:00'],
  ])('%s at %s: yesterday begins on %s', async (TZ, at, begins) => {
    inZone(TZ);
    const moment = Date.parse(begins.slice(begins.indexOf(' ') + 1)) / 1000;
    const older = topicOf('a second older', [1], { begins: moment - 1 });
    const server = await openChatServer({ messages: [...older, ...topicOf('of the day', [2], { begins: moment })] });
    const context = { now: Date.parse(at), env: { TZ } };

    const { stdout, lines } = await server.run('topic list 5 --older-than yesterday -o ndjson', context);

    expect(lines).toEqual([`note: --older-than yesterday: ${begins}`]);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { topic_name: string }).topic_name),
    ).toEqual(['a second older']);
  });

  test('in a TZ that names no zone is exit 2, and nothing is sent', async () => {
    const server = await openChatServer({ messages: [] });
    const ran = await server.run('topic list 5 --older-than 3mo -o json', { env: { TZ: 'Nowhere/Town' } });
    expect({ exitCode: ran.exitCode, message: ran.error?.message, seen: server.seen }).toEqual({
      exitCode: 2,
      message: "--older-than: TZ names no time zone: 'Nowhere/Town'",
      seen: [],
    });
  });

  test.each([
    ['yesterday', ['20 days', '40 days', '100 days', '400 days']],
    ['saturday', ['20 days', '40 days', '100 days', '400 days']],
    ['2w', ['20 days', '40 days', '100 days', '400 days']],
    ['1mo', ['40 days', '100 days', '400 days']],
    ['3mo', ['100 days', '400 days']],
    ['1y', ['400 days']],
    ['2026-01-01', ['100 days', '400 days']],
    ['86401s', ['20 days', '40 days', '100 days', '400 days']],
  ])('%s in topic list and topic delete', async (age, names) => {
    const server = await openChatServer({ messages, isAdmin: true });

    const listed = await server.run(['topic', 'list', '5', '--older-than', age, '-o', 'json']);
    const planned = await server.run(`topic delete 5 --match '*' --older-than ${age} --dry-run -o json`);

    const rows = JSON.parse(listed.stdout) as { topic_name: string }[];
    expect(rows.map(({ topic_name }) => topic_name).toSorted()).toEqual(names.toSorted());
    const topics = (JSON.parse(planned.stdout) as { topic_name: string }[]).map(({ topic_name }) => topic_name);
    expect(topics.toSorted()).toEqual(names.toSorted());
  });

  test.each(['topic list 5', "topic delete 5 --match '*'"])('%s refuses minutes, which may be months', async (line) => {
    const server = await openChatServer({ messages });

    const { exitCode, error } = await server.run(`${line} --older-than 3m -o json`);

    expect(exitCode).toBe(2);
    expect(error).toMatchObject({
      message: '--older-than 3m: minutes or months?',
      hint: 'Write 3mo for months, 180s for minutes.',
    });
    expect(server.seen).toEqual([]);
  });
});

test('--older-than 3m has two readings: exit 2', async () => {
  const server = await openChatServer({ messages: [] });
  const { exitCode, error } = await server.run('topic list 5 --older-than 3m -o json');
  expect([exitCode, error?.message.endsWith('?'), server.seen]).toEqual([2, true, []]);
});

test('a message without a time: --since cannot select, exit 7', async () => {
  const server = await openChatServer({
    messages: topicOf('log', [1, 2]),
    meanwhile: (messages) => messages.forEach((message) => Reflect.deleteProperty(message, 'timestamp')),
  });

  const { exitCode, error } = await server.run('messages fetch --since 2d -o json');

  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 7,
    message: 'message 2 has no timestamp: messages cannot be selected by time',
  });
});
