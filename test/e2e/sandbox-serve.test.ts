import { expect, test } from 'vitest';
import { needs } from '../helpers/needs.ts';
import { openTerminal } from './pty.ts';

test('the whole screen of sandbox serve', needs('terminals'), async () => {
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
  expect(lines.filter((line) => line !== '').slice(0, 11)).toEqual([
    'export CHATELAINE_BASE_URL=http://127.0.0.1:PORT',
    'export CHATELAINE_API_KEY=sandbox-key-of-app-4711',
    'export CHATELAINE_APP_CODE=4711',
    'export CHATELAINE_CHAT_SITE=http://127.0.0.1:PORT',
    'export CHATELAINE_CHAT_EMAIL=mara@harbour.example',
    expect.stringMatching(/^export CHATELAINE_CHAT_API_KEY=\w+$/),
    'serving on 127.0.0.1:PORT until Ctrl-C',
    'GET /v1/license/ 200',
    'GET /v1/license/[license_code]/ 404',
    'GET /v1/license/ 200',
    'PATCH /api/v1/navigation_views/inbox 200',
  ]);
});
