import { describe, expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { ownAddress } from '../../scripts/needs.js';
import { needs } from '../helpers/needs.ts';
import { start, type Done } from './program.ts';
import { openTerminal } from './pty.ts';

/** Asks for a list and for a license that is not there, and serves on until a line is typed. */
const asked =
  'until [ -f ready ]; do sleep 0.05; done; . ./ready; chatelaine license list > /dev/null; chatelaine license view X; read line; kill $!; wait';

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

test.each(
  sampleOf(1, [
    ['powershell', "$env:CHATELAINE_APP_CODE = '4711'"],
    ['cmd', 'set "CHATELAINE_APP_CODE=4711"'],
  ]),
)('--shell %s prints its lines, and writes them to --ready-file', needs('shell', 'terminals'), async (shell, line) => {
  const terminal = openTerminal(
    `chatelaine sandbox serve --shell ${shell} --ready-file ready & read line; kill $!; wait $!; cat ready`,
  );
  await terminal.shows(/until Ctrl-C/);
  terminal.type('\r');
  const lines = (await terminal.ended).output.split('\n');
  expect(lines.filter((one) => one === line)).toHaveLength(2);
});

test.each(
  sampleOf(1, [
    ['with -q', 'chatelaine sandbox serve -q --ready-file ready'],
    ['where stderr is no terminal', 'chatelaine sandbox serve --ready-file ready 2> notes'],
  ]),
)('and none %s', needs('terminals'), async (_when, served) => {
  const terminal = openTerminal(`${served} & ${asked}; cat notes`);
  await terminal.shows(/no license has this code/);
  terminal.type('\r');
  expect((await terminal.ended).output).not.toContain('GET /v1/');
});

interface Served {
  readonly env: Readonly<Record<string, string>>;
  /** Runs a line with those variables, changed. */
  run(line: string, changed?: Readonly<Record<string, string>>): Promise<Done>;
}

async function serving(options: string): Promise<Served> {
  const server = start(`sandbox serve --shell sh ${options}`);
  await server.shows(/until Ctrl-C/);
  const exported = server.stdout().matchAll(/^export (\w+)=(.*)$/gm);
  const env = Object.fromEntries(Array.from(exported, ([, name = '', value = '']): [string, string] => [name, value]));
  return { env, run: (line, changed = {}) => start(line, { env: { ...env, ...changed } }).ended };
}

test('--listen 127.0.0.2 serves there alone, and plain http to it needs no consent', needs('loopback'), async () => {
  const { env, run } = await serving('--listen 127.0.0.2');
  const url = env['CHATELAINE_BASE_URL'] ?? '';
  expect(url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  expect(env).not.toHaveProperty('CHATELAINE_ALLOW_HTTP');
  expect(await run('license list --limit 1')).toMatchObject({ code: 0, stderr: '' });
  const elsewhere = { CHATELAINE_BASE_URL: url.replace('127.0.0.2', '127.0.0.1') };
  expect(await run('license list --retries 0', elsewhere)).toMatchObject({ code: 7 });
});

const own = ownAddress();

describe('a sandbox on an address of this computer that others reach', needs('network'), () => {
  test('prints its URL with the consent that it needs, and each run over it says that it is not encrypted', async () => {
    const { env, run } = await serving(`--listen ${own}`);
    const host = new URL(env['CHATELAINE_BASE_URL'] ?? '').host;
    const line = `note: http://${host} is not encrypted: others on the network can read the key and everything else that is sent\n`;
    expect(env['CHATELAINE_ALLOW_HTTP']).toBe(host);

    expect(await run('license ensure --remote-user ada --size-allowance 3')).toMatchObject({
      code: 0,
      stderr: `${line}created: the license of ada in application 4711\n`,
    });
    expect(await run('messages fetch --limit 1 -o json')).toMatchObject({ code: 0, stderr: line });
    expect(await run('license list -q')).toMatchObject({ code: 0, stderr: '' });
  });

  test('with --listen 0.0.0.0 is printed as it is reached from here, and pages lead on wherever it is reached', async () => {
    const { env, run } = await serving('--listen 0.0.0.0 --list-shape next --page-size 2');
    const here = env['CHATELAINE_BASE_URL'] ?? '';
    expect(here).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const there = { CHATELAINE_BASE_URL: here.replace('127.0.0.1', own ?? ''), CHATELAINE_ALLOW_HTTP: own ?? '' };

    const listed = await run('license list -q', there);
    expect(listed).toMatchObject({ code: 0, stdout: (await run('license list -q')).stdout });
    expect(listed.stdout.trimEnd().split('\n')).toHaveLength(6);
    const first = await run('api licensing GET license/ --include', there);
    expect(first.stdout).toContain(`${there.CHATELAINE_BASE_URL}/v1/license/?page=2`);
  });
});

test.each(
  sampleOf(1, [
    ['203.0.113.9', '203.0.113.9 is no address of this computer'],
    ['nosuch.invalid', 'nosuch.invalid'],
    ['fe80::1', 'fe80::1'],
  ] as const),
)('--listen %s says what is wrong and what to do', async (address, reason) => {
  const { code, stdout, stderr } = await start(`sandbox serve --listen ${address}`).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^chatelaine: --listen: /);
  expect(stderr).toContain(reason);
  expect(stderr).toContain('Write 0.0.0.0 for every address of this computer, or leave --listen out');
});
