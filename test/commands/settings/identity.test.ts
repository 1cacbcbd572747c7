import { describe, expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };
const target = 'target_users={"user_ids":[9]}';

function serverAt(level: number | undefined): FakeService {
  const service = fakeService();
  const known = level === undefined ? {} : { zulip_version: '12.0', zulip_feature_level: level };
  service.expect('GET /api/v1/server_settings').reply(level === undefined ? 404 : 200, { ...done, ...known });
  return service;
}

describe('target_users', () => {
  test.each([
    ['full_name=Ada', 'full_name'],
    ['email=ada@example.com', 'email'],
  ])('beside %s is refused: that would change the own account', async (word, name) => {
    const service = fakeService();

    const { exitCode, error } = await run(service, ['settings', 'set', word, '--raw', target, '-o', 'json']);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toBe(`target_users changes other users, ${name} the account that is signed in`);
  });

  test('beside passwords and raw names too', async () => {
    const service = fakeService();

    const { exitCode, error } = await run(
      service,
      ['settings', 'set', '--from', '-', '--raw', 'full_name=Zed', '--raw', target, '-o', 'json'],
      { stdin: 'old_password=a\nnew_password=b\n' },
    );

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toContain('old_password, new_password, full_name');
  });

  test('alone changes nothing, and is refused', async () => {
    const service = fakeService();

    const { exitCode } = await run(service, ['settings', 'set', '--raw', target]);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
  });

  test.each(['target-users={}', 'Target_Users={}', ' target_users={}', 'target_users[]=1'])(
    '--raw %s is no name: the server would ignore it and change the own account',
    async (word) => {
      const service = fakeService();

      const { exitCode, error } = await run(service, [
        'settings',
        'set',
        'enter_sends=true',
        '--raw',
        word,
        '-o',
        'json',
      ]);

      expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
      expect(error?.message).toContain('lower-case letters, digits and underscores only');
    },
  );

  test.each([
    [443, /target_users needs level 444: an older server changes .*; this server has 443/],
    [undefined, /target_users needs level 444: .*; this server does not report its level/],
  ])('is never sent to a server of level %s', async (level, message) => {
    const service = serverAt(level);

    const { exitCode, error } = await run(service, [
      'settings',
      'set',
      'enter_sends=true',
      '--raw',
      target,
      '-o',
      'json',
    ]);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toMatch(message);
  });

  test('is sent from its level on, in one request with the settings', async () => {
    const service = serverAt(444);
    const form = { enter_sends: 'true', target_users: '{"user_ids":[9]}' };
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form }).reply(200, done);

    expect((await run(service, ['settings', 'set', 'enter_sends=true', '--raw', target])).exitCode).toBe(0);
    service.done();
  });

  test('that a server ignored all the same: the error says whose settings were changed', async () => {
    const service = serverAt(444);
    const form = { enter_sends: 'true', target_users: '{"user_ids":[9]}' };
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form })
      .reply(200, { ...done, ignored_parameters_unsupported: ['target_users'] });

    const { exitCode, error } = await run(service, [
      'settings',
      'set',
      'enter_sends=true',
      '--raw',
      target,
      '-o',
      'json',
    ]);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toContain('target_users (the settings of this account were changed instead)');
  });
});

