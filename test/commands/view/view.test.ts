import { describe, expect, test } from 'vitest';
import { builtInViews } from '../../../src/schema/view.ts';
import { fakeService, openSandbox, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };
const missing = { result: 'error', code: 'BAD_REQUEST', msg: 'Navigation view does not exist.' };
const taken = { result: 'error', code: 'BAD_REQUEST', msg: 'Navigation view already exists.' };

function change(service: FakeService, fragment: string, form: Readonly<Record<string, string>>) {
  return service.expect({ method: 'PATCH', path: `/api/v1/navigation_views/${fragment}`, form });
}

test('a view that the account does not have is named, with what can be done', async () => {
  const service = fakeService();
  change(service, 'narrow/is/alerted', { is_pinned: 'true' }).reply(404, missing);
  service.expect('GET /api/v1/navigation_views').reply(200, { ...done, navigation_views: [] });

  const { exitCode, lines } = await run(service, ['view', 'pin', '#narrow/is/alerted']);

  expect({ exitCode, lines }).toEqual({
    exitCode: 5,
    lines: [
      "chatelaine: the account has no view 'narrow/is/alerted'; near: narrow/is/starred",
      '  The server says: Navigation view does not exist. (BAD_REQUEST)',
      'hint: Write the fragment of the view that you mean. To see those of the account:',
      '  chatelaine view list',
    ],
  });
});

test.each([
  [
    404,
    '<h1>no</h1>',
    'chat.test has no navigation views (404) and reports no feature level: it may not be a chat server',
  ],
  [200, { ...done, zulip_feature_level: 200 }, 'navigation views need level 390; this server has 200'],
])(
  'where the route is not there, and the level answers %i: which host or level that is',
  async (status, body, said) => {
    const service = fakeService();
    change(service, 'inbox', { is_pinned: 'true' }).reply(404, '<h1>no</h1>');
    service.expect('GET /api/v1/server_settings').reply(status, body);

    const { exitCode, error } = await run(service, 'view pin inbox -o json');

    service.done();
    expect({ exitCode, message: error?.message }).toEqual({ exitCode: 6, message: said });
  },
);

describe('a fragment as it is pasted', () => {
  test.each([
    ['inbox', 'inbox'],
    ['#inbox', 'inbox'],
    ['/#inbox', 'inbox'],
    [' #inbox\t', 'inbox'],
    [' https://chat.test/#inbox ', 'inbox'],
    ['#narrow/is/starred', 'narrow/is/starred'],
    ['#narrow%2Fis%2Fstarred', 'narrow/is/starred'],
    ['#narrow/search/caf%C3%A9', 'narrow/search/caf%C3%A9'],
    ['#narrow/search/café', 'narrow/search/caf%C3%A9'],
    ['#narrow/channel/7-a.20b', 'narrow/channel/7-a.20b'],
    ['#narrow/channel/7-a/topic/', 'narrow/channel/7-a/topic/'],
    ['#narrow/search/100%', 'narrow/search/100%25'],
    ['#narrow/search/a%23b%3Fc', 'narrow/search/a%23b%3Fc'],
    ['https://chat.test/#narrow/is/starred', 'narrow/is/starred'],
    ['HTTPS://CHAT.TEST/#narrow/is/starred', 'narrow/is/starred'],
    ['https://chat.test:443/?x=1#narrow%2Fis%2Fstarred', 'narrow/is/starred'],
  ])('%s is sent as %s', async (typed, sent) => {
    const service = fakeService();
    change(service, sent, { is_pinned: 'true' }).reply(200, done);

    expect((await run(service, ['view', 'pin', typed])).exitCode).toBe(0);
    service.done();
  });

  test.each([
    ['https://other.test/#inbox', 'the link leads to other.test, but the account is on chat.test'],
    ['https://chat.test@other.test/#inbox', 'the link leads to other.test, but the account is on chat.test'],
    ['https://chat.test:8443/#inbox', 'the link leads to chat.test:8443, but the account is on chat.test'],
    ['https://chat.test/inbox', 'the link has no # with a conversation or view'],
    ['https://#inbox', 'the link is not a URL'],
    ['#', "empty, '.' and '..' segments are not allowed"],
    ['/narrow/is/starred', "empty, '.' and '..' segments are not allowed"],
    ['narrow/./starred', "empty, '.' and '..' segments are not allowed"],
    ['#narrow/topic//', "empty, '.' and '..' segments are not allowed"],
    ['#narrow//starred', "empty, '.' and '..' segments are not allowed"],
    ['narrow/../../settings', "empty, '.' and '..' segments are not allowed"],
    ['#narrow/%2E%2E/settings', "empty, '.' and '..' segments are not allowed"],
  ])('%s is refused', async (typed, message) => {
    const service = fakeService();
    const { exitCode, error } = await run(service, ['view', 'hide', 'inbox', typed, '-o', 'json']);

    expect({ exitCode, sent: service.seen.length }).toEqual({ exitCode: 2, sent: 0 });
    expect(error?.message).toBe(`fragment '${typed}': ${message}`);
  });
});

