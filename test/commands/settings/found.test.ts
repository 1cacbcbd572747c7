import { describe, expect, test } from 'vitest';
import { settings } from '../../../src/schema/settings.ts';
import { fakeService, run } from '../../helpers/run.ts';

const done = { result: 'success', msg: '' };

async function listed(...words: readonly string[]): Promise<readonly string[]> {
  const { exitCode, stdout } = await run(fakeService(), ['settings', 'list', ...words, '-o', 'json']);
  expect(exitCode).toBe(0);
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
}

describe('settings list WORD', () => {
  test.each([
    ['nothing', [], Object.keys(settings)],
    ['a part of a name', ['scheme'], ['color_scheme']],
    ['a name with dashes', ['Web-Font'], ['web_font_size_px']],
    ['a value', ['google-blob'], ['emojiset']],
    ['a name of a value', ['moderators'], ['email_address_visibility']],
    ['a word of the help', ['IANA'], ['timezone']],
    ['all of several words', ['followed', 'push'], ['enable_followed_topic_push_notifications']],
    ['what is nowhere', ['nonsense'], []],
  ])('%s', async (_what, words, names) => {
    expect(await listed(...words)).toEqual(names);
  });
});

describe('an unknown name', () => {
  test.each([
    ['font-size', 'Did you mean web_font_size_px?'],
    ['language', 'Did you mean default_language?'],
    ['password', 'Did you mean old_password or new_password?'],
    ['color_sheme', 'Did you mean color_scheme?'],
    ['xyzzy', 'The names: chatelaine settings list'],
    ['xyzzy=1 color_sheme', 'The names: chatelaine settings list\nDid you mean color_scheme?'],
  ])('%s: %s', async (name, hint) => {
    for (const line of [`set ${name}=1`, ...(name.includes(' ') ? [] : [`describe ${name}`])]) {
      const service = fakeService();

      const { exitCode, error } = await run(service, `settings ${line} -o json`);

      expect({ exitCode, hint: error?.hint, sent: service.seen }).toEqual({ exitCode: 2, hint, sent: [] });
    }
  });
});

describe('values as people write them', () => {
  test.each([
    ['enter_sends=True', { enter_sends: 'true' }],
    ['enter_sends=FALSE', { enter_sends: 'false' }],
    ['color_scheme=Dark', { color_scheme: '2' }],
    ['web_animate_image_previews=On-Hover', { web_animate_image_previews: 'on_hover' }],
    ['timezone=europe/berlin', { timezone: 'Europe/Berlin' }],
    ['timezone=utc', { timezone: 'UTC' }],
    ['timezone=Etc/GMT+5', { timezone: 'Etc/GMT+5' }],
    ['timezone=US/Pacific', { timezone: 'US/Pacific' }],
    ['timezone=Asia/Kolkata', { timezone: 'Asia/Kolkata' }],
    ['timezone=Asia/Calcutta', { timezone: 'Asia/Calcutta' }],
    ['timezone=CET', { timezone: 'CET' }],
  ])('%s', async (word, form) => {
    const service = fakeService();
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: 489 });
    service.expect({ method: 'PATCH', path: '/api/v1/settings', form }).reply(200, done);

    expect((await run(service, ['settings', 'set', word])).exitCode).toBe(0);
    service.done();
  });

  test.each([
    ['timezone=Europe/Berln', 'Did you mean Europe/Berlin?'],
    ['timezone=Berlin', 'Did you mean Europe/Berlin?'],
    ['timezone=America/New York', 'Did you mean America/New_York?'],
    ['timezone=+02:00', /^Write a name such as Europe\/Berlin\. .*--raw timezone=NAME/],
    ['timezone=PST', /^Write a name such as/],
    ['timezone=Mars/Olympus', /^Write a name such as/],
    ['timezone=/etc/passwd', /^Write a name such as/],
    ['timezone="Europe/Berlin"', 'Did you mean Europe/Berlin?'],
  ])('%s is refused: %s', async (word, hint) => {
    const service = fakeService();

    const { exitCode, error } = await run(service, ['settings', 'set', '-o', 'json', word]);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toBe(`timezone: '${word.slice(9)}' is not in the time zone database`);
    expect(error?.hint).toEqual(typeof hint === 'string' ? hint : expect.stringMatching(hint));
  });

  test.each(['ada.example.com', '@example.com', 'ada@'])('email=%s is no address', async (text) => {
    const service = fakeService();

    const { exitCode, error } = await run(service, ['settings', 'set', '-o', 'json', `email=${text}`]);

    expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
    expect(error?.message).toBe(`email: '${text}' is not an address: expected NAME@HOST`);
  });
});
