import { describe, expect, test } from 'vitest';
import { openOrigin } from '../../helpers/origin.ts';
import { emptyHome, openSandbox, run as runAt, runAlone } from '../../helpers/run.ts';
import { fakeService } from '../../helpers/service.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 2, 1, 12);

/** Three days with one change each, of users whose names differ by case too. */
async function threeDays() {
  const { run, sandbox } = await openSandbox();
  const home = emptyHome();
  const at = (days: number) => ({ home, now: start + days * day, env: { TZ: 'UTC' } });
  await run('license create --remote-user Ward-3 --size-allowance 4', at(0));
  await run('license create --remote-user ward-4 --size-allowance 4', at(1));
  await run('license retire --remote-user Ward-3 -y', at(2));
  const codeOf = (user: RegExp) =>
    sandbox.state.licenses().find(({ remote_user }) => user.test(remote_user))?.license_code ?? '';
  return { run: (words: string) => run(words, at(3)), codeOf };
}

describe('license history', () => {
  const changes = async (words: string) => {
    const { run } = await threeDays();
    const { stdout, exitCode } = await run(`license history ${words} --fields time,change --no-header`);
    return { exitCode, rows: stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(0, 10)])) };
  };

  test.each([
    ['--until 2026-03-02', ['2026-03-01']],
    ['--since 2026-03-02T12:00:00Z --until 2026-03-03', ['2026-03-02']],
    ["--match 'WARD-*'", ['2026-03-01', '2026-03-02', '2026-03-03']],
    ["--match '*-4' --match '*-3'", ['2026-03-01', '2026-03-02', '2026-03-03']],
    ["--match 'ward-3' --until 2026-03-02", ['2026-03-01']],
    ["--match 'left-*'", ['2026-03-03']],
  ])('%s', async (words, rows) => {
    expect(await changes(words)).toMatchObject({ exitCode: 0, rows });
  });

  test('--code finds the changes of a key by its last characters, however it is written', async () => {
    const { run, codeOf } = await threeDays();
    const code = codeOf(/^ward-4$/);
    const spoken = code.replaceAll('-', '').toLowerCase().replaceAll('0', 'o');
    for (const typed of [code, spoken, `*${code.slice(-5)}`, `*${code.slice(-2)}`, code.slice(-2)]) {
      const { stdout } = await run(`license history --code '${typed}' --fields remote_user --no-header`);
      expect([typed, stdout]).toEqual([typed, 'ward-4\n']);
    }
    expect((await run("license history --code '*ZZZZ' --no-header")).stdout).toBe('');
  });

  test('--code compares the last four characters, which are all that is kept', async () => {
    const { run, codeOf } = await threeDays();
    const [own, end] = [codeOf(/^ward-4$/), codeOf(/^ward-4$/).slice(-4)];
    for (const code of [`ZZZZZ-${end}`, `*${end}`, `${own.slice(0, 5)}*${end.slice(-2)}`])
      expect((await run(`license history --code '${code}' --fields remote_user --no-header`)).stdout).toBe('ward-4\n');
  });
});

describe('license list', () => {
  const users = async (words: string) => {
    const { run } = await threeDays();
    const { stdout, stderr } = await run(`license list ${words} --fields remote_user --no-header`);
    return { users: stdout.trim().split('\n'), stderr };
  };

  test('--match minds no case', async () => {
    expect((await users("--match 'WARD-?'")).users).toEqual(['ward-4']);
    expect((await users("--match 'LEFT-*'")).users).toHaveLength(1);
  });

  test('--since and --until are a span of their creation', async () => {
    expect((await users('--since 2026-01-14T09:20:11Z --until 2026-01-14T09:21:00Z')).users).toEqual([
      'clinic-north/ward-3',
    ]);
  });

  test('an empty span is exit 2, and nothing is sent', async () => {
    const service = fakeService();
    expect((await runAt(service, 'license list --since 2026-03-03 --until 2026-03-03')).exitCode).toBe(2);
    expect(service.seen).toEqual([]);
  });

  test('a part of a key that finds nothing names the star', async () => {
    const { run, codeOf } = await threeDays();
    const part = codeOf(/^ward-4$/).slice(-5);
    const advice = "A part of a key needs a star:\n  chatelaine license list --code '*2FCA2'\n";
    for (const line of [`license list --code ${part}`, `license view ${part}`]) {
      const { stderr } = await run(line);
      expect(stderr).toContain(advice);
      expect(stderr).not.toContain(part);
    }
    expect((await run(`license list --code '*${part}'`)).stderr).toBe('');
    expect((await run("license list --code '*ZZZZZ'")).stderr).not.toContain('star');
  });

  test('--active leaves retired ones out, and says how many there are', async () => {
    const { users: all } = await users('');
    const { users: active, stderr } = await users('--active');
    expect(all.filter((user) => !active.includes(user))).toEqual([expect.stringMatching(/^left-2026-03-Ward-3-/)]);
    expect(stderr).toBe('1 retired license is left out\n');
    expect((await users("--active --match 'ward-4'")).stderr).toBe('');
  });
});

