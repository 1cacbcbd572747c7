import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alarmByHand, realTime } from '../helpers/clock.ts';
import { openOrigin } from '../helpers/origin.ts';
import { emptyHome, openSandbox, type Ran } from '../helpers/run.ts';
import { needs } from '../helpers/needs.ts';

interface Row {
  readonly check: string;
  readonly subject: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
}

const originAt = (port: number): string => `http://127.0.0.1:${port}`;

const wrongKey = { CHATELAINE_API_KEY: 'wrong' };
const wrongChatKey = { CHATELAINE_CHAT_API_KEY: 'wrong' };

test.each([
  { what: 'one refused key', env: wrongKey, counted: /1 problem found: the licensing API refused/ },
  { what: 'two refused keys', env: { ...wrongKey, ...wrongChatKey }, counted: /2 problems found: / },
])('$what: every check is shown, the problems are counted, and the exit code is that of the first', async (given) => {
  const { run } = await openSandbox();

  const { exitCode, stdout, error } = await run('doctor -o json', { env: given.env });

  const rows = JSON.parse(stdout) as Row[];
  const refused = rows.filter(({ status }) => status === 'problem').map(({ check }) => check);
  expect(exitCode).toBe(4);
  expect(error?.message).toMatch(given.counted);
  expect(refused).toEqual(Object.keys(given.env).map(() => 'credential'));
});

test('a server that cannot be reached is a line with what to do', async () => {
  const { run } = await openSandbox();

  const { exitCode, stdout } = await run('doctor -o json', { env: { CHATELAINE_BASE_URL: 'http://127.0.0.1:1' } });

  expect(exitCode).toBe(7);
  expect((JSON.parse(stdout) as Row[]).find(({ subject }) => subject === 'environment licensing')).toEqual({
    check: 'credential',
    subject: 'environment licensing',
    status: 'problem',
    detail: 'no connection to 127.0.0.1:1 (ECONNREFUSED)',
    advice: 'Check that the service runs and that the URL and proxy are right.',
  });
});

test('a server that says nothing is asked once, for ten seconds', async () => {
  const { alarm, ring } = alarmByHand(10_000);
  const { port, seen } = await openOrigin(() => ring());
  const { run } = await openSandbox();

  const { exitCode, stdout } = await run('doctor -o json', { env: { CHATELAINE_BASE_URL: originAt(port) }, alarm });

  const server = (JSON.parse(stdout) as Row[]).filter(({ subject }) => subject === 'environment licensing');
  expect(exitCode).toBe(7);
  expect(server.map(({ check, status, detail }) => [check, status, detail])).toEqual([
    ['credential', 'problem', `timeout: no complete response from 127.0.0.1:${port} within 10s`],
  ]);
  expect(seen).toHaveLength(1);
});

test.each([
  ['', 1],
  ['--retries 2', 3],
])('"%s": a busy server is asked %i times', async (options, requests) => {
  const { port, seen } = await openOrigin(() => ({ status: 503, body: 'busy' }));
  const { run } = await openSandbox();
  await run(`doctor ${options}`, { env: { CHATELAINE_BASE_URL: originAt(port) } });
  expect(seen.filter(({ authorization }) => authorization !== undefined)).toHaveLength(requests);
});

test.each([
  ['CHATELAINE_APP_CODE', "CHATELAINE_APP_CODE: '[hidden: it looks like a key]' is not a whole number"],
  ['CHATELAINE_BASE_URL', "CHATELAINE_BASE_URL: the base URL '[hidden: it looks like a key]' is not a URL"],
  ['CHATELAINE_LEDGER', 'CHATELAINE_LEDGER: '],
])('%s that holds a key is not repeated in a row, as in no error', async (name, detail) => {
  const key = 'qT7zVb3nK9wXe5RmYd2LsA8c';
  const { run } = await openSandbox();
  for (const line of ['doctor -o json', 'doctor', `doctor -- --token=${key}`, 'auth status']) {
    const { stdout, stderr } = await run(line, { env: { [name]: key } });
    expect(stdout + stderr).not.toContain(key);
    if (line === 'doctor -o json')
      expect((JSON.parse(stdout) as Row[]).map((row) => row.detail)).toContainEqual(
        expect.stringContaining(detail) as string,
      );
  }
});

