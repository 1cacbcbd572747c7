import { expect, test } from 'vitest';
import { openTerminal } from './pty.ts';

/** Asks for a list and for a license that is not there, and serves on until a line is typed. */
const asked =
  'until [ -f ready ]; do sleep 0.05; done; . ./ready; chatelaine license list > /dev/null; chatelaine license view X; read line; kill $!; wait';

test('sandbox serve shows a line for each request on a terminal', async () => {
  const terminal = openTerminal(`chatelaine sandbox serve --ready-file ready & ${asked}`);
  await terminal.shows(/^GET \/v1\/license\/\[license_code\]\/ 404\r?$/m);
  terminal.type('\r');
  expect((await terminal.ended).output).toMatch(/^GET \/v1\/license\/ 200$/m);
});

test.each([
  ['with -q', 'chatelaine sandbox serve -q --ready-file ready'],
  ['where stderr is no terminal', 'chatelaine sandbox serve --ready-file ready 2> notes'],
])('and none %s', async (_when, served) => {
  const terminal = openTerminal(`${served} & ${asked}; cat notes`);
  await terminal.shows(/no license has this code/);
  terminal.type('\r');
  expect((await terminal.ended).output).not.toContain('GET /v1/');
});
