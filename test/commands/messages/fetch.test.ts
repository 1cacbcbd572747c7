import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import { fakeService, openSandbox, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };
const newest = 10_000_000_000_000_000;

interface Page {
  readonly ids: readonly number[];
  readonly newest?: boolean;
  readonly oldest?: boolean;
  readonly more?: object;
}

type Query = Readonly<Record<string, string>>;

/** Plans one request and its page. */
function page(
  service: FakeService,
  query: Query,
  { ids, newest: found_newest = false, oldest = false, more }: Page,
): void {
  service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(200, {
    ...done,
    anchor: newest,
    found_anchor: false,
    found_newest,
    found_oldest: oldest,
    history_limited: false,
    messages: ids.map((id) => ({ id, content: `message ${id}` })),
    ...more,
  });
}

const forward = (anchor: string | number, size = 1000, more: Query = {}): Query => ({
  anchor: String(anchor),
  num_before: '0',
  num_after: String(size),
  ...more,
});
const backward = (anchor: string | number, size = 1000, more: Query = {}): Query => ({
  anchor: String(anchor),
  num_before: String(size),
  num_after: '0',
  ...more,
});
const without = { include_anchor: 'false' };

/** The integers from one to the other, both included. */
const ids = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

async function fetched(
  service: FakeService,
  line: string,
): Promise<{ exitCode: number; ids: number[]; lines: readonly string[] }> {
  const { exitCode, stdout, lines } = await run(service, `messages fetch ${line} -o ndjson`);
  const rows = stdout.split('\n').filter((row) => row !== '');
  return { exitCode, lines, ids: rows.map((row) => (JSON.parse(row) as { id: number }).id) };
}

describe('what a range asks for', () => {
  test.each<[string, Query]>([
    ['', backward('newest', 100)],
    ['--limit 7', backward('newest', 7)],
    ['--anchor newest --limit 7', backward('newest', 7)],
    ['--anchor oldest --limit 7', forward('oldest', 7)],
    ['--anchor first_unread --limit 7', forward('first_unread', 7)],
    ['--anchor 42 --limit 7', forward(42, 7)],
    ['--anchor 42', forward(42, 100)],
    ['--anchor 0', forward(0, 100)],
    ['--anchor 10000000000000000', forward('10000000000000000', 100)],
    ['--anchor 42 --no-include-anchor', forward(42, 100, without)],
    ['--all', forward('oldest')],
    ['--anchor 42 --all', forward(42)],
    ['--use-first-unread-anchor --limit 5 -q', forward('first_unread', 5)],
    ['--num-before 3', { anchor: 'newest', num_before: '3', num_after: '0' }],
    ['--ids 3,1,2,1', { message_ids: '[1,2,3]' }],
  ])('%s', async (line, query) => {
    const service = fakeService();
    const all = line.startsWith('--ids') ? [1, 2, 3] : [];
    page(service, query, { ids: all, newest: true, oldest: true });

    expect(await fetched(service, line)).toEqual({ exitCode: 0, lines: [], ids: all });
    service.done();
  });
});

