import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { licenseCode } from '../../../src/sandbox/sample/organization.ts';
import { needs } from '../../helpers/needs.ts';
import { emptyHome, fakeService, openSandbox, run, type Ran, type RunningSandbox } from '../../helpers/run.ts';

const code = licenseCode(5);
const user = 'physio-7731';
const end = code.slice(-4);

/** The name of the run in the line that undoes it. */
const runOf = ({ stderr }: Ran): string => /license undo (\w{4})/.exec(stderr)?.[1] ?? 'none';
const fileIn = (home: string): string => join(home, '.local/state/chatelaine/history-2026.ndjson');

/** As lines of version 0.1, which have no sums. */
function changeHistory(home: string, change: (text: string) => string): void {
  const lines = readFileSync(fileIn(home), 'utf8').replace(/,"sum":"[\da-f]{8}"/g, '');
  writeFileSync(fileIn(home), change(lines));
}

async function changes({ run }: RunningSandbox, home: string, line = ''): Promise<unknown[]> {
  const { stdout } = await run(`license history -o json --fields command,remote_user,change,license_code_end ${line}`, {
    home,
  });
  return JSON.parse(stdout) as unknown[];
}

test('history has what each command did, the oldest first, and nobody else can read it', needs('modes'), async () => {
  const sandbox = await openSandbox();
  const home = emptyHome();
  const { run } = sandbox;
  await run('license create --remote-user ada --size-allowance 2', { home });
  const [key = ''] = (await run('license ensure --remote-user ada --size-allowance 3', { home })).stdout.split('\n');
  await run('license ensure --remote-user ada --size-allowance 3', { home });
  await run(`license edit ${key} --remote-user eva --size-allowance 4`, { home });
  await run(`license retire ${key}`, { home });
  await run('license apply - --input-format csv', { home, stdin: `remote_user,size_allowance\nben,1\n${user},6\n` });

  const last = { license_code_end: key.slice(-4) };
  const left = `left-2026-03-eva-${key.slice(-4)}`;
  const [, created] = (await run(`license view --remote-user ben -q`)).stdout.split(/(?=.{4}\n)/);
  expect(await changes(sandbox, home)).toEqual([
    { command: 'license create', remote_user: 'ada', change: 'created', ...last },
    { command: 'license ensure', remote_user: 'ada', change: 'resized 2 -> 3', ...last },
    { command: 'license edit', remote_user: 'eva', change: 'renamed from ada, resized 3 -> 4', ...last },
    { command: 'license retire', remote_user: left, change: 'retired eva', ...last },
    { command: 'license apply', remote_user: user, change: 'resized 4 -> 6', license_code_end: end },
    { command: 'license apply', remote_user: 'ben', change: 'created', license_code_end: created?.trim() },
  ]);
  expect(await changes(sandbox, home, '--remote-user eva')).toHaveLength(2);
  expect(await changes(sandbox, home, '--since 2026-03-02')).toEqual([]);
  expect(readFileSync(fileIn(home), 'utf8')).not.toContain(key);
  expect(statSync(fileIn(home)).mode & 0o777).toBe(0o600);
});

test('an edit is undone, and the undoing too', async () => {
  const sandbox = await openSandbox();
  const home = emptyHome();
  const { run } = sandbox;
  const edited = await run(`license edit ${code} --remote-user eva --size-allowance 6`, { home });
  const plan = await run('license undo --dry-run -o json', { home });
  expect(JSON.parse(plan.stdout)).toMatchObject([
    { remote_user: user, size_allowance: 4, remote_user_before: 'eva', status: 'would be undone' },
  ]);
  const undone = await run(`license undo ${runOf(edited)} -y -o json`, { home });
  expect(undone.exitCode).toBe(0);
  expect(undone.lines).toEqual([
    `an earlier request for '${user}' may not be shown yet: waiting 5s`,
    `undone, resized 6 -> 4, remote_user 'eva' -> '${user}'`,
    `undo: chatelaine license undo ${runOf(undone)}`,
  ]);
  expect(JSON.parse(undone.stdout)).toMatchObject([
    { remote_user: user, size_allowance: 4, remote_user_before: 'eva', size_allowance_before: 6, status: 'undone' },
  ]);
  const again = await run(`license undo ${runOf(edited)} -y -o json`, { home });
  expect(JSON.parse(again.stdout)).toMatchObject([{ remote_user: user, status: 'unchanged' }]);
  const redone = await run(`license undo ${runOf(undone)}`, { home, tty: true, stdin: 'y\n' });
  expect(redone.stderr).toContain(`put back  eva  resized 4 -> 6, renamed from ${user}`);
  expect(redone.stderr).toContain('Put this license back?');
  expect((await run(`license view ${code} -o json`)).stdout).toContain('"eva"');
});

