import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { helpTexts } from '../../src/cli/help-texts.ts';
import { commandTable, nouns } from '../../src/commands/index.ts';
import { openTerminal } from './pty.ts';

/** The launcher answers from files that the build wrote. */
const lines = ['', 'license', 'license create', 'first-activation', 'archive export'];

describe.each(lines)('chatelaine %s --help', (line) => {
  test('in a pipe is the text of 80 columns', async () => {
    const words = line.split(' ').filter((word) => word !== '');
    const { stdout } = await execa(process.execPath, ['bin/chatelaine.cjs', ...words, '--help'], {
      stripFinalNewline: false,
    });
    expect(stdout).toBe((await helpTexts(80)).get(line));
  });
});

test('there is a text for every noun and command', async () => {
  const all = ['', ...Object.keys(nouns), ...commandTable.map(({ name }) => name)];
  expect([...(await helpTexts(80)).keys()].sort()).toEqual([...new Set(all)].sort());
});

test.each([
  [66, 66],
  [80, 80],
  [100, 100],
  [140, 100],
])('on a terminal of %s columns help has %s', async (columns, width) => {
  const { output } = await openTerminal('chatelaine license create --help', { columns }).ended;
  expect(output).toBe((await helpTexts(width)).get('license create'));
});

test('a closed pipe is no error, a full disk is exit 8', async () => {
  const closed = await execa('bash', ['-c', 'bin/chatelaine.cjs --help | true; echo "${PIPESTATUS[0]}"']);
  expect(closed).toMatchObject({ stdout: '0', stderr: '' });
  const full = await execa('bash', ['-c', 'bin/chatelaine.cjs --help > /dev/full'], { reject: false });
  expect(full.exitCode).toBe(8);
});
