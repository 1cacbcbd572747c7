import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import { openOrigin } from '../../helpers/origin.ts';
import { emptyHome, runAlone } from '../../helpers/run.ts';

/** A server whose filter finds no name with one of these signs. */
async function misreading(signs: string) {
  const rows: { license_code: string; remote_user: string; app_code: number; size_allowance: number }[] = [];
  const { port, seen } = await openOrigin(({ method, url, body }) => {
    const { pathname, searchParams } = new URL(url, 'http://licensing.test');
    if (method === 'POST') {
      const asked = JSON.parse(body) as { remote_user: string; size_allowance: number };
      const row = { license_code: `KEY-${rows.length}`, app_code: 7, ...asked };
      rows.push(row);
      return { status: 201, body: JSON.stringify(row) };
    }
    const row = rows.find(({ license_code }) => pathname === `/v1/license/${license_code}/`);
    if (row) return { body: JSON.stringify(row) };
    const user = searchParams.get('remote_user');
    const isRead = user === null || !Array.from(user).some((sign) => signs.includes(sign));
    return { body: JSON.stringify(isRead ? rows.filter((one) => user === null || one.remote_user === user) : []) };
  });
  const home = emptyHome();
  const env = {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`,
    CHATELAINE_API_KEY: 'licensing-key-5f1d0c',
    CHATELAINE_APP_CODE: '7',
  };
  const run = (line: string | readonly string[], stdin = '') => runAlone(line, { env, home, stdin });
  return { run, rows, posts: () => seen.filter(({ method }) => method === 'POST').length };
}

const roster = (users: readonly string[]): string =>
  JSON.stringify(users.map((remote_user) => ({ remote_user, size_allowance: 4 })));
const signs = ['\\', '(', '?', ',', "'", '<', '[', '/', ':', '=', '+', '%', ';', '&', '#'];

describe.each(sampleOf(3, signs))('a filter that misreads %s', (sign) => {
  const users = [1, 2, 3, 4, 5, 6].map((number) => `ward${sign}${number}`);

  test('apply creates one license, and the next run none', async () => {
    const { run, rows } = await misreading(sign);

    const first = await run(['license', 'apply', '-', '--settle', '0s', '-o', 'json'], roster(users));
    const second = await run(['license', 'apply', '-', '--settle', '0s', '-o', 'json'], roster(users));

    expect([first.exitCode, second.exitCode, rows.length]).toEqual([9, 9, 1]);
    expect(new Set(rows.map(({ remote_user }) => remote_user)).size).toBe(rows.length);
    expect(first.error?.message).toContain('the request for');
  });

  test('ensure says so: 9, and again', async () => {
    const { run, posts } = await misreading(sign);
    const ensure = ['license', 'ensure', '--remote-user', users[0] ?? '', '--size-allowance', '4', '--settle', '0s'];

    const codes = [await run(ensure), await run(ensure)].map(({ exitCode }) => exitCode);

    expect([codes, posts()]).toEqual([[9, 9], 1]);
  });

  test('of users who have a license one gets a second one at most, and the history has its key', async () => {
    const { run, rows, posts } = await misreading(sign);
    for (const remote_user of users)
      rows.push({ license_code: `OLD-${rows.length}`, remote_user, app_code: 7, size_allowance: 4 });
    const codes: unknown[] = [];
    for (const user of users)
      codes.push(
        (await run(['license', 'ensure', '--remote-user', user, '--size-allowance', '4', '--settle', '0s'])).exitCode,
      );

    expect([codes, posts()]).toEqual([users.map(() => 9), 1]);
    const { stdout } = await run(['license', 'history', '--fields', 'license_code_end', '-o', 'tsv', '--no-header']);
    expect(stdout).toBe('EY-6\n');
  });
});

test('a sign that the filter reads holds up nothing', async () => {
  const { run, rows } = await misreading('');
  const users = signs.flatMap((sign) => [`a${sign}1`, `b${sign}2`]);

  expect((await run(['license', 'apply', '-', '--settle', '0s'], roster(users))).exitCode).toBe(0);
  expect(rows.map(({ remote_user }) => remote_user).toSorted()).toEqual(users.toSorted());
});
