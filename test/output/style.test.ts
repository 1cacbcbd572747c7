import { expect, test } from 'vitest';
import { painter } from '../../src/output/paint.ts';
import { colorLevel, type ColorChoice } from '../../src/output/style.ts';

const cases: [string, ColorChoice['when'], boolean, ColorChoice['env'], 0 | 1][] = [
  ['a terminal has colour', 'auto', true, { TERM: 'xterm' }, 1],
  ['a pipe has none', 'auto', false, { TERM: 'xterm' }, 0],
  ['a dumb terminal has none', 'auto', true, { TERM: 'dumb' }, 0],
  ['NO_COLOR takes it away', 'auto', true, { NO_COLOR: '1' }, 0],
  ['NO_COLOR takes it away, whatever it says', 'auto', true, { NO_COLOR: '0' }, 0],
  ['an empty NO_COLOR is none', 'auto', true, { NO_COLOR: '' }, 1],
  ['NO_COLOR wins over FORCE_COLOR', 'auto', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, 0],
  ['FORCE_COLOR gives it to a pipe', 'auto', false, { FORCE_COLOR: '1' }, 1],
  ['an empty FORCE_COLOR is none', 'auto', false, { FORCE_COLOR: '' }, 0],
  ['FORCE_COLOR 0 takes it away', 'auto', true, { FORCE_COLOR: '0' }, 0],
  ['FORCE_COLOR false takes it away', 'auto', true, { FORCE_COLOR: 'false' }, 0],
  ['FORCE_COLOR wins over a dumb terminal', 'auto', true, { FORCE_COLOR: '3', TERM: 'dumb' }, 1],
  ['CLICOLOR_FORCE gives it to a pipe', 'auto', false, { CLICOLOR_FORCE: '1' }, 1],
  ['CLICOLOR_FORCE 0 forces nothing', 'auto', true, { CLICOLOR_FORCE: '0' }, 1],
  ['CLICOLOR 0 takes it away', 'auto', true, { CLICOLOR: '0' }, 0],
  ['--color always wins over everything', 'always', false, { NO_COLOR: '1', TERM: 'dumb' }, 1],
  ['--color never wins over everything', 'never', true, { FORCE_COLOR: '1' }, 0],
];

test.each(cases)('%s', (_name, when, terminal, env, level) => {
  expect(colorLevel({ when, terminal, env })).toBe(level);
});

test('the painter follows the level and no environment', () => {
  expect(painter(1).bold('x')).toBe('\x1b[1mx\x1b[22m');
  expect(painter(0).bold('x')).toBe('x');
});
