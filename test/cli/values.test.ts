import { expect, test } from 'vitest';
import { readGlobals, windowsFault } from '../../src/cli/values.ts';
import type { Environment } from '../../src/core/system.ts';

const globalsIn = (env: Environment) => readGlobals({}, env, {});

test.each([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])('a switch in the environment is read: %s', (text, quiet) => {
  expect(globalsIn({ CHATELAINE_QUIET: text })).toMatchObject({ quiet });
});

test('any other text of a switch is refused with its name', () => {
  expect(() => globalsIn({ CHATELAINE_QUIET: 'yes' })).toThrow("CHATELAINE_QUIET: 'yes' is neither true nor false");
});

test('the negated twin of a switch says the opposite', () => {
  expect(globalsIn({ CHATELAINE_NO_HEADER: '1' })).toMatchObject({ header: false });
  expect(globalsIn({ CHATELAINE_NO_HEADER: '0' })).toMatchObject({ header: true });
});

test.each<readonly [string, string | undefined]>([
  ['NUL', "'NUL' is a device on Windows, not a file"],
  [String.raw`C:\dir\com1.csv`, "'com1.csv' is a device on Windows, not a file"],
  ['con', "'con' is a device on Windows, not a file"],
  ['Q?', 'a name on Windows may not hold ? (nor any of < > : " | ? *)'],
  ['long:b', 'a name on Windows may not hold : (nor any of < > : " | ? *)'],
  [String.raw`dir.\x`, "'dir.': a name on Windows may not end with a dot or a blank"],
  ...[
    '-',
    '.',
    '..',
    String.raw`..\a.csv`,
    'C:a.csv',
    String.raw`\\?\C:\Müller Büro\a.b.csv`,
    String.raw`\\server\x`,
    'console.txt',
    '/dev/stdin',
  ].map((path) => [path, undefined] as const),
])('the name of a file on Windows: %s', (path, fault) => {
  expect(windowsFault(path)).toBe(fault);
});
