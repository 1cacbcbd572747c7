import { describe, expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };

/** A server that tells its level and takes one change. */
function serverAt(level: number | undefined): FakeService {
  const settings = level === undefined ? {} : { zulip_feature_level: level };
  const service = fakeService();
  service
    .expect('GET /api/v1/server_settings')
    .reply(level === undefined ? 404 : 200, { ...done, zulip_version: '11.0', ...settings });
  return service;
}

function expectSettings(service: FakeService, form: Readonly<Record<string, string>>): FakeService {
  return service.expect({ method: 'PATCH', path: '/api/v1/settings', form }).reply(200, done);
}

describe('a legal value is sent as the server reads it', () => {
  test('with its name written with dashes, and a value that holds an equals sign', async () => {
    const service = expectSettings(serverAt(489), { notification_sound: 'a=b' });

    expect((await run(service, 'settings set notification-sound=a=b')).exitCode).toBe(0);
    service.done();
  });

  test('in one request, and shown with its status', async () => {
    const service = expectSettings(serverAt(489), { color_scheme: '2', enter_sends: 'false' });

    const { stdout } = await run(service, 'settings set color_scheme=dark enter_sends=false');

    service.done();
    expect(stdout).toBe('name\tvalue\tvalue_name\tstatus\ncolor_scheme\t2\tdark\tset\nenter_sends\tfalse\t\tset\n');
  });

  test('with --raw word for word, for a setting that this version does not know', async () => {
    const service = expectSettings(serverAt(489), { f: '{"a": 1}' });

    expect((await run(service, ['settings', 'set', '--raw', 'f={"a": 1}'])).exitCode).toBe(0);
    service.done();
  });
});

describe('what is wrong is refused before anything is sent', () => {
  const wrong: readonly (readonly [name: string, message: RegExp, ...texts: readonly string[]])[] = [
    ['enter_sends', /not a boolean/, 'maybe', '1', ' true', '', '"true"'],
    ['color_scheme', /is not one of 1 /, '0', '4', 'nonsense', '1.0', '01', '+1', '', 'true', '-1'],
    ['web_font_size_px', /is not a whole number/, '01', '+1', '1.0', '1e3', ' 1', '', 'big', '0x10'],
    ['web_font_size_px', /beyond/, '9007199254740992'],
    ['web_font_size_px', /out of range/, '0', '-1'],
    ['email_notifications_batching_period_seconds', /must be 1 to 604800/, '604801'],
    ['web_font_size_px', /must be 1 to 32767/, '32768'],
    ['emojiset', /is not one of google, /, 'nonsense', '"google"', '1', ''],
    ['full_name', /must not be empty/, ''],
  ];

  test.each(wrong)('%s: %s', async (name, message, ...texts) => {
    for (const text of texts) {
      const service = fakeService();

      const { exitCode, stdout, error } = await run(service, ['settings', 'set', '-o', 'json', `${name}=${text}`]);

      expect({ text, exitCode, stdout, sent: service.seen }).toEqual({ text, exitCode: 2, stdout: '', sent: [] });
      expect(error?.message).toMatch(message);
    }
  });

  test.each([
    ['color_sheme=dark', 'Did you mean color_scheme?'],
    ['colour-scheme=dark', 'Did you mean color_scheme?'],
    ['color_scheme=drak', 'Did you mean dark?'],
    ['emojiset=gogle', 'Did you mean google?'],
    ['emial=a@example.com', 'Did you mean email?'],
  ])('%s: %s', async (word, hint) => {
    const service = fakeService();

    const { exitCode, error } = await run(service, ['settings', 'set', '-o', 'json', word]);

    expect({ exitCode, hint: error?.hint, sent: service.seen }).toEqual({ exitCode: 2, hint, sent: [] });
  });

  test.each([
    [[], /no setting is given/],
    [['color_scheme=1', 'color-scheme=2'], /given twice: color_scheme/],
    [['color_scheme=1', '--raw', 'color_scheme=2'], /given twice: color_scheme/],
    [['enter_sends'], /expected NAME=VALUE/],
    [['=x'], /unknown setting ''/],
    [['--raw', 'x'], /expected NAME=TEXT/],
    [['--raw', '=x'], /expected NAME=TEXT/],
    [['__proto__=1'], /unknown setting/],
    [['constructor=1'], /unknown setting/],
  ])('%j', async (args, message) => {
    const service = fakeService();

    const { exitCode, error } = await run(service, ['settings', 'set', '-o', 'json', ...args]);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toMatch(message);
  });
});

