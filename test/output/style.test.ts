import { expect, test } from 'vitest';
import { painter } from '../../src/output/paint.ts';
import { hasColor, type ColorChoice } from '../../src/output/plain.ts';

const cases: [string, ColorChoice['when'], boolean, ColorChoice['env'], boolean][] = [
  ['a terminal has colour', 'auto', true, { TERM: 'xterm' }, true],
  ['a pipe has none', 'auto', false, { TERM: 'xterm' }, false],
  ['a dumb terminal has none', 'auto', true, { TERM: 'dumb' }, false],
  ['NO_COLOR takes it away', 'auto', true, { NO_COLOR: '1' }, false],
  ['NO_COLOR takes it away, whatever it says', 'auto', true, { NO_COLOR: '0' }, false],
  ['an empty NO_COLOR is none', 'auto', true, { NO_COLOR: '' }, true],
  ['NO_COLOR wins over FORCE_COLOR', 'auto', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ['FORCE_COLOR gives it to a pipe', 'auto', false, { FORCE_COLOR: '1' }, true],
  ['an empty FORCE_COLOR is none', 'auto', false, { FORCE_COLOR: '' }, false],
  ['FORCE_COLOR 0 takes it away', 'auto', true, { FORCE_COLOR: '0' }, false],
  ['FORCE_COLOR false takes it away', 'auto', true, { FORCE_COLOR: 'false' }, false],
  ['FORCE_COLOR wins over a dumb terminal', 'auto', true, { FORCE_COLOR: '3', TERM: 'dumb' }, true],
  ['--color always wins over everything', 'always', false, { NO_COLOR: '1', TERM: 'dumb' }, true],
  ['--color never wins over everything', 'never', true, { FORCE_COLOR: '1' }, false],
];

test.each(cases)('%s', (_name, when, terminal, env, expected) => {
  expect(hasColor({ when, terminal, env })).toBe(expected);
});

test('the painter follows the level and no environment', () => {
  expect(painter(1).bold('x')).toBe('\x1b[1mx\x1b[22m');
  expect(painter(0).bold('x')).toBe('x');
});