describe('what selects becomes one narrow', () => {
  test.each<[string, unknown]>([
    ['--channel general', [{ operator: 'channel', operand: 'general' }]],
    ['--channel 5', [{ operator: 'channel', operand: 5 }]],
    ['--channel id:5', [{ operator: 'channel', operand: 5 }]],
    ['--channel name:2024', [{ operator: 'channel', operand: '2024' }]],
    ['--topic 5', [{ operator: 'topic', operand: '5' }]],
    ['--topic id:5', [{ operator: 'topic', operand: 'id:5' }]],
    ['--sender id:9', [{ operator: 'sender', operand: 9 }]],
    ["--topic ''", [{ operator: 'topic', operand: '' }]],
    ['--sender bob@chat.test', [{ operator: 'sender', operand: 'bob@chat.test' }]],
    ['--dm 9,10', [{ operator: 'dm', operand: [9, 10] }]],
    ['--dm a@chat.test,b@chat.test', [{ operator: 'dm', operand: 'a@chat.test,b@chat.test' }]],
    ['--channels public', [{ operator: 'channels', operand: 'public' }]],
    ['--id 42', [{ operator: 'id', operand: 42 }]],
    ['--with 42', [{ operator: 'with', operand: 42 }]],
    ['--in home', [{ operator: 'in', operand: 'home' }]],
    [
      '--is unread --is starred',
      [
        { operator: 'is', operand: 'unread' },
        { operator: 'is', operand: 'starred' },
      ],
    ],
    [
      '--has link --search "coffee machine"',
      [
        { operator: 'search', operand: 'coffee machine' },
        { operator: 'has', operand: 'link' },
      ],
    ],
    [
      '--channel general --not sender=9',
      [
        { operator: 'channel', operand: 'general' },
        { operator: 'sender', operand: 9, negated: true },
      ],
    ],
    ['--not topic=a=b', [{ operator: 'topic', operand: 'a=b', negated: true }]],
    ['--not is=dm', [{ operator: 'is', operand: 'dm', negated: true }]],
    [
      `--narrow '[["channel","general"],{"operator":"near","operand":"5"}]'`,
      [['channel', 'general'], { operator: 'near', operand: '5' }],
    ],
  ])('%s', async (line, narrow) => {
    const service = fakeService();
    page(service, backward('newest', 1, { narrow: JSON.stringify(narrow) }), { ids: [1], oldest: true });

    expect(await fetched(service, `${line} --limit 1`)).toEqual({ exitCode: 0, lines: [], ids: [1] });
    service.done();
  });
});

test('the own address is the account, also where the server hides addresses', async () => {
  const service = fakeService();
  service.expect('GET /api/v1/users/me').reply(200, { ...done, user_id: 8, email: 'user8@chat.test' });
  const narrow = JSON.stringify([{ operator: 'sender', operand: 8 }]);
  page(service, backward('newest', 1, { narrow }), { ids: [1], oldest: true });

  expect(await fetched(service, '--sender Ada@chat.test --limit 1')).toEqual({ exitCode: 0, lines: [], ids: [1] });
  service.done();
});

describe('what is refused before anything is sent', () => {
  test.each([
    ['--ids 1 --use-first-unread-anchor=false', /--ids and --use-first-unread-anchor exclude/],
    ['--ids 1 --all', /exclude each other/],
    ['--all --limit 5', /exclude each other/],
    ['--num-before 5000 --num-after 1', /5001 messages; at most 5000/],
    ['--num-after 5001', /must be 0 to 5000/],
    ['--num-before 1e3', /not a whole number/],
    ['--num-before 1 --num-after 1 --no-include-anchor', /at an end of the range only/],
    ['--limit 0', /at least 1/],
    ['--anchor 01', /neither a message id/],
    ["--ids ''", /not message ids/],
    ['--id 2147483648', /out of range/],
    ['--id -1', /out of range/],
    ['--not search=x', /cannot negate search/],
    ['--not in=all', /the server ignores it/],
    ['--not nonsense', /expected OPERATOR=VALUE/],
    ['--not =5', /expected OPERATOR=VALUE/],
    ['--narrow {}', /not a JSON array/],
    ['--narrow nonsense', /not valid JSON/],
    [`--narrow '[]' --channel general`, /--narrow excludes/],
    ['extra', /'extra' is not a link/],
    ['--not channel=https://chat.test/#narrow/channel/1-a/topic/b', /^--not channel: give one channel, or its link$/],
  ])('%s', async (line, message) => {
    const service = fakeService();

    const { exitCode, stdout, error } = await run(service, `messages fetch ${line} -o json`);

    expect({ exitCode, stdout, sent: service.seen, code: error?.code }).toEqual({
      exitCode: 2,
      stdout: '',
      sent: [],
      code: 'usage',
    });
    expect(error?.message).toMatch(message);
  });
});

