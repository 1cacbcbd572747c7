import { describe, expect, test } from 'vitest';
import { fakeService, run } from '../helpers/run.ts';
import { expectNobody } from '../helpers/nobody.ts';
import { generalFormats } from '../../src/output/formats.ts';

/** Integers that are none: the contract's `-?(0|[1-9]\d*)` within ±(2^53−1). */
const noIntegers = [
  '01',
  '+1',
  '1.0',
  '1e3',
  '0x10',
  '1_000',
  ' 1',
  '1 ',
  '',
  'ten',
  '٣',
  '9007199254740992',
  '-9007199254740992',
];

const user = (text: string): string[] => ['license', 'create', '--size-allowance', '4', '--remote-user', text];
const size = (text: string): string[] => ['license', 'create', '--remote-user', 'ada', '--size-allowance', text];

describe('what breaks a rule of the specification is exit 2 with nothing sent', () => {
  test.each<[string, readonly string[]]>([
    ['128 characters', user('x'.repeat(128))],
    ['a letter beyond ASCII', user('ädä')],
    ['an emoji', user('ada🙂')],
    ['no name', user('')],
    ['no remote_user', ['license', 'create', '--size-allowance', '4']],
    ['no size_allowance', ['license', 'create', '--remote-user', 'ada']],
    ['size 0', size('0')],
    ['size 19', size('19')],
    ['size -1', size('-1')],
    ...noIntegers.map((text) => [`size ${JSON.stringify(text)}`, size(text)] as [string, readonly string[]]),
    ['app code 01', [...user('ada'), '--app-code', '01']],
    ['edit of nothing', ['license', 'edit', 'K-1']],
    [
      'edit --replace of two fields',
      ['license', 'edit', 'K-1', '--replace', '--remote-user', 'ada', '--size-allowance', '4'],
    ],
    ['edit --replace of nothing', ['license', 'edit', 'K-1', '--replace']],
    ['edit to a size of 19', ['license', 'edit', 'K-1', '--size-allowance', '19']],
    ['edit to a name of 128', ['license', 'edit', 'K-1', '--remote-user', 'x'.repeat(128)]],
    ...['', '.', '..'].map(
      (code) => [`code ${JSON.stringify(code)}`, ['license', 'view', code]] as [string, readonly string[]],
    ),
    ['edit of ..', ['license', 'edit', '..', '--size-allowance', '4']],
    ['view of nothing', ['license', 'view']],
    ['view of a code and a user', ['license', 'view', 'K-1', '--remote-user', 'ada']],
    ['list of a name of 128', ['license', 'list', '--remote-user', 'x'.repeat(128)]],
    ['list with --limit 0', ['license', 'list', '--limit', '0']],
    ['list of all apps and one', ['license', 'list', '--all-apps', '--app-code', '7']],
    ['no sensor', ['first-activation']],
    ['11 digits', ['first-activation', '0013439a017']],
    ['13 digits', ['first-activation', '0013439a017f0']],
    ['17 digits', ['first-activation', '0013439a017f09c20']],
    ['no hexadecimal digits', ['first-activation', '00:13:43:9A:01:7G']],
    ['two sensors, one of them wrong', ['first-activation', '0013439a017f', 'nonsense']],
    ...['/x', 'x/', 'a//b', '.', '..', 'a/../b', 'a/./b', '../settings', ''].map(
      (fragment) => [`pin ${fragment}`, ['view', 'pin', 'inbox', fragment]] as [string, readonly string[]],
    ),
    ['hide x/', ['view', 'hide', 'x/']],
    ['rename x/', ['view', 'rename', 'x/', 'name']],
    ['rename to a blank name', ['view', 'rename', 'narrow/is/alerted', '  ']],
    ['rename to no name', ['view', 'rename', 'narrow/is/alerted', '']],
    ['rename without a name', ['view', 'rename', 'narrow/is/alerted']],
    ['rename with --pin and --hide', ['view', 'rename', 'narrow/is/alerted', 'x', '--pin', '--hide']],
    ['pin of nothing', ['view', 'pin']],
    ['rm of nothing', ['snippet', 'rm']],
    ['rm -1', ['snippet', 'rm', '-1']],
    ['rm -- -1', ['snippet', 'rm', '--', '-1']],
    ['rm of two, one of them wrong', ['snippet', 'rm', '1', '-1']],
    // Other words are titles.
    ...noIntegers
      .filter((text) => /^-?[1-9]\d*$|^$/.test(text))
      .map((text) => [`rm ${JSON.stringify(text)}`, ['snippet', 'rm', text]] as [string, readonly string[]]),
    ['delete without a topic', ['topic', 'delete', 'general']],
    ['delete in no channel', ['topic', 'delete', '', 'lunch']],
    ['--max-messages -1', ['topic', 'delete', '5', 'lunch', '--max-messages', '-1']],
    ['unknown setting to describe', ['settings', 'describe', 'color_sheme']],
    ['unknown command', ['license', 'destroy', 'K-1']],
    ['unknown noun', ['licence', 'list']],
    ['unknown option', ['license', 'list', '--nonsense']],
    ['option without a value', ['license', 'list', '--remote-user']],
    ['too many arguments', ['license', 'list', 'K-1']],
    ['--timeout 5', ['license', 'list', '--timeout', '5']],
    ['--timeout -5s', ['license', 'list', '--timeout', '-5s']],
    ['--retries -1', ['license', 'list', '--retries', '-1']],
    ['--settle soon', [...user('ada'), '--settle', 'soon']],
  ])('%s', async (_what, args) => {
    const service = fakeService();

    const { exitCode, stdout, error } = await run(service, [...args.slice(0, 1), '--json', ...args.slice(1)]);

    expect({ exitCode, stdout, sent: service.seen, code: error?.code, retryable: error?.retryable }).toEqual({
      exitCode: 2,
      stdout: '',
      sent: [],
      code: 'usage',
      retryable: false,
    });
  });
});