describe('a level decides what may be sent', () => {
  test.each([
    [226, ['desktop_icon_count_display=1'], /below level 227 the numbers .* had other meanings; this server has 226/],
    [442, ['emojiset=google-blob'], /google-blob was removed after release 11.2; this server has 442/],
    [382, ['web_channel_default_view=3'], /list-of-topics needs level 383/],
    [400, ['web_channel_default_view=4'], /top-unread-topic needs level 401/],
    [79, ['color_scheme=2'], /below 80 only full_name, email and passwords/],
    [0, ['enter_sends=true', 'full_name=Ada'], /below 80 only full_name, email and passwords/],
  ])('level %d refuses %j: exit 6, and no write', async (level, args, message) => {
    const service = serverAt(level);

    const { exitCode, error } = await run(service, ['settings', 'set', '-o', 'json', ...args]);

    service.done();
    expect(exitCode).toBe(6);
    expect(error?.message).toMatch(message);
  });

  test.each([
    [227, 'desktop_icon_count_display=1', { desktop_icon_count_display: '1' }],
    [383, 'web_channel_default_view=list-of-topics', { web_channel_default_view: '3' }],
    [382, 'web_channel_default_view=2', { web_channel_default_view: '2' }],
    [401, 'web_channel_default_view=4', { web_channel_default_view: '4' }],
    [453, 'web_home_view=recent_topics', { web_home_view: 'recent_topics' }],
    [454, 'web_home_view=recent', { web_home_view: 'recent' }],
    [80, 'color_scheme=2', { color_scheme: '2' }],
    [undefined, 'desktop_icon_count_display=2', { desktop_icon_count_display: '2' }],
    [undefined, 'web_channel_default_view=4', { web_channel_default_view: '4' }],
  ])('level %s takes %s', async (level, word, form) => {
    const service = expectSettings(serverAt(level), form);

    const { exitCode, stderr } = await run(service, ['settings', 'set', word]);

    service.done();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  test.each([
    [453, 'recent', 'recent_topics'],
    [454, 'recent_topics', 'recent'],
  ])('level %d: web_home_view=%s is sent as %s, with a note', async (level, typed, sent) => {
    const service = expectSettings(serverAt(level), { web_home_view: sent });

    const { exitCode, stderr } = await run(service, `settings set web_home_view=${typed}`);

    service.done();
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`sending ${sent}`);
  });

  test('a server that tells its version and no level is older than levels', async () => {
    const service = fakeService();
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_version: '2.1.8' });

    expect((await run(service, 'settings set color_scheme=2')).exitCode).toBe(6);
    service.done();
  });

  test.each([['full_name=Ada'], ['email=ada@example.com']])(
    '%s is sent to any server, and its level is not asked',
    async (word) => {
      const service = fakeService();
      const [name = '', value = ''] = word.split('=');
      expectSettings(service, { [name]: value });

      const { exitCode, stdout } = await run(service, ['settings', 'set', word, '-o', 'json']);

      service.done();
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toEqual([{ name, value, status: name === 'email' ? 'confirmation_sent' : 'set' }]);
    },
  );
});

test.each([
  [false, 'enable_drafts_synchronization=false deletes all drafts that the server keeps'],
  [true, ''],
])('enable_drafts_synchronization=%s: what it loses is said', async (value, loss) => {
  const service = serverAt(489);
  expectSettings(service, { enable_drafts_synchronization: String(value) });

  const { exitCode, stderr } = await run(service, `settings set enable_drafts_synchronization=${value}`);

  service.done();
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: loss === '' ? '' : `warning: ${loss}\n` });
});

