import { describe, expect, test } from 'vitest';
import { openOrigin, type Respond } from '../helpers/origin.ts';
import { runAlone, type Ran } from '../helpers/run.ts';

const envOf = (port: number): Record<string, string> => ({
  CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`,
  CHATELAINE_API_KEY: 'licensing-key-1',
  CHATELAINE_APP_CODE: '7',
  CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`,
  CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
  CHATELAINE_CHAT_API_KEY: 'chat-key-1',
});

const runAt = (port: number, line: string): Promise<Ran> => runAlone(`${line} -o json`, { env: envOf(port) });

const statuses = [301, 302, 303, 307, 308];
const reads = ['license list', 'license view ABCDE-12345', 'first-activation D422CD000301', 'messages fetch'];
const writes = [
  'license create --remote-user ada --size-allowance 4',
  'license edit ABCDE-12345 --size-allowance 4',
  'license edit ABCDE-12345 --size-allowance 4 --remote-user ada --app-code 7 --replace',
  'settings set full_name=Ada',
  'settings set email=ada@b.test',
  'view pin inbox',
  'view rename narrow/is/alerted Zed',
  'snippet rm 1',
];

const redirecting =
  (status: number, location: string): Respond =>
  ({ url }) =>
    url.startsWith('/elsewhere') ? { body: '[]' } : { status, headers: { location }, body: '' };

describe('redirects', () => {
  test.each(statuses)('of a read inside the origin (%i) are followed with the key', async (status) => {
    const { port, seen } = await openOrigin(redirecting(status, '/elsewhere/'));
    expect((await runAt(port, 'license list')).exitCode).toBe(0);
    expect(seen.map(({ url, authorization }) => [url, authorization])).toEqual([
      ['/v1/license/', 'Token licensing-key-1'],
      ['/elsewhere/', 'Token licensing-key-1'],
    ]);
  });

  test.each(reads)('%s: to another origin nothing is sent', async (line) => {
    const other = await openOrigin();
    const { port, seen } = await openOrigin(redirecting(302, `http://127.0.0.1:${other.port}/elsewhere/`));
    const ran = await runAt(port, line);
    expect(ran.error).toMatchObject({ code: 'rejected', exit: 6, retryable: false });
    expect({ came: seen.length, elsewhere: other.connections() }).toEqual({ came: 1, elsewhere: 0 });
  });

  test.each([
    ['another name of the same machine', (own: number, other: number) => `http://localhost:${other || own}/`],
    ['a URL without a scheme', (_own: number, other: number) => `//127.0.0.1:${other}/`],
    ['backslashes', (_own: number, other: number) => `\\\\127.0.0.1:${other}\\`],
    ['the own origin as a user name', (own: number, other: number) => `http://127.0.0.1:${own}@127.0.0.1:${other}/`],
    ['https', (own: number) => `https://127.0.0.1:${own}/`],
    ['no URL at all', () => 'http://['],
    ['a script', () => 'javascript:alert(1)'],
  ])('by %s are not followed', async (_what, location) => {
    const other = await openOrigin();
    const { port, seen } = await openOrigin(({ url }) =>
      url === '/v1/license/' ? { status: 302, headers: { location: location(port, other.port) }, body: '' } : {},
    );
    expect((await runAt(port, 'license list')).exitCode).toBe(6);
    expect({ came: seen.length, elsewhere: other.connections() }).toEqual({ came: 1, elsewhere: 0 });
  });

  test('in a circle end', async () => {
    const { port, seen } = await openOrigin(() => ({ status: 302, headers: { location: '/v1/license/' }, body: '' }));
    const { error } = await runAt(port, 'license list');
    expect(error).toMatchObject({
      exit: 6,
      message: `more than 5 redirects, the last to http://127.0.0.1:${port} (302)`,
    });
    expect(seen).toHaveLength(6);
  });

  test.each(writes.map((line, index) => [line, statuses[index % statuses.length] ?? 301] as const))(
    '%s: a write is not redirected (%i), not even inside the origin',
    async (line, status) => {
      const license = { license_code: 'ABCDE-12345', remote_user: 'ada', app_code: 7, size_allowance: 2 };
      const { port, seen } = await openOrigin(({ method, url }) => {
        if (method !== 'GET') return { status, headers: { location: '/elsewhere/' }, body: '' };
        return url.includes('ABCDE-12345') ? { body: JSON.stringify(license) } : {};
      });
      const ran = await runAt(port, line.startsWith('license create') ? `${line} --settle 1ms` : line);
      // A redirect answers a POST, and no list shows what it created.
      const refused = line.startsWith('license create') ? { code: 'unknown', exit: 9 } : { code: 'rejected', exit: 6 };
      expect(ran.error).toMatchObject(refused);
      expect(seen.filter(({ method }) => method !== 'GET')).toHaveLength(1);
      expect(seen.filter(({ url }) => url.startsWith('/elsewhere'))).toEqual([]);
    },
  );

  test('of a license are reported without its code', async () => {
    const { port } = await openOrigin(({ url }) => ({
      status: 302,
      headers: { location: `https://elsewhere.example${url}` },
      body: '',
    }));
    const ran = await runAt(port, 'license view CANARY-12345 --trace');
    expect(ran.exitCode).toBe(6);
    expect(ran.stderr).not.toContain('CANARY-12345');
  });
});

