import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { ledgerScript, ledgerVersion } from '../../../src/store/ledger/ledger-sql.ts';
import { hashesOf } from '../../../src/store/record/run-record.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { openAuthority } from '../../helpers/authority.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { needs } from '../../helpers/needs.ts';
import { emptyHome, fakeService, openSandbox, run, runAlone } from '../../helpers/run.ts';
import { systemIn } from '../../store/system.ts';

const ensure = 'license ensure --remote-user ada --size-allowance 4 -o json';

test('ledger init --dry-run without a ledger prints the SQL of a new one', async () => {
  const { exitCode, stdout } = await runAlone('ledger init --dry-run');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: ledgerScript });
});

test.each(['ledger init', 'ledger status'])('%s without a ledger is exit 3', async (line) => {
  const { exitCode, error } = await runAlone(`${line} -o json`);
  expect([exitCode, error?.message]).toEqual([3, 'no ledger is configured']);
});

test('a ledger that is set and empty, as by a missing secret of a CI, is exit 3, and nothing is sent', async () => {
  const service = fakeService();
  const { exitCode, error } = await run(service, ensure, { env: { CHATELAINE_LEDGER: '' } });
  expect([exitCode, error?.message]).toEqual([3, 'CHATELAINE_LEDGER is set and empty']);
  service.done();
});

test('a ledger that cannot be reached is exit 7, and nothing is sent', async () => {
  const service = fakeService();
  const env = { CHATELAINE_LEDGER: 'postgres://127.0.0.1:1/x' };
  for (const line of [ensure, 'license create --remote-user ada --size-allowance 4 -o json']) {
    const { exitCode, error } = await run(service, line, { env });
    expect([exitCode, error?.message]).toEqual([
      7,
      'the ledger 127.0.0.1:1/x is not available: connect ECONNREFUSED 127.0.0.1:1',
    ]);
  }
  service.done();
});

test('a dry run asks no ledger', async () => {
  const { run: runIt } = await openSandbox();
  const { exitCode } = await runIt(`${ensure} --dry-run`, { env: { CHATELAINE_LEDGER: 'postgres://127.0.0.1:1/x' } });
  expect(exitCode).toBe(0);
});

test('the sandbox uses no ledger', async () => {
  const env = { CHATELAINE_LEDGER: 'postgres://127.0.0.1:1/x' };
  const { exitCode, stdout } = await runAlone(`--sandbox ${ensure}`, { env });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('ada') as string]);
});

const password = 'Tr0ub4dor&3-correct-horse';

test.each([
  ['in the environment', ensure, { CHATELAINE_LEDGER: `postgres://u:${password}@db/x` }, 3],
  ['in a parameter', ensure, { CHATELAINE_LEDGER: `postgres://u@db/x?password=${password}` }, 3],
  ['with a slash', ensure, { CHATELAINE_LEDGER: `postgres://u:${password}/x@db/x` }, 3],
  [
    'typed',
    `auth login licensing --base-url http://localhost:1 --app-code 7 --ledger 'postgres://u:${password}@db/x' -o json`,
    {},
    2,
  ],
])('a password %s is refused and not repeated', async (_where, line, env, expected) => {
  const service = fakeService();
  const { exitCode, stdout, stderr } = await run(service, line, { env });
  expect(exitCode).toBe(expected);
  expect(stdout + stderr).not.toContain(password.slice(0, 6));
  expect(stderr).toMatch(/ledger/);
});