test.each(['--dry-run', 'RUN -y'])(
  'where nothing can be undone, %s says so, and what retires the license',
  async (how) => {
    const { run } = await openSandbox();
    const home = emptyHome();
    await run('license create --remote-user ada --size-allowance 2', { home });
    const id = /^\S+\t(\w{4})\t/m.exec((await run('license history --no-header', { home })).stdout)?.[1] ?? 'none';

    const { lines } = await run(`license undo ${how.replace('RUN', id)}`, { home });

    expect(lines).toEqual([
      'nothing that the run did can be undone',
      'The run created 1 license, which cannot be undone: ada. To retire one:',
      '  chatelaine license retire --remote-user USER',
    ]);
  },
);

test('a roster is undone as a whole: sizes go back, and what was created is named', async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const before = (await run('license list -o json')).stdout;
  const stdin = `remote_user,size_allowance\n${user},6\nphysio-7740,9\nben,1\n`;
  const applied = await run('license apply - --input-format csv', { home, stdin });
  expect(applied.stderr).toContain(`undo: chatelaine license undo ${runOf(applied)}\n`);
  const undone = await run(`license undo ${runOf(applied)} -y`, { home });
  expect(undone.exitCode).toBe(0);
  expect(undone.stderr).toContain(
    'The run created 1 license, which cannot be undone: ben. To retire one:\n  chatelaine license retire --remote-user USER',
  );
  const after = JSON.parse((await run('license list -o json')).stdout) as { remote_user: string }[];
  expect(after.filter(({ remote_user }) => remote_user !== 'ben')).toEqual(JSON.parse(before));
});

test('a retired license comes back, but not beside one that its user has by now', async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const first = runOf(await run(`license retire ${code}`, { home }));
  const back = await run(`license undo ${first} -y -o json`, { home });
  expect(JSON.parse(back.stdout)).toMatchObject([{ remote_user: user, size_allowance: 4, status: 'undone' }]);

  const second = runOf(await run(`license retire ${code}`, { home }));
  await run(`license create --remote-user ${user.toUpperCase()} --size-allowance 2`, { home });
  expect((await run(`license undo ${second} -y -o json`, { home })).error?.hint).toContain('list --remote-user USER');
  await run(`license create --remote-user ${user} --size-allowance 2`, { home });
  const refused = await run(`license undo ${second} -y`, { home });
  expect(refused).toMatchObject({ exitCode: 8 });
  expect(refused.stderr).toContain(
    `the license of left-2026-03-${user}-${end} was not changed: '${user}' has another license now`,
  );
});

test('a license that a colleague changed since is named and left; the others are put back', async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const stdin = `remote_user,size_allowance\n${user},6\nphysio-7740,9\n`;
  const applied = await run('license apply - --input-format csv', { home, stdin });
  await run(`license edit ${code} --size-allowance 7`);
  const undone = await run(`license undo ${runOf(applied)} -y -o json`, { home });
  expect(undone.exitCode).toBe(8);
  expect(JSON.parse(undone.stdout)).toMatchObject([{ remote_user: 'physio-7740', status: 'undone' }]);
  expect(undone.error?.message).toContain(
    `1 of 2 failed (${user}):\n  the license of ${user} was not changed: no licenses of ${user} are as`,
  );
  expect((await run(`license view ${code} -o json`)).stdout).toContain('"size_allowance": 7');
  await run(`license retire ${code}`);
  await run(`license create --remote-user ${user} --size-allowance 6`);
  const replaced = await run(`license undo ${runOf(applied)} -y`, { home });
  expect(replaced.stderr).toContain(`no licenses of ${user} are as`);
});

