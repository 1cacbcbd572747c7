import { describe, expect, test } from 'vitest';
import { fakeService, run } from '../helpers/run.ts';

const done = { result: 'success', msg: '' };
const page = { ...done, messages: [], found_newest: true, found_oldest: true, anchor: 1 };

function query(line: string): Promise<Readonly<Record<string, string>>> {
  const service = fakeService();
  return run(service, `messages fetch --limit 1 ${line} -o json`).then(() => {
    const url = new URL(`http://x${service.seen.at(-1)?.replace(/^GET /, '') ?? ''}`);
    return Object.fromEntries(url.searchParams);
  });
}

test.each([
  ['--anchor first-unread', { anchor: 'first_unread' }],
  ['--anchor FIRST_UNREAD', { anchor: 'first_unread' }],
  ['--anchor Newest', { anchor: 'newest' }],
  ['--no-apply-markdown', { apply_markdown: 'false' }],
  ['--no-apply-markdown --raw-content', { apply_markdown: 'false' }],
  ['--not stream=7', { narrow: '[{"operator":"channel","operand":7,"negated":true}]' }],
  ['--not pm-with=9', { narrow: '[{"operator":"dm","operand":[9],"negated":true}]' }],
  ['--not id=7', { narrow: '[{"operator":"id","operand":7,"negated":true}]' }],
])('%s is understood', async (line, sent) => {
  expect(await query(line)).toMatchObject(sent);
});

test('--message_ids takes the list as the API writes it', async () => {
  const service = fakeService();
  service
    .expect({ method: 'GET', path: '/api/v1/messages', query: { message_ids: '[1,2]' } })
    .reply(200, { ...page, messages: [{ id: 1 }, { id: 2 }] });

  const { exitCode } = await run(service, ['messages', 'fetch', '--message_ids', '[1,2]', '-o', 'json']);

  service.done();
  expect(exitCode).toBe(0);
});

test.each([
  ['--apply-markdown=true --raw-content', '--raw-content was given 2 values: off, on'],
  ['--no-apply-markdown --apply-markdown', '--raw-content was given 2 values: on, off'],
  ['--not id=x', "--not id: 'x' is not a whole number, 0 to 2147483647"],
  ['--not is=', '--not is: must not be empty'],
])('messages fetch %s is exit 2', async (line, message) => {
  const service = fakeService();

  const { exitCode, error } = await run(service, `messages fetch ${line} -o json`);

  expect({ exitCode, seen: service.seen }).toEqual({ exitCode: 2, seen: [] });
  expect(error?.message).toBe(message);
});

describe('settings set', () => {
  test.each([
    'color_scheme=2 color_scheme=2',
    'color_scheme=2 color_scheme=dark',
    'color-scheme=dark color_scheme=DARK',
  ])('%s is once', async (words) => {
    const service = fakeService();
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: 372 });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { color_scheme: '2' } }).reply(200, done);

    const { exitCode } = await run(service, `settings set ${words} -o json`);

    service.done();
    expect(exitCode).toBe(0);
  });

  test('two values of one setting are exit 2', async () => {
    const { exitCode, error } = await run(fakeService(), 'settings set color_scheme=2 color_scheme=3 -o json');

    expect({ exitCode, message: error?.message }).toEqual({
      exitCode: 2,
      message: 'given twice: color_scheme (first: command line)',
    });
  });
});

test.each(['1.5', '007', '1_000', '0x1'])('snippet rm %s is a title', async (title) => {
  const service = fakeService();
  service.expect('GET /api/v1/saved_snippets').reply(200, { ...done, saved_snippets: [{ id: 4, title }] });
  service.expect({ method: 'DELETE', path: '/api/v1/saved_snippets/4' }).reply(200, done);

  const { exitCode } = await run(service, `snippet rm ${title} -o json`);

  service.done();
  expect(exitCode).toBe(0);
});

test('license retire of a user who is not ASCII sends a name that is', async () => {
  const service = fakeService();
  const [path, license] = ['/v1/license/CODE-1234/', { license_code: 'CODE-1234', app_code: 7, size_allowance: 1 }];
  const json = { remote_user: 'left-2026-03-Zoe Muller___-1234', size_allowance: 1 };
  service.expect({ method: 'GET', path }).reply(200, { ...license, remote_user: 'Zoë Müller日本😀' });
  // Its user is read again under the lock.
  service.expect({ method: 'GET', path }).reply(200, { ...license, remote_user: 'Zoë Müller日本😀' });
  service.expect({ method: 'PATCH', path, json }).reply(200, { ...license, ...json });

  const { exitCode } = await run(service, 'license retire CODE-1234 -o json');

  service.done();
  expect(exitCode).toBe(0);
});