test('where something is changed, --match minds the case', async () => {
  const { run } = await threeDays();
  const { exitCode, stderr } = await run("license edit --match 'WARD-*' --size-allowance 7 -y");
  expect([exitCode, stderr]).toEqual([5, "chatelaine: no user matches 'WARD-*'\n"]);
});

describe('a list that is not complete', () => {
  const rows = ['ben', 'ada'].map((remote_user) => ({ license_code: `K-${remote_user}`, remote_user }));

  test.each([
    ['--sort remote_user', 'ben', 3, 8],
    ['--sort remote_user --limit 1', 'ada', 3, 8],
    ['--sort remote_user --limit 1', 'ada', 2, 0],
    ['--limit 1', 'ben', 3, 0],
  ])('%s: of a count of %s', async (words, last, count, exitCode) => {
    const service = fakeService();
    service.expect('GET /v1/license/').reply(200, { count, results: rows });
    const ran = await runAt(service, `license list ${words} --fields remote_user --no-header`);
    expect([ran.exitCode, ran.stdout.trim().split('\n').at(-1)]).toEqual([exitCode, last]);
  });

  test('a user of a sheet whose lookup is not complete is not said to have no license', async () => {
    const [ben] = rows;
    const { port } = await openOrigin(({ url }) => {
      const user = new URL(url, 'http://x').searchParams.get('remote_user');
      const list = { ben: { count: 1, results: [ben] }, zoe: { count: 2, results: [] } }[user ?? ''];
      return { body: JSON.stringify(url.includes('/K-ben/') ? ben : (list ?? { count: 0, results: [] })) };
    });
    const base = { CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`, CHATELAINE_APP_CODE: '7' };
    const env = { ...base, CHATELAINE_API_KEY: 'key' };
    const ran = await runAlone('license list --from - -o json', { env, stdin: 'ben\nzoe\n' });
    expect([ran.exitCode, ran.error?.code]).toEqual([8, 'incomplete']);
    expect(JSON.parse(ran.stdout)).toMatchObject([
      { license_code: 'K-ben' },
      { remote_user: 'zoe', license_code: null },
    ]);
  });
});

describe('license list --from where listed values are no keys', () => {
  const of = (license_code: string, remote_user = 'ben') => ({
    license_code,
    remote_user,
    app_code: 7,
    size_allowance: 4,
  });
  const list = async (license: object, viewed?: object) => {
    const service = fakeService();
    service.expect('GET /v1/license/?remote_user=ben&app_code=7').reply(200, [license]);
    if (viewed) service.expect('GET /v1/license/K-1/').reply(200, viewed);
    const ran = await runAt(service, 'license list --from - -o json', { stdin: 'ben\n' });
    service.done();
    return { ...ran, row: (JSON.parse(ran.stdout) as unknown[])[0] };
  };

  test('prints a key that is the one of the user', async () => {
    expect(await list(of('K-1'), of('K-1'))).toMatchObject({ exitCode: 0, row: of('K-1') });
  });

  test.each([
    ['a masked one', of('****-9F2A'), undefined],
    ['one of another user', of('K-1'), of('K-1', 'eve')],
  ])('prints no value, and is 8: %s', async (_what, license, viewed) => {
    const { exitCode, row, stdout, error } = await list(license, viewed);
    expect([exitCode, error?.code]).toEqual([8, 'incomplete']);
    expect(row).toEqual({ ...license, license_code: null });
    expect(stdout).not.toMatch(/9F2A|K-1/);
  });
});

describe('csv and tsv name the fields that they leave out', () => {
  const list = async (rows: readonly object[], words: string) => {
    const service = fakeService();
    service.expect('GET /v1/license/').reply(200, rows);
    return (await runAt(service, `license list ${words}`)).stderr;
  };
  const ada = { license_code: 'K-1', code: 'K-1', remote_user: 'ada', app_code: 7, size_allowance: 4, tags: ['a'] };
  const note = (names: string) => `left out: ${names}; --fields names columns\n`;

  test.each([
    ['a list that differs', [ada, { ...ada, code: 'K-2', license_code: 'K-2', tags: [] }], '-o csv', note('tags')],
    ['one that is the same in all rows', [ada, { ...ada, remote_user: 'ben' }], '-o csv', ''],
    ['a field that the first row lacks', [ada, { ...ada, note: 'x' }], '-o tsv', note('note')],
    ['a field that a later row lacks', [ada, { license_code: 'K-2', remote_user: 'ben' }], '-o excel', note('tags')],
    [
      'one that is null everywhere but once',
      [ada, { ...ada, more: null }, { ...ada, more: 1 }],
      '-o csv',
      note('more'),
    ],
    ['nothing under -q', [ada, { ...ada, note: 'x' }], '-o csv -q', ''],
    ['nothing where fields are named', [ada, { ...ada, note: 'x' }], '-o csv --fields remote_user', ''],
    ['nothing in json', [ada, { ...ada, note: 'x' }], '-o json', ''],
  ])('%s', async (_what, rows, words, stderr) => {
    expect(await list(rows, words)).toBe(stderr);
  });
});