test('of several licenses of a user the one that was changed is put back, and an old size that the server refuses fails alone', async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  for (const size of [4, 4]) await run(`license create --remote-user twin --size-allowance ${size}`);
  const stdin = `remote_user,size_allowance\ntwin,6\n${user},5\nphysio-7740,9\n`;
  const applied = await run('license apply - --input-format csv', { home, stdin });
  changeHistory(home, (text) => text.replace(/("physio-7740".*"size_allowance_before":)4/g, '$125'));
  const undone = await run(`license undo ${runOf(applied)} -y -o json`, { home });

  expect(undone.exitCode).toBe(8);
  expect(undone.error?.message).toContain('(400)');
  const all = JSON.parse((await run('license list -o json')).stdout) as {
    remote_user: string;
    size_allowance: number;
  }[];
  const held = (name: string) => all.flatMap((one) => (one.remote_user === name ? [one.size_allowance] : []));
  expect([held('twin'), held(user), held('physio-7740')]).toEqual([[4, 4], [4], [9]]);
  const retired = runOf(await run('license retire --remote-user twin', { home }));
  const back = await run(`license undo ${retired} -y -o json`, { home });
  expect(JSON.parse(back.stdout)).toMatchObject([4, 4].map((size) => ({ remote_user: 'twin', size_allowance: size })));
});

test('a change whose response was lost is found out, and undone', async () => {
  const sandbox = await openSandbox({ faults: readFaults('PATCH */license/*=reset-after#1', 1) });
  const home = emptyHome();
  const { run } = sandbox;
  expect(await run(`license edit ${code} --size-allowance 6 --retries 0`, { home })).toMatchObject({ exitCode: 0 });
  expect(await changes(sandbox, home)).toMatchObject([{ change: 'resized 4 -> 6' }]);
  const { stdout } = await run('license history -o json', { home });
  const [{ run: name }] = JSON.parse(stdout) as [{ run: string }];
  const undone = await run(`license undo ${name} -y -o json`, { home });
  expect(JSON.parse(undone.stdout)).toMatchObject([{ size_allowance: 4, status: 'undone' }]);
});

test('a refused change is none, a dry run tells nothing, and a cut line is left out', async () => {
  const sandbox = await openSandbox({ faults: readFaults('PATCH *=429-long#1', 1) });
  const home = emptyHome();
  const { run } = sandbox;
  expect(await run(`license edit ${code} --size-allowance 7`, { home })).toMatchObject({ exitCode: 7 });
  await run(`license edit ${code} --remote-user ${'x'.repeat(127)}é`, { home });
  await run(`license edit ${code} --size-allowance 6 --dry-run`, { home });
  await run(`license edit ${code} --size-allowance 5`, { home });
  appendFileSync(fileIn(home), '{"time":"2026-03-01T12:00:00.000Z","run":"7K2');
  expect(await changes(sandbox, home)).toMatchObject([{ change: 'resized 4 -> 5' }]);
});

test.each([
  ['license undo', 'without a terminal RUN and --yes are needed'],
  ['license undo 7K2F', 'without a terminal RUN and --yes are needed'],
])('%s in a pipe is exit 2', async (line, message) => {
  const { run } = await openSandbox();
  const ran = await run(line);
  expect([ran.exitCode, ran.lines[0]]).toEqual([2, `chatelaine: ${message}`]);
});

test('a run that nobody made, and one of another server, are refused', async () => {
  const { run } = await openSandbox();
  const other = await openSandbox();
  const home = emptyHome();
  expect(await run('license undo', { home, tty: true })).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('no run of this computer changed a license') as unknown,
  });
  expect(await run('license undo 7K2F -y', { home })).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('no run is named 7K2F') as unknown,
  });
  const edited = await run(`license edit ${code} --size-allowance 6`, { home });
  const name = runOf(edited);
  expect(await other.run(`license undo ${name} -y`, { home })).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining(`run ${name} was on`) as unknown,
  });
});

test('without RUN the last run that is no undo and is not undone is undone, and none when all are', async () => {
  const { run, sandbox } = await openSandbox();
  const home = emptyHome();
  for (const size of [4, 4]) await run(`license create --remote-user twin --size-allowance ${size}`);
  const twins = () => sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'twin');
  const sizes = () => twins().map(({ size_allowance }) => size_allowance);
  const [one = '', other = ''] = twins().map(({ license_code }) => license_code);
  for (const change of [`${one} --size-allowance 9`, `${other} --size-allowance 9`, `${other} --size-allowance 8`])
    await run(`license edit ${change} -y`, { home });
  const undo = () => run('license undo', { home, tty: true, stdin: 'y\n' });

  expect((await undo()).exitCode).toBe(0);
  expect(sizes()).toEqual([9, 9]);
  expect((await undo()).exitCode).toBe(0);
  expect(sizes()).toEqual([9, 4]);
  expect((await undo()).exitCode).toBe(0);
  expect(sizes()).toEqual([4, 4]);
  const none = await undo();
  expect([none.exitCode, none.stderr]).toEqual([5, expect.stringContaining('every run of this computer is undone')]);
});

