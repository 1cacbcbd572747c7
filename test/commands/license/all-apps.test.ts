import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openOrigin } from '../../helpers/origin.ts';
import { emptyHome, openSandbox, runAlone, type Ran } from '../../helpers/run.ts';

const license = (license_code: string, remote_user: string, app_code: number) => ({
  license_code,
  remote_user,
  app_code,
  size_allowance: 4,
});

/** The licenses of three applications, by key; the key of the third is refused. */
const known: Readonly<Record<string, readonly ReturnType<typeof license>[]>> = {
  'Token key-1': [license('K-1', 'ada', 1), license('K-2', 'bob', 1)],
  'Token key-2': [license('K-3', 'ada', 2), license('K-1', 'eve', 2)],
};

async function startServer(): Promise<{ readonly base: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const { port } = await openOrigin(({ url, authorization = '' }) => {
    asked.push(`${authorization} ${url}`);
    const rows = known[authorization];
    if (!rows) return { status: 401, body: '{"detail":"Invalid token."}' };
    const [, code] = /^\/v1\/license\/([^/?]+)\/$/.exec(url) ?? [];
    const user = new URL(url, 'http://x').searchParams.get('remote_user');
    if (code === undefined)
      return { body: JSON.stringify(rows.filter(({ remote_user }) => user === null || remote_user === user)) };
    const found = rows.find(({ license_code }) => license_code === code);
    return found ? { body: JSON.stringify(found) } : { status: 404, body: '{"detail":"Not found."}' };
  });
  return { base: `http://127.0.0.1:${port}`, asked };
}

/** Stores profiles by their names: of a server an application, and the key that the server knows. */
async function store(profiles: Readonly<Record<string, readonly [base: string, app: number, key?: number]>>) {
  const home = emptyHome();
  for (const [name, [base, app, key = app]] of Object.entries(profiles)) {
    const line = `auth login licensing --base-url ${base} --app-code ${app} --name ${name}`;
    expect(await runAlone(`${line} --api-key-stdin --no-check`, { home, stdin: `key-${key}\n` })).toMatchObject({
      exitCode: 0,
    });
  }
  return (line: string, stdin = '') => runAlone(line, { home, stdin });
}

async function place(apps: readonly number[]): Promise<(line: string) => Promise<Ran>> {
  const { base } = await startServer();
  return store(Object.fromEntries(apps.map((app) => [`app-${app}`, [base, app]])));
}

test.each(['ensure --remote-user ada --size-allowance 4', 'ensure --remote-user ada --size-allowance 6'])(
  'a license that names no application, and one of two is meant: %s',
  async (line) => {
    const row = { license_code: 'K-1', remote_user: 'ada', size_allowance: 4 };
    const { port, seen } = await openOrigin(() => ({ body: JSON.stringify([row]) }));
    const base = `http://127.0.0.1:${port}`;
    const ask = await store({ one: [base, 1], two: [base, 2] });

    const shared = await ask(`license ${line} --profile one`);

    expect({ exitCode: shared.exitCode, keys: shared.stdout.includes('K-1') }).toEqual({ exitCode: 8, keys: false });
    expect(shared.stderr).toContain('the list names no application, and several of this server are stored');
    expect(seen.map(({ method }) => method)).toEqual(['GET']);
  },
);

