import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';

const canary = 'canary/key+0=ü "x"';

describe('a secret', () => {
  const secret = new Secret(canary);

  test.each<[string, string]>([
    ['as text', String(secret)],
    ['in JSON', JSON.stringify({ secret })],
    ['when inspected', inspect({ secret }, { depth: 9, showHidden: true })],
    ['when formatted', format('%s %o %j', secret, secret, secret)],
    ['in its keys', JSON.stringify(Object.entries(secret))],
    ['in a copy', JSON.stringify(Object.assign({}, secret))],
    ['in an error', inspect(new Error('x', { cause: secret }))],
    ['framed', inspect(secret.framed((value) => `Token ${value}`))],
  ])('does not show itself %s', (_name, shown) => {
    expect(shown).not.toContain('canary');
  });

  test('is given out when asked for, and in a frame', () => {
    expect(secret.reveal()).toBe(canary);
    expect(secret.framed((value) => `Token ${value}`).reveal()).toBe(`Token ${canary}`);
  });
});

describe('redaction', () => {
  test.each<[string, string]>([
    ['raw', canary],
    ['in a path', encodeURIComponent(canary)],
    ['in a path, lower case', encodeURIComponent(canary).replace(/%../g, (escape) => escape.toLowerCase())],
    ['in a form', new URLSearchParams({ k: canary }).toString().slice(2)],
    ['in JSON', JSON.stringify(canary).slice(1, -1)],
    ['in JSON of ASCII', JSON.stringify(canary).slice(1, -1).replace('ü', '\\u00fc')],
    ['in JSON with escaped slashes', JSON.stringify(canary).slice(1, -1).replace('/', '\\/')],
  ])('hides the value %s', (_name, form) => {
    expect(new Secret(canary).redact(`before ${form} after ${form}.`)).toBe('before [secret] after [secret].');
  });

  test('leaves a text without the value as it is', () => {
    expect(new Secret(canary).redact('nothing here')).toBe('nothing here');
    expect(new Secret('').redact('nothing here')).toBe('nothing here');
    expect(['not', 'here'].map((value) => new Secret(value).redact('nothing here'))).toEqual([
      'nothing here',
      'nothing [secret]',
    ]);
  });

  test('hides a value that holds half a character, as it is sent', () => {
    expect(new Secret('half\ud800key').redact('half\ufffdkey half\ud800key')).toBe('[secret] [secret]');
  });

  test('hides what JSON holds twice: the value is a text of JSON itself', () => {
    expect(new Secret('a"b\\c').redact(JSON.stringify({ key: 'a"b\\c' }))).toBe('{"key":"[secret]"}');
  });

  test.each([
    ['', 'abcde', 'YWJjZGU='],
    ['', 'abcdef', '[secret]'],
    ['u', 'abcdefghij', 'dW[secret]o='],
    ['us', 'abcdefghij', 'dXN[secret]'],
    ['use', 'abcdefghij', 'dXNl[secret]g=='],
  ])('of base64 of %s%s is seen: %s', (before, value, shown) => {
    expect(new Secret(value).redact(Buffer.from(before + value).toString('base64'))).toBe(shown);
  });

  /** Six bytes or more, and nothing that the placeholder itself holds. */
  const key = fc
    .string({ unit: 'grapheme', minLength: 6, maxLength: 60 })
    .filter((text) => !/^[[\]secrt]*$/.test(text));
  const printable = fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 60 });

  test('no plain form of any value survives', () => {
    fc.assert(
      fc.property(key, fc.string(), fc.string(), (value, before, after) => {
        const forms = [
          value,
          encodeURIComponent(value),
          new URLSearchParams({ k: value }).toString().slice(2),
          JSON.stringify(value).slice(1, -1),
        ];
        for (const form of forms) expect(new Secret(value).redact(`${before}${form}${after}`)).not.toContain(form);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test('base64 of user:key:tail shows no run of the key at any alignment', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 7 }), printable, fc.string({ maxLength: 3 }), (user, value, tail) => {
        const whole = Buffer.from(`${user}:${value}${tail}`);
        for (const encoding of ['base64', 'base64url'] as const) {
          const shown = new Secret(value).redact(`Basic ${whole.toString(encoding)}`);
          expect(shown).toContain('[secret]');
          const [before = '', after = ''] = shown.slice('Basic '.length).split('[secret]');
          const bits = Buffer.byteLength(`${user}:`) * 8;
          // At most two characters of base64 hold something of the key, on either side of what is hidden.
          expect(before.length * 6 - bits).toBeLessThanOrEqual(12);
          expect(after.replace(/=+$/, '').length * 6 - Buffer.byteLength(tail) * 8).toBeLessThanOrEqual(12);
        }
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});