test('a run of which a license was left is the last one again', async () => {
  const { run, sandbox } = await openSandbox();
  const home = emptyHome();
  await run("license edit --match 'physio-77*' --size-allowance 9 -y", { home });
  const [moved] = sandbox.state.licenses().filter(({ size_allowance }) => size_allowance === 9);
  await run(`license edit ${moved?.license_code ?? ''} --size-allowance 8`, { home: emptyHome() });
  expect((await run('license undo', { home, tty: true, stdin: 'y\n' })).exitCode).toBe(8);
  await run(`license edit ${moved?.license_code ?? ''} --size-allowance 9`, { home: emptyHome() });
  expect((await run('license undo', { home, tty: true, stdin: 'y\n' })).exitCode).toBe(0);
  expect(sandbox.state.licenses().filter(({ size_allowance }) => size_allowance === 9)).toEqual([]);
});

test.each([
  [{ LOGNAME: 'mallory', USER: 'mallory' }, `uid ${process.getuid?.() ?? '?'}`],
  [{ SUDO_USER: 'petra' }, `uid ${process.getuid?.() ?? '?'} (sudo: petra)`],
])('by whom is the account of the process, not what the environment says: %j', async (env, account) => {
  const { run } = await openSandbox();
  const home = emptyHome();
  await run('license create --remote-user ada --size-allowance 2', { home, env });
  expect((await run('license history --fields account --no-header', { home })).stdout).toBe(`${account}\n`);
});

test.each([
  ['edit', 0],
  ['undo', 1],
  ['rename', 0],
])(
  'an error inside the 200 of a PATCH that changed nothing is exit 6, as the license shows that is read back: %s',
  async (what, before) => {
    const { run, sandbox } = await openSandbox({ faults: readFaults(`PATCH *=error-in-200#1+${before}`, 1) });
    const home = emptyHome();
    const [key = ''] = (await run('license create --remote-user ada --size-allowance 2 -q', { home })).stdout.split(
      '\n',
    );
    const change = what === 'rename' ? '--remote-user eve' : '--size-allowance 3';
    const edited = await run(`license edit ${key} ${change}`, { home });
    const refused = before === 0 ? edited : await run(`license undo ${runOf(edited)} -y`, { home });
    expect([edited.exitCode, refused.exitCode]).toEqual([before === 0 ? 6 : 0, 6]);
    expect(refused.stderr).toContain('returned 200 with an error');
    expect(refused.stderr).toMatch(
      /read back, the license has (size_allowance \d instead of \d|remote_user 'ada' instead of 'eve')/,
    );
    const size = sandbox.state.licenses().find(({ remote_user }) => remote_user === 'ada')?.size_allowance;
    expect(size).toBe([2, 3][before]);
    const old = before === 0 ? 'license apply - -y' : `license edit ${key} --size-allowance 3`;
    const { stderr } = await run(old, { home, stdin: 'remote_user,size_allowance\nada,2\n' });
    expect(stderr).toMatch(/may have changed the license of ada: listing again|may not be shown yet: waiting/);
  },
);

test('an error inside the 200 of a PATCH that was carried out is done, as the license shows', async () => {
  const service = fakeService();
  const license = { license_code: 'KEY-0001', remote_user: 'ada', app_code: 7, size_allowance: 4 };
  service.expect('GET /v1/license/KEY-0001/', 2).reply(200, license);
  service
    .expect({ method: 'PATCH', path: '/v1/license/KEY-0001/', json: { size_allowance: 3 } })
    .reply(200, { error: 'late' });
  service.expect('GET /v1/license/KEY-0001/').reply(200, { ...license, size_allowance: 3 });
  const { exitCode } = await run(service, 'license edit KEY-0001 --size-allowance 3');
  service.done();
  expect(exitCode).toBe(0);
});
