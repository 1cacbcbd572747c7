import { expect, test } from 'vitest';
import { needs } from '../helpers/needs.ts';
import { openTerminal } from './pty.ts';

/** The terminal of the other tests. */

const written = Array.from({ length: 2000 }, (_, index) => `${index + 1}\n`).join('');

test('what a program wrote last is read, however busy its reader is when it ends', needs('terminals'), async () => {
  // Longer than the 200 ms after which the terminal of a program that has ended is closed.
  const busy = setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250), 0);
  const { exitCode, output } = await openTerminal('seq 2000; (exit 7)').ended;
  clearInterval(busy);

  expect({ exitCode, output }).toEqual({ exitCode: 7, output: written });
});

test.each([
  ['whose line sends its output elsewhere', 'echo shown; exec >notes; echo hidden', 'shown\n'],
  ['that has read nothing of what was typed', 'stty -echo; echo shown', 'shown\n'],
  ['in the modes of a prompt', 'stty raw -echo; echo shown', 'shown\n'],
])('a terminal %s ends too', needs('terminals'), async (_which, line, output) => {
  const terminal = openTerminal(line);
  terminal.type('one line\rand a half');

  expect(await terminal.ended).toMatchObject({ exitCode: 0, output: expect.stringContaining(output) as string });
});

test('a terminal that is killed did not end well', needs('terminals'), async () => {
  expect(await openTerminal('kill -9 $$').ended).toEqual({ exitCode: 137, output: '' });
});
