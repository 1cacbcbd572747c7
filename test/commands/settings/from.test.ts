import { writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, fakeService, openSandbox, run, type Ran } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };

/** Sets from a file of that name in a fresh folder; messages have the folder taken out. */
async function setFrom(service: FakeService, name: string, text: string, ...more: string[]): Promise<Ran> {
  const home = emptyHome();
  const file = join(home, name);
  writeFileSync(file, text);
  const ran = await run(service, ['settings', 'set', '--from', file, '-o', 'json', ...more], { home });
  const { error } = ran;
  return error ? { ...ran, error: { ...error, message: error.message.replaceAll(`${home}${sep}`, '') } } : ran;
}

test('a preset is sent as it says', async () => {
  const service = fakeService();
  service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: 489 });
  const form = { color_scheme: '2', twenty_four_hour_time: 'true', timezone: 'UTC', web_font_size_px: '16' };
  service
    .expect({ method: 'PATCH', path: '/api/v1/settings', form: { ...form, full_name: 'Ada = L.' } })
    .reply(200, done);
  const preset =
    '# For the night shift\n\ncolor_scheme=Dark\r\ntwenty-four-hour-time=True\ntimezone=utc\nweb_font_size_px=16\nfull_name=Ada = L.\n';

  const { exitCode, stdout } = await setFrom(service, 'night.txt', preset);

  service.done();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    { name: 'color_scheme', value: 2, value_name: 'dark', status: 'set' },
    { name: 'twenty_four_hour_time', value: true, status: 'set' },
    { name: 'timezone', value: 'UTC', status: 'set' },
    { name: 'web_font_size_px', value: 16, status: 'set' },
    { name: 'full_name', value: 'Ada = L.', status: 'set' },
  ]);
});

describe('the whole is validated first', () => {
  test('every error of the file and of the command line is named, the file with its lines', async () => {
    const service = fakeService();
    const preset = 'color_scheme=drak\nenter_sends=true\nscheme=dark\nweb_font_size=14\nenter-sends=false\n';

    const { exitCode, stdout, error } = await setFrom(service, 'team.txt', preset, 'web_font_size_px=0', '--raw', 'x');

    expect({ exitCode, stdout, sent: service.seen }).toEqual({ exitCode: 2, stdout: '', sent: [] });
    expect(error?.message.split('\n')).toEqual([
      'web_font_size_px: 0 is out of range; must be 1 to 32767',
      "team.txt:1: color_scheme: 'drak' is not one of 1 automatic, 2 dark, 3 light",
      "team.txt:3: unknown setting 'scheme'",
      "team.txt:4: unknown setting 'web_font_size'",
      'team.txt:5: given twice: enter_sends (first: team.txt:2)',
      "--raw 'x': expected NAME=TEXT",
    ]);
  });

  test.each([
    ['a', 'color_scheme=2\n\nenter_sends=perhaps', /^a:3: enter_sends: 'perhaps' is not a bool/],
    ['a', 'color_scheme=2\nenter_sends', /^a:2: enter_sends: expected NAME=VALUE$/],
  ])('%s: %j', async (name, text, message) => {
    const service = fakeService();

    const { exitCode, error } = await setFrom(service, name, text);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toMatch(message);
  });
});

describe('passwords', () => {
  const secret = 'hunter2-and-more';

  test.each([
    ['a', `color_scheme=1\n${secret}\n`],
    ['a', `old_password=x\nnew_pasword=${secret}\n`],
    ['a', `color_scheme=1\n${secret}==\n`],
  ])('of a file with a slip are not repeated: %s %j', async (name, text) => {
    const service = fakeService();

    const { exitCode, stdout, stderr } = await setFrom(service, name, text);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(stdout + stderr).not.toContain(secret);
  });
});

test('a dry run shows each request of a preset, in order, and changes nothing', async () => {
  const { sandbox, run: runThere } = await openSandbox();
  const home = emptyHome();
  const file = join(home, 'preset.txt');
  writeFileSync(
    file,
    'color_scheme=dark\nfull_name=Zed Zed\nemail=new@harbour.example\nold_password=a1b2c3\nnew_password=d4e5f6\n',
  );

  const { exitCode, stdout } = await runThere(['settings', 'set', '--from', file, '--dry-run', '-o', 'json'], { home });

  expect(exitCode).toBe(0);
  expect((JSON.parse(stdout) as { body: string }[]).map(({ body }) => body)).toEqual([
    'old_password=[secret]&new_password=[secret]',
    'email=new%40harbour.example',
    'color_scheme=2&full_name=Zed+Zed',
  ]);
  const user = sandbox.state.users().find(({ user_id }) => user_id === 8);
  expect(user?.settings).not.toHaveProperty('color_scheme');
  expect(user?.full_name).toBe('Mara Lindqvist');
});
