import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import initCommand from '../../../src/commands/ledger/init.ts';
import { ledgerAddress } from '../../../src/store/ledger/ledger-address.ts';
import { ledgerScript, ledgerVersion, statements } from '../../../src/store/ledger/ledger-sql.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { openDatabase } from '../../../src/store/ledger/postgres.ts';
import { LicenseWrites } from '../../../src/store/record/joined-writes.ts';
import type { Alarm } from '../../../src/core/system.ts';
import { hashesOf, type LockHolder, type WritePlace } from '../../../src/store/record/run-record.ts';
import type { AskedWrite, PendingWrite, UserLock } from '../../../src/store/record/writes.ts';
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

  function placeOf(ledger: Ledger, run: string, note: (text: string) => void): Promise<WritePlace> {
    const times = { settle: 5000, requestLimit: 30_000 };
    return ledger.writes(origin, { token: run.toLowerCase(), run, command: 'license apply', ...times, note });
  }

  /** A run that sees the others by a ledger alone. */
  class Run extends LicenseWrites {
    readonly place: WritePlace;

    constructor(place: WritePlace, token: string) {
      const { signal } = new AbortController();
      super([place], { token, settle: 5000, clock: realClock, alarm: realAlarm, signal, say: () => undefined });
      this.place = place;
    }
  }

  async function writesOf(ledger = ledgerAt(), note: (text: string) => void = () => undefined): Promise<Run> {
    const run = `RUN${(count += 1)}`;
    return new Run(await placeOf(ledger, run, note), run.toLowerCase());
  }

  const user = (remote_user: string, app_code = 7) => ({ app_code, remote_user });

  async function begin(writes: Run, ...names: string[]): Promise<string> {
    const id = writes.newId();
    await writes.begin(
      id,
      names.map((name) => user(name)),
      asked,
    );
    return id;
  }

  async function locked(writes: Run, ...names: string[]): Promise<UserLock> {
    const lock = await writes.lockNow(names.map((name) => user(name)));
    if (!lock) throw new Error('somebody has one of them');
    return lock;
  }

  function tried({ place }: Run, name: string): Promise<UserLock | LockHolder> {
    return place.tryLock(user(name), hashesOf(place.salt, user(name)).folded);
  }

  /** Of a request that began since then: it ends so much later than that at the earliest, than now at the latest. */
  function expectEnd(pending: PendingWrite | undefined, since: number, limit = 35_000): void {
    expect(pending?.ended).toBeGreaterThan(since + limit - 1000);
    expect(pending?.ended).toBeLessThan(realClock.elapsed() + limit + 1000);
  }

  /** What a run gives back is free once it has taken another lock. */
  async function givenBack(writes: Run): Promise<void> {
    await locked(writes, `after-${(count += 1)}`);
  }

  test('a connection has 10 s, a statement 30 s, and an end 1 s', async () => {
    const spans: number[] = [];
    const alarm: Alarm = (span) => {
      spans.push(span);
      return () => undefined;
    };
    const { signal } = new AbortController();
    const address = await ledgerAddress(cluster.url, systemIn(cluster.socket));
    const database = await openDatabase(address, { alarm, signal, caFile: undefined });
    await database.query('SELECT 1');
    await database.close();

    expect(spans).toEqual([10_000, 30_000, 1000]);
  });

  test('one run has a user, under whatever spelling, until it gives the user back', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    const lock = await locked(one, 'ada');
    const held = await tried(other, 'ADA ');
    expect('holder' in held ? held.holder : held).toMatch(
      /^license apply, process \d+ on here.test, since \d\d:\d\dZ$/,
    );
    await (await locked(other, 'ben')).release();
    expect(await other.lockNow([user('ada', 8)])).toBeDefined();
    await lock.release();
    await givenBack(one);
    await locked(other, 'Ada');
  });

  test('of two names both are taken or none, and two spellings of one name are one', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    await locked(one, 'yve');
    expect(await other.lockNow([user('xan'), user('yve')])).toBeUndefined();
    await givenBack(other);
    await (await locked(one, 'xan', 'Xan')).release();
    await givenBack(one);
    await locked(other, 'xan');
  });

  test('what runs did for a user comes with the lock, also where they did nothing', async () => {
    const ledger = ledgerAt();
    await locked(await writesOf(ledger), 'hal');
    await ledger.close();
    expect(await ledger.entries('hal', origin)).toEqual([]);
  });

  test('of a run with locks at two servers the history is what the lock of each server found', async () => {
    const [ledger, other] = [ledgerAt(), ledgerAt()];
    const times = { settle: 5000, requestLimit: 30_000, command: 'license apply', note: () => undefined };
    const at = (of: Ledger, server: string, run: string) =>
      of.writes(server, { token: run.toLowerCase(), run, ...times });
    const take = (place: WritePlace) => place.tryLock(user('bob'), hashesOf(place.salt, user('bob')).folded);
    const [first, second] = [await at(ledger, 'https://one.test', 'A1'), await at(ledger, 'https://two.test', 'A2')];
    await at(other, 'https://two.test', 'B1');
    await take(first);
    const stamp = { time: '2026-03-01T12:00:00Z', run: 'B1', account: 'ada', computer: 'vm', command: 'license apply' };
    await other.tell({ ...stamp, origin: 'https://two.test', event: 'created', app_code: 7, remote_user: 'bob' });
    await take(second);

    const told = async (server?: string) => (await ledger.entries('bob', server)).map(({ run }) => run);
    expect([await told('https://one.test'), await told('https://two.test'), await told()]).toEqual([
      [],
      ['B1'],
      ['B1'],
    ]);
  });

  test('where the end of a write is not recorded, its user stays locked while the session lives', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    const lock = await locked(one, 'gus');
    const id = await begin(one, 'gus');
    await cluster.query(
      `CREATE FUNCTION chatelaine.full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'disk full' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON chatelaine.line FOR EACH ROW EXECUTE FUNCTION chatelaine.full()`,
    );
    await failureOf(() => one.end(id, { is: 'no answer', n: 1 }));
    await cluster.query('DROP TRIGGER full_disk ON chatelaine.line; DROP FUNCTION chatelaine.full()');
    await lock.release();

    // With this statement it would be given back.
    await one.place.read([]);
    expect(await other.lockNow([user('gus')])).toBeUndefined();
  });

  test('the progress of a holder changes with each line that it writes', async () => {
    const [one, other] = [await writesOf(), await writesOf()];
    await locked(one, 'gil');
    const progress = async () => {
      const lock = await tried(other, 'gil');
      return 'progress' in lock ? lock.progress : '';
    };
    const first = await progress();
    expect(await progress()).toBe(first);
    await begin(one, 'gil');
    expect(await progress()).not.toBe(first);
  });

  test('what had no answer is pending for each name of one form until it is known, and open for the very name', async () => {
    const [ledger, other] = [ledgerAt(), await writesOf()];
    const one = await writesOf(ledger);
    await locked(one, 'cyd');
    const [lost, answered] = [await begin(one, 'cyd'), await begin(one, 'cyd')];
    const given = realClock.elapsed();
    await one.end(lost, { is: 'no answer', n: 3 });
    await one.end(answered, { is: 'answered', status: 201, key_end: 'wxyz' });
    await ledger.close();
    await expect.poll(() => other.lockNow([user('cyd')])).toBeDefined();
    const { pending, open } = await other.known(user('cyd'));
    expect(pending).toMatchObject([{ id: lost, command: 'license apply', asked, n: 3 }]);
    expectEnd(pending[0], given, 0);
    expect(open).toMatchObject({ id: answered, status: 201, key_end: 'wxyz' });
    const both = [{ id: lost }, { id: answered, isAnswered: true }];
    expect(await other.known(user('CYD'))).toMatchObject({ pending: both, open: undefined });
    expect(await other.known(user('cyd', 8))).toEqual({ pending: [], open: undefined });
    await other.end(lost, { is: 'not processed' });
    await other.end(answered, { is: 'shown' });
    const reader = await writesOf();
    expect(await reader.known(user('cyd'))).toEqual({ pending: [], open: undefined });
    expect(await cluster.query(`SELECT FROM chatelaine.run WHERE token = '${answered.split('-')[0] ?? ''}'`)).toEqual(
      [],
    );
  });

  test('a request whose run is gone ends at its time limit, and counts with all that are under way now', async () => {
    const [ledger, other] = [ledgerAt(), await writesOf()];
    const one = await writesOf(ledger);
    await locked(one, 'max', 'mia');
    const begun = realClock.elapsed();
    await begin(one, 'max');
    await begin(one, 'mia');
    expect((await other.load()).n).toBeGreaterThanOrEqual(2);
    await ledger.close();
    await expect.poll(async () => (await other.known(user('max'))).pending).toHaveLength(1);
    const [pending] = (await other.known(user('max'))).pending;
    expectEnd(pending, begun);
    expect(pending?.n).toBeGreaterThanOrEqual(2);
    const [later] = (await (await writesOf()).known(user('mia'))).pending;
    expectEnd(later, begun);
    expect(later?.n).toBe(pending?.n);
  });

  test('nothing may be sent for a user whom this very connection does not hold', async () => {
    const writes = await writesOf();
    const refusal = { kind: 'unavailable', message: expect.stringContaining('no longer holds its users') as string };
    expect(await failureOf(() => begin(writes, 'nobody'))).toMatchObject(refusal);
    // Nor is anybody locked after that.
    expect(await failureOf(() => writes.lockNow([user('nora')]))).toMatchObject(refusal);
  });

  test.each(['restart', 'kill'] as const)(
    'after a %s of the server nothing is sent, and users are free',
    async (how) => {
      const writes = await writesOf();
      const [lea, tom] = [`lea-${how}`, `tom-${how}`];
      await locked(writes, lea, tom);
      const id = await begin(writes, lea);
      await cluster.restart(how);
      expect((await failureOf(() => begin(writes, tom))).kind).toBe('unavailable');
      expect((await failureOf(() => writes.lockNow([user('zoe')]))).kind).toBe('unavailable');
      const other = await writesOf();
      await locked(other, lea, tom);
      expect((await other.known(user(lea))).pending).toMatchObject([{ id }]);
      expect((await other.known(user(tom))).pending).toEqual([]);
    },
  );

  test('a session that is ended in the middle of a request is noticed before the next one', async () => {
    const writes = await writesOf();
    await locked(writes, 'una', 'uwe');
    const id = await begin(writes, 'una');
    await cluster.query(
      `SELECT pg_terminate_backend(h.pid) FROM chatelaine.held h JOIN chatelaine.run USING (key) WHERE name = 'RUN${count}'`,
    );
    expect((await failureOf(() => begin(writes, 'uwe'))).kind).toBe('unavailable');
    expect((await failureOf(() => writes.end(id, { is: 'answered', status: 201 }))).kind).toBe('unavailable');
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
            const lock = await writes.lockNow([user(name)]);
            if (!lock) return;
            expect(holding.has(name)).toBe(false);
            holding.add(name);
            for (const { id: earlier } of (await writes.known(user(name))).pending)
              await writes.end(earlier, { is: 'not processed' });
            const id = await begin(writes, name);
            if (at % 3 > 0) await writes.end(id, at % 3 === 1 ? { is: 'no answer', n: 1 } : { is: 'refused' });
            await writes.load();
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

  test('a connection asks for what a vanished machine needs, and PGOPTIONS stays out', async () => {
    vi.stubEnv('PGOPTIONS', '-c tcp_user_timeout=7 -c application_name=options');
    onTestFinished(() => void vi.unstubAllEnvs());
    const url = `postgres://tester@127.0.0.1:${cluster.port}/postgres`;
    const { signal } = new AbortController();
    const connecting = { alarm: realAlarm, signal, caFile: undefined };
    const database = await openDatabase(await ledgerAddress(url, systemIn(cluster.socket)), connecting);
    onTestFinished(() => database.close());
    const shown = async (name: string) => (await database.query(`SHOW ${name}`))[0]?.[name];
    expect([await shown('application_name'), await shown('tcp_user_timeout')]).toEqual(['chatelaine', '0']);
    await database.query('SET synchronous_commit = off');
    await database.query(statements.enter);
    const names = ['tcp_user_timeout', 'tcp_keepalives_idle', 'idle_session_timeout', 'default_transaction_isolation'];
    const values: unknown[] = [];
    for (const name of [...names, 'synchronous_commit']) values.push(await shown(name));
    expect(values).toEqual(['30000', '15', '0', 'read committed', 'on']);
  });

  test('the database holds neither names nor hashes that can be guessed without the salt', async () => {
    const writes = await writesOf();
    await locked(writes, 'olga-4711');
    await begin(writes, 'olga-4711');
    const sent = hash('sha256', 'olga-4711', 'hex');
    const [row] = await cluster.query(`SELECT string_agg(to_jsonb(l)::text, ' ') AS rows FROM chatelaine.line l`);
    expect(row?.['rows']).not.toContain('olga');
    expect(row?.['rows']).not.toContain(sent.slice(0, 20));
  });

  test('status counts what each run has under way, pending and open, active or ended, and shows no users', async () => {
    const database = await emptyDatabase('state');
    const [ledger, reader] = [ledgerAt(database), ledgerAt(database)];
    await ledger.init();
    const writes = await writesOf(ledger);
    await locked(writes, 'pia', 'quinn', 'rob');
    await begin(writes, 'pia');
    await writes.end(await begin(writes, 'quinn', 'rob'), { is: 'no answer', n: 1 });
    const { pid } = systemIn('');
    const row = { origin, command: 'license apply', host: 'here.test', pid, since: expect.any(String) as string };
    const counts = { under_way: 1, pending: 1, open: 0 };
    expect(await reader.status()).toEqual([{ ...row, state: 'active', ...counts }]);
    await ledger.close();
    await expect.poll(() => reader.status()).toEqual([{ ...row, state: 'ended', ...counts }]);
  });

  test('of a run that left nothing nothing stays, also where it was killed', async () => {
    const url = await emptyDatabase('clean');
    await ledgerAt(url).init();
    const [killed, next] = [ledgerAt(url), await writesOf(ledgerAt(url))];
    const writes = await writesOf(killed);
    await locked(writes, 'pia');
    await killed.close();
    const runs = async () => (await cluster.query('SELECT key FROM chatelaine.run', [], 'clean')).length;
    await expect.poll(async () => [await next.load(), await runs()]).toMatchObject([{ n: 0 }, 1]);
    await next.close();
    expect(await runs()).toBe(0);
  });

  async function emptyDatabase(name: string): Promise<string> {
    await cluster.query(`CREATE DATABASE ${name}`);
    return cluster.url.replace('/postgres?', `/${name}?`);
  }

  test('a role needs the rights that the help of ledger init names, and no others', async () => {
    await cluster.query('CREATE ROLE lacking LOGIN');
    const ledger = () => ledgerAt(cluster.url.replace('tester@', 'lacking@'));
    const asked = () => writesOf(ledger());
    const refused = { kind: 'auth', hint: expect.stringContaining('chatelaine ledger init --help') as string };
    expect(await failureOf(asked)).toMatchObject(refused);
    for (const more of ['USAGE ON SCHEMA chatelaine', 'SELECT, UPDATE ON ALL TABLES IN SCHEMA chatelaine']) {
      await cluster.query(`GRANT ${more} TO lacking`);
      expect(await failureOf(asked)).toMatchObject(refused);
    }
    const [, rights = ''] = /(GRANT USAGE.*?) role\.$/.exec(initCommand.about?.[1] ?? '') ?? [];
    await cluster.query(`${rights.replace(' role;', ' lacking;')} lacking`);
    const writes = await asked();
    await locked(writes, 'abe');
    await writes.end(await begin(writes, 'abe'), { is: 'refused' });
  });

  test('init is idempotent, also when two run it at once in an empty database, and so is its script', async () => {
    const url = await emptyDatabase('fresh');
    const outcomes = await Promise.all([ledgerAt(url).init(), ledgerAt(url).init()]);
    expect(outcomes.toSorted()).toEqual(['created', 'unchanged']);
    await emptyDatabase('scripted');
    await cluster.query(ledgerScript, [], 'scripted');
    await expect(cluster.query(ledgerScript, [], 'scripted')).rejects.toThrow('already exists');
    expect(await ledgerAt(url.replace('/fresh?', '/scripted?')).init()).toBe('unchanged');
  });

  test.each([
    [`UPDATE chatelaine.ledger SET version = ${ledgerVersion + 1}`, 'Upgrade chatelaine on this machine.'],
    ['UPDATE chatelaine.ledger SET version = 2', 'DROP SCHEMA chatelaine CASCADE, then: chatelaine ledger init'],
    ['DELETE FROM chatelaine.ledger', 'DROP SCHEMA chatelaine CASCADE, then: chatelaine ledger init'],
    ['DROP SCHEMA chatelaine CASCADE', 'Create it once: chatelaine ledger init'],
  ])('after %s nothing is sent, and the way out is named', async (sql, hint) => {
    const name = `odd_${(count += 1)}`;
    const url = await emptyDatabase(name);
    await ledgerAt(url).init();
    await cluster.query(madeLongAgo, [], name);
    const running = await writesOf(ledgerAt(url));
    await locked(running, 'xena');
    await cluster.query(sql, [], name);
    const { kind } = await failureOf(() => begin(running, 'xena'));
    expect(kind).toBe(sql.startsWith('DROP') ? 'config' : 'unavailable');
    for (const work of [() => writesOf(ledgerAt(url)), () => ledgerAt(url).examine(), () => ledgerAt(url).status()])
      expect(await failureOf(work)).toMatchObject({ kind: 'config', hint: expect.stringContaining(hint) as string });
    if (!sql.startsWith('DROP')) expect((await failureOf(() => ledgerAt(url).init())).hint).toContain(hint);
  });

  test('a database that is not there, and an address where nobody listens', async () => {
    const { kind, hint } = await failureOf(() => ledgerAt(cluster.url.replace('/postgres?', '/none?')).init());
    expect([kind, hint]).toEqual(['config', expect.stringMatching(/^Create the database .*: chatelaine ledger init$/)]);
    expect(await failureOf(() => writesOf(ledgerAt('postgres://tester@127.0.0.1:1/postgres')))).toEqual({
      kind: 'unavailable',
      message: 'the ledger 127.0.0.1:1/postgres is not available: connect ECONNREFUSED 127.0.0.1:1',
      hint: 'Without the ledger nothing is created. To see what is wrong with it: chatelaine doctor',
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
        return (await writes.known(user('ada'))).pending;
      };
      expect([await pendingAt(restored.url), notes]).toEqual([[], []]);
      const begun = realClock.elapsed();
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
        expectEnd(pending, begun);
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