describe('forward by pages', () => {
  test('a page of N+1 from each id that is known, until found_newest', async () => {
    const service = fakeService();
    page(service, forward(500), { ids: ids(500, 1500) });
    page(service, forward(1500), { ids: ids(1500, 1502), newest: true });

    expect(await fetched(service, '--anchor 500 --all')).toEqual({ exitCode: 0, lines: [], ids: ids(500, 1502) });
    service.done();
  });

  test('an exactly full last page is followed by an empty one', async () => {
    const service = fakeService();
    page(service, forward('oldest'), { ids: ids(1, 1000), oldest: true });
    page(service, forward(1000), { ids: [1000], newest: true });

    expect(await fetched(service, '--all')).toEqual({ exitCode: 0, lines: [], ids: ids(1, 1000) });
    service.done();
  });

  test.each([
    ['empty', []],
    ['the anchor again', [2]],
  ])('a later page (%s) that does not say it is the last: what came is shown, exit 8', async (_case, again) => {
    const service = fakeService();
    page(service, forward('oldest'), { ids: [1, 2] });
    page(service, forward(2), { ids: again });

    const { exitCode, ids: shown, lines } = await fetched(service, '--all');

    service.done();
    expect({ exitCode, shown }).toEqual({ exitCode: 8, shown: [1, 2] });
    expect(lines.join()).toContain('the list ends at message 2');
  });

  test.each([
    ['--all', forward('oldest')],
    ['--limit 5', backward('newest', 5)],
    ['--anchor 42 --all --no-include-anchor', forward(42, 1000, without)],
  ])('an empty first page with both flags false is exit 7: %s', async (line, query) => {
    const service = fakeService();
    page(service, query, { ids: [] });

    expect(await fetched(service, line)).toMatchObject({ exitCode: 7, ids: [] });
    service.done();
  });

  test('downward, a later page without rows and found_oldest: what came is shown, exit 8', async () => {
    const service = fakeService();
    page(service, backward('newest'), { ids: ids(501, 1500) });
    page(service, backward(501, 500, without), { ids: [], newest: true });

    expect(await fetched(service, '--limit 1500')).toMatchObject({ exitCode: 8, ids: ids(501, 1500) });
    service.done();
  });

  test('the anchor that servers below level 155 repeat is not shown twice, and a page of nothing else ends it', async () => {
    const service = fakeService();
    page(service, forward('oldest'), { ids: [1, 2, 3] });
    page(service, forward(3), { ids: [3, 4] });
    page(service, forward(4), { ids: [4], newest: true });

    expect(await fetched(service, '--all')).toEqual({ exitCode: 0, lines: [], ids: [1, 2, 3, 4] });
    service.done();
  });

  test('messages that moved in between are shown once, ascending', async () => {
    const service = fakeService();
    page(service, forward('oldest'), { ids: [2, 4, 3] });
    page(service, forward(4), { ids: [6, 5, 4] });
    page(service, forward(6), { ids: [6, 7], newest: true });

    expect(await fetched(service, '--all')).toEqual({ exitCode: 0, lines: [], ids: [2, 3, 4, 5, 6, 7] });
    service.done();
  });

  test('--limit cuts the row that the anchor adds, and asks for no more than is left', async () => {
    const service = fakeService();
    page(service, forward(10, 1000), { ids: ids(10, 1010) });
    page(service, forward(1010, 199), { ids: ids(1010, 1209) });

    expect(await fetched(service, '--anchor 10 --limit 1200')).toEqual({ exitCode: 0, lines: [], ids: ids(10, 1209) });
    service.done();
  });

  test('a later page that fails: what came is shown, exit 8', async () => {
    const service = fakeService();
    page(service, forward('oldest'), { ids: ids(1, 1000) });
    service
      .expect({ method: 'GET', path: '/api/v1/messages', query: forward(1000) }, 6)
      .reply(502, '<h1>Bad gateway</h1>');

    const { exitCode, ids: shown, lines } = await fetched(service, '--all');

    service.done();
    expect({ exitCode, shown }).toEqual({ exitCode: 8, shown: ids(1, 1000) });
    expect(lines.at(-1)).toContain('the list ends after 1 page: ');
  });
});

