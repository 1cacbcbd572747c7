import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/core/system.ts';
import { ledgerAddress, type LedgerAddress } from '../../../src/store/ledger/ledger-address.ts';
import { needs } from '../../helpers/needs.ts';
import { failureOf, place } from '../place.ts';

const addressOf = (url: string, env: Environment = {}): Promise<LedgerAddress> => ledgerAddress(url, place(env).system);

test('a URL says where the ledger is, and the environment fills in what it leaves out', async () => {
  const env = { PGHOST: 'elsewhere', PGPORT: '6000', PGUSER: 'somebody', PGDATABASE: 'other', PGPASSWORD: 'p' };
  expect(await addressOf('postgresql://r%40x@db.example.com:5433/led%2Fger', env)).toMatchObject({
    host: 'db.example.com',
    port: 5433,
    user: 'r@x',
    database: 'led/ger',
    name: 'db.example.com:5433/led/ger',
  });
  expect(await addressOf('postgres://', env)).toMatchObject({
    host: 'elsewhere',
    port: 6000,
    user: 'somebody',
    database: 'other',
  });
  expect(await addressOf('postgres://role@/ledger?host=/run/postgresql')).toMatchObject({
    host: '/run/postgresql',
    user: 'role',
    database: 'ledger',
    tls: 'none',
    name: 'socket/ledger',
  });
});

test.each([
  ['postgres://r@db.example.com/x', {}, 'verify-full'],
  ['postgres://r@10.0.0.7/x', {}, 'verify-full'],
  ['postgres://r@localhost/x', {}, 'none'],
  ['postgres://r@127.0.0.1/x', {}, 'none'],
  ['postgres://r@[::1]/x', {}, 'none'],
  ['postgres://r@localhost/x?sslmode=verify-full', {}, 'verify-full'],
  ['postgres://r@db.example.com/x', { PGSSLMODE: 'require' }, 'encrypt'],
  ['postgres://r@db.example.com/x?sslmode=verify-ca', { PGSSLMODE: 'disable' }, 'verify-ca'],
  ['postgres://r@db.example.com/x?sslmode=disable', {}, 'none'],
  ['postgres://r@db.example.com/x?sslmode=require&sslrootcert=/ca.pem', {}, 'verify-ca'],
  ['postgres://r@db.example.com/x?sslmode=disable&sslrootcert=/ca.pem', {}, 'none'],
  ['postgres://r@localhost/x?sslmode=verify-full', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'verify-full'],
])('TLS of %s with %o is %s', async (url, env, tls) => {
  expect((await addressOf(url, env)).tls).toBe(tls);
});

test('the password is that of the environment, else of the first line that fits', needs('modes'), async () => {
  const { folder, system } = place();
  const PGPASSFILE = join(folder, 'pgpass');
  const lines = ['# host:port', 'db:5432:x:ada:1', 'db:1:x:r:2', 'db:5432:x:r:', 'db:*:x:r:a\\:b', 'db:5432:x:r:3'];
  writeFileSync(PGPASSFILE, [...lines, 'localhost:5432:x:r:4', ''].join('\n'), { mode: 0o600 });
  const passwordOf = async (url: string, env: Environment = {}) =>
    (await ledgerAddress(url, { ...system, env: { ...system.env, PGPASSFILE, ...env } })).password?.reveal();
  expect(await passwordOf('postgres://r@db/x')).toBe('a:b');
  expect(await passwordOf('postgres://r@/x?host=/run')).toBe('4');
  expect(await passwordOf('postgres://r@elsewhere/x')).toBeUndefined();
  expect(await passwordOf('postgres://r@db/x', { PGPASSWORD: 'p' })).toBe('p');
});

test.each([
  ['https://db/x', 'usage'],
  ['postgres:x', 'usage'],
  ['postgres://db/x?application_name=a', 'usage'],
  ['postgres://db/x?sslmode=allow', 'config'],
  ['postgres://db/x?port=0', 'config'],
  ['postgres://db/x?port=65536', 'config'],
  ['postgres://db/x?service=none', 'usage'],
])('%s is refused', async (url, kind) => {
  expect((await failureOf(() => addressOf(url))).kind).toBe(kind);
});

test.each(['', '?sslmode=verify-ca'])(
  'a ledger beyond loopback is refused where Node trusts every certificate%s',
  async (mode) => {
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { kind, message } = await failureOf(() => addressOf(`postgres://r@db.example.com/x${mode}`, env));
    expect([kind, message]).toEqual(['config', expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0')]);
  },
);
