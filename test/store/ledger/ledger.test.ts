import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { ledgerAddress } from '../../../src/store/ledger/ledger-address.ts';
import { ledgerVersion, statements } from '../../../src/store/ledger/ledger-sql.ts';
import { Ledger, ledgerScript } from '../../../src/store/ledger/ledger.ts';
import { openDatabase } from '../../../src/store/ledger/postgres.ts';
import { knownOf, type AskedWrite, type UserLock, type WritePlace } from '../../../src/store/record/writes.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { needs } from '../../helpers/needs.ts';
import { failureOf } from '../place.ts';
import { systemIn } from '../system.ts';

const origin = 'https://licenses.test';
const asked: AskedWrite = { kind: 'creation', size_allowance: 4, licenses: 0, settle: 5000, unanswered: 0 };

describe('a ledger', needs('postgresql'), () => {
  let cluster: Cluster;
  let count = 0;
  const opened: Ledger[] = [];

  beforeAll(async () => {
    cluster = await startPostgres();
    await ledgerAt().init();
    await cluster.query(madeLongAgo);
  });

  afterAll(async () => {
    await Promise.all(opened.map((ledger) => ledger.close()));
    await cluster.stop();
  });

  /** A run of its own: its own connection. */
  function ledgerAt(url = cluster.url): Ledger {
    const signal = new AbortController().signal;
    const host = { system: systemIn(cluster.socket), clock: realClock, alarm: realAlarm, signal, caFile: undefined };
    const ledger = new Ledger(url, { ...host, watch: (secret) => secret });
    opened.push(ledger);
    return ledger;
  }

  function writesOf(ledger = ledgerAt(), note: (text: string) => void = () => undefined): Promise<WritePlace> {
    const run = `RUN${(count += 1)}`;
    const times = { settle: 5000, requestLimit: 30_000 };
    return ledger.writes(origin, { token: run.toLowerCase(), run, command: 'license apply', ...times, note });
  }

  const user = (remote_user: string, app_code = 7) => ({ app_code, remote_user });
  const write = (id: string, ...names: string[]) => ({ id, users: names.map((name) => user(name)), asked });

  async function knownBy(writes: WritePlace, name: string, app_code = 7) {
    const [unknown, known = []] = await writes.known([user('nobody'), user(name, app_code)]);
    expect(unknown?.some(({ isExact }) => isExact)).toBe(false);
    return knownOf(known, realClock.elapsed());
  }

  async function locked(writes: WritePlace, ...names: string[]): Promise<UserLock> {
    const lock = await writes.tryLock(names.map((name) => user(name)));
    if (!('release' in lock)) throw new Error(`held by ${lock.holder}`);
    return lock;
  }

  /** What a run gives back is free once it has taken another lock. */
  async function givenBack(writes: WritePlace): Promise<void> {
    await locked(writes, `after-${(count += 1)}`);
  }

  test('one run has a user, under whatever spelling, until it gives the user back', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    const lock = await locked(one, 'ada');
    const held = await other.tryLock([user('ADA ')]);
    expect('holder' in held ? held.holder : held).toMatch(
      /^license apply, process \d+ on here.test, since \d\d:\d\dZ$/,
    );
    expect(await one.tryLock([user(' ada')])).toMatchObject({ holder: 'this run' });
    await (await locked(other, 'ben')).release();
    expect(await other.tryLock([user('ada', 8)])).toHaveProperty('release');
    await lock.release();
    await givenBack(one);
    await locked(other, 'Ada');
  });

  test('of two names both are taken or none, and two spellings of one name are one', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    await locked(one, 'yve');
    expect(await other.tryLock([user('xan'), user('yve')])).toHaveProperty('holder');
    await givenBack(other);
    await (await locked(one, 'xan', 'Xan')).release();
    await givenBack(one);
    await locked(other, 'xan');
  });

  test('the progress of a holder changes with each line that it writes', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    await locked(one, 'gil');
    const progress = async () => {
      const lock = await other.tryLock([user('gil')]);
      return 'progress' in lock ? lock.progress : '';
    };
    const first = await progress();
    expect(await progress()).toBe(first);
    await one.begin(write('g-1', 'gil'));
    expect(await progress()).not.toBe(first);
  });

  test('what had no answer is pending for each name of one form until it is known, and open for the very name', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    const lock = await locked(one, 'cyd');
    await one.begin(write('c-1', 'cyd'));
    await one.end('c-1', { is: 'no answer', n: 3 });
    await one.begin(write('c-2', 'cyd'));
    await one.end('c-2', { is: 'answered', status: 201, key_end: 'wxyz' });
    await lock.release();
    const { pending, open } = await knownBy(other, 'cyd');
    expect(pending).toMatchObject([{ id: 'c-1', run: `RUN${count - 1}`, command: 'license apply', asked, n: 3 }]);
    expect(realClock.elapsed() - (pending[0]?.ended ?? 0)).toBeLessThan(5000);
    expect(open).toMatchObject({ id: 'c-2', status: 201, key_end: 'wxyz' });
    expect(await knownBy(other, 'CYD')).toMatchObject({ pending: [{ id: 'c-1' }], open: undefined });
    expect(await knownBy(other, 'cyd', 8)).toEqual({ pending: [], open: undefined });
    await other.end('c-1', { is: 'not carried out' });
    await other.end('c-2', { is: 'shown' });
    await vi.waitFor(async () => expect(await knownBy(one, 'cyd')).toEqual({ pending: [], open: undefined }));
  });

  test('a rename is pending for its two names, and once what became of it is known for none', async () => {
    const writes = await writesOf();
    await locked(writes, 'old', 'new');
    await writes.begin(write('r-1', 'old', 'new'));
    await writes.end('r-1', { is: 'no answer', n: 1 });
    const other = await writesOf();
    for (const name of ['old', 'new']) expect((await knownBy(other, name)).pending).toMatchObject([{ id: 'r-1' }]);
    await writes.end('r-1', { is: 'shown' });
    for (const name of ['old', 'new'])
      await vi.waitFor(async () => expect((await knownBy(other, name)).pending).toEqual([]));
  });

  test('a name that was given is pending for --settle, since a list may show it late, and then forgotten', async () => {
    const writes = await writesOf();
    await locked(writes, 'was', 'now');
    const change = { ...write('w-1', 'was', 'now'), asked: { ...asked, kind: 'change' } as const };
    await writes.begin(change);
    await writes.end('w-1', { is: 'answered', status: 200 });
    const other = await writesOf();
    expect(await knownBy(other, 'now')).toMatchObject({ pending: [{ id: 'w-1', n: 1 }], open: undefined });
    await cluster.query(`UPDATE chatelaine.write SET ended = ended - interval '5 s' WHERE id = 'w-1'`);
    expect((await knownBy(other, 'now')).pending).toEqual([]);
    await writesOf();
    expect(await cluster.query(`SELECT FROM chatelaine.write WHERE id = 'w-1'`)).toEqual([]);
  });

  test('what was not processed, and not sent again, counts for a day', async () => {
    const writes = await writesOf();
    await locked(writes, 'gus');
    await writes.begin(write('z-1', 'gus'));
    await writes.end('z-1', { is: 'no answer', n: 3 });
    await writes.end('z-1', { is: 'no answer', n: 0 });
    const other = await writesOf();
    expect((await knownBy(other, 'gus')).pending).toMatchObject([{ id: 'z-1', n: 0 }]);
    await cluster.query(`UPDATE chatelaine.write SET ended = ended - interval '25 hours' WHERE id = 'z-1'`);
    expect((await knownBy(other, 'gus')).pending).toEqual([]);
    await writesOf();
    expect(await cluster.query(`SELECT FROM chatelaine.write WHERE id = 'z-1'`)).toEqual([]);
  });

  test('first creations that are open are told for a day', async () => {
    const writes = await writesOf();
    await locked(writes, 'first');
    await writes.begin({ ...write('f-1', 'first'), asked: { ...asked, isFirst: true } });
    await writes.end('f-1', { is: 'answered', status: 201 });
    const other = await writesOf();
    const [first] = await other.openFirsts();
    expect([first?.id, first?.isOf(user('first')), first?.isOf(user('First'))]).toEqual(['f-1', true, false]);
    await cluster.query(`UPDATE chatelaine.write SET ended = ended - interval '25 hours' WHERE id = 'f-1'`);
    expect(await other.openFirsts()).toEqual([]);
  });

  test('requests of other runs count while they are under way, and then until n times --settle', async () => {
    const [ledger, other] = [ledgerAt(), await writesOf()];
    const one = await writesOf(ledger);
    await locked(one, 'kim', 'lou');
    const before = (await other.underWay()).latest;
    await one.begin(write('k-1', 'kim'));
    await one.begin(write('k-2', 'lou'));
    await one.end('k-1', { is: 'no answer', n: 2 });
    const ids = async () => [...(await other.underWay()).counted].filter(([id]) => id.startsWith('k-')).sort();
    expect(await ids()).toEqual([
      ['k-1', 5000],
      ['k-2', 5000],
    ]);
    const { latest } = await other.underWay();
    expect(latest.begun).toBeGreaterThan(before.begun);
    expect(latest.passed).toBe(before.passed);
    await one.end('k-2', { is: 'answered', status: 201 });
    expect((await other.underWay()).latest.passed).toBe(latest.begun);
    const age = (span: number) =>
      cluster.query(`UPDATE chatelaine.write SET ended = clock_timestamp() - ${span} * interval '1 second'`);
    await age(60);
    expect(await ids()).toHaveLength(1);
    await ledger.close();
    await vi.waitFor(async () => expect(await ids()).toEqual([]));
    await age(9);
    expect(await ids()).toHaveLength(1);
  });

  test('a request whose run is gone ends at its time limit, and counts with all that are under way now', async () => {
    const [ledger, other] = [ledgerAt(), await writesOf()];
    const one = await writesOf(ledger);
    await locked(one, 'max', 'mia');
    await one.begin(write('m-1', 'max'));
    await one.begin(write('m-2', 'mia'));
    await ledger.close();
    await vi.waitFor(async () => expect((await knownBy(other, 'max')).pending).toHaveLength(1));
    const [pending] = (await knownBy(other, 'max')).pending;
    expect(((pending?.ended ?? 0) - realClock.elapsed()) / 1000).toBeCloseTo(35, -1);
    expect(pending?.n).toBeGreaterThanOrEqual(2);
    await cluster.query(`UPDATE chatelaine.write SET latest = latest + interval '1 hour' WHERE id LIKE 'm-%'`);
    expect((await knownBy(await writesOf(), 'mia')).pending[0]?.n).toBe(pending?.n);
  });

  test('nothing may be sent for a user whom this very connection does not hold', async () => {
    const writes = await writesOf();
    const refusal = { kind: 'unavailable', message: expect.stringContaining('no longer holds its users') as string };
    expect(await failureOf(() => writes.begin(write('n-1', 'nobody')))).toMatchObject(refusal);
    // Nor after that, whoever it is for.
    await locked(writes, 'nora');
    expect(await failureOf(() => writes.begin(write('n-2', 'nora')))).toMatchObject(refusal);
  });

  test.each(['restart', 'kill'] as const)(
    'after a %s of the server nothing is sent, and users are free',
    async (how) => {
      const writes = await writesOf();
      const [lea, tom] = [`lea-${how}`, `tom-${how}`];
      await locked(writes, lea, tom);
      await writes.begin(write(`${how}-1`, lea));
      await cluster.restart(how);
      expect((await failureOf(() => writes.begin(write(`${how}-2`, tom)))).kind).toBe('unavailable');
      expect((await failureOf(() => writes.tryLock([user('zoe')]))).kind).toBe('unavailable');
      const other = await writesOf();
      await locked(other, lea, tom);
      expect((await knownBy(other, lea)).pending).toMatchObject([{ id: `${how}-1` }]);
      expect((await knownBy(other, tom)).pending).toEqual([]);
    },
  );

  test('a session that is ended in the middle of a request is noticed before the next one', async () => {
    const writes = await writesOf();
    await locked(writes, 'una', 'uwe');
    await writes.begin(write('u-1', 'una'));
    await cluster.query(`SELECT pg_terminate_backend(backend) FROM chatelaine.run WHERE name = 'RUN${count}'`);
    expect((await failureOf(() => writes.begin(write('u-2', 'uwe')))).kind).toBe('unavailable');
    expect((await failureOf(() => writes.end('u-1', { is: 'answered', status: 201 }))).kind).toBe('unavailable');
  });

  test('runs that lock, record and settle the same users in any order never deadlock', async () => {
    const names = Array.from({ length: 12 }, (_one, index) => `crowd-${index}`);
    const deadlocks = async () =>
      (await cluster.query(`SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'`))[0]?.['deadlocks'];
    const before = await deadlocks();
    const holding = new Set<string>();
    const work = async (index: number): Promise<void> => {
      for (let round = 0; round < 4; round += 1) {
        const ledger = ledgerAt();
        const writes = await writesOf(ledger);
        await Promise.all(
          (index % 2 === 0 ? names : names.toReversed()).map(async (name, at) => {
            const lock = await writes.tryLock([user(name)]);
            if (!('release' in lock)) return;
            expect(holding.has(name)).toBe(false);
            holding.add(name);
            const id = `d${index}${round}-${at}`;
            for (const { id: earlier } of (await knownBy(writes, name)).pending)
              await writes.end(earlier, { is: 'not carried out' });
            await writes.begin(write(id, name));
            if (at % 3 > 0) await writes.end(id, at % 3 === 1 ? { is: 'no answer', n: 1 } : { is: 'refused' });
            await writes.underWay();
            holding.delete(name);
            await lock.release();
          }),
        );
        await ledger.close();
      }
    };
    await Promise.all([0, 1, 2, 3].map(work));
    expect(await deadlocks()).toEqual(before);
  });

  test('what the database undid is sent again, also where the role isolates its transactions', async () => {
    await cluster.query(
      `CREATE ROLE serial LOGIN; ALTER ROLE serial SET default_transaction_isolation = 'serializable'`,
    );
    await cluster.query(grantTo('serial'));
    const places = await Promise.all(
      Array.from({ length: 4 }, () => writesOf(ledgerAt(cluster.url.replace('tester@', 'serial@')))),
    );
    const taken = await Promise.all(places.map((place) => place.tryLock([user('sue')])));
    expect(taken.filter((lock) => 'release' in lock)).toHaveLength(1);
  });

  test('a connection asks for what a vanished machine needs, and PGOPTIONS stays out', async () => {
    vi.stubEnv('PGOPTIONS', '-c tcp_user_timeout=7 -c application_name=options');
    onTestFinished(() => void vi.unstubAllEnvs());
    const url = `postgres://tester@127.0.0.1:${cluster.port}/postgres`;
    const { signal } = new AbortController();
    const connecting = { alarm: realAlarm, signal, caFile: undefined };
    const database = await openDatabase(await ledgerAddress(url, systemIn(cluster.socket)), connecting);
    onTestFinished(() => database.close());
    const shown = async (name: string) => (await database.query(`SHOW ${name}`, [], { signal }))[0]?.[name];
    expect([await shown('application_name'), await shown('tcp_user_timeout')]).toEqual(['chatelaine', '0']);
    await database.query('SET synchronous_commit = off', [], { signal });
    await database.query(statements.enter, [], { signal });
    const names = ['tcp_user_timeout', 'tcp_keepalives_idle', 'idle_session_timeout', 'default_transaction_isolation'];
    const values: unknown[] = [];
    for (const name of [...names, 'synchronous_commit']) values.push(await shown(name));
    expect(values).toEqual(['30000', '15', '0', 'read committed', 'on']);
  });

  test('the database holds neither names nor hashes that can be guessed without the salt', async () => {
    const writes = await writesOf();
    await locked(writes, 'olga-4711');
    await writes.begin(write('o-1', 'olga-4711'));
    const sent = hash('sha256', 'olga-4711', 'hex');
    const [row] = await cluster.query(
      `SELECT string_agg(to_jsonb(w)::text, ' ') AS rows, count(*) FILTER (WHERE w.exact IN ($1, encode(sha256(decode($1, 'hex')), 'hex')))::integer AS guessed
       FROM chatelaine.write w`,
      [sent],
    );
    expect(row?.['rows']).not.toContain('olga');
    expect(row?.['guessed']).toBe(0);
  });

  test('status counts what each run has under way, pending and open, active or ended, and shows no users', async () => {
    const database = await emptyDatabase('state');
    const [ledger, reader] = [ledgerAt(database), ledgerAt(database)];
    await ledger.init();
    const writes = await writesOf(ledger);
    await locked(writes, 'pia', 'quinn', 'rob');
    await writes.begin(write('p-1', 'pia'));
    await writes.begin(write('p-2', 'quinn', 'rob'));
    await writes.end('p-2', { is: 'no answer', n: 1 });
    const { pid } = systemIn('');
    const row = { origin, command: 'license apply', host: 'here.test', pid, since: expect.any(String) as string };
    const counts = { under_way: 1, pending: 1, open: 0 };
    expect(await reader.status()).toEqual([{ ...row, state: 'active', ...counts }]);
    await ledger.close();
    await vi.waitFor(async () => expect(await reader.status()).toEqual([{ ...row, state: 'ended', ...counts }]));
  });

  test('of runs that left nothing those of the last hour are kept', async () => {
    const url = await emptyDatabase('clean');
    await ledgerAt(url).init();
    const ledger = ledgerAt(url);
    const writes = await writesOf(ledger);
    await locked(writes, 'pia');
    await writes.begin(write('q-1', 'pia'));
    await writes.end('q-1', { is: 'refused' });
    await writes.close();
    await ledger.close();
    const runs = async () => (await cluster.query('SELECT key FROM chatelaine.run', [], 'clean')).length;
    await (await writesOf(ledgerAt(url))).close();
    expect(await runs()).toBe(1);
    await cluster.query(`UPDATE chatelaine.run SET since = since - interval '61 minutes'`, [], 'clean');
    await (await writesOf(ledgerAt(url))).close();
    expect(await runs()).toBe(0);
  });

  async function emptyDatabase(name: string): Promise<string> {
    await cluster.query(`CREATE DATABASE ${name}`);
    return cluster.url.replace('/postgres?', `/${name}?`);
  }

  const grantTo = (role: string) =>
    `GRANT USAGE ON SCHEMA chatelaine TO ${role}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA chatelaine TO ${role}`;

  test('a role is told which rights it lacks, and needs no others', async () => {
    await cluster.query('CREATE ROLE lacking LOGIN');
    const asked = () => writesOf(ledgerAt(cluster.url.replace('tester@', 'lacking@')));
    const { kind, hint = '' } = await failureOf(asked);
    expect([kind, hint]).toEqual(['auth', expect.stringContaining('GRANT') as string]);
    await cluster.query(/GRANT USAGE.*?"lacking"; GRANT.*?"lacking"/.exec(hint)?.[0] ?? '');
    const writes = await asked();
    await locked(writes, 'abe');
    await writes.begin(write('a-1', 'abe'));
    await writes.end('a-1', { is: 'refused' });
  });

  test('init is idempotent, also when two run it at once in an empty database, and so is its script', async () => {
    const url = await emptyDatabase('fresh');
    const outcomes = await Promise.all([ledgerAt(url).init(), ledgerAt(url).init()]);
    expect(outcomes.toSorted()).toEqual(['created', 'unchanged']);
    expect(await ledgerAt(url).plan()).toContain('nothing is to be done');
    await emptyDatabase('scripted');
    await cluster.query(ledgerScript, [], 'scripted');
    await expect(cluster.query(ledgerScript, [], 'scripted')).rejects.toThrow('already exists');
    expect(await ledgerAt(url.replace('/fresh?', '/scripted?')).init()).toBe('unchanged');
  });

  test.each([
    [`UPDATE chatelaine.ledger SET version = ${ledgerVersion + 1}`, 'Upgrade chatelaine on this machine.'],
    ['UPDATE chatelaine.ledger SET version = 2', 'DROP SCHEMA chatelaine CASCADE, then chatelaine ledger init.'],
    ['DELETE FROM chatelaine.ledger', 'Restore that row from a backup.'],
    ['DROP SCHEMA chatelaine CASCADE', 'Create it once: chatelaine ledger init'],
  ])('after %s nothing is sent, and the way out is named', async (sql, hint) => {
    const name = `odd_${(count += 1)}`;
    const url = await emptyDatabase(name);
    await ledgerAt(url).init();
    await cluster.query(madeLongAgo, [], name);
    const running = await writesOf(ledgerAt(url));
    await locked(running, 'xena');
    await cluster.query(sql, [], name);
    expect((await failureOf(() => running.begin(write('x-1', 'xena')))).kind).toMatch(/unavailable|config/);
    for (const work of [() => writesOf(ledgerAt(url)), () => ledgerAt(url).examine(), () => ledgerAt(url).status()])
      expect(await failureOf(work)).toMatchObject({ kind: 'config', hint: expect.stringContaining(hint) as string });
    if (!sql.startsWith('DROP')) expect((await failureOf(() => ledgerAt(url).init())).hint).toContain(hint);
  });

  test('a database that is not there, and an address where nobody listens', async () => {
    const kindOf = async (url: string) => (await failureOf(() => writesOf(ledgerAt(url)))).kind;
    expect(await kindOf(cluster.url.replace('/postgres?', '/none?'))).toBe('config');
    expect(await failureOf(() => writesOf(ledgerAt('postgres://tester@127.0.0.1:1/postgres')))).toEqual({
      kind: 'unavailable',
      message: 'the ledger 127.0.0.1:1/postgres is not available: connect ECONNREFUSED 127.0.0.1:1',
      hint: 'Without the ledger nothing is created. chatelaine doctor shows what is wrong with it.',
    });
  });

  test.each(['a replica that took over', 'a dump that was read again', 'a schema that was dropped and made again'])(
    'after %s each user counts as asked for until the last request of before must have ended, once',
    async (way) => {
      const restored = await startPostgres();
      onTestFinished(() => restored.stop());
      await ledgerAt(restored.url).init();
      await restored.query(madeLongAgo);
      const notes: string[] = [];
      const pendingAt = async (url: string) => {
        const writes = await writesOf(ledgerAt(url), (text) => notes.push(text));
        return (await knownBy(writes, 'ada')).pending;
      };
      expect([await pendingAt(restored.url), notes]).toEqual([[], []]);
      if (way.startsWith('a dump')) await restored.restoreInto('again');
      else if (way.startsWith('a replica')) await restored.restart('promote');
      else {
        await restored.query('DROP SCHEMA chatelaine CASCADE');
        await ledgerAt(restored.url).init();
      }
      const url = way.startsWith('a dump') ? restored.url.replace('/postgres?', '/again?') : restored.url;

      for (const _run of ['the first', 'the second']) {
        const [pending, ...others] = await pendingAt(url);
        expect([pending?.id, pending?.n, others]).toEqual(['restored', 1, []]);
        expect(((pending?.ended ?? 0) - realClock.elapsed()) / 1000).toBeCloseTo(35, -1);
      }
      const note =
        /^the ledger is new or was restored, or a replica took over: no license is created in the next \d+s$/;
      expect(notes).toEqual(Array(2).fill(expect.stringMatching(note)));

      const database = way.startsWith('a dump') ? 'again' : 'postgres';
      await restored.query(`UPDATE chatelaine.ledger SET restored = restored - interval '41 s'`, [], database);
      expect(await pendingAt(url)).toEqual([]);
    },
  );

  test.each([
    ['gives each statement another connection', `nextval('pooled.pids')::integer`],
    ['gives two clients one connection', '7'],
    [
      'changes connections later',
      `CASE WHEN nextval('pooled.pids') < 3 THEN 1000 + currval('pooled.pids')::integer ELSE 7 END`,
    ],
  ])('doctor refuses a pooler that %s', async (_what, pid) => {
    const role = `pooled_${(count += 1)}`;
    const url = await emptyDatabase(role);
    await ledgerAt(url).init();
    await cluster.query(
      `CREATE ROLE ${role} LOGIN SUPERUSER; CREATE SCHEMA pooled; CREATE SEQUENCE pooled.pids;
       CREATE FUNCTION pooled.pg_backend_pid() RETURNS integer LANGUAGE sql AS $$ SELECT ${pid} $$;
       ALTER ROLE ${role} SET search_path = pooled, pg_catalog;`,
      [],
      role,
    );
    const { kind, message, hint } = await failureOf(() => ledgerAt(url.replace('tester@', `${role}@`)).examine());
    expect([kind, message]).toEqual(['config', expect.stringContaining('changes connections between statements')]);
    expect(hint).toContain('pool_mode = session');
  });

  test('a connection of its own for each client is right', async () => {
    await expect(ledgerAt().examine()).resolves.toBeUndefined();
  });
});
