import { expect, test } from 'vitest';
import { settings } from '../../src/schema/settings.ts';
import { started, type Running } from './start.ts';

const refused = (msg: string, code = 'BAD_REQUEST') => ({ status: 400, body: { result: 'error', msg, code } });
const success = { status: 200, body: { result: 'success', msg: '' } };

function stored({ sandbox }: Running, user_id = 9) {
  return sandbox.state.users().find((user) => user.user_id === user_id);
}

test.each([
  ['color_scheme', '2', 2],
  ['enter_sends', 'true', true],
  ['web_home_view', 'recent', 'recent'],
  ['timezone', 'Asia/Kolkata', 'Asia/Kolkata'],
  ['timezone', 'America/Montreal', 'America/Toronto'],
  ['timezone', 'UTC', 'UTC'],
  ['notification_sound', 'deep tom', 'deep tom'],
  ['notification_sound', 'none', 'none'],
  ['default_language', 'pt-br', 'pt-br'],
  ['web_font_size_px', '0', 0],
  ['web_channel_default_view', '3', 3],
  ['desktop_icon_count_display', '4', 4],
  ['web_animate_image_previews', 'on_hover', 'on_hover'],
  ['email_notifications_batching_period_seconds', '604800', 604800],
])('%s=%s is kept as %j', async (name, text, value) => {
  const running = await started();

  expect(await running.chat('PATCH', '/settings', { as: 'tomas', form: { [name]: text } })).toMatchObject(success);

  expect(stored(running)?.settings[name]).toBe(value);
});

test('every setting of the specification is known at the newest level', async () => {
  const { chat } = await started();
  const values = { boolean: 'true', integer: '1', string: 'x', secret: 'x', json: '', duration: '' };
  for (const [name, field] of Object.entries(settings)) {
    const text =
      'choices' in field ? (field.choices.find((choice) => choice !== 'recent_topics') ?? '') : values[field.kind];

    const { body } = await chat('PATCH', '/settings', { form: { [name]: text } });

    expect(body, name).not.toHaveProperty('ignored_parameters_unsupported');
  }
});

test.each([
  ['color_scheme', '"2"', 'color_scheme is not an integer'],
  ['color_scheme', '2.0', 'color_scheme is not an integer'],
  ['color_scheme', 'dark', 'color_scheme is not valid JSON'],
  ['color_scheme', '0', 'Invalid color_scheme: Value error, Not in the list of possible values'],
  ['enter_sends', '"true"', 'enter_sends is not a boolean'],
  ['web_home_view', 'recent_topics', 'Invalid web_home_view: Value error, Not in the list of possible values'],
  ['emojiset', '"google"', 'Invalid emojiset: Value error, Not in the list of possible values'],
  ['email_notifications_batching_period_seconds', '0', 'Invalid email batching period: 0 seconds'],
  ['notification_sound', 'foghorn', "Invalid notification sound 'foghorn'"],
  ['full_name', ' ', 'Name must not be empty!'],
  ['full_name', 'M'.repeat(101), 'Name too long!'],
  ['full_name', 'Tomás*', 'Invalid characters in name!'],
  ['full_name', 'Tomás\u0007', 'Invalid characters in name!'],
  ['full_name', 'Tomás|12', 'Invalid format!'],
  ['email', 'nowhere', 'Invalid address.'],
  ['email', 'INES@harbour.example', 'Already has an account.'],
  ['email', 'oskar@harbour.example', 'Account has been deactivated.'],
])('%s=%s is refused: %s', async (name, text, msg) => {
  const running = await started();
  const before = stored(running);

  expect(await running.chat('PATCH', '/settings', { as: 'tomas', form: { [name]: text } })).toMatchObject(refused(msg));

  expect(stored(running)).toEqual(before);
});

test.each([
  ['domains', { email_domains: ['harbour.example'] }, 'tomas@else.example', 'Outside your domain.'],
  [
    'plus signs',
    { email_domains: ['harbour.example'] },
    't+x@harbour.example',
    'Email addresses containing + are not allowed.',
  ],
  ['throw-away addresses', {}, 't@mailinator.com', 'Please use your real email address.'],
  [
    'changes at all',
    { email_changes_disabled: true },
    't@x.example',
    'Email address changes are disabled in this organization.',
  ],
])('an organization may forbid %s', async (_name, rules, email, msg) => {
  const { chat, sandbox } = await started();
  sandbox.state.organize(rules);

  expect(await chat('PATCH', '/settings', { as: 'tomas', form: { email } })).toMatchObject(refused(msg));
});

