import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import { openOrigin } from '../../helpers/origin.ts';
import { emptyHome, runAlone } from '../../helpers/run.ts';

/** A server that keeps names otherwise, and compares its filter exactly. */
async function storing(change: (name: string) => string, isMute = false) {
  const rows: { license_code: string; remote_user: string; app_code: number; size_allowance: number }[] = [];
  const { port } = await openOrigin(({ method, url, body }) => {
    const { pathname, searchParams } = new URL(url, 'http://licensing.test');
    if (method === 'POST') {
      const asked = JSON.parse(body) as { remote_user: string; size_allowance: number };
      const row = {
        license_code: `KEY-${rows.length}0001`,
        app_code: 7,
        ...asked,
        remote_user: change(asked.remote_user),
      };
      rows.push(row);
      return { status: 201, body: JSON.stringify(isMute ? { license_code: row.license_code } : row) };
    }
    const row = rows.find(({ license_code }) => pathname === `/v1/license/${license_code}/`);
    if (row) return { body: JSON.stringify(row) };
    const user = searchParams.get('remote_user');
    return { body: JSON.stringify(rows.filter((one) => user === null || one.remote_user === user)) };
  });
  const home = emptyHome();
  const env = {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`,
    CHATELAINE_API_KEY: 'licensing-key-5f1d0c',
    CHATELAINE_APP_CODE: '7',
  };
  return { run: (line: readonly string[], stdin = '') => runAlone(line, { env, home, stdin }), rows };
}

const changes: readonly (readonly [string, (name: string) => string])[] = [
  ['in lower case', (name) => name.toLowerCase()],
  ['in upper case', (name) => name.toUpperCase()],
  ['without its domain', (name) => name.replace(/@.*$/, '')],
];

const servers = changes.flatMap(([what, change]) => [false, true].map((isMute) => [what, isMute, change] as const));

describe.each(sampleOf(3, servers))(
  'a server that stores a name %s (its response is mute: %s)',
  (_what, isMute, change) => {
    const settle = ['--settle', '0s'];

    test('ensure: created with a warning, then unchanged', async () => {
      const { run, rows } = await storing(change, isMute);
      const ensure = ['license', 'ensure', '--remote-user', 'Ada@Example.org', '--size-allowance', '4', ...settle];

      const [first, second] = [await run(ensure), await run(ensure)];

      const warning = `the server stores the name 'Ada@Example.org' as '${change('Ada@Example.org')}'`;
      expect([first.exitCode, second.exitCode, rows.length]).toEqual([0, 0, 1]);
      expect([first.stdout, second.stdout]).toEqual(['KEY-00001\n', 'KEY-00001\n']);
      expect(first.stderr).toContain(warning);
      expect(second.stderr).toContain('unchanged');
    });

    test('apply: created, then unchanged', async () => {
      const { run, rows } = await storing(change, isMute);
      const users = Array.from({ length: 6 }, (_, index) => `User${index}@Example.org`);
      const stdin = JSON.stringify(users.map((remote_user) => ({ remote_user, size_allowance: 4 })));
      const apply = ['license', 'apply', '-', '-o', 'json', ...settle];

      const [first, second] = [await run(apply, stdin), await run(apply, stdin)];

      expect([first.exitCode, second.exitCode, rows.length]).toEqual([0, 0, 6]);
      const statuses = (JSON.parse(second.stdout) as { status: string }[]).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set(['unchanged']));
    });
  },
);