test('where all is well each check is a row, and their number is said', async () => {
  const { run } = await openSandbox({ clock: realTime });
  const env = { CHATELAINE_API_KEI: '', CHATELAINE_NONSENSE: '' };
  const line = 'doctor --fields check,status,detail,advice --no-header -o csv';
  const { exitCode, stdout, stderr } = await run(line, { now: Date.now(), env });
  expect([exitCode, stderr]).toEqual([0, '7 checks: no problem\n']);
  expect(stdout.split('\n')).toEqual([
    'configuration,ok,0 profiles,',
    'state,ok,can be written,',
    'environment,ok,"complete: licensing, chat",',
    'environment,note,is not a variable of chatelaine,Did you mean CHATELAINE_API_KEY?',
    'environment,note,is not a variable of chatelaine,',
    'credential,ok,accepted,',
    'credential,ok,"accepted, feature level 489",',
    '',
  ]);
  const bare = await run(line, { bare: true });
  expect(bare.stdout.split('\n').slice(2)).toEqual([
    'environment,ok,no credential,',
    'configuration,note,no credential is stored,"See chatelaine auth login --help, or try --sandbox."',
    '',
  ]);
});

test('a clock that differs from the server by more than two minutes is a note with what to do', async () => {
  const { run } = await openSandbox({ clock: realTime });

  const { exitCode, stdout } = await run('doctor -o json', { now: Date.now() - 180_000 });

  const clocks = (JSON.parse(stdout) as Row[]).filter(({ check }) => check === 'credential');
  expect(exitCode).toBe(0);
  expect(clocks.map(({ status, advice }) => ({ status, advice }))).toEqual([
    { status: 'note', advice: 'Set the clock of this machine.' },
    { status: 'note', advice: 'Set the clock of this machine.' },
  ]);
  for (const { detail } of clocks)
    expect(detail).toMatch(/ (2m5\d(\.\d)?s|3m(\d+ms|\d(\.\d)?s)?) behind the server's$/);
});

test(
  'a state folder that cannot be written is a problem, and its advice names the variable',
  needs('modes'),
  async () => {
    const { run } = await openSandbox();

    const { exitCode, stdout } = await run('doctor -o json', { env: { XDG_STATE_HOME: '/dev/null/state' } });

    expect(exitCode).toBe(3);
    expect((JSON.parse(stdout) as Row[]).find(({ check }) => check === 'state')).toEqual({
      check: 'state',
      subject: '/dev/null/state/chatelaine',
      status: 'problem',
      detail: 'cannot write into the folder /dev/null/state/chatelaine: not a directory',
      advice: 'Set XDG_STATE_HOME to a folder that can be written.',
    });
  },
);

test(
  'folders that cannot be read: beside credentials of the environment the configuration is a note',
  needs('modes'),
  async () => {
    const { run } = await openSandbox();
    const home = emptyHome();
    const circle = join(home, 'circle');
    symlinkSync(circle, circle);

    const env = { CHATELAINE_CONFIG_DIR: circle, XDG_STATE_HOME: circle };
    const [own, stored] = await Promise.all([
      run('doctor -o json', { env }),
      run('doctor -o json', { env, bare: true }),
    ]);

    const folders = ({ stdout }: Ran) =>
      (JSON.parse(stdout) as Row[])
        .filter(({ subject }) => subject.startsWith(circle))
        .map(({ check, status, advice }) => ({ check, status, advice }));
    const state = { check: 'state', status: 'problem', advice: 'Set XDG_STATE_HOME to a folder that can be written.' };
    const configuration = { check: 'configuration', advice: 'Set CHATELAINE_CONFIG_DIR to a folder of your own.' };
    expect(folders(own)).toEqual([{ ...configuration, status: 'note' }, state]);
    expect(folders(stored)).toEqual([{ ...configuration, status: 'problem' }, state]);
  },
);

test('topic delete names it too', needs('modes'), async () => {
  const { run } = await openSandbox();
  const env = { XDG_STATE_HOME: '/dev/null/state' };
  const { exitCode, stderr } = await run('topic delete general lunch --confirm lunch', { env });
  expect(exitCode).toBe(3);
  expect(stderr).toContain('Set XDG_STATE_HOME to a folder that can be written');
});