describe('the newest N', () => {
  test('by pages downward, shown ascending', async () => {
    const service = fakeService();
    page(service, backward('newest'), { ids: ids(2001, 3000) });
    page(service, backward(2001, 1000, without), { ids: ids(1001, 2000) });
    page(service, backward(1001, 500, without), { ids: ids(501, 1000) });

    expect(await fetched(service, '--limit 2500')).toEqual({ exitCode: 0, lines: [], ids: ids(501, 3000) });
    service.done();
  });

  test('more than five pages are found first and fetched then, so that memory stays flat', async () => {
    const service = fakeService();
    page(service, backward('newest'), { ids: ids(5001, 6000) });
    for (let first = 4001; first > 0; first -= 1000) {
      page(service, backward(first + 1000, 1000, without), { ids: ids(first, first + 999), oldest: first === 1 });
    }
    page(service, forward(1), { ids: ids(1, 1001) });
    for (let last = 1001; last < 6000; last += 1000) {
      const end = Math.min(last + 1000, 6000);
      page(service, forward(last, Math.min(1000, 6500 - last)), { ids: ids(last, end), newest: end === 6000 });
    }

    const { exitCode, ids: shown } = await fetched(service, '--limit 6500');

    service.done();
    expect({ exitCode, shown }).toEqual({ exitCode: 0, shown: ids(1, 6000) });
  });

  test('a history that the plan cuts is a warning, also where it is reported five pages before', async () => {
    const limited = { history_limited: true };
    const near = fakeService();
    page(near, backward('newest', 100), { ids: [5], oldest: true, more: limited });
    const far = fakeService();
    page(far, backward('newest'), { ids: ids(5001, 6000) });
    for (let first = 4001; first > 0; first -= 1000) {
      page(far, backward(first + 1000, 1000, without), {
        ids: ids(first, first + 999),
        oldest: first === 1,
        more: first === 1 ? limited : {},
      });
    }
    page(far, forward(1), { ids: ids(1, 6000), newest: true });

    for (const [service, line] of [
      [near, ''],
      [far, '--limit 9000'],
    ] as const) {
      const { exitCode, lines } = await fetched(service, line);

      service.done();
      expect(exitCode).toBe(0);
      expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual([
        { warning: expect.stringContaining('limits the history') as string },
      ]);
    }
  });
});

test('a page without messages says all the same what the plan cuts, and what the server ignored', async () => {
  const hidden = fakeService();
  page(hidden, backward('newest', 100), { ids: [], more: { history_limited: true } });
  const deaf = fakeService();
  const narrow = '[{"operator":"channel","operand":"general"}]';
  const more = { ignored_parameters_unsupported: ['narrow'] };
  page(deaf, { ...backward('newest', 100), narrow }, { ids: [], oldest: true, more });

  const cut = await fetched(hidden, '');
  const ignored = await fetched(deaf, '--channel general');

  expect([cut.exitCode, ignored.exitCode]).toEqual([0, 7]);
  expect(cut.lines.map((text) => JSON.parse(text) as unknown)).toEqual([
    { warning: expect.stringContaining('limits the history') as string },
  ]);
});

describe('--envelope', () => {
  test.each<[string, Query]>([
    ['--num-before 2 --anchor 7', { anchor: '7', num_before: '2', num_after: '0' }],
    ['--limit 5000', { anchor: 'newest', num_before: '5000', num_after: '0' }],
    ['--anchor 7 --limit 5000', { anchor: '7', num_before: '0', num_after: '5000' }],
    ['--ids 1,2', { message_ids: '[1,2]' }],
  ])('%s: the whole answer of that one request', async (line, query) => {
    const service = fakeService();
    page(service, query, { ids: [2, 1], more: { anchor: 7, found_anchor: true, later: { a: [] } } });

    const { exitCode, stdout } = await run(service, `messages fetch ${line} --envelope -o json`);

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ result: 'success', anchor: 7, found_anchor: true, found_newest: false, later: { a: [] } },
      messages: [{ id: 2 }, { id: 1 }],
    });
  });

  test.each(['--envelope -o json', '-o yaml'])('%s: integers of any length are kept', async (words) => {
    const long = '1180591620717411303424';
    const service = fakeService();
    const answer = { ...done, anchor: newest, found_newest: true, found_oldest: true, history_limited: false };
    const text = JSON.stringify({ ...answer, messages: [{ id: 1, content: 'x', sent: 0 }] });
    const query = { anchor: 'newest', num_before: '5', num_after: '0' };
    service
      .expect({ method: 'GET', path: '/api/v1/messages', query })
      .reply(200, text.replace('"sent":0', `"sent":${long}`));

    expect((await run(service, `messages fetch --limit 5 ${words}`)).stdout).toMatch(new RegExp(`sent"?: ${long}`));
  });

  test('jq sees the answer', async () => {
    const service = fakeService();
    page(service, { anchor: 'newest', num_before: '5', num_after: '0' }, { ids: [1], oldest: true });

    expect((await run(service, 'messages fetch --limit 5 --envelope --jq .found_oldest')).stdout).toBe('true\n');
  });

  test.each([
    ['--all -o json', /response of one request/],
    ['--since 2d -o json', /response of one request/],
    ['--anchor 7 --limit 5001 -o json', /response of one request/],
    ['--limit 5001 -o json', /response of one request/],
    [`--ids ${ids(100_000, 102_000).join(',')} -o json`, /response of one request/],
    ['--limit 5 -o csv', /one JSON document/],
    ['--limit 5', /one JSON document/],
    ['--limit 5 --fields id -o json', /selects fields of messages/],
  ])('%s is refused, and nothing is sent', async (line, why) => {
    const service = fakeService();

    const { exitCode, stderr } = await run(service, `messages fetch ${line} --envelope`);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(stderr).toMatch(why);
  });

  test('an ignored narrow shows nothing', async () => {
    const service = fakeService();
    const query = { anchor: 'newest', num_before: '5', narrow: '[{"operator":"channel","operand":"general"}]' };
    page(service, { ...query, num_after: '0' }, { ids: [1], more: { ignored_parameters_unsupported: ['narrow'] } });

    const ran = await run(service, 'messages fetch --channel general --limit 5 --envelope -o json');
    expect(ran).toMatchObject({ exitCode: 7, stdout: '' });
  });
});