describe('--all-apps with profiles of several servers', () => {
  const twoServers = async () => {
    const [one, two] = [await startServer(), await startServer()];
    const ask = await store({ live: [one.base, 1], again: [one.base, 1], other: [one.base, 2], test: [two.base, 1] });
    return { one, two, ask };
  };

  test.each(['csv', 'json', 'ndjson', 'yaml'])('names the server of each license in %s', async (format) => {
    const { one, two, ask } = await twoServers();
    const { exitCode, stdout } = await ask(`license list --all-apps --remote-user bob -o ${format}`);
    expect([exitCode, stdout.split(one.base).length, stdout.split(two.base).length]).toEqual([0, 2, 2]);
    expect(stdout).toContain('base_url');
  });

  test('asks an application once, however many profiles it has', async () => {
    const { one, ask } = await twoServers();
    expect((await ask('license list --all-apps -q')).stdout).toBe('K-1\nK-2\nK-3\nK-1\nK-1\nK-2\n');
    expect(one.asked).toHaveLength(2);
  });

  test('view of a code names the server', async () => {
    const { two, ask } = await twoServers();
    const { stdout } = await (
      await store({ live: [(await startServer()).base, 2], test: [two.base, 1] })
    )('license view K-2 --all-apps -o json');
    expect(JSON.parse(stdout)).toMatchObject({ license_code: 'K-2', base_url: two.base });
    expect(JSON.parse((await ask('license view K-3 --all-apps -o json')).stdout)).toHaveProperty('base_url');
    const none = await ask('license view K-9 --all-apps -o json');
    expect(none).toMatchObject({ exitCode: 5, stdout: '', error: { http: { status: 404 } } });
  });

  test('audit takes a user of two servers for two, and each finding and accepted line is of one server', async () => {
    const { one, two, ask } = await twoServers();
    const findings = async (words: string) => {
      const { exitCode, stdout } = await ask(`license audit --all-apps -o json ${words}`);
      const rows = JSON.parse(stdout) as Record<string, unknown>[];
      return { exitCode, found: rows.map((row) => [row['finding'], row['remote_user'], row['base_url']]) };
    };
    const shared = [
      ['shared-key', 'ada', one.base],
      ['shared-key', 'eve', one.base],
    ];
    expect(await findings('')).toEqual({ exitCode: 10, found: shared });
    const file = join(emptyHome(), 'accepted.txt');
    await ask(`license audit --all-apps --write-accepted ${file}`);
    expect(readFileSync(file, 'utf8')).toContain(`in application 1 of ${one.base}: `);
    expect(await findings(`--accept ${file}`)).toEqual({ exitCode: 0, found: [] });
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(one.base, two.base));
    expect(await findings(`--accept ${file}`)).toEqual({ exitCode: 10, found: shared });
    const { stderr } = await ask(`license audit --all-apps --accept ${file}`);
    expect(stderr).toContain(`no longer found, remove its line: shared-key: ada in application 1 of ${two.base}: `);
  });

  test('the rows of a roster are of the server of their application, and the others are unexpected', async () => {
    const [one, two] = [await startServer(), await startServer()];
    const ask = await store({ live: [one.base, 1], test: [two.base, 2] });
    const roster = 'remote_user,app_code\nada,1\nbob,1\nada,2\n';
    const { exitCode, stdout } = await ask('license audit --all-apps --roster - --input-format csv -o json', roster);
    const rows = JSON.parse(stdout) as Record<string, unknown>[];
    expect([exitCode, rows.map((row) => [row['finding'], row['remote_user'], row['base_url']])]).toEqual([
      10,
      [['unexpected', 'eve', two.base]],
    ]);
  });

  test('a server that refuses does not hide the findings of the next', async () => {
    const [one, two] = [await startServer(), await startServer()];
    const ask = await store({ gone: [one.base, 3], live: [two.base, 1], other: [two.base, 2] });
    const { exitCode, stdout, stderr } = await ask('license audit --all-apps --fields finding,base_url --no-header');
    expect([exitCode, stdout]).toEqual([8, `shared-key\t${two.base}\nshared-key\t${two.base}\n`]);
    expect(stderr).toContain(`${one.base}: 1 of 1 applications failed\n  gone: `);
  });
});