describe('what the server did not take', () => {
  test('ignored settings are named, exit 6, and the data is printed', async () => {
    const service = serverAt(100);
    service
      .expect({
        method: 'PATCH',
        path: '/api/v1/settings',
        form: { color_scheme: '2', hide_ai_features: 'true' },
      })
      .reply(200, { ...done, ignored_parameters_unsupported: ['hide_ai_features'] });

    const { exitCode, stdout, error } = await run(service, 'settings set color_scheme=2 hide_ai_features=true -o json');

    service.done();
    expect(exitCode).toBe(6);
    expect(JSON.parse(stdout)).toEqual([
      { name: 'color_scheme', value: 2, value_name: 'dark', status: 'set' },
      { name: 'hide_ai_features', value: true, status: 'ignored' },
    ]);
    expect(error?.code).toBe('rejected');
    expect(error?.message).toContain('hide_ai_features');
  });
});

describe('requests of their own', () => {
  const all = ['color_scheme=2', 'full_name=Ada', 'email=ada@example.com', 'timezone=UTC'];
  const passwords = 'old_password=correct horse\nnew_password=battery&staple\n';

  test('passwords, then e-mail, then the rest', async () => {
    const service = serverAt(489);
    expectSettings(service, { old_password: 'correct horse', new_password: 'battery&staple' });
    expectSettings(service, { email: 'ada@example.com' });
    expectSettings(service, { color_scheme: '2', full_name: 'Ada', timezone: 'UTC' });

    const { exitCode, stdout, stderr } = await run(service, ['settings', 'set', ...all, '--from', '-', '-o', 'json'], {
      stdin: passwords,
    });

    service.done();
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: 'note: the server sends a link to the new address; nothing changes until it is opened\n',
    });
    expect(JSON.parse(stdout)).toEqual([
      { name: 'old_password', value: '[secret]', status: 'set' },
      { name: 'new_password', value: '[secret]', status: 'set' },
      { name: 'email', value: 'ada@example.com', status: 'confirmation_sent' },
      { name: 'color_scheme', value: 2, value_name: 'dark', status: 'set' },
      { name: 'full_name', value: 'Ada', status: 'set' },
      { name: 'timezone', value: 'UTC', status: 'set' },
    ]);
  });

  test('a later one that is refused: what is set and what is not is named, exit 8', async () => {
    const service = serverAt(489);
    expectSettings(service, { email: 'ada@example.com' });
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form: { timezone: 'Europe/Berlin' } })
      .reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid timezone' });

    const { exitCode, stdout, error } = await run(
      service,
      'settings set email=ada@example.com timezone=Europe/Berlin -o json',
    );

    service.done();
    expect(exitCode).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'email', status: 'confirmation_sent' }]);
    expect(error?.message).toContain('set: email; not set: timezone');
  });

  test('the first one refused: its own exit code, and nothing more is sent', async () => {
    const service = serverAt(489);
    service
      .expect({
        method: 'PATCH',
        path: '/api/v1/settings',
        form: { old_password: 'wrong one', new_password: 'right one' },
      })
      .reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'Wrong password!' });

    const { exitCode } = await run(service, 'settings set timezone=UTC --from - -o json', {
      stdin: 'old_password=wrong one\nnew_password=right one\n',
    });

    service.done();
    expect(exitCode).toBe(6);
  });

  test.each([
    ['email', { email: 'ada@example.com' }, 'email=ada@example.com', ''],
    ['passwords', { old_password: 'old secret', new_password: 'new secret' }, '', passwords],
  ])('%s unconfirmed are not sent again: exit 9', async (_what, form, word, stdin) => {
    for (const trouble of ['ECONNRESET', 502, 503, 504, 500] as const) {
      const service = fakeService();
      const sent = stdin === '' ? form : { old_password: 'correct horse', new_password: 'battery&staple' };
      const planned = service.expect({ method: 'PATCH', path: '/api/v1/settings', form: sent });
      if (typeof trouble === 'number') planned.reply(trouble, '<h1>trouble</h1>');
      else planned.fail(trouble);

      const { exitCode, error } = await run(
        service,
        ['settings', 'set', '-o', 'json', ...(word === '' ? ['--from', '-'] : [word])],
        { stdin },
      );

      service.done();
      expect({ trouble, exitCode, code: error?.code, retryable: error?.retryable }).toEqual({
        trouble,
        exitCode: 9,
        code: 'unknown',
        retryable: false,
      });
    }
  });

  test('other settings unconfirmed are sent again', async () => {
    const service = serverAt(489);
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form: { color_scheme: '2' } }).fail('ECONNRESET');
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form: { color_scheme: '2' } })
      .reply(502, '<h1>no</h1>');
    expectSettings(service, { color_scheme: '2' });

    expect((await run(service, 'settings set color_scheme=2')).exitCode).toBe(0);
    service.done();
  });

  test('a refused e-mail change that may be made tomorrow is exit 7 and names the wait', async () => {
    const service = fakeService();
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form: { email: 'ada@example.com' } })
      .reply(429, { result: 'error', code: 'RATE_LIMIT_HIT', msg: 'API usage exceeded', 'retry-after': 3600.5 });

    const { exitCode, error, slept } = await run(service, 'settings set email=ada@example.com -o json');

    service.done();
    expect({ exitCode, slept }).toEqual({ exitCode: 7, slept: [] });
    expect(error?.message).toContain('1h1s');
  });
});