describe('hints', () => {
  test.each([
    ['USER_DEACTIVATED', 'Account is deactivated', 'The account is deactivated'],
    ['UNAUTHORIZED', 'Account is deactivated', 'The account is deactivated'],
    ['UNAUTHORIZED', 'This organization has been deactivated', 'The organization is deactivated'],
    ['REALM_DEACTIVATED', 'This organization is deactivated', 'The organization is deactivated'],
  ])('%s, %s: not the key', async (code, msg, hint) => {
    const service = fakeService();
    service
      .expect({ method: 'GET', path: '/api/v1/messages', query: { anchor: 'newest', num_before: '1', num_after: '0' } })
      .reply(401, { result: 'error', code, msg });

    const { exitCode, error } = await run(service, 'messages fetch --limit 1 -o json');

    expect(exitCode).toBe(4);
    expect(error?.hint).toContain(hint);
    expect(error?.hint).not.toContain('Check that the key');
  });

  test('edit --replace alone names all three', async () => {
    const { exitCode, error } = await run(fakeService(), 'license edit CODE --replace -o json');

    expect({ exitCode, message: error?.message }).toEqual({
      exitCode: 2,
      message: '--replace needs --remote-user, --app-code and --size-allowance',
    });
  });

  test.each([
    ['email=new@chat.test', { email: 'new@chat.test' }, 'mailbox of new@chat.test'],
    ['--from -', { old_password: 'old', new_password: 'new' }, 'Sign in with the new password'],
  ])('settings set %s without an answer says what to look at', async (words, form, hint) => {
    const service = fakeService();
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form }).fail('ECONNRESET');

    const stdin = 'old_password=old\nnew_password=new\n';
    const { exitCode, lines } = await run(service, `settings set ${words}`, { stdin });

    expect(exitCode).toBe(9);
    expect(lines.join(' ')).toContain(hint);
  });

  test.each([['messages fetch --limit 1 -o json', { anchor: 'newest', num_before: '1', num_after: '0' }]])(
    'a result that is none of the API: %s',
    async (line, words) => {
      const service = fakeService();
      service
        .expect({ method: 'GET', path: '/api/v1/messages', query: words })
        .reply(200, { result: 'weird', msg: '' });

      const { exitCode, error } = await run(service, line);

      service.done();
      expect({ exitCode, message: error?.message }).toEqual({
        exitCode: 6,
        message: "the chat server refused the request: result 'weird' (200)",
      });
    },
  );

  test('a topic with a blank in front of it is no ignored narrow', async () => {
    const service = fakeService();
    const narrow = '[{"operator":"channel","operand":"general"},{"operator":"topic","operand":" lead"}]';
    const messages = [{ id: 1, stream_id: 1, display_recipient: 'general', subject: ' lead' }];
    service
      .expect({
        ...{ method: 'GET', path: '/api/v1/messages' },
        query: { narrow, anchor: 'newest', num_before: '1', num_after: '0' },
      })
      .reply(200, { ...page, messages });

    const { exitCode } = await run(service, [
      ...'messages fetch --channel general --topic'.split(' '),
      ...[' lead', '--limit', '1', '-o', 'json'],
    ]);

    service.done();
    expect(exitCode).toBe(0);
  });
});

describe('a URL that is too long', () => {
  const long = 'x'.repeat(10_000);
  const request = { method: 'GET', path: '/api/v1/messages' };

  test.each([
    ['a query', ['messages', 'fetch', '--search', long]],
    ['a path', ['view', 'pin', `narrow/${long}`]],
  ])('is exit 2: %s', async (_what, words) => {
    const service = fakeService();

    const { exitCode, error, stderr } = await run(service, [...words, '-o', 'json']);

    expect({ exitCode, seen: service.seen }).toEqual({ exitCode: 2, seen: [] });
    expect(error?.message).toMatch(/^the URL of the request has 10\d{3} bytes, too many for the server$/);
    expect(stderr).not.toContain('xxxxx');
  });

  test('a 414 says what was too long, without repeating it', async () => {
    const service = fakeService();
    const narrow = JSON.stringify([{ operator: 'search', operand: 'x'.repeat(5000) }]);
    service
      .expect({ ...request, query: { narrow, anchor: 'newest', num_before: '1', num_after: '0' } })
      .reply(414, '<h1>Request-URI Too Large</h1>');

    const { exitCode, error, stderr } = await run(service, [
      ...['messages', 'fetch', '--search', 'x'.repeat(5000), '--limit', '1', '-o', 'json'],
    ]);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toMatch(/^the URL of the request has \d+ bytes, too many for the server$/);
    expect(stderr).not.toContain('xxxxx');
  });
});
