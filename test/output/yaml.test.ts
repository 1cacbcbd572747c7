import fc from 'fast-check';
import { expect, test } from 'vitest';
import { yaml } from '../../src/output/yaml.ts';
import { anyText } from '../helpers/texts.ts';

const word = fc.constantFrom(
  'yes',
  '...',
  '---',
  '... x',
  '--- x',
  '# a',
  '%a',
  'e8',
  'E-68',
  'e1x',
  'NO',
  'null',
  'ada',
  'a: b',
  'a #b',
  '1e3',
  '0x1f',
  '12:30:00',
  '2026-02-24',
  '~',
  '',
  ' ',
  '-',
  'a-',
  '=',
  '<<',
);
const text = fc.oneof(word, anyText(), fc.string());
const value = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(-0),
  fc.array(text),
);

test.each([
  ['two hex digits', 'a\u00adb', '"a\\xadb"\n'],
  ['four', 'a\u061cb', '"a\\u061cb"\n'],
  ['eight', 'a\u{e0041}b', '"a\\U000e0041b"\n'],
])('a character that nobody sees is escaped, in the shortest form: %s', (_what, text, expected) => {
  expect(yaml().one(text)).toBe(expected);
});

test('a row has the text that it would have in a list written at once', () => {
  fc.assert(
    fc.property(fc.dictionary(text, value), (row) => {
      expect(yaml().row(row)).toBe(yaml().one([row]));
    }),
    { numRuns: 500, seed: 1 },
  );
});
