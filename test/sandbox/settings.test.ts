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
  ['timezone', 'Asia/Kolkata', 'Asia/Kolkata'],
  ['notification_sound', 'deep tom', 'deep tom'],
  ['web_font_size_px', '0', 0],
  ['web_font_size_px', '32767', 32_767],
  ['email_notifications_batching_period_seconds', '1', 1],
  ['email_notifications_batching_period_seconds', '604800', 604_800],
  ['web_animate_image_previews', 'on_hover', 'on_hover'],
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
  ['color_scheme', 'dark', 'color_scheme is not valid JSON'],
  ['enter_sends', '"true"', 'enter_sends is not a boolean'],
  ['web_home_view', 'recent_topics', 'Invalid web_home_view: Value error, Not in the list of possible values'],
  ['email_notifications_batching_period_seconds', '0', 'Invalid email batching period: 0 seconds'],
  ['email_notifications_batching_period_seconds', '604801', 'Invalid email batching period: 604801 seconds'],
  ['notification_sound', 'foghorn', "Invalid notification sound 'foghorn'"],
  ['full_name', ' ', 'Name must not be empty!'],
  ['full_name', 'Tomás\u0007', 'Invalid characters in name!'],
  ['email', 'nowhere', 'Invalid address.'],
  ['email', 'INES@harbour.example', 'Already has an account.'],
])('%s=%s is refused: %s', async (name, text, msg) => {
  const running = await started();
  const before = stored(running);

  expect(await running.chat('PATCH', '/settings', { as: 'tomas', form: { [name]: text } })).toMatchObject(refused(msg));

  expect(stored(running)).toEqual(before);
});

test('an e-mail only starts the confirmation', async () => {
  const running = await started();

  expect(await running.chat('PATCH', '/settings', { as: 'tomas', form: { email: ' new@x.example ' } })).toMatchObject(
    success,
  );

  expect(stored(running)).toMatchObject({ email: 'tomas@harbour.example', pending_email: 'new@x.example' });
});

test('a forbidden change of name is a success that does nothing, except for administrators', async () => {
  const running = await started();
  running.sandbox.state.organize({ name_changes_disabled: true });

  expect(await running.chat('PATCH', '/settings', { as: 'tomas', form: { full_name: 'Tom' } })).toMatchObject(success);
  expect(await running.chat('PATCH', '/settings', { form: { full_name: 'Mar' } })).toMatchObject(success);

  expect([stored(running)?.full_name, stored(running, 8)?.full_name]).toEqual(['Tomás Ferreira', 'Mar']);
});

test('a password needs the old one, and strength', async () => {
  const running = await started();
  const change = (old_password: string | undefined, new_password: string) =>
    running.chat('PATCH', '/settings', {
      as: 'tomas',
      form: { new_password, ...(old_password === undefined ? {} : { old_password }) },
    });

  expect(await change(undefined, 'quite-good-9')).toMatchObject(refused('Wrong password!'));
  for (const weak of ['abcde', 'aaabbbc'])
    expect(await change('sandbox-password-of-tomas', weak)).toMatchObject(refused('New password is too weak!'));
  expect(await change('sandbox-password-of-tomas', 'aabbcd')).toMatchObject(success);
  expect(stored(running)?.password).toBe('aabbcd');
});

test('not atomic: what came before the fault stays, what comes after is not done', async () => {
  const running = await started();
  const later = { color_scheme: '3', timezone: 'UTC' };

  const answer = await running.chat('PATCH', '/settings', {
    as: 'tomas',
    form: { full_name: 'Tom', twenty_four_hour_time: 'true', web_font_size_px: '32768', ...later },
  });

  expect(answer).toMatchObject({ status: 500, body: { result: 'error', msg: 'Internal server error' } });
  expect(stored(running)?.full_name).toBe('Tom');
  expect(stored(running)?.settings).toEqual({ timezone: 'Europe/Lisbon', twenty_four_hour_time: true });
});