describe('a name is read back', () => {
  test.each([
    ['\uFEFFAda', '\uFEFFAda'],
    ['\uFEFFAda', 'Ada'],
    ['\u001fAda\u0085', 'Ada'],
    [' Ada  L. ', 'Ada  L.'],
  ])('%j is kept as %j: set', async (typed, kept) => {
    const service = fakeService();
    service.expect('GET /api/v1/users/me').reply(200, done);
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { full_name: typed } }).reply(200, done);
    service.expect('GET /api/v1/users/me').reply(200, { ...done, full_name: kept });

    const { exitCode, stdout } = await run(service, ['settings', 'set', `full_name=${typed}`, '-o', 'json']);

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([{ name: 'full_name', value: typed, status: 'set' }]);
  });

  test('one that differs by a blank inside was not taken', async () => {
    const service = fakeService();
    service.expect('GET /api/v1/users/me').reply(200, { ...done, full_name: 'AdaL' });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { full_name: 'Ada L' } }).reply(200, done);
    service.expect('GET /api/v1/users/me').reply(200, { ...done, full_name: 'AdaL' });
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: 372 });

    const { exitCode, error } = await run(service, ['settings', 'set', 'full_name=Ada L', '-o', 'json']);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toContain('full_name (the organization may forbid name changes)');
  });

  test('one that was not taken is named even where a later request fails', async () => {
    const service = serverAt(372);
    service.expect('GET /api/v1/users/me').reply(200, { ...done, email: 'ada@chat.test', full_name: 'Ada' });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { email: 'a@b.example' } }).reply(200, done);
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { full_name: 'Zed' } }).reply(200, done);
    service.expect('GET /api/v1/users/me').reply(200, { ...done, full_name: 'Ada' });
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form: { timezone: 'UTC' } })
      .reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid timezone' });

    const { exitCode, error } = await run(service, 'settings set timezone=UTC full_name=Zed email=a@b.example -o json');

    service.done();
    expect(exitCode).toBe(8);
    expect(error?.message).toContain('; set: email; ignored: full_name; not set: timezone');
  });
});

describe('the present address', () => {
  test.each([
    ['email', { email: 'ada@example.com' }],
    ['delivery_email, where the other one is hidden', { email: 'user9@chat.test', delivery_email: 'ada@example.com' }],
  ])('is said to change nothing: %s', async (_what, own) => {
    const service = fakeService();
    service.expect('GET /api/v1/users/me').reply(200, { ...done, ...own });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { email: 'ada@example.com' } }).reply(200, done);

    const { exitCode, stdout, stderr } = await run(service, 'settings set email=ada@example.com -o json');

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([{ name: 'email', value: 'ada@example.com', status: 'unchanged' }]);
    expect(stderr).toBe('');
  });

  test.each([
    ['another address', { email: 'old@example.com' }],
    ['another case, which the server takes for another address', { email: 'Ada@example.com' }],
  ])('%s is waiting for its confirmation', async (_what, own) => {
    const service = fakeService();
    service.expect('GET /api/v1/users/me').reply(200, { ...done, ...own });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { email: 'ada@example.com' } }).reply(200, done);

    const { exitCode, stdout, stderr } = await run(service, 'settings set email=ada@example.com -o json');

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { name: 'email', value: 'ada@example.com', value_before: own.email, status: 'confirmation_sent' },
    ]);
    expect(stderr).toMatch(/until the link is followed\n$/);
    expect(stderr).not.toContain('undo');
  });
});

describe('the old name', () => {
  test('is said, with the command that puts it back', async () => {
    const service = fakeService();
    service.expect('GET /api/v1/users/me').reply(200, { ...done, full_name: "Ada O'Hara" });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { full_name: 'Ada' } }).reply(200, done);
    service.expect('GET /api/v1/users/me').reply(200, { ...done, full_name: 'Ada' });

    const { exitCode, stdout, stderr } = await run(service, 'settings set full_name=Ada -o json');

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { name: 'full_name', value: 'Ada', value_before: "Ada O'Hara", change: "Ada O'Hara -> Ada", status: 'set' },
    ]);
    expect(stderr).toMatch(/^full_name: Ada O'Hara -> Ada; to undo it:\n {2}chatelaine settings undo \w{4}\n$/);
  });

  test('is not looked at for a dry run, which changes nothing', async () => {
    const service = fakeService();
    const { exitCode, stderr } = await run(service, 'settings set full_name=Ada email=a@b.example --dry-run');
    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 0, sent: [] });
    expect(stderr).not.toContain('undo');
  });

  test('of which the server says nothing does not keep the name from being set', async () => {
    const service = fakeService();
    service.expect('GET /api/v1/users/me').reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'no' });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { full_name: 'Ada' } }).reply(200, done);
    service.expect('GET /api/v1/users/me').reply(200, { ...done, full_name: 'Ada' });

    const { exitCode, stderr } = await run(service, 'settings set full_name=Ada');

    service.done();
    const said = 'the chat server refused the request: no; what the account had is neither shown nor recorded\n';
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: said });
  });
});
