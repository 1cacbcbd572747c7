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

async function place(apps: readonly number[]): Promise<(line: string) => Promise<Ran>> {
  const { port } = await openOrigin(({ url, authorization = '' }) => {
    const rows = known[authorization];
    if (!rows) return { status: 401, body: '{"detail":"Invalid token."}' };
    const [, code] = /^\/v1\/license\/([^/?]+)\/$/.exec(url) ?? [];
    const user = new URL(url, 'http://x').searchParams.get('remote_user');
    if (code === undefined)
      return { body: JSON.stringify(rows.filter(({ remote_user }) => user === null || remote_user === user)) };
    const found = rows.find(({ license_code }) => license_code === code);
    return found ? { body: JSON.stringify(found) } : { status: 404, body: '{"detail":"Not found."}' };
  });
  const home = emptyHome();
  for (const app of apps) {
    const line = `auth login licensing --base-url http://127.0.0.1:${port} --app-code ${app} --name app-${app}`;
    expect(await runAlone(`${line} --api-key-stdin --no-check`, { home, stdin: `key-${app}\n` })).toMatchObject({
      exitCode: 0,
    });
  }
  return (line) => runAlone(line, { home });
}

describe('--all-apps asks every stored application', () => {
  test.each<[string, readonly number[], string, number, string]>([
    ['list', [1, 2], 'license list --all-apps -q', 0, 'K-1\nK-2\nK-3\nK-1\n'],
    ['list of one user', [1, 2], 'license list --all-apps --remote-user ada -q', 0, 'K-1\nK-3\n'],
    ['list by pattern', [1, 2], "license list --all-apps --match '*b' -q", 0, 'K-2\n'],
    ['view of a user', [1, 2], 'license view --all-apps --remote-user ada -q', 0, 'K-1\nK-3\n'],
    ['view of a user, one refused', [1, 3, 2], 'license view --all-apps --remote-user ada -q', 8, 'K-1\nK-3\n'],
    ['view of nobody', [1, 2], 'license view --all-apps --remote-user nobody', 5, ''],
    ['view of a code', [1, 2], 'license view K-3 --all-apps -q', 0, 'K-3\n'],
    ['view of a code that nobody knows', [1, 2], 'license view K-9 --all-apps', 5, ''],
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

  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 3,
    message: 'no licensing credential is stored',
  });
});