test("of a list's next only the query is used, on the own origin", async () => {
  const other = await openOrigin();
  const { port, seen } = await openOrigin(({ url }) => ({
    body: url.includes('page=2')
      ? '{"next":null,"results":[{"license_code":"B","remote_user":"b"}]}'
      : `{"next":"http://127.0.0.1:${other.port}/steal/?page=2","results":[{"license_code":"A","remote_user":"a"}]}`,
  }));
  const ran = await runAt(port, 'license list --fields license_code');
  expect(JSON.parse(ran.stdout)).toEqual([{ license_code: 'A' }, { license_code: 'B' }]);
  expect(seen.map(({ url }) => url)).toEqual(['/v1/license/', '/v1/license/?page=2']);
  expect(other.connections()).toBe(0);
});

describe('connections', () => {
  const macs = Array.from({ length: 20 }, (_unused, index) => `D422CD0003${String(index).padStart(2, '0')}`);

  test('are kept: twenty requests one after another take one', async () => {
    const { port, seen, connections } = await openOrigin(() => ({ body: '{"license_code":"A","remote_user":"a"}' }));
    expect((await runAt(port, `first-activation ${macs.join(' ')}`)).exitCode).toBe(0);
    expect({ requests: seen.length, connections: connections() }).toEqual({ requests: 20, connections: 1 });
  });

  test('four workers take four', async () => {
    const { port, seen, connections } = await openOrigin(() => ({ body: '{"license_code":"A","remote_user":"a"}' }));
    const stdin = ['mac_address,remote_user', ...macs.map((mac) => `${mac},a`)].join('\n');
    const line = 'first-activation audit - --input-format csv --concurrency 4';
    expect((await runAlone(line, { env: envOf(port), stdin })).exitCode).toBe(0);
    expect(seen).toHaveLength(20);
    expect(connections()).toBeLessThanOrEqual(4);
  });

  test.each([502, 503, 504, 500, 408])('are not used again after a 5xx or 408: %d', async (status) => {
    const { port, seen, connections, open } = await openOrigin((_request, count) => (count === 1 ? { status } : {}));
    const { exitCode } = await runAt(port, `license list --retries ${status === 500 ? 0 : 1}`);
    expect({ exitCode, requests: seen.length }).toEqual({
      exitCode: status === 500 ? 7 : 0,
      requests: status === 500 ? 1 : 2,
    });
    expect(connections()).toBe(seen.length);
    if (status === 500) await expect.poll(open).toBe(0);
  });

  test('of apply above 20 users: those of its workers', async () => {
    const rows = new Map<string, object>();
    const { port, seen, connections } = await openOrigin(({ method, url, body }) => {
      const user = new URL(url, 'http://here').searchParams.get('remote_user');
      if (method === 'GET')
        return { body: JSON.stringify([...rows].flatMap(([name, row]) => ((user ?? name) === name ? [row] : []))) };
      const license = JSON.parse(body) as { remote_user: string };
      rows.set(license.remote_user, { license_code: `K-${license.remote_user}`, ...license });
      return { status: 201, body: JSON.stringify(rows.get(license.remote_user)) };
    });
    const stdin = JSON.stringify(
      Array.from({ length: 25 }, (_, index) => ({ remote_user: `u-${index}`, size_allowance: 4 })),
    );

    const { exitCode } = await runAlone('license apply - --concurrency 4', { env: envOf(port), stdin });

    expect({ exitCode, rows: rows.size }).toEqual({ exitCode: 0, rows: 25 });
    expect(seen.filter(({ method, url }) => method === 'GET' && !url.includes('remote_user'))).toHaveLength(2);
    expect(connections()).toBeLessThanOrEqual(4);
  });
});
