import { expect, test } from 'vitest';
import { needs } from '../helpers/needs.ts';
import { openTerminal } from './pty.ts';

test.each([
  ['a line', 'y\r'],
  ['a line that has no end yet', 'y'],
])('%s that is typed before a question is no answer to it', needs('terminals'), async (_what, typed) => {
  const lines = [
    "printf 'remote_user,size_allowance\\nada,4\\n' > roster.csv; echo ready; read -rsN1",
    'chatelaine --sandbox license apply roster.csv; echo "exit $?"',
  ];
  const terminal = openTerminal(lines.join('\n'));
  await terminal.shows(/ready/);
  terminal.type(`x${typed}`);
  await terminal.shows(/\[y\/N\] /);
  terminal.type('\r');

  const { output } = await terminal.ended;
  expect(output).toContain('cancelled: nothing was changed');
  expect(output).toContain('exit 130');
});

test.each([
  ['--sandbox topic delete social "friday cake" --no-archive', /permanently: /, 'friday cake', '2 messages deleted'],
  ['auth login chat --site http://127.0.0.1:1 --email a@b.test --no-check', /API key: /, 'key-1', 'stored unchecked'],
])('%s asks again after Ctrl-Z and fg', needs('terminals'), async (line, question, answer, outcome) => {
  const terminal = openTerminal(`set -m; chatelaine ${line}; fg`);
  for (const typed of ['\u001a', `${answer}\r`]) {
    await terminal.shows(question);
    terminal.type(typed);
  }
  const { exitCode, output } = await terminal.ended;
  expect([exitCode, output]).toEqual([0, expect.stringContaining(outcome)]);
});
