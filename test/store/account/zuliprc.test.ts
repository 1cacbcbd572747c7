import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readZuliprc } from '../../../src/store/account/secrets.ts';
import { failureOf } from '../place.ts';

const lines = (...text: string[]): string => text.join('\n');
const whole = lines('[api]', 'email=u@chat.example', 'key=canary', 'site=https://chat.example');

function read(text: string): { site: string; email: string; key: string } {
  const { key, ...rest } = readZuliprc(text);
  return { ...rest, key: key.reveal() };
}

const plain = { site: 'https://chat.example', email: 'u@chat.example', key: 'canary' };

test.each<[string, string]>([
  ['as it is downloaded', whole],
  ['with line breaks of Windows', `${whole.replaceAll('\n', '\r\n')}\r\n`],
  ['with colons and blanks', lines('[api]', 'email : u@chat.example', 'key:  canary  ', 'site =https://chat.example/')],
  ['with names in capitals', lines('[api]', 'EMAIL=u@chat.example', 'Key=canary', 'sItE=https://chat.example')],
  [
    'with comments and empty lines',
    lines('# a', '[api]', '', '; b', 'email=u@chat.example', '  # key=no', 'key=canary', 'site=chat.example'),
  ],
  ['with other sections', lines('[x]', 'key=no', whole, '[y]', 'key=no')],
  ['with an API path', whole.replace('https://chat.example', 'https://chat.example/api/')],
])('a file %s', (_name, text) => {
  expect(read(text)).toEqual(plain);
});

test.each([
  ['localhost:9991', 'http://localhost:9991'],
  ['http://localhost:9991/api', 'http://localhost:9991'],
  ['chat.example/sub', 'https://chat.example/sub'],
])('the site %s is %s', (site, url) => {
  expect(read(whole.replace('https://chat.example', site)).site).toBe(url);
});

test('a comment behind a value belongs to it', () => {
  expect(read(whole.replace('canary', 'can#ary;x')).key).toBe('can#ary;x');
});

test('nothing is replaced in a value', () => {
  expect(read(whole.replace('canary', 'can%%ary')).key).toBe('can%%ary');
});

test.each<[string, string, string]>([
  ['is empty', '', 'this is not a zuliprc: it has no section [api]'],
  ['has another section only', '[x]\nkey=canary', 'this is not a zuliprc: it has no section [api]'],
  ['has no section', 'key=canary', 'this is not a zuliprc: it has no section [api]'],
  [
    'lacks everything',
    '[api]',
    'section [api]: email is missing\nsection [api]: key is missing\nsection [api]: site is missing',
  ],
  [
    'has several bad values',
    lines('[api]', 'email=a b', 'key=canary\u0001', 'site=https://u:canary@x'),
    lines(
      'the e-mail address is empty, or holds a space or a colon',
      'section [api]: the key contains a character that cannot be sent',
      'the site holds a user name or password',
    ),
  ],
  [
    'has bad lines',
    lines(whole, 'canary', '=canary'),
    'line 5: neither a [section] nor name = value\nline 6: neither a [section] nor name = value',
  ],
  [
    'has values in quotes',
    lines('[api]', 'email="a@b.example"', "key='canary'", 'site="https://b.example"'),
    lines('the e-mail address is in quotes', 'section [api]: the key is in quotes', 'the site is in quotes'),
  ],
  ['has a name twice', lines(whole, 'Key=canary2'), 'line 5: key appears twice'],
  ['continues the key', whole.replace('canary', 'canary\n more'), 'line 4: neither a [section] nor name = value'],
])('a file that %s is refused', async (_name, text, message) => {
  const caught = await failureOf(() => readZuliprc(text));
  expect([caught.kind, caught.message]).toEqual(['usage', message]);
  expect(JSON.stringify(caught)).not.toContain('canary');
});

test('no text makes a failure that holds a line of it', () => {
  const line = fc.constantFrom(
    '[api]',
    'key=canary',
    ' canary',
    'canary',
    'email=canary%',
    'site=://canary@',
    '[canary',
    'key: canary x\u0001',
    '',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (text) => {
      try {
        readZuliprc(text.join('\n'));
      } catch (cause) {
        expect(JSON.stringify([String(cause), cause])).not.toContain('canary');
      }
    }),
    { seed: 1, numRuns: 2000 },
  );
});