describe('view pin and hide on many', () => {
  test('each is a row, and one that is given twice is sent once', async () => {
    const service = fakeService();
    change(service, 'inbox', { is_pinned: 'false' }).reply(200, done);
    change(service, 'narrow/is/starred', { is_pinned: 'false' }).reply(200, done);

    const { exitCode, stdout } = await run(service, ['view', 'hide', '-', '#inbox', '-o', 'json'], {
      stdin: 'inbox\n\n#narrow/is/starred\n',
    });

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { fragment: 'inbox', is_pinned: false },
      { fragment: 'narrow/is/starred', is_pinned: false },
    ]);
  });

  test('one that is missing does not stop the others: exit 8, and it is named', async () => {
    const service = fakeService();
    change(service, 'narrow/nosuch', { is_pinned: 'true' }).reply(404, missing);
    service.expect('GET /api/v1/navigation_views').reply(200, { ...done, navigation_views: [] });
    change(service, 'inbox', { is_pinned: 'true' }).reply(200, done);

    const { exitCode, stdout, error } = await run(service, 'view pin narrow/nosuch inbox -o json');

    service.done();
    expect(exitCode).toBe(8);
    expect(JSON.parse(stdout)).toEqual([{ fragment: 'inbox', is_pinned: true }]);
    expect(error?.message).toContain('1 of 2 failed (narrow/nosuch):\n  ');
  });

  test.each(['pin', 'hide', 'rename'])('the help of view %s names the built-in views', async (verb) => {
    const { stdout } = await run(fakeService(), `view ${verb} --help`);

    for (const view of builtInViews) expect(stdout).toContain(view);
  });
});

test.each([
  ['starred', '; near: narrow/is/starred'],
  ['inbx', '; near: inbox'],
])('view pin %s: a built-in view that is near is named, and none is made', async (word, near) => {
  const { run, sandbox } = await openSandbox();
  const before = sandbox.state.views();
  const { exitCode, error } = await run(['view', 'pin', word, '-o', 'json']);
  expect([exitCode, error?.message]).toEqual([5, `the account has no view '${word}'${near}`]);
  expect(sandbox.state.views()).toEqual(before);
});

describe('a built-in view that has no row on the server', () => {
  test.each([
    ['pin', 'drafts', true],
    ['hide', 'narrow/has/reaction/sender/me', false],
  ])('view %s %s makes it, and says so', async (verb, fragment, is_pinned) => {
    const { run, sandbox } = await openSandbox({ featureLevel: 442 });

    const { exitCode, stdout, stderr } = await run(`view ${verb} ${fragment} -o json`);

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([{ fragment, is_pinned }]);
    expect(stderr).toContain(`the server had not stored the view '${fragment}' yet: it was created`);
    const [made] = sandbox.state.views().filter((view) => view.fragment === fragment && view.user_id === 8);
    expect(made).toMatchObject({ is_pinned, name: null });
    expect((await run(`view ${verb} ${fragment}`)).stderr).toBe('');
  });

  test('one that an app makes meanwhile is changed', async () => {
    const service = fakeService();
    change(service, 'drafts', { is_pinned: 'true' }).reply(404, missing);
    const form = { fragment: 'drafts', is_pinned: 'true' };
    service.expect({ method: 'POST', path: '/api/v1/navigation_views', form }).reply(400, taken);
    change(service, 'drafts', { is_pinned: 'true' }).reply(200, done);

    const { exitCode, stdout } = await run(service, 'view pin drafts -o json');

    service.done();
    expect({ exitCode, rows: JSON.parse(stdout) as unknown }).toEqual({
      exitCode: 0,
      rows: [{ fragment: 'drafts', is_pinned: true }],
    });
  });

  test('a refusal to make it is the error that it is', async () => {
    const service = fakeService();
    change(service, 'drafts', { is_pinned: 'true' }).reply(404, missing);
    const form = { fragment: 'drafts', is_pinned: 'true' };
    const no = { code: 'UNAUTHORIZED_PRINCIPAL', msg: 'Not allowed' };
    service.expect({ method: 'POST', path: '/api/v1/navigation_views', form }).reply(400, { result: 'error', ...no });

    expect(await run(service, 'view pin drafts -o json')).toMatchObject({ exitCode: 4, error: { server: no } });
    service.done();
  });

  test('--dry-run shows both requests, and one where the server has the view', async () => {
    const { run, sandbox } = await openSandbox({ featureLevel: 442 });
    const before = sandbox.state.views();

    const [both, one] = [await run('view pin drafts --dry-run -o json'), await run('view pin inbox --dry-run -o json')];

    const methods = (stdout: string) => (JSON.parse(stdout) as { method: string }[]).map(({ method }) => method);
    expect([both.exitCode, methods(both.stdout), methods(one.stdout)]).toEqual([0, ['PATCH', 'POST'], ['PATCH']]);
    expect(sandbox.state.views()).toEqual(before);
  });
});

