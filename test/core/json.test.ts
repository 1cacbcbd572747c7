import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { isTooDeep, parseJson, writeJson } from '../../src/core/json.ts';

test.each<[string, unknown]>([
  ['9007199254740993', 9007199254740993n],
  ['9007199254740991', 9007199254740991],
  ['{"id":12345678901234567890,"n":1}', { id: 12345678901234567890n, n: 1 }],
  ['[12345678901234567890,[98765432109876543210]]', [12345678901234567890n, [98765432109876543210n]]],
  ['{"s":"12345678901234567890"}', { s: '12345678901234567890' }],
  ['{"s":"a \\"12345678901234567890\\" b"}', { s: 'a "12345678901234567890" b' }],
  ['{"12345678901234567890":1}', { '12345678901234567890': 1 }],
  ['1.2345678901234567', 1.2345678901234567],
  ['12345678901234567890e2', 12345678901234567890e2],
  ['"\\\\"', '\\'],
  ['["\uE0B1big\uE0B15",12345678901234567890]', ['\uE0B1big\uE0B15', 12345678901234567000]],
])('%s is read exactly', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});

const noJson = ['', '{', '01234567890123456789', '12345678901234567890abc', '[1234567890123456,]'];

test.each(noJson)('%j is not JSON', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test.each<[unknown, string]>([
  [undefined, 'null'],
  [null, 'null'],
  [12345678901234567890n, '12345678901234567890'],
  [
    { a: [-12345678901234567890n], b: '12345678901234567890' },
    '{"a":[-12345678901234567890],"b":"12345678901234567890"}',
  ],
])('%o is written %s', (value, text) => {
  expect(writeJson(value)).toBe(text);
});

test('the indent is that of JSON.stringify', () => {
  expect(writeJson({ a: 12345678901234567890n }, 2)).toBe('{\n  "a": 12345678901234567890\n}');
});

test.each([
  ['500 lists', '['.repeat(500), false],
  ['501 lists behind one that is closed', `[[]${'['.repeat(500)}`, true],
  ['501 objects', '{"a":'.repeat(501), true],
  ['lists beside one another', `[${'[],'.repeat(501)}`, false],
  ['objects beside one another', `[${'{},'.repeat(501)}`, false],
  ['brackets in a string', `["a\\"${'['.repeat(501)}"]`, false],
  ['lists behind a backslash in a string', `["\\\\",${'['.repeat(501)}`, true],
])('%s', (_what, text, isDeep) => {
  expect(isTooDeep(text)).toBe(isDeep);
});

test('a text of many millions of characters is read', () => {
  const text = `{"id":12345678901234567890,"s":"${'x'.repeat(20_000_000)}"}`;
  expect((parseJson(text) as { id: bigint }).id).toBe(12345678901234567890n);
});

const runs = { seed: 1, numRuns: isWhole ? 500 : 200 };

test('whatever the platform reads is read the same, while its integers are safe', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    runs,
  );
});

test('integers of any size survive reading and writing', () => {
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.string().filter((name) => name !== '__proto__'),
        tie('value'),
        { maxKeys: 4 },
      ),
    ),
  })).value;
  fc.assert(
    fc.property(value, (item) => {
      const text = writeJson(item);
      expect(writeJson(parseJson(text))).toBe(text);
    }),
    runs,
  );
});

test('what is refused is exactly what the platform refuses', () => {
  const pieces = fc.array(
    fc.constantFrom(
      '12345678901234567890',
      '0',
      '-',
      '.',
      'e',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      ' ',
      '"a"',
      'null',
      '\n',
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(pieces, (words) => {
      const text = words.join('');
      expect(accepts(() => parseJson(text))).toBe(accepts(() => JSON.parse(text) as unknown));
    }),
    { seed: 1, numRuns: isWhole ? 20_000 : 2000 },
  );
});

function accepts(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (cause) {
    if (cause instanceof SyntaxError) return false;
    throw cause;
  }
}