test('an e-mail only starts the confirmation', async () => {
  const running = await started();

  expect(await running.chat('PATCH', '/settings', { as: 'tomas', form: { email: ' new@x.example ' } })).toMatchObject(
    success,
  );

  expect(stored(running)).toMatchObject({ email: 'tomas@harbour.example', pending_email: 'new@x.example' });
});

test('an administrator may change the e-mail where others may not', async () => {
  const { chat, sandbox } = await started();
  sandbox.state.organize({ email_changes_disabled: true });

  expect(await chat('PATCH', '/settings', { form: { email: 'm@x.example' } })).toMatchObject(success);
});

test('a forbidden change of name is a success that does nothing, except for administrators', async () => {
  const running = await started();
  running.sandbox.state.organize({ name_changes_disabled: true });

  expect(await running.chat('PATCH', '/settings', { as: 'tomas', form: { full_name: 'Tom' } })).toMatchObject(success);
  expect(await running.chat('PATCH', '/settings', { form: { full_name: 'Mar' } })).toMatchObject(success);

  expect([stored(running)?.full_name, stored(running, 8)?.full_name]).toEqual(['Tomás Ferreira', 'Mar']);
});

test('unique names where the organization wants them', async () => {
  const { chat, sandbox } = await started();
  sandbox.state.organize({ unique_names: true });

  expect(await chat('PATCH', '/settings', { form: { full_name: 'INES Okafor' } })).toMatchObject(
    refused('Unique names required in this organization.'),
  );
});

test('a password needs the old one, and strength', async () => {
  const running = await started();
  const change = (old_password: string | undefined, new_password: string) =>
    running.chat('PATCH', '/settings', {
      as: 'tomas',
      form: { new_password, ...(old_password === undefined ? {} : { old_password }) },
    });

  expect(await change(undefined, 'quite-good-9')).toMatchObject(refused('Wrong password!'));
  expect(await change('sandbox-password-of-tomas', 'abc')).toMatchObject(refused('New password is too weak!'));
  expect(await change('sandbox-password-of-tomas', 'quite-good-9')).toMatchObject(success);
  expect(stored(running)?.password).toBe('quite-good-9');
});

test('passwords of a directory are not changed here', async () => {
  const { chat, sandbox } = await started();
  sandbox.state.organize({ passwords_in_ldap: true });

  expect(await chat('PATCH', '/settings', { form: { old_password: 'a', new_password: 'b' } })).toMatchObject(
    refused('Your Zulip password is managed in LDAP'),
  );
});

test('the sixth wrong password within half an hour is one too many', async () => {
  const { chat, clock } = await started();
  const attempt = () => chat('PATCH', '/settings', { form: { old_password: 'x', new_password: 'quite-good-9' } });
  for (let count = 0; count < 5; count += 1) expect(await attempt()).toMatchObject(refused('Wrong password!'));
  clock.advance(600_000);

  const answer = await attempt();

  expect(answer).toMatchObject(refused("You're making too many attempts! Try again in 1200 seconds."));
  expect(answer.headers).not.toHaveProperty('retry-after');
});

test('not atomic: what came before the fault stays, what comes after is not done', async () => {
  const running = await started();
  const later = { color_scheme: '3', timezone: 'UTC' };

  const answer = await running.chat('PATCH', '/settings', {
    as: 'tomas',
    form: { full_name: 'Tom', twenty_four_hour_time: 'true', web_font_size_px: '40000', ...later },
  });

  expect(answer).toMatchObject({ status: 500, body: { result: 'error', msg: 'Internal server error' } });
  expect(stored(running)?.full_name).toBe('Tom');
  expect(stored(running)?.settings).toEqual({ timezone: 'Europe/Lisbon', twenty_four_hour_time: true });
});

test('a fault of a type stops everything', async () => {
  const running = await started();
  const before = stored(running);

  await running.chat('PATCH', '/settings', { as: 'tomas', form: { full_name: 'Tom', color_scheme: 'x' } });

  expect(stored(running)).toEqual(before);
});

test('the present value is a silent success that writes nothing', async () => {
  const { chat, log } = await started();

  const answer = await chat('PATCH', '/settings', { form: { color_scheme: '1', full_name: 'Mara Lindqvist' } });

  expect(answer).toMatchObject(success);
  expect(log.map(({ committed }) => committed)).toEqual([false]);
});