test('a name in place of a fragment is 5, and says the fragment', async () => {
  const { run } = await openSandbox();

  expect(await run("view pin 'Alert Words' -o json")).toMatchObject({
    exitCode: 5,
    error: { message: expect.stringContaining('narrow/is/alerted') as string },
  });
});

describe('view rename', () => {
  test('is a row', async () => {
    const service = fakeService();
    change(service, 'narrow/a', { is_pinned: 'false', name: 'Number two' }).reply(200, done);

    const { exitCode, stdout } = await run(service, "view rename '#narrow/a' ' Number two ' --hide -o json");

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { fragment: 'narrow/a', name: 'Number two', is_pinned: false, status: 'renamed' },
    ]);
  });

  test.each([
    ['narrow/a -', 'Number one\n'],
    ["- 'Number one'", 'narrow/a\n'],
  ])('one of the two from standard input: %s', async (words, stdin) => {
    const service = fakeService();
    change(service, 'narrow/a', { name: 'Number one' }).reply(200, done);

    expect((await run(service, `view rename ${words}`, { stdin })).exitCode).toBe(0);
    service.done();
  });

  test.each([
    [['narrow/a'], 'NAME is required'],
    [['narrow/a', ' '], "fragment 'narrow/a': the name is blank"],
    [['#narrow%2Fis%2Fstarred', 'x'], "fragment 'narrow/is/starred': a built-in view cannot have a custom name"],
    ...builtInViews.map((view) => [[view, 'x'], `fragment '${view}': a built-in view cannot have a custom name`]),
  ] as [string[], string][])('%j is refused: %s', async (words, message) => {
    const service = fakeService();
    const { exitCode, error } = await run(service, ['view', 'rename', ...words, '-o', 'json']);

    expect({ exitCode, sent: service.seen.length }).toEqual({ exitCode: 2, sent: 0 });
    expect(error?.message).toBe(message);
  });

  test.each([
    ['rename narrow/a One --pin', ['is_pinned=true&name=One']],
    ['pin narrow/a narrow/b', ['is_pinned=true', 'is_pinned=true']],
    ['hide narrow/a narrow/b', ['is_pinned=false', 'is_pinned=false']],
  ])('a dry run of view %s shows each request and sends none', async (words, bodies) => {
    const service = fakeService();

    const { exitCode, stdout } = await run(service, `view ${words} --dry-run -o json`);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 0, sent: [] });
    expect(JSON.parse(stdout)).toEqual(
      bodies.map((body, index) => ({
        method: 'PATCH',
        url: `https://chat.test/api/v1/navigation_views/narrow/${'ab'.charAt(index)}`,
        content_type: 'application/x-www-form-urlencoded',
        body,
      })),
    );
  });
});

test('the sandbox keeps what was pinned, hidden and renamed', async () => {
  const { sandbox, run: runThere } = await openSandbox();
  const view = (fragment: string) =>
    sandbox.state.views().find((row) => row.user_id === 8 && row.fragment === fragment);

  const renamed = await runThere("view rename '#narrow/is/alerted' 'My words' --pin");
  const hidden = await runThere([`view`, `hide`, `${sandbox.chat.site}/#inbox`]);

  expect([renamed.exitCode, hidden.exitCode]).toEqual([0, 0]);
  expect(view('narrow/is/alerted')).toMatchObject({ name: 'My words', is_pinned: true });
  expect(view('inbox')).toMatchObject({ is_pinned: false });
});
