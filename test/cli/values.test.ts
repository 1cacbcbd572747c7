import { expect, test } from 'vitest';
import { readGlobals } from '../../src/cli/values.ts';
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