describe('--all-apps asks every stored application', () => {
  test.each<[string, readonly number[], string, number, string]>([
    ['list', [1, 2], 'license list --all-apps -q', 0, 'K-1\nK-2\nK-3\nK-1\n'],
    [
      'list of one server with base_url',
      [1],
      'license list --all-apps --fields remote_user,base_url --no-header',
      0,
      'ada\t\nbob\t\n',
    ],
    ['list of one user', [1, 2], 'license list --all-apps --remote-user ada -q', 0, 'K-1\nK-3\n'],
    ['list by pattern', [1, 2], "license list --all-apps --match '*b' -q", 0, 'K-2\n'],
    ['view of a user', [1, 2], 'license view --all-apps --remote-user ada -q', 0, 'K-1\nK-3\n'],
    ['list, one refused', [1, 3, 2], 'license list --all-apps -q', 8, 'K-1\nK-2\nK-3\nK-1\n'],
    ['view of a user, one refused', [1, 3, 2], 'license view --all-apps --remote-user ada -q', 8, 'K-1\nK-3\n'],
    ['view of nobody', [1, 2], 'license view --all-apps --remote-user nobody', 5, ''],
    ['view of a code', [1, 2], 'license view K-3 --all-apps -q', 0, 'K-3\n'],
    ['view of a code, one refused', [1, 3], 'license view K-9 --all-apps', 8, ''],
    ['view beside a code', [1], 'license view K-1 --all-apps --app-code 1', 2, ''],
    ['audit beside a code', [1], 'license audit --all-apps --app-code 1', 2, ''],
  ])('%s', async (_what, apps, line, exitCode, stdout) => {
    const ran = await (await place(apps))(line);

    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode, stdout });
  });

  test('the application of the environment, where none is stored', async () => {
    const { run } = await openSandbox();
    const [alone, all] = [await run('license list -q'), await run('license list --all-apps -q')];

    expect(all).toMatchObject({ exitCode: 0, stdout: alone.stdout });
    expect(alone.stdout).not.toBe('');
  });

  test('audit finds a key of two applications, and counts', async () => {
    const { exitCode, stdout, stderr } = await (await place([1, 2]))('license audit --all-apps');

    expect({ exitCode, stderr }).toEqual({ exitCode: 10, stderr: '2 findings in 4 licenses\n' });
    expect(stdout.split('\n').slice(1, 3)).toEqual([
      "shared-key\tada\t1\t4\tK-1\tone key of 'ada' and 'eve'",
      "shared-key\teve\t2\t4\tK-1\tone key of 'ada' and 'eve'",
    ]);
  });

  test('audit of a part is not called clean: the refused application is named', async () => {
    const { exitCode, stderr } = await (await place([1, 3]))('license audit --all-apps');

    expect(exitCode).toBe(8);
    expect(stderr).toContain('app-3: ');
    expect(stderr).not.toContain('no findings');
  });
});

test('license list --match takes the whole name in any case, up to --limit', async () => {
  const ask = await place([1]);

  expect(await ask("license list --match 'a*' -q")).toMatchObject({ exitCode: 0, stdout: 'K-1\n' });
  expect(await ask("license list --match '?ob' -q")).toMatchObject({ exitCode: 0, stdout: 'K-2\n' });
  expect(await ask("license list --match '*' --limit 1 -q")).toMatchObject({ exitCode: 0, stdout: 'K-1\n' });
  expect(await ask("license list --match 'A*' -q")).toMatchObject({ exitCode: 0, stdout: 'K-1\n' });
  expect(await ask("license list --match 'd' -q")).toMatchObject({ exitCode: 0, stdout: '' });
});

test('license delete says what to do when a user leaves', async () => {
  const { exitCode, stderr, stdout } = await runAlone('license delete K-1');

  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('cannot delete a license');
  expect(stderr).toContain('license retire');
});

test('without a stored application --all-apps is exit 3', async () => {
  const { exitCode, error } = await (await place([]))('license list --all-apps -o json');

  expect({ exitCode, message: error?.message }).toEqual({ exitCode: 3, message: 'no licensing credential is stored' });
});

test('edit --match changes the licenses of one application', async () => {
  const run = await place([1, 2]);
  const { stdout } = await run("license edit --match 'ada' --size-allowance 5 --profile app-1 -n -o json");
  expect(JSON.parse(stdout)).toMatchObject([{ remote_user: 'ada', app_code: 1, status: 'would be changed' }]);
});
