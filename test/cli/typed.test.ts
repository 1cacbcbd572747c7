import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyHider, looksLikeKey } from '../../src/cli/typed.ts';
import { settings } from '../../src/schema/settings.ts';
import { openSandbox, runAlone } from '../helpers/run.ts';

const said = (text: string, ...words: string[]): string => keyHider({ words, env: {} })(text);

test.each([
  '20261123T065820Z',
  '001B44FFFE1122AG',
  '/srv/AcmeLicensingService/roster.csv',
  './Q7fA0bC1dE2fG3hI4jK5lM6n',
  '~/Q7fA0bC1dE2fG3hI4jK5lM6n',
  String.raw`C:\Q7fA0bC1dE2fG3hI4jK5lM6n`,
  'Q7fA0bC1dE2fG3hI4jK5lM6n.csv',
  'clinicnorth20261123',
  'recreate-everything-now',
  'web_home_view=recent_conversations_and_topics',
  'customers-of-the-spring-fair-2026',
  'europe-north-release-notes',
  'correct-horse-battery-staple',
  'Donaudampfschifffahrtsgesellschaft',
  '123456789012345678901234',
  '3f2b8c9d-4e5f-6071-8293-a4b5c6d7e8f9',
  'ABCDE-12345-FGHIJ-67890-2FCA2',
  'CHATELAINE_ALLOW_EMPTY_TOPIC_NAME',
  'narrow/channel/31-bulk/topic/every.20shape',
  'https://chat.example.com/#narrow/channel/7-general/topic/release.20notes',
  ...Object.keys(settings),
])('an ordinary word is shown: %s', (word) => {
  expect(looksLikeKey(word)).toBe(false);
  expect(said(`'${word}' is wrong`, word)).toBe(`'${word}' is wrong`);
});

test('a key of the environment is known, and hidden where it is a name too', () => {
  const hide = keyHider({ words: ['hunter2'], names: new Set(['hunter2']), env: { CHATELAINE_API_KEY: ' hunter2 ' } });
  expect(hide("no user 'hunter2'")).toBe("no user '[hidden: it looks like a key]'");
});

test('a name that looks like a key is shown where a user, a topic or a channel was typed', async () => {
  const name = 'left-2026-11-physio-7740-8BD39';
  for (const line of [
    `license retire --remote-user ${name} -y`,
    `topic list ${name}`,
    `topic delete general ${name}`,
  ]) {
    const { run } = await openSandbox();
    expect(await run(`${line} -o json`)).toMatchObject({
      exitCode: 5,
      error: { message: expect.stringContaining(name) as string },
    });
  }
  expect((await runAlone(`settings describe ${name}`)).stderr).not.toContain(name);
  const key = 'abcdefghijklmnopqrstuvwxyz012345';
  const { stderr } = await (await openSandbox()).run(`license view --remote-user ${key}`);
  expect(stderr).toContain("the user '[hidden: it looks like a key]' has no license");
});

test.each([
  'CanaryKey0123456789abcdefGHIJ',
  'canarykey0123456789abcdefghij',
  'Canary/Key+0123456789abcdefGHIJ',
  'sk_live-CanaryKey-0123456789',
  'http://CanaryKey0123456789abcdefGHIJ',
  'a:CanaryKey0123456789abcdefGHIJ',
  'abcdefghijklmnopqr12',
  'ab345678901234567890',
])('a key is hidden: %s', (key) => {
  expect(looksLikeKey(key)).toBe(true);
  expect(said(`'${key}' is wrong`, key)).toBe("'[hidden: it looks like a key]' is wrong");
  expect(said(`'${key}' is wrong`, `color_scheme=${key}`)).not.toContain(key);
  expect(said(`'${key.toUpperCase()}' is wrong`, `-k${key}`)).not.toContain(key.toUpperCase());
});

test('of random keys of 24 bytes in base64url, 95 of 100 or more are hidden', () => {
  const keys = Array.from({ length: 2000 }, () => randomBytes(24).toString('base64url'));
  expect(keys.filter(looksLikeKey).length / keys.length).toBeGreaterThan(0.95);
});

test.each([
  [['--api-key', 'hunt']],
  [['--token=hunt']],
  [['--client-secret', 'hunt']],
  [['-k', 'hunt']],
  [['new_password', 'hunt']],
  [['--PASSWORD=hunt']],
])('what stands behind a name that speaks of a key is hidden from four letters on: %j', (words) => {
  expect(said("unknown word 'hunt'", ...words)).toBe("unknown word '[hidden: it looks like a key]'");
});

test('a path behind such a name, three letters, and the next option are shown', () => {
  const text = 'cannot read /run/secrets/key7 with --app-code';
  expect(said(text, '--api-key-file', '/run/secrets/key7', '--token', 'app', '--password', '--app-code')).toBe(text);
});