describe('--ids', () => {
  test('sorted by id whatever the server does, and missing ones are named: exit 8', async () => {
    const service = fakeService();
    page(service, { message_ids: '[5,7,9]' }, { ids: [9, 5] });

    const { exitCode, ids: shown, lines } = await fetched(service, '--ids 7,9,5');

    service.done();
    expect({ exitCode, shown }).toEqual({ exitCode: 8, shown: [5, 9] });
    expect(lines.at(-1)).toContain('that you may read: 7"');
  });

  test('of many missing ones the first 20 are named, and the number of the others', async () => {
    const service = fakeService();
    const wanted = ids(1, 60);
    page(service, { message_ids: JSON.stringify(wanted) }, { ids: ids(31, 60) });

    const { exitCode, lines } = await fetched(service, `--ids ${wanted.join(',')}`);

    expect(exitCode).toBe(8);
    expect(lines.at(-1)).toContain(`that you may read: ${ids(1, 20).join(', ')} and 10 more"`);
  });

  test('what a selection leaves out is no failure, and is counted', async () => {
    const service = fakeService();
    const narrow = '[{"operator":"channel","operand":"general"}]';
    page(service, { message_ids: '[5,7,9]', narrow }, { ids: [5] });

    const { exitCode, ids: shown, lines } = await fetched(service, '--ids 5,7,9 --channel general');

    service.done();
    expect({ exitCode, shown, lines }).toEqual({
      exitCode: 0,
      shown: [5],
      lines: ['note: messages of --ids that the selection leaves out, or that do not exist or may not be read: 2'],
    });
  });

  test('is split so that no request line is above 7000 bytes, nor any list above 5000', async () => {
    const { run: runThere, sandbox } = await openSandbox({
      extraMessages: { channel: 'general', topic: 'load', count: 1500 },
    });
    const wanted = sandbox.state.topic('general', 'load').map(({ id }) => id);

    const { exitCode, stdout } = await runThere(['messages', 'fetch', '--ids', wanted.join(','), '-o', 'json']);

    expect(exitCode).toBe(0);
    expect((JSON.parse(stdout) as { id: number }[]).map(({ id }) => id)).toEqual(wanted);
  });

  test.each([
    ['no narrow', [] as string[]],
    ['a long narrow', ['--search', 'coffee '.repeat(300)]],
  ])('every URL stays below 8 KiB: %s', async (_what, more) => {
    const service = fakeService();
    const wanted = ids(1_000_000, 1_002_000);

    await run(service, ['messages', 'fetch', '--ids', wanted.join(','), ...more, '-o', 'json']);

    expect(service.seen.every((request) => request.length < 7100)).toBe(true);
  });
});

