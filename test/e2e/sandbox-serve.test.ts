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

test('the whole screen of sandbox serve', async () => {
  const calls = ['license list', 'license view X', 'view pin inbox'].map((line) => `chatelaine ${line}`).join('; ');
  const terminal = openTerminal(
    `chatelaine sandbox serve --ready-file ready & read line; . ./ready; (${calls}) > /dev/null 2>&1; read line; kill $!; wait $!`,
    { columns: 100 },
  );
  await terminal.shows(/until Ctrl-C/);
  terminal.type('\r');
  await terminal.shows(/navigation_views/);
  terminal.type('\r');

  const { output } = await terminal.ended;

  const lines = output.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT').split('\n');
  expect(lines.filter((line) => line !== '').slice(0, 10)).toEqual([
    'export CHATELAINE_BASE_URL=http://127.0.0.1:PORT',
    'export CHATELAINE_API_KEY=sandbox-key-of-app-4711',
    'export CHATELAINE_APP_CODE=4711',
    'export CHATELAINE_CHAT_SITE=http://127.0.0.1:PORT',
    'export CHATELAINE_CHAT_EMAIL=mara@harbour.example',
    expect.stringMatching(/^export CHATELAINE_CHAT_API_KEY=\w+$/),
    'serving on 127.0.0.1:PORT until Ctrl-C',
    'GET /v1/license/ 200',
    'GET /v1/license/[license_code]/ 404',
    'PATCH /api/v1/navigation_views/inbox 200',
  ]);
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
