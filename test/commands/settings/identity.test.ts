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

const setRaw = (service: FakeService, word: string) =>
  run(service, ['settings', 'set', 'enter_sends=true', '--raw', word, '-o', 'json']);

describe('target_users', () => {
  test.each([
    ['full_name=Ada', 'full_name'],
    ['email=ada@example.com', 'email'],
  ])('beside %s is refused: that would change the own account', async (word, name) => {
    const service = fakeService();

    const { exitCode, error } = await run(service, ['settings', 'set', word, '--raw', target, '-o', 'json']);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toBe(`target_users is about other users, and ${name} about the account that is signed in`);
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

      const { exitCode, error } = await setRaw(service, word);

      expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
      expect(error?.message).toContain('lower-case letters, digits and underscores only');
    },
  );

  test.each([
    [443, /target_users needs level 444: an older server changes .*; this server has 443/],
    [undefined, /target_users needs level 444: .*; this server does not report its level/],
  ])('is never sent to a server of level %s', async (level, message) => {
    const service = serverAt(level);

    const { exitCode, error } = await setRaw(service, target);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toMatch(message);
  });

  test('is sent from its level on, in one request with the settings', async () => {
    const service = serverAt(444);
    const form = { enter_sends: 'true', target_users: '{"user_ids":[9]}' };
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form }).reply(200, done);

    expect((await setRaw(service, target)).exitCode).toBe(0);
    service.done();
  });

  test('that a server ignored all the same: the error says whose settings were changed', async () => {
    const service = serverAt(444);
    const form = { enter_sends: 'true', target_users: '{"user_ids":[9]}' };
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form })
      .reply(200, { ...done, ignored_parameters_unsupported: ['target_users'] });

    const { exitCode, error } = await setRaw(service, target);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toContain('target_users (the settings of this account were changed instead)');
  });
});
