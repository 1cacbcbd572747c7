import { expect, test } from 'vitest';
import { partLine } from '../../src/cli/program.ts';
import { globalOptions } from '../../src/commands/environment.ts';

test.each([
  ['license list -kVERY-SECRET -q', { words: ['license', 'list'], unknown: ['-k'], asks: undefined, typed: ['quiet'] }],
  ['license list -qx word', { words: ['license', 'list'], unknown: ['-x', 'word'], typed: ['quiet'] }],
  ['license list --foo=bar -v', { unknown: ['--foo=bar'], typed: ['verbose'] }],
  ['license list --quiet=yes', { unknown: ['--quiet=yes'], typed: [] }],
  ['-qvojson license list', { words: ['license', 'list'], unknown: [], typed: ['quiet', 'verbose', 'output'] }],
  ['license view -- -q --foo', { words: ['license', 'view', '-q', '--foo'], unknown: [], typed: [] }],
  ['snippet rm -5 -12 .5', { words: ['snippet', 'rm', '-5', '-12', '.5'], unknown: [], typed: [] }],
  ['license list -o', { lacking: ['--output'], unknown: [], typed: [] }],
])('%s: what is behind an unknown option may be its value, and is none of ours', (line, parts) => {
  const read = partLine(line.split(' '), globalOptions);
  expect({ ...read, typed: read.typed.map(({ flag }) => flag) }).toMatchObject(parts);
});