test('a format that does not exist', async () => {
  const service = fakeService();

  const { exitCode, stderr } = await run(service, 'license list -o xml');

  expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
  expect(stderr).toContain(`'xml' is not one of ${generalFormats.join(', ')}`);
});

describe('what just keeps a rule is sent', () => {
  test.each<[string, readonly string[], { remote_user: string; size_allowance: number; app_code: number }]>([
    ['127 characters', user('x'.repeat(127)), { remote_user: 'x'.repeat(127), size_allowance: 4, app_code: 7 }],
    [
      'every printable sign of ASCII',
      user(String.raw`!"#$%&'()*+,-./:;<=>?@[\]^_{|}~ `),
      { remote_user: String.raw`!"#$%&'()*+,-./:;<=>?@[\]^_{|}~ `, size_allowance: 4, app_code: 7 },
    ],
    ['a dash in front', user('-x'), { remote_user: '-x', size_allowance: 4, app_code: 7 }],
    ['size 1', size('1'), { remote_user: 'ada', size_allowance: 1, app_code: 7 }],
    ['size 18', size('18'), { remote_user: 'ada', size_allowance: 18, app_code: 7 }],
    [
      'app code 2^53-1',
      [...user('ada'), '--app-code', '9007199254740991'],
      { remote_user: 'ada', size_allowance: 4, app_code: 9_007_199_254_740_991 },
    ],
    [
      'a negative app code',
      [...user('ada'), '--app-code', '-3'],
      { remote_user: 'ada', size_allowance: 4, app_code: -3 },
    ],
    ['app code 0', [...user('ada'), '--app-code=0'], { remote_user: 'ada', size_allowance: 4, app_code: 0 }],
  ])('%s', async (_what, args, json) => {
    const service = fakeService();
    const { remote_user, app_code } = json;
    expectNobody(service, 1, remote_user, app_code);
    service.expect({ method: 'POST', path: '/v1/license/', json }).reply(201, { license_code: 'K-1' });
    const asked = { remote_user, app_code: String(app_code) };
    service
      .expect({ method: 'GET', path: '/v1/license/', query: asked })
      .reply(200, [{ license_code: 'K-1', ...json }]);

    expect(await run(service, args)).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test.each([
    ['ABC-12', 'ABC-12'],
    ['a/b?c#d%e', 'a%2Fb%3Fc%23d%25e'],
    ['...', '...'],
    ['%2e%2e', '%252e%252e'],
    ['ключ', '%D0%BA%D0%BB%D1%8E%D1%87'],
  ])('the code %s is one segment', async (code, sent) => {
    const service = fakeService();
    service.expect(`GET /v1/license/${sent}/`).reply(200, { license_code: code });

    expect(await run(service, ['license', 'view', code])).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test.each([
    ['a line', 'K-1\n'],
    ['a line of PowerShell', '\u{feff}\r\nK-1\r\n'],
  ])('a code is %s of standard input', async (_, stdin) => {
    const service = fakeService();
    service.expect('GET /v1/license/K-1/').reply(200, { license_code: 'K-1' });

    expect(await run(service, 'license view -', { stdin })).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test('of the two licenses of a user none is chosen by its place on standard input', async () => {
    const service = fakeService();
    const ran = await run(service, 'license edit - --remote-user grace', { stdin: 'K-1\nK-2\n' });

    expect(ran).toMatchObject({ exitCode: 2 });
    expect(ran.stderr).toContain('standard input has 2 lines');
    service.done();
  });

  test.each([
    ['0013439a017f', '00:13:43:9A:01:7F'],
    ['00-13-43-9a-01-7f', '00:13:43:9A:01:7F'],
    ['0013.439A.017F', '00:13:43:9A:01:7F'],
    ['00 13 43 9a 01 7f', '00:13:43:9A:01:7F'],
    ['00134300a17f09c2', '00:13:43:00:A1:7F:09:C2'],
  ])('the sensor %s is sent as %s', async (typed, sent) => {
    const service = fakeService();
    service
      .expect({ method: 'GET', path: '/v1/first-activation/', query: { mac_address: sent, app_code: '7' } })
      .reply(200, { license_code: 'K-1' });

    expect(await run(service, ['first-activation', typed])).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test.each([
    ['narrow/is/starred', 'narrow/is/starred'],
    ['narrow/channel/1-general/topic/a.20b?', 'narrow/channel/1-general/topic/a.20b%3F'],
    ['ümlaut/…', '%C3%BCmlaut/%E2%80%A6'],
    ['a b#c', 'a%20b%23c'],
  ])('the fragment %s keeps its slashes', async (fragment, sent) => {
    const service = fakeService();
    service
      .expect({ method: 'PATCH', path: `/api/v1/navigation_views/${sent}`, form: { is_pinned: 'true' } })
      .reply(200, { result: 'success', msg: '' });

    expect(await run(service, ['view', 'pin', fragment])).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test('edit sends only what was typed, and the app code there is the new value', async () => {
    const service = fakeService();
    const license = { license_code: 'K-1', remote_user: 'ada', app_code: 7, size_allowance: 4 };
    // Before the lock of its user and after it; then the user of the new application.
    service.expect('GET /v1/license/K-1/', 2).reply(200, license);
    expectNobody(service, 1, 'ada', 9);
    service.expect({ method: 'PATCH', path: '/v1/license/K-1/', json: { app_code: 9 } }).reply(200, { app_code: 9 });

    expect(await run(service, 'license edit K-1 --app-code 9')).toMatchObject({ exitCode: 0 });
    service.done();
  });
});

test.each([
  [
    'license apply - --column remote_user=a --column remote_user=b',
    '--column remote_user=b: remote_user is given twice',
  ],
  [
    'license apply - --column remote_user=a --column size_allowance=A',
    '--column size_allowance=A: the header is given twice',
  ],
])('%s is exit 2', async (line, message) => {
  const stdin = 'a,b\nada,4\n';
  const { exitCode, error } = await run(fakeService(), `${line} -o json`, { stdin });

  expect({ exitCode, message: error?.message }).toEqual({ exitCode: 2, message });
});

test.each([
  [
    'license list --since 2d',
    '/v1/license/',
    [{ license_code: 'K-1', remote_user: 'ada' }],
    '--since: the server does not say when a license was created',
  ],
  [
    'license retire K-1 -y',
    '/v1/license/K-1/',
    { license_code: 'K-1', size_allowance: 4 },
    'the server does not say whose license this is; it was not changed',
  ],
])('%s at a server that does not say it is exit 6', async (line, path, answer, message) => {
  const service = fakeService();
  service.expect(`GET ${path}`).reply(200, answer);

  const { exitCode, stderr } = await run(service, line);

  service.done();
  expect(exitCode).toBe(6);
  expect(stderr).toContain(message);
});