describe('old servers', () => {
  const badNarrow = {
    result: 'error',
    code: 'BAD_NARROW',
    msg: 'Invalid narrow operator: unknown operator channel',
    desc: 'unknown operator channel',
  };
  const refused = (service: FakeService, narrow: unknown, desc = badNarrow.desc): void => {
    const query = backward('newest', 1, { narrow: JSON.stringify(narrow) });
    const msg = `Invalid narrow operator: ${desc}`;
    service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(400, { ...badNarrow, desc, msg });
  };

  test.each([
    [
      '--channel general --dm 9 --is dm',
      [
        { operator: 'channel', operand: 'general' },
        { operator: 'dm', operand: [9] },
        { operator: 'is', operand: 'dm' },
      ],
      [
        { operator: 'stream', operand: 'general' },
        { operator: 'pm-with', operand: [9] },
        { operator: 'is', operand: 'private' },
      ],
    ],
    ['--channels public', [{ operator: 'channels', operand: 'public' }], [{ operator: 'streams', operand: 'public' }]],
    [
      '--not channel=a',
      [{ operator: 'channel', operand: 'a', negated: true }],
      [{ operator: 'stream', operand: 'a', negated: true }],
    ],
    [
      `--narrow '[["channel","dm"],["is","dm"]]'`,
      [
        ['channel', 'dm'],
        ['is', 'dm'],
      ],
      [
        ['stream', 'dm'],
        ['is', 'private'],
      ],
    ],
  ])('below level 250 %s is asked again in their words', async (line, narrow, legacy) => {
    const service = fakeService();
    refused(service, narrow);
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: 249 });
    page(service, backward('newest', 1, { narrow: JSON.stringify(legacy) }), { ids: [1], oldest: true });

    expect(await fetched(service, `${line} --limit 1`)).toMatchObject({ exitCode: 0, ids: [1] });
    service.done();
  });

  test('below level 194 --id is sent as text', async () => {
    const service = fakeService();
    service
      .expect({
        method: 'GET',
        path: '/api/v1/messages',
        query: backward('newest', 1, { narrow: '[{"operator":"id","operand":42}]' }),
      })
      .reply(400, {
        result: 'error',
        code: 'BAD_REQUEST',
        msg: 'Invalid narrow[0]: Value error, operand is not a string',
      });
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: 193 });
    page(service, backward('newest', 1, { narrow: '[{"operator":"id","operand":"42"}]' }), { ids: [42], oldest: true });

    expect(await fetched(service, '--id 42 --limit 1')).toMatchObject({ exitCode: 0, ids: [42] });
    service.done();
  });

  test.each([
    ['--mentions 9', 445, 'mentions needs level 446; this server has 445'],
    ['--with 9', 270, 'with needs level 271; this server has 270'],
    ['--channels archived', 488, 'channels:archived needs level 489; this server has 488'],
    ['--is muted', 365, 'is:muted needs level 366; this server has 365'],
  ])('%s at level %d names the level that it needs', async (line, level, message) => {
    const { run: runThere } = await openSandbox({ featureLevel: level });

    const { exitCode, error } = await runThere(`messages fetch ${line} -o json`);

    expect({ exitCode, message: error?.message }).toEqual({ exitCode: 6, message });
  });

  test('an address that the server does not know: hidden addresses are the hint', async () => {
    const service = fakeService();
    refused(service, [{ operator: 'sender', operand: 'a@b.test' }], 'unknown user a@b.test');
    service.expect('GET /api/v1/users').reply(200, { ...done, members: [] });

    const { exitCode, error } = await run(service, 'messages fetch --sender a@b.test --limit 1 -o json');

    service.done();
    expect({ exitCode, hint: error?.hint }).toEqual({
      exitCode: 6,
      hint: expect.stringContaining('sender_id') as string,
    });
  });

  test('an account of another organization: the site is the hint', async () => {
    const service = fakeService();
    service.expect({ method: 'GET', path: '/api/v1/messages', query: backward('newest', 1) }).reply(401, {
      ...{ result: 'error', code: 'UNAUTHORIZED' },
      msg: 'Account is not associated with this subdomain',
    });

    const { exitCode, error } = await run(service, 'messages fetch --limit 1 -o json');

    service.done();
    expect({ exitCode, hint: error?.hint }).toEqual({
      exitCode: 4,
      hint: expect.stringContaining('site URL') as string,
    });
  });

  test.each([250, undefined])('at level %s a bad narrow is a refusal with the reason', async (level) => {
    const service = fakeService();
    refused(service, [{ operator: 'channel', operand: 'nowhere' }], 'unknown channel nowhere');
    service
      .expect('GET /api/v1/server_settings')
      .reply(level === undefined ? 404 : 200, { ...done, zulip_feature_level: level });
    service.expect('GET /api/v1/streams').reply(200, { ...done, streams: [] });

    const { exitCode, error } = await run(service, 'messages fetch --channel nowhere --limit 1 -o json');

    service.done();
    expect({ exitCode, server: error?.server }).toEqual({
      exitCode: 6,
      server: { code: 'BAD_NARROW', msg: 'Invalid narrow operator: unknown channel nowhere' },
    });
  });

  test('a bad narrow is a refusal, also where the users cannot be read', async () => {
    const service = fakeService();
    // A name is looked up before it is sent, and the names that come near after it was refused.
    service.expect('GET /api/v1/users').reply(404, '');
    refused(service, [{ operator: 'sender', operand: 'x' }], 'unknown user x');
    service.expect('GET /api/v1/users').reply(400, { ...badNarrow, msg: 'no' });

    expect(await run(service, 'messages fetch --sender x --limit 1')).toMatchObject({ exitCode: 6 });
    service.done();
  });

  test('what the user typed and the server ignored is exit 6, with the messages', async () => {
    const service = fakeService();
    page(service, backward('newest', 1, { allow_empty_topic_name: 'true' }), {
      ids: [1],
      more: { ignored_parameters_unsupported: ['allow_empty_topic_name'] },
    });

    const { exitCode, ids: shown, lines } = await fetched(service, '--allow-empty-topic-name --limit 1');

    expect({ exitCode, shown }).toEqual({ exitCode: 6, shown: [1] });
    expect(lines.at(-1)).toContain('allow_empty_topic_name');
  });

  test('with the level that it needs, where the server tells its own', async () => {
    const { run: runThere } = await openSandbox({ featureLevel: 333 });

    const { exitCode, stderr } = await runThere('messages fetch --channel general --allow-empty-topic-name --limit 1');

    expect({ exitCode, said: stderr.split('\n')[0] }).toEqual({
      exitCode: 6,
      said: 'chatelaine: the server (level 333) ignored: allow_empty_topic_name (needs level 334)',
    });
  });

  test.each(['limit', 'num-after'])(
    'with --%s --no-include-anchor works where the server does not know it',
    async (count) => {
      const service = fakeService();
      page(service, forward(5, 10, without), { ids: [5, 6], newest: true });

      expect((await fetched(service, `--anchor 5 --${count} 10 --no-include-anchor`)).ids).toEqual([6]);
    },
  );
});