test('of target_users the settings are changed, and the own ones are not', async () => {
  const running = await started();
  const form = { enter_sends: 'true', target_users: '{"user_ids":[10]}' };

  expect(await running.chat('PATCH', '/settings', { form })).toMatchObject(success);

  expect([8, 10].map((id) => stored(running, id)?.settings['enter_sends'])).toEqual([undefined, true]);
  const { body } = await running.chat('PATCH', '/settings', { form, as: 'tomas' });
  expect(body).toMatchObject({ result: 'error', code: 'UNAUTHORIZED_PRINCIPAL' });
});

test.each<[rules: Parameters<Running['sandbox']['state']['organize']>[0], form: Record<string, string>, msg: string]>([
  [
    { email_domains: ['harbour.example'] },
    { email: 't+x@harbour.example' },
    'Email addresses containing + are not allowed.',
  ],
  [{ email_domains: ['harbour.example'] }, { email: 't@other.example' }, 'Outside your domain.'],
  [{ email_domains: ['harbour.example'] }, { email: 't@HARBOUR.example' }, ''],
  [{}, { email: 't+x@other.example' }, ''],
  [{}, { email: `${'x'.repeat(304)}@harbour.example` }, ''],
  [{}, { email: `${'x'.repeat(305)}@harbour.example` }, 'Invalid address.'],
  [{}, { email: 't@mailinator.com' }, 'Please use your real email address.'],
  [{}, { email: 'oskar@harbour.example' }, 'Account has been deactivated.'],
  [
    { email_changes_disabled: true },
    { email: 't@x.example' },
    'Email address changes are disabled in this organization.',
  ],
  [{ passwords_in_ldap: true }, { new_password: 'quite-good-9' }, 'Your Zulip password is managed in LDAP'],
  [{ unique_names: true }, { full_name: 'mara LINDQVIST' }, 'Unique names required in this organization.'],
  [{ unique_names: true }, { full_name: 'TOMÁS Ferreira' }, ''],
  [{}, { full_name: 'Mara Lindqvist' }, ''],
  [{}, { full_name: 'x'.repeat(101) }, 'Name too long!'],
  [{}, { full_name: 'x'.repeat(100) }, ''],
  [{}, { full_name: 'x|12' }, 'Invalid format!'],
])('where the organization has %j, %j answers "%s"', async (rules, form, msg) => {
  const { chat, sandbox } = await started();
  sandbox.state.organize(rules);

  expect((await chat('PATCH', '/settings', { as: 'tomas', form })).body).toMatchObject({ msg });
});

test('after five wrong passwords the right one is refused for half an hour; addresses change twice an hour', async () => {
  const { chat, clock } = await started();
  const change = async (form: Record<string, string>) => (await chat('PATCH', '/settings', { as: 'tomas', form })).body;
  const right = { old_password: 'sandbox-password-of-tomas', new_password: 'sandbox-password-of-tomas' };
  expect(await change(right)).toMatchObject({ msg: '' });
  for (let attempt = 0; attempt < 5; attempt += 1)
    expect(await change({ ...right, old_password: 'x' })).toMatchObject({ msg: 'Wrong password!' });

  const msg = "You're making too many attempts! Try again in 1800 seconds.";
  expect(await change(right)).toMatchObject({ msg });
  clock.advance(1_800_000);
  expect(await change(right)).toMatchObject({ msg: '' });

  expect(await change({ email: '1@x.example' })).toMatchObject({ msg: '' });
  expect(await change({ email: '2@x.example' })).toMatchObject({ msg: '' });
  expect(await change({ email: '3@x.example' })).toMatchObject({ code: 'RATE_LIMIT_HIT', 'retry-after': 3600 });
});

test.each([
  ['1', [true, true, true]],
  ['2', [true, true, false]],
  ['3', [true, false, false]],
  ['4', [false, false, false]],
  ['5', [true, false, false]],
])('an address of visibility %s is shown to an administrator, a member, a guest: %j', async (visibility, shown) => {
  const { chat } = await started();
  await chat('PATCH', '/settings', { as: 'tomas', form: { email_address_visibility: visibility } });
  const seen = ['mara', 'ines', 'priya'].map(async (as) => {
    const { members } = (await chat('GET', '/users', { as })).body as { members: Record<string, unknown>[] };
    return members.find(({ user_id }) => user_id === 9)?.['delivery_email'] === 'tomas@harbour.example';
  });

  expect(await Promise.all(seen)).toEqual(shown);
});
