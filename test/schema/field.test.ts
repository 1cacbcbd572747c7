import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure, usage } from '../../src/core/failure.ts';
import { collect, flagOf, optional, readField, type Field } from '../../src/schema/field.ts';

const help = 'x';
const size = { kind: 'integer', min: 1, max: 18, help } as const satisfies Field;
const scheme = { kind: 'integer', names: { automatic: 1, 'dark-blue': 2 }, help } as const satisfies Field;
const user = { kind: 'string', below: 5, ascii: true, nonempty: true, help } as const satisfies Field;
const color = { kind: 'string', choices: ['auto', 'always', 'never'], help } as const satisfies Field;

function thrownBy(work: () => unknown): { message: string; hint: string | undefined } {
  try {
    work();
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'usage') return { message: cause.message, hint: cause.details.hint };
    throw cause;
  }
  throw new Error('nothing was refused');
}

test.each<[Field, string, unknown]>([
  [size, '1', 1],
  [size, '18', 18],
  [{ kind: 'integer', help }, '-9007199254740991', -9007199254740991],
  [{ kind: 'integer', help }, '-0', 0],
  [scheme, '2', 2],
  [scheme, 'dark-blue', 2],
  [scheme, 'Dark_Blue', 2],
  [user, 'abcd', 'abcd'],
  [{ kind: 'string', help }, '', ''],
  [color, 'never', 'never'],
  [{ kind: 'boolean', help }, 'true', true],
  [{ kind: 'boolean', help }, 'false', false],
  [{ kind: 'duration', help }, '5m', 300_000],
  [{ kind: 'duration', help }, '0s', 0],
  [{ kind: 'duration', min: 1000, help }, '1s', 1000],
  [{ kind: 'string', help }, ' a', ' a'],
  [{ kind: 'string', trimmed: true, help }, 'a', 'a'],
  [{ kind: 'string', read: (text) => `read ${text}`, help }, 'a', 'read a'],
  [{ kind: 'string', read: (text) => `read ${text}`, help }, '', ''],
  [{ kind: 'json', help }, '{"id":12345678901234567890}', { id: 12345678901234567890n }],
])('%j reads %j', (field, text, value) => {
  expect(readField('it', field, text)).toEqual(value);
});

test.each<[Field, string, string, string | undefined]>([
  [size, '0', 'it: 0 is out of range; must be 1 to 18', undefined],
  [size, '19', 'it: 19 is out of range; must be 1 to 18', undefined],
  [{ kind: 'integer', min: 1, help }, '0', 'it: 0 is out of range; must be at least 1', undefined],
  [{ kind: 'integer', max: 1, help }, '2', 'it: 2 is out of range; must be at most 1', undefined],
  [size, '1.0', "it: '1.0' is not a whole number, 1 to 18", undefined],
  [size, '01', "it: '01' is not a whole number, 1 to 18", undefined],
  [size, '', "it: '' is not a whole number, 1 to 18", undefined],
  [size, '1\n', "it: '1\n' is not a whole number, 1 to 18", undefined],
  [size, '0x1', "it: '0x1' is not a whole number, 1 to 18", undefined],
  [{ kind: 'integer', help }, '9007199254740992', 'it: 9007199254740992 is beyond ±(2^53−1)', undefined],
  [scheme, '3', 'it: 3 is not one of 1 automatic, 2 dark-blue', undefined],
  [scheme, 'dark-blu', "it: 'dark-blu' is not one of 1 automatic, 2 dark-blue", 'Did you mean dark-blue?'],
  [scheme, 'constructor', "it: 'constructor' is not one of 1 automatic, 2 dark-blue", undefined],
  [{ kind: 'integer', names: { one: 1 }, help }, 'x', "it: 'x' is not one of 1 one", undefined],
  [{ kind: 'duration', min: 1000, help }, '999ms', 'it: 999ms is too short', undefined],
  [
    { kind: 'string', trimmed: true, help },
    'a ',
    'it: begins or ends with a space',
    'Servers may cut it off, and would not find the user again.',
  ],
  [user, '', 'it: must not be empty', undefined],
  [user, 'abcde', 'it: 5 characters; must be below 5', undefined],
  [
    user,
    'é',
    "it: 'é' in 'é': only ASCII characters are allowed",
    'Write it in ASCII, such as ue for ü; keep the real name in your own records, or in another column (--keep-columns).',
  ],
  [color, 'alway', "it: 'alway' is not one of auto, always, never", 'Did you mean always?'],
  [{ kind: 'boolean', help }, 'yes', "it: 'yes' is not a boolean", 'Write true or false.'],
  [{ kind: 'duration', help }, '5', "it: '5' is not a duration", 'Write numbers and units: 400ms, 30s, 5m, 1h30m, 7d.'],
])('%j refuses %j', (field, text, message, hint) => {
  expect(thrownBy(() => readField('it', field, text))).toEqual({ message, hint });
});

test('JSON that is none is refused', () => {
  expect(thrownBy(() => readField('it', { kind: 'json', help }, '{')).message).toBe('it: not valid JSON');
});

test('a secret is never read from the command line, nor repeated', () => {
  expect(thrownBy(() => readField('new_password', { kind: 'secret', help }, 'canary'))).toEqual({
    message: 'new_password: a secret is never read from the command line',
    hint: 'Give the bare name to be prompted for it, or --from FILE.',
  });
});

test('every safe integer comes back as it was written', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (number) => {
      expect(readField('it', { kind: 'integer', help }, String(number))).toBe(number);
    }),
    { seed: 1 },
  );
});

test('collecting keeps the order, and throws on what is no bad input', () => {
  expect(collect(['a', 'b'], (item, index) => `${item}${index}`)).toEqual(['a0', 'b1']);
  expect(() =>
    collect(['a'], () => {
      throw new TypeError('a bug');
    }),
  ).toThrow(TypeError);
  expect(() =>
    collect(['a', 'b'], (item) => {
      if (item === 'a') throw usage('bad');
      throw new Failure('config', 'no key');
    }),
  ).toThrow(expect.objectContaining({ kind: 'config', message: 'no key' }) as Error);
  const refuse = (item: string) => {
    throw usage(`bad ${item}`, 'Write it.');
  };
  expect(thrownBy(() => collect(['a', 'b'], refuse))).toEqual({ message: 'bad a\nbad b', hint: 'Write it.' });
  expect(thrownBy(() => collect(Array<string>(22).fill('x'), refuse)).message).toMatch(/^(bad x\n){20}2 more$/);
});

test('flags are derived from names', () => {
  expect(flagOf('size_allowance', size)).toBe('size-allowance');
  expect(flagOf('apply_markdown', { kind: 'boolean', flag: 'raw', help })).toBe('raw');
});

test('a partial edit requires nothing', () => {
  expect(optional({ size: { ...size, required: true }, color })).toEqual({
    size: { ...size, required: false },
    color: { ...color, required: false },
  });
});

test('a NUL character is refused in every kind of field', () => {
  for (const kind of ['string', 'integer', 'json', 'duration'] as const)
    expect(() => readField('--log', { kind, help: '' }, 'a\0b')).toThrow('--log: a NUL character is not allowed');
});
