import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { emptyHome, openSandbox } from '../helpers/run.ts';

/** `--dry-run` of every command that writes files of the user; HOME is the home of the run. */
const lines: readonly (readonly [line: string, says: string])[] = [
  [
    'auth login licensing --base-url URL --app-code 4711 --name prod --api-key-stdin',
    'Profile prod: would be replaced',
  ],
  [
    'auth login licensing --base-url URL --app-code 4711 --name new --api-key-stdin --no-check',
    'Profile new: would be stored unchecked',
  ],
  ['auth import HOME/zuliprc --name chat --no-check', 'Profile chat: would be stored unchecked'],
  ['auth use second', 'Profile second would be the default'],
  ['auth logout prod', 'Profile prod would be forgotten'],
  ['archive pull HOME/kept', 'would be continued'],
  ['archive pull HOME/new --channel general', 'would be created'],
  ['archive export HOME/kept -o html --to HOME/kept.html', 'HOME/kept.html would be written'],
  ['archive export HOME/kept -o html --to HOME/pages/', 'HOME/pages/ would be written'],
  ['license apply HOME/roster.csv', 'create'],
  ['license ensure --remote-user dry --size-allowance 4', '+ create  dry'],
  ['license create --remote-user dry --size-allowance 4', 'POST'],
  ['topic delete general lunch --archive HOME/purged --confirm lunch', '8 messages would be deleted'],
  ['topic delete general lunch --confirm lunch', '8 messages would be deleted'],
  ['sandbox reset', 'would hold its sample data again'],
  ['ledger init', 'CREATE SCHEMA'],
  ['completion bash', 'complete'],
];

test.each(lines)('%s --dry-run says %s, and changes no file', async (line, says) => {
  const { run, env } = await openSandbox();
  const home = emptyHome();
  const stdin = `${env['CHATELAINE_API_KEY'] ?? ''}\n`;
  const placed = (text: string): string =>
    text.replaceAll('HOME', home).replaceAll('URL', env['CHATELAINE_BASE_URL'] ?? '');
  for (const name of ['prod', 'second'])
    await run(placed(`auth login licensing --base-url URL --app-code 4711 --name ${name} --api-key-stdin`), {
      home,
      stdin,
    });
  await run(`archive pull ${home}/kept --channel general --topic lunch`, { home });
  writeFileSync(join(home, 'zuliprc'), '[api]\nemail=ada@example.com\nkey=abcdef\nsite=https://chat.example.com\n', {
    mode: 0o600,
  });
  writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\ndry,4\n');
  const before = filesOf(home);

  const { exitCode, stdout, stderr } = await run(`${placed(line)} --dry-run`, { home, stdin, tty: true });

  expect({ exitCode, text: `${stdout}\n${stderr}` }).toEqual({
    exitCode: 0,
    text: expect.stringContaining(placed(says)) as string,
  });
  expect(filesOf(home)).toEqual(before);
});

test('of license create is the one request, whatever licenses the user has: nothing is asked', async () => {
  const asked: string[] = [];
  const { run } = await openSandbox({ log: ({ method }) => void asked.push(method) });

  const { exitCode, stdout, stderr } = await run(
    'license create --remote-user physio-7731 --size-allowance 4 --dry-run -o json',
  );

  expect({ exitCode, stderr, asked }).toEqual({ exitCode: 0, stderr: '', asked: [] });
  expect(JSON.parse(stdout)).toMatchObject([{ method: 'POST' }]);
});

test.each([
  ['auth use nobody', 3],
  ['auth logout nobody', 3],
  ['archive export HOME/nothing -o html --to HOME/x', 2],
])('%s fails in a dry run as it does without', async (line, code) => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const placed = line.replaceAll('HOME', home);
  const [dry, real] = [await run(`${placed} -n -o json`, { home }), await run(`${placed} -o json`, { home })];
  expect([dry.exitCode, dry.error?.message]).toEqual([real.exitCode, real.error?.message]);
  expect(dry.exitCode).toBe(code);
});

/**
 * These write nothing, or what --dry-run is not about: sandbox serve is a server with the data that it is asked to
 * keep.
 */
const readers = [
  'channel list',
  'license list|view|audit|delete|history',
  'first-activation|first-activation audit',
  'settings list|describe|get|diff',
  'messages fetch',
  'view list',
  'snippet list',
  'archive list|verify',
  'topic list|history',
  'ledger status',
  'auth status|list|token',
  'sandbox serve',
  'commands|doctor',
].flatMap((group) => namesIn(group));

test('every command is a reader, sends what --dry-run shows, or is in the list above', async () => {
  const tested = lines.map(([line]) => line);
  const others = await Promise.all(
    commandTable.map(async ({ name, load }) => {
      const { dryRun = [] } = await load();
      return dryRun.includes('requests') ||
        readers.includes(name) ||
        tested.some((line) => line.startsWith(`${name} `) || line === name)
        ? []
        : [name];
    }),
  );
  expect(others.flat()).toEqual([]);
});

/** `noun verb|verb` as names of commands. */
function namesIn(group: string): string[] {
  const [first = '', ...others] = group.split('|');
  const noun = first.includes(' ') ? `${first.split(' ')[0] ?? ''} ` : '';
  return [first, ...others.map((verb) => (verb.includes(' ') ? verb : `${noun}${verb}`))];
}

/** Each file and folder below the home with its bytes and mode. */
function filesOf(home: string): Readonly<Record<string, string>> {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    names.sort().map((name) => {
      const { mode } = statSync(join(home, name));
      const isFile = statSync(join(home, name)).isFile();
      return [name, `${mode.toString(8)} ${isFile ? readFileSync(join(home, name), 'base64') : ''}`];
    }),
  );
}

test('one request is a record on a terminal, and a line in a pipe', async () => {
  const { run, env } = await openSandbox();
  const line = 'license create --remote-user dry --size-allowance 4 --dry-run';
  const body = '{"remote_user":"dry","app_code":4711,"size_allowance":4}';
  const url = `${env['CHATELAINE_BASE_URL'] ?? ''}/v1/license/`;

  expect((await run(line, { tty: true, columns: 60, env: { NO_COLOR: '1' } })).stdout).toBe(
    `method        POST\nurl           ${url}\ncontent_type  application/json\nbody          ${body}\n`,
  );
  expect((await run(line)).stdout.split('\n')[1]).toBe(`POST\t${url}\tapplication/json\t${body}`);
});

test.each(['edit CODE --size-allowance 9', 'retire CODE', 'edit CODE --remote-user new -n --trace'])(
  'license %s --dry-run --verbose hides the code in URLs on stderr',
  async (line) => {
    const { run } = await openSandbox();
    const code = (await run('license list --limit 1 -q')).stdout.trim();
    const { exitCode, stderr } = await run(`license ${line.replace('CODE', code)} -n -v`, { tty: true });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('/v1/license/[license_code]/') as string]);
    expect(stderr).not.toContain(code);
  },
);

test('an empty plan says so in one line', async () => {
  const { run } = await openSandbox();
  const line = 'license edit 0191A-86552-95939-DF69B --size-allowance 6 --dry-run';
  expect((await run(line, { tty: true })).stdout).toBe('nothing would change\n');
});