describe('with a database', needs('postgresql'), () => {
  let cluster: Cluster;
  const env = (): { readonly CHATELAINE_LEDGER: string } => ({ CHATELAINE_LEDGER: cluster.url });

  beforeAll(async () => {
    cluster = await startPostgres();
    await cluster.query(ledgerScript + madeLongAgo);
  });

  afterAll(() => cluster.stop());

  // What a run of another test left open is none of this one.
  beforeEach(() => cluster.query('TRUNCATE chatelaine.line, chatelaine.run'));

  /** Another machine was answered for that user, and no list has shown the license. */
  async function leaveOpen(url: string, database: string, user: string): Promise<void> {
    const [{ origin } = {}] = await cluster.query(
      `SELECT entry->>'origin' AS origin FROM chatelaine.event`,
      [],
      database,
    );
    const signal = new AbortController().signal;
    const host = { system: systemIn(cluster.socket), clock: realClock, alarm: realAlarm, signal, caFile: undefined };
    const ledger = new Ledger(url, { ...host, watch: (secret) => secret });
    const run = { token: 'other', run: 'ABCD', command: 'license ensure', note: () => undefined };
    const place = await ledger.writes(String(origin), { ...run, settle: 5000, requestLimit: 30_000 });
    const open = { app_code: 4711, remote_user: user };
    const hashes = hashesOf(place.salt, open);
    await place.tryLock(open, hashes.folded);
    const asked = { kind: 'creation', app_code: 4711, settle: 5000, unanswered: 0 } as const;
    await place.append([{ begin: 1, users: [hashes], asked }]);
    await place.append([{ end: 1, is: 'answered', status: 201, key_end: 'F69B' }]);
    await cluster.query(`UPDATE chatelaine.line SET at = '2026-03-01T12:00:00Z'`, [], database);
    await ledger.close();
  }

  test('ledger init creates the schema once', async () => {
    await cluster.query('CREATE DATABASE other');
    const other = { CHATELAINE_LEDGER: cluster.url.replace('/postgres?', '/other?') };
    const before = await runAlone('ledger status -o json', { env: other });
    expect([before.exitCode, before.error?.hint]).toEqual([3, 'Create it once: chatelaine ledger init']);
    const first = await runAlone('ledger init', { env: other });
    expect([first.exitCode, first.stdout]).toEqual([0, `socket:${cluster.port}/other: created\n`]);
    const again = await runAlone('ledger init -o json', { env: other });
    expect(JSON.parse(again.stdout)).toEqual({
      ledger: `socket:${cluster.port}/other`,
      version: ledgerVersion,
      status: 'unchanged',
    });
  });

  test('license history of a user shows what runs of other machines did, and the ledger holds no name', async () => {
    await cluster.query('CREATE DATABASE told');
    await cluster.query(ledgerScript + madeLongAgo, [], 'told');
    const { run: runIt } = await openSandbox();
    const ledger = { CHATELAINE_LEDGER: cluster.url.replace('/postgres?', '/told?') };
    const machine = (SUDO_USER: string) => ({ env: { ...ledger, SUDO_USER }, home: emptyHome() });
    const [one, other, third] = [machine('anna'), machine('bert'), machine('cora')];
    const at = (minute: number) => ({ now: Date.UTC(2026, 2, 1, 12, minute) });
    await runIt('license ensure --remote-user ada --size-allowance 3', { ...one, ...at(1) });
    const stdin = 'remote_user,size_allowance\nada,5\nben,2\n';
    await runIt('license apply - -q', { ...other, ...at(2), stdin });
    await runIt('license rename ada adele -y', { ...one, ...at(3) });
    await runIt('license retire --remote-user adele -y', { ...other, ...at(4) });
    const history = async (user: string, given: typeof one): Promise<readonly unknown[]> => {
      const fields = 'account,command,remote_user,change';
      const { stdout } = await runIt(`license history --remote-user ${user} -o json --fields ${fields}`, given);
      return (JSON.parse(stdout) as Record<string, unknown>[]).map(({ account, ...row }) => [
        /sudo: (\w+)/.exec(String(account))?.[1],
        ...Object.values(row),
      ]);
    };
    const upTo = [
      ['anna', 'license ensure', 'ada', 'created'],
      ['bert', 'license apply', 'ada', 'resized 3 -> 5'],
    ];
    expect(await history('ada', third)).toEqual([...upTo, ['anna', 'license rename', '?', 'renamed from ada']]);
    // What this machine did itself is shown once, with all names.
    expect(await history('ada', one)).toEqual([...upTo, ['anna', 'license rename', 'adele', 'renamed from ada']]);
    expect(await history('adele', third)).toEqual([
      ['anna', 'license rename', 'adele', 'renamed from ?'],
      ['bert', 'license retire', '?', 'retired adele'],
    ]);
    expect(await history('ben', third)).toEqual([['bert', 'license apply', 'ben', 'created']]);
    const rows = await cluster.query('SELECT e::text AS row FROM chatelaine.event e', [], 'told');
    expect(rows.length).toBe(12);
    // A digest may have "ada" among its digits.
    expect(JSON.stringify(rows).replaceAll(/[\da-f]{20}/g, '')).not.toMatch(/ada|adele|ben/);
  });

  test.each(['rename ada adele -y', "edit --match 'ada' --size-allowance 4 -y", 'retire --remote-user ada -y'])(
    'no license is changed without the ledger that is configured: %s',
    async (words) => {
      const { run: runIt, sandbox } = await openSandbox();
      const given = { env: { CHATELAINE_LEDGER: 'postgres://127.0.0.1:1/x' }, home: emptyHome() };
      await runIt('license create --remote-user ada --size-allowance 3', { home: given.home });
      const { exitCode } = await runIt(`license ${words}`, given);
      const licenses = sandbox.state.licenses().map((one) => [one.remote_user, one.size_allowance]);
      expect([exitCode, licenses]).toEqual([7, expect.arrayContaining([['ada', 3]])]);
    },
  );

  test.each([
    ['few rows, unchanged', 2, 4],
    ['few rows, resized', 2, 5],
    ['a list, unchanged', 30, 4],
    ['a list, resized', 30, 5],
  ])('apply closes an answer that was open once the list shows the license: %s', async (what, count, size) => {
    const database = what.replaceAll(/\W+/g, '_');
    await cluster.query(`CREATE DATABASE ${database}`);
    await cluster.query(ledgerScript + madeLongAgo, [], database);
    const url = cluster.url.replace('/postgres?', `/${database}?`);
    const { run: runIt } = await openSandbox();
    const given = { env: { CHATELAINE_LEDGER: url }, home: emptyHome() };
    const users = Array.from({ length: count }, (_, index) => `open-${index}`);
    const roster = (allowance: number) =>
      `remote_user,size_allowance\n${users.map((user) => `${user},${allowance}\n`).join('')}`;
    await runIt('license apply -', { ...given, stdin: roster(4) });
    await leaveOpen(url, database, 'open-1');
    const answers = async (): Promise<unknown> =>
      (
        await cluster.query(
          `SELECT count(*)::integer AS open FROM chatelaine.line WHERE line->>'is' = 'answered'`,
          [],
          database,
        )
      )[0]?.['open'];
    expect(await answers()).toBe(1);

    const { exitCode } = await runIt('license apply -', { ...given, stdin: roster(size) });

    expect([exitCode, await answers()]).toEqual([0, 0]);
    const status = await runIt('ledger status -o json', given);
    expect(status.stdout).toBe('[]\n');
  });

  test('psql takes what ledger init --dry-run prints', async () => {
    await cluster.query('CREATE DATABASE planned');
    const planned = { CHATELAINE_LEDGER: cluster.url.replace('/postgres?', '/planned?') };
    const script = (await runAlone('ledger init --dry-run', { env: planned })).stdout;
    expect((await runAlone('ledger status', { env: planned })).exitCode).toBe(3);
    await cluster.query(script, [], 'planned');
    expect((await runAlone('ledger init', { env: planned })).stdout).toContain('unchanged');
  });

  test('a ledger of a newer version is exit 3 for every command that uses it, and nothing is sent', async () => {
    await cluster.query('CREATE DATABASE newer');
    await cluster.query(ledgerScript + madeLongAgo, [], 'newer');
    await cluster.query(`UPDATE chatelaine.ledger SET version = ${ledgerVersion + 1}`, [], 'newer');
    const newer = { CHATELAINE_LEDGER: cluster.url.replace('/postgres?', '/newer?') };
    const service = fakeService();
    for (const line of ['ledger init -o json', ensure]) {
      const { exitCode, error } = await run(service, line, { env: newer });
      expect([exitCode, error?.message, error?.hint]).toEqual([
        3,
        expect.stringContaining(`version ${ledgerVersion + 1}`) as string,
        'Upgrade chatelaine on this machine.',
      ]);
    }
    service.done();
  });

  test('a ledger of an older version is exit 3 with what to do, and doctor says so', async () => {
    await cluster.query('CREATE DATABASE older');
    await cluster.query(ledgerScript + madeLongAgo, [], 'older');
    await cluster.query('UPDATE chatelaine.ledger SET version = 2', [], 'older');
    const older = { CHATELAINE_LEDGER: cluster.url.replace('/postgres?', '/older?') };
    const hint =
      'Once chatelaine is upgraded on all machines, and no run is working, DROP SCHEMA chatelaine CASCADE, then: chatelaine ledger init';
    const service = fakeService();
    const { exitCode, error } = await run(service, ensure, { env: older });
    expect([exitCode, error?.message, error?.hint]).toEqual([3, expect.stringContaining('has version 2'), hint]);
    service.done();
    const { run: runIt } = await openSandbox();
    const rows = JSON.parse((await runIt('doctor -o json', { env: older })).stdout) as {
      check: string;
      status: string;
    }[];
    const row = rows.find(({ check }) => check === 'ledger');
    expect([row?.status, JSON.stringify(row)]).toEqual(['problem', expect.stringContaining(hint)]);
  });

  test('ensure, create and apply record in the ledger of the environment, and leave nothing', async () => {
    const { run: runIt } = await openSandbox();
    const home = emptyHome();
    const written = async () => {
      const [row] = await cluster.query(`SELECT last_value FROM pg_sequences WHERE sequencename = 'line_seq_seq'`);
      return Number(row?.['last_value']);
    };
    writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\nl1,4\nl2,4\nl3,4\n');
    for (const line of [
      ensure,
      'license create --remote-user ben --size-allowance 4',
      `license apply ${join(home, 'roster.csv')}`,
    ]) {
      const before = await written();
      const { exitCode, stderr } = await runIt(line, { env: env(), home });
      expect({ exitCode, line, stderr }).toMatchObject({ exitCode: 0 });
      expect(await written()).toBeGreaterThan(before);
    }
    expect((await runAlone('ledger status -o json', { env: env() })).stdout).toBe('[]\n');
    expect(await cluster.query('SELECT FROM chatelaine.line')).toEqual([]);
  });

  test('a profile has a ledger, kept at the next sign-in, which the environment replaces', async () => {
    const { run: runIt, env: keys } = await openSandbox();
    const home = emptyHome();
    const login = `auth login licensing --base-url ${keys['CHATELAINE_BASE_URL'] ?? ''} --app-code 4711 --name prod --api-key-stdin`;
    const given = { home, bare: true, stdin: `${keys['CHATELAINE_API_KEY'] ?? ''}\n` };
    await runIt([...login.split(' '), '--ledger', cluster.url], given);
    await runIt(login, given);
    const status = await runIt('ledger status', { home, bare: true });
    expect([status.exitCode, status.stderr]).toEqual([0, 'No run is active, and none left an open request.\n']);
    const line = 'license ensure --remote-user of-profile --size-allowance 4 -o json';
    const gone = { CHATELAINE_LEDGER: 'postgres://127.0.0.1:1/x' };
    expect((await runIt(line, { home, bare: true, env: gone })).exitCode).toBe(7);
    expect((await runIt(line, { home, bare: true })).exitCode).toBe(0);
    const doctor = await runIt('doctor -o json', { home, bare: true });
    const rows = JSON.parse(doctor.stdout) as { check: string; subject: string; status: string }[];
    expect(rows.filter(({ check }) => check === 'ledger')).toEqual([
      expect.objectContaining({
        subject: 'in use',
        status: 'ok',
        detail: expect.stringContaining('reached') as string,
      }),
    ]);
  });

  test('doctor names a ledger that cannot be used', async () => {
    const { run: runIt } = await openSandbox();
    const { exitCode, stdout } = await runIt('doctor -o json', {
      env: { CHATELAINE_LEDGER: 'postgres://127.0.0.1:1/x' },
    });
    const row = (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'ledger');
    expect(exitCode).toBe(7);
    expect(row).toMatchObject({ subject: 'in use', status: 'problem' });
  });

  test('a run with the ledger also locks and records on its machine, for runs without it', async () => {
    const sandbox = await openSandbox({ faults: readFaults('POST /v1/license/=drop-before', 1) });
    const home = emptyHome();
    const line = 'license ensure --remote-user ada --size-allowance 4 --retries 0 --settle 100ms -o json';
    expect((await sandbox.run(line, { env: env(), home })).exitCode).toBe(9);
    expect(await cluster.query('SELECT line FROM chatelaine.line ORDER BY seq DESC LIMIT 1')).toMatchObject([
      { line: { is: 'no answer' } },
    ]);
    const folder = join(home, '.local/state/chatelaine/locks');
    const [server = ''] = readdirSync(folder);
    expect(readdirSync(join(folder, server))).toEqual([expect.stringMatching(/\.run$/)]);
  });

  test(
    'TLS is as sslmode says; verify-full wants a trusted certificate of that very host',
    needs('openssl'),
    async () => {
      const authority = openAuthority();
      onTestFinished(() => authority.close());
      await cluster.useCertificate(authority.issue('DNS:localhost'));
      await cluster.query(
        'CREATE ROLE careful LOGIN; GRANT USAGE ON SCHEMA chatelaine TO careful; GRANT SELECT ON ALL TABLES IN SCHEMA chatelaine TO careful',
      );
      await cluster.requireTls('careful');
      const status = async (host: string, mode: string, given = '', more: Readonly<Record<string, string>> = {}) => {
        const url = `postgres://careful@${host}:${cluster.port}/postgres?sslmode=${mode}`;
        return (await runAlone(`ledger status -o json ${given}`, { env: { CHATELAINE_LEDGER: url, ...more } }))
          .exitCode;
      };
      const trusting = `--ca-file ${authority.file}`;
      expect(await status('localhost', 'verify-full', trusting)).toBe(0);
      expect(await status('localhost', 'verify-full')).toBe(7);
      expect(await status('127.0.0.1', 'verify-full', trusting)).toBe(7);
      expect(await status('127.0.0.1', 'verify-ca', trusting)).toBe(0);
      expect(await status('localhost', 'verify-ca')).toBe(7);
      expect(await status('localhost', 'require')).toBe(0);
      const other = openAuthority();
      onTestFinished(() => other.close());
      const extra = { NODE_EXTRA_CA_CERTS: authority.file };
      expect(await status('localhost', 'verify-full', `--ca-file ${other.file}`)).toBe(7);
      expect(await status('localhost', 'verify-full', `--ca-file ${other.file}`, extra)).toBe(0);
      expect(await status('localhost', 'require', '', { PGSSLROOTCERT: other.file })).toBe(7);
      expect(await status('127.0.0.1', 'require', '', { PGSSLROOTCERT: authority.file })).toBe(0);
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(await status('localhost', 'verify-full')).toBe(7);
      expect(await status('localhost', 'verify-ca')).toBe(7);
      vi.unstubAllEnvs();
      expect(await status('localhost', 'disable')).toBe(4);
      expect(await status('localhost', 'prefer')).toBe(3);
    },
  );

  test('the password comes from PGPASSWORD, PGPASSFILE and ~/.pgpass, as libpq reads them', async () => {
    await cluster.query(
      `CREATE ROLE secretive LOGIN PASSWORD '${password}'; GRANT USAGE ON SCHEMA chatelaine TO secretive; GRANT SELECT ON ALL TABLES IN SCHEMA chatelaine TO secretive`,
    );
    await cluster.requirePassword('secretive');
    const url = `postgres://secretive@127.0.0.1:${cluster.port}/postgres`;
    const status = (given: Readonly<Record<string, string>>, home = emptyHome()) =>
      runAlone('ledger status -o json', { env: { CHATELAINE_LEDGER: url, ...given }, home });
    const none = await status({});
    expect([none.exitCode, none.error?.message]).toEqual([
      3,
      expect.stringContaining('needs a password for secretive'),
    ]);
    const wrong = await status({ PGPASSWORD: 'not-this-one' });
    expect([wrong.exitCode, wrong.error?.code]).toEqual([4, 'auth']);
    expect((await status({ PGPASSWORD: password })).exitCode).toBe(0);

    const home = emptyHome();
    const line = `*:${cluster.port}:postgres:secretive:${password}\n`;
    writeFileSync(join(home, '.pgpass'), `# a comment\nelsewhere:1:a:b:c\n${line}`, { mode: 0o600 });
    expect((await status({}, home)).exitCode).toBe(0);
    writeFileSync(join(home, 'open'), line, { mode: 0o644 });
    const open = await status({ PGPASSFILE: join(home, 'open') }, home);
    expect([open.exitCode, open.error?.hint]).toEqual([3, expect.stringContaining('chmod 600')]);
  });
});