test.each([
  [454, 'web_home_view', 'recent', undefined],
  [453, 'web_home_view', 'recent_topics', undefined],
  [453, 'web_home_view', 'recent', 400],
  [219, 'web_home_view', 'inbox', undefined],
  [218, 'web_home_view', 'inbox', 'ignored'],
  [218, 'default_view', 'recent_topics', undefined],
  [219, 'default_view', 'recent_topics', 'ignored'],
  [382, 'web_channel_default_view', '3', 400],
  [383, 'web_channel_default_view', '3', undefined],
  [400, 'web_channel_default_view', '4', 400],
  [401, 'web_channel_default_view', '4', undefined],
  [268, 'web_channel_default_view', '1', 'ignored'],
  [226, 'desktop_icon_count_display', '4', 400],
  [227, 'desktop_icon_count_display', '4', undefined],
  [363, 'dense_mode', 'true', undefined],
  [364, 'dense_mode', 'true', 'ignored'],
  [167, 'realm_name_in_notifications', 'true', undefined],
  [168, 'realm_name_in_notifications', 'true', 'ignored'],
  [349, 'hide_ai_features', 'true', 'ignored'],
  [350, 'hide_ai_features', 'true', undefined],
  [443, 'target_users', '{}', 'ignored'],
  [441, 'full_name', 'I', 400],
  [442, 'full_name', 'I', undefined],
] as const)('level %i, %s=%s: %s', async (featureLevel, name, text, outcome) => {
  const { chat } = await started({ featureLevel });

  const { status, body } = await chat('PATCH', '/settings', { form: { [name]: text } });

  const ignored = outcome === 'ignored' ? { ignored_parameters_unsupported: [name] } : {};
  if (outcome === 400) expect(status).toBe(400);
  else expect({ status, body }).toEqual({ status: 200, body: { result: 'success', msg: '', ...ignored } });
});

test.each([
  [80, '/settings', 'enable_sounds', undefined],
  [80, '/settings/display', 'enable_sounds', undefined],
  [80, '/settings/notifications', 'full_name', undefined],
  [79, '/settings', 'color_scheme', 'ignored'],
  [79, '/settings', 'full_name', undefined],
  [79, '/settings/display', 'color_scheme', undefined],
  [79, '/settings/display', 'enable_sounds', 'ignored'],
  [79, '/settings/notifications', 'enable_sounds', undefined],
  [79, '/settings/notifications', 'color_scheme', 'ignored'],
] as const)('level %i, %s takes %s: %s', async (featureLevel, path, name, outcome) => {
  const { chat } = await started({ featureLevel });
  const text = { enable_sounds: 'true', color_scheme: '2', full_name: 'Somebody' }[name];

  const { body } = await chat('PATCH', path, { form: { [name]: text } });

  const ignored = outcome === 'ignored' ? { ignored_parameters_unsupported: [name] } : {};
  expect(body).toEqual({ result: 'success', msg: '', ...ignored });
});

test('below 78 the values that changed are echoed, and nothing names what was dropped', async () => {
  const { chat } = await started({ featureLevel: 77 });

  const { body } = await chat('PATCH', '/settings/display', {
    form: { color_scheme: '2', left_side_userlist: 'true', emojiset: '"google"', nosuch: 'x' },
  });

  expect(body).toMatchObject({ msg: 'Invalid emojiset: Value error, Not in the list of possible values' });
  const again = await chat('PATCH', '/settings/display', {
    form: { color_scheme: '2', twenty_four_hour_time: 'true', nosuch: 'x' },
  });
  expect(again.body).toEqual({ result: 'success', msg: '', color_scheme: 2, twenty_four_hour_time: true });
});

test.each([
  [62, '/settings/display', 'default_language', 'de', 'default_language is not valid JSON'],
  [62, '/settings/display', 'default_language', '"de"', ''],
  [63, '/settings/display', 'default_language', '"de"', 'Invalid default_language'],
  [63, '/settings/display', 'timezone', '"UTC"', ''],
  [63, '/settings/display', 'timezone', '1', 'timezone is not a string'],
])('level %i, %s: %s=%s gives "%s"', async (featureLevel, path, name, text, msg) => {
  const { chat } = await started({ featureLevel });

  expect((await chat('PATCH', path, { form: { [name]: text } })).body).toMatchObject({ msg });
});