test.each(sampleOf(2, [100, 154, 155, 249, 250, 489]))(
  'at level %d the sandbox gives each message once',
  async (featureLevel) => {
    const { run: runThere, sandbox } = await openSandbox({
      featureLevel,
      extraMessages: { channel: 'general', topic: 'load', count: 2300 },
    });

    const all = await runThere('messages fetch --channel general --topic load --all -o json');
    const some = await runThere('messages fetch --channel general --topic load --limit 1234 -o json');

    const wanted = sandbox.state.topic('general', 'load').map(({ id }) => id);
    const idsOf = (text: string): number[] => (JSON.parse(text) as { id: number }[]).map(({ id }) => id);
    expect([all.exitCode, some.exitCode]).toEqual([0, 0]);
    expect(idsOf(all.stdout)).toEqual(wanted);
    expect(idsOf(some.stdout)).toEqual(wanted.slice(-1234));
  },
);

test('an answer that says success and holds no messages is exit 7', async () => {
  const service = fakeService();
  service.expect({ method: 'GET', path: '/api/v1/messages', query: backward('newest', 100) }).reply(200, done);

  expect(await run(service, 'messages fetch')).toMatchObject({ exitCode: 7, stdout: '' });
});

test.each([
  ['messages fetch --channel general', ['only the newest 100 messages are shown; --limit N or --all shows more']],
  ['messages fetch --channel general --limit 100', []],
  ['messages fetch --channel general --all', []],
  ['messages fetch --channel general --topic lunch', []],
  ['messages fetch --channel general -q', []],
])('`chatelaine %s` says whether a limit that nobody typed was reached', async (line, said) => {
  const { run: runThere } = await openSandbox();

  expect((await runThere(line)).lines).toEqual(said);
});