describe('a password is never shown', () => {
  const secret = 'hunter2-and-more';

  test.each([
    [`old_password=${secret}`],
    [`new-password=${secret}`],
    [`old_pasword=${secret}`],
    [`Old_Password=${secret}`],
  ])('%s as an argument is exit 2 and not echoed', async (word) => {
    const service = fakeService();

    const { exitCode, stdout, stderr } = await run(service, ['settings', 'set', word, '--trace']);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(stdout + stderr).not.toContain(secret);
  });

  test('--raw refuses it, and does not echo it', async () => {
    const service = fakeService();

    const { exitCode, stderr } = await run(service, ['settings', 'set', '--raw', `old_password=${secret}`]);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(stderr).not.toContain(secret);
  });

  test('in a trace, in the plan of a dry run, and in the error of the server', async () => {
    for (const flag of ['--trace', '--dry-run']) {
      const service = fakeService();
      if (flag === '--trace') {
        service
          .expect({ method: 'PATCH', path: '/api/v1/settings', form: { old_password: secret, new_password: 'p&q r"' } })
          .reply(400, { result: 'error', code: 'BAD_REQUEST', msg: `Wrong password ${secret} p&q r"` });
      }

      const { stdout, stderr } = await run(service, `settings set --from - ${flag}`, {
        stdin: `old_password=${secret}\nnew_password=p&q r"\n`,
      });

      service.done();
      expect(stdout + stderr).toContain('old_password=[secret]&new_password=[secret]');
      expect(stdout + stderr).not.toMatch(/hunter2|p&q|p%26q/);
    }
  });

  test('whatever it is, the error stays one line of JSON', async () => {
    const service = fakeService();
    service
      .expect({ method: 'PATCH', path: '/api/v1/settings', form: { old_password: 'error', new_password: '"' } })
      .reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'Not "error"!' });

    const { exitCode, error } = await run(service, 'settings set --from - -o json', {
      stdin: 'old_password=error\nnew_password="\n',
    });

    expect(exitCode).toBe(6);
    expect(error?.server).toEqual({ code: 'BAD_REQUEST', msg: 'Not "[secret]"!' });
  });

  test('whatever it is, the plan of a dry run stays whole', async () => {
    const service = fakeService();

    const { exitCode, stdout } = await run(service, 'settings set --from - --dry-run -o json', {
      stdin: 'old_password=method\nnew_password="\n',
    });

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      {
        method: 'PATCH',
        url: 'https://chat.test/api/v1/settings',
        content_type: 'application/x-www-form-urlencoded',
        body: 'old_password=[secret]&new_password=[secret]',
      },
    ]);
  });

  test.each([
    ['new_password', /give both/],
    ['old_password', /give both/],
  ])('the bare name %s alone is refused: both are needed', async (word, message) => {
    const service = fakeService();

    const { exitCode, error } = await run(service, `settings set ${word} -o json`);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toMatch(message);
  });

  test.each([
    ['the same', 0],
    ['another one', 2],
  ])('bare names ask for both, and for the new one twice, which is then %s', async (again, exitCode) => {
    const service = fakeService();
    if (exitCode === 0) expectSettings(service, { old_password: secret, new_password: 'the same' });

    const ran = await run(service, 'settings set old_password new_password', {
      tty: true,
      answers: [secret, 'the same', again],
    });

    service.done();
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toMatch(/^old password: \nnew password: \nnew password again: \n/);
    expect(ran.stdout + ran.stderr).not.toContain(secret);
  });
});
