import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import type { RequestHistories } from '../../../src/store/request-history.ts';
import { openLedger, type Ledger } from '../../../src/store/ledger/ledger.ts';
import { ledgerAddress } from '../../../src/store/ledger/ledger-address.ts';
import { ledgerVersion } from '../../../src/store/ledger/ledger-steps.ts';
import { openDatabase } from '../../../src/store/ledger/postgres.ts';
import { withTake, type Claims } from '../../../src/store/claims.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { needs } from '../../helpers/needs.ts';
import { failureOf } from '../place.ts';
import { systemIn } from '../system.ts';

const target = 'https://licenses.test 7';
const minutes = 60_000;
const remember = 86_400_000;

describe('a ledger', needs('postgresql'), () => {
  let cluster: Cluster;
  const opened: Ledger[] = [];

  beforeAll(async () => {
    cluster = await startPostgres();
    await ledgerOf().init();
    await cluster.query(madeLongAgo);
  });

  afterAll(async () => {
    await Promise.all(opened.map((ledger) => ledger.close()));
    await cluster.stop();
  });

  /** A run of its own: its own connection, and a clock that is `ahead` of the database's. */
  function ledgerOf(ahead = 0, url = cluster.url): Ledger {
    const host = {
      system: systemIn(cluster.socket),
      clock: { ...realClock, now: () => Date.now() + ahead },
      alarm: realAlarm,
      signal: new AbortController().signal,
      caFile: undefined,
      watch: <T>(secret: T): T => secret,
    };
    const ledger = openLedger(url, host);
    opened.push(ledger);
    return ledger;
  }

  /** Claims of a run that gives up as soon as it would have to wait. */
  async function claimsOf(ledger = ledgerOf(), requestLimit = 30_000): Promise<Claims> {
    const run = new AbortController();
    const note = (text: string): void => run.abort(new Error(text));
    const options = { settle: 5000, remember, signal: run.signal, note, requestLimit };
    const claims = await ledger.claims(target, options);
    await claims.takeFree([]);
    return withTake(claims, realClock, options);
  }

  /** How many seconds ago a moment is; later than now is negative. */
  const asked = (histories: RequestHistories) =>
    [...histories].flatMap(([user, { posted }]) => (posted === undefined ? [] : [user]));

  const open = (histories: RequestHistories) =>
    [...histories].flatMap(([user, { answer: known }]) => (known ? [[user, known]] : []));

  function ageOf(histories: RequestHistories, user: string): number {
    return (realClock.elapsed() - (histories.get(user)?.posted ?? NaN)) / 1000;
  }

  test('a user that a session holds cannot be claimed by another one until it is given back', async () => {
    const [one, other] = [await claimsOf(), await claimsOf()];
    expect(asked(await one.take(['ada', 'ben']))).toEqual([]);
    expect(await other.takeFree(['ben', 'cy'])).toEqual({
      now: expect.any(Number) as number,
      histories: new Map(),
      held: ['ben'],
      holder: expect.stringMatching(/^process \d+ on /) as string,
    });
    await expect(other.take(['ben'])).rejects.toThrow(/^waiting for process \d+ on .*, which is creating licenses/);
    await one.release(['ada', 'ben']);
    expect(asked(await (await claimsOf()).take(['ada', 'ben']))).toEqual([]);
  });

  test('what runs did for users who are claimed together is asked for once, with the claim', async () => {
    const tell = async (remote_user: string): Promise<void> => {
      const teller = ledgerOf();
      const who = {
        run: 'AAAA',
        account: 'a',
        computer: 'c',
        command: 'license apply',
        origin: 'https://licenses.test',
      };
      await teller.tell(target, { ...who, event: 'created', time: '2026-01-01T00:00:00Z', app_code: 7, remote_user });
      await teller.close();
    };
    const ledger = ledgerOf();
    const claims = await claimsOf(ledger);
    await tell('mia');
    await claims.takeFree(['mia', 'noa']);
    await tell('noa');
    expect(await ledger.told(target, 'mia')).toMatchObject([{ event: 'created', remote_user: 'mia' }]);
    expect(await ledger.told(target, 'noa')).toEqual([]);
    expect(await ledger.told(target, 'noa')).toMatchObject([{ event: 'created', remote_user: 'noa' }]);
  });

  test('the applications of one run share its session: claims of the first outlive those of the second', async () => {
    const ledger = ledgerOf();
    const first = await claimsOf(ledger);
    await first.take(['two-apps']);
    const run = {
      settle: 5000,
      remember,
      signal: new AbortController().signal,
      note: () => undefined,
      requestLimit: 30_000,
    };
    const second = await ledger.claims('https://licenses.test 8', run);
    expect((await second.takeFree(['two-apps'])).held).toEqual([]);
    expect((await (await claimsOf()).takeFree(['two-apps'])).held).toEqual(['two-apps']);
    await first.posting('two-apps');
    await second.posting('two-apps');
    expect(await cluster.query('SELECT backend FROM chatelaine.session GROUP BY backend HAVING count(*) > 1')).toEqual(
      [],
    );
  });

  test('a run that waits holds no users meanwhile', async () => {
    const [one, other, third] = [await claimsOf(), await claimsOf(), await claimsOf()];
    await one.take(['w1']);
    await expect(other.take(['w1', 'w2'])).rejects.toThrow('waiting');
    expect((await third.takeFree(['w2'])).held).toEqual([]);
  });

  test('several thousand users are claimed by one statement, names in any script included', async () => {
    const users = Array.from({ length: 5000 }, (_, index) => `użytkownik-${index} 'x"\\`);
    const claims = await claimsOf();
    expect((await claims.takeFree(users)).held).toEqual([]);
    expect((await (await claimsOf()).takeFree([...users, 'free'])).held).toEqual(users);
    await claims.release(users);
    expect((await (await claimsOf()).takeFree(users)).held).toEqual([]);
  });

  test('the end of a POST is a moment of the database: machines whose clocks differ, or are set meanwhile, read its age', async () => {
    const early = await claimsOf(ledgerOf(-10 * minutes));
    await early.take(['dora']);
    await early.posting('dora');
    // Since the POST ended the clock of this machine was set forward by an hour.
    await early.ended('dora', { event: 'ended', time: Date.now() - 70 * minutes, unanswered: 1 });
    await early.release(['dora']);
    const late = await claimsOf(ledgerOf(10 * minutes));
    const age = ageOf(await late.take(['dora']), 'dora');
    expect(age).toBeGreaterThanOrEqual(-0.1);
    expect(age).toBeLessThan(3);
  });

  test('a session that ends before it records a POST leaves its users free, with nothing to wait for', async () => {
    const ledger = ledgerOf();
    await (await claimsOf(ledger)).take(['eve']);
    await ledger.close();
    expect(asked(await (await claimsOf()).take(['eve']))).toEqual([]);
  });

  test('a POST whose end is not recorded ends at its time limit, for whoever takes over and after that', async () => {
    const ledger = ledgerOf();
    const claims = await claimsOf(ledger, 20_000);
    await claims.take(['finn', 'gwen']);
    await claims.posting('finn');
    await ledger.close();
    const next = await claimsOf();
    const posted = await next.take(['finn', 'gwen']);
    expect(asked(posted)).toEqual(['finn']);
    expect(ageOf(posted, 'finn')).toBeLessThan(-20);
    expect(ageOf(posted, 'finn')).toBeGreaterThan(-26);
    // Given back without a POST of its own, as after Ctrl-C: the next one has to wait all the same.
    await next.release(['finn', 'gwen']);
    expect(ageOf(await (await claimsOf()).take(['finn']), 'finn')).toBeLessThan(-19);
  });

  test('a refused POST leaves nothing to wait for', async () => {
    const claims = await claimsOf();
    await claims.take(['hal']);
    await claims.posting('hal');
    await claims.release(['hal']);
    expect(asked(await (await claimsOf()).take(['hal']))).toEqual([]);
  });

  test('a POST is not allowed for a user that is not held, and then the claims are lost', async () => {
    const claims = await claimsOf();
    await claims.take(['ida']);
    expect(claims.lost()).toBeUndefined();
    const { kind, message } = await failureOf(() => claims.posting('jon'));
    expect([kind, message]).toEqual(['unavailable', expect.stringContaining('the session of this run')]);
    expect(claims.lost()?.message).toBe(message);
  });

  test('the session of another connection is refused, as behind a pooler that changes connections', async () => {
    const claims = await claimsOf();
    await claims.take(['kay']);
    await cluster.query(
      'UPDATE chatelaine.session SET backend = 0 WHERE id = (SELECT max(id) FROM chatelaine.session)',
    );
    expect((await failureOf(() => claims.posting('kay'))).kind).toBe('unavailable');
  });

  test.each(['restart', 'kill'] as const)(
    'after a %s of the server no POST is allowed, and claims are free',
    async (how) => {
      const claims = await claimsOf();
      const [lea, max] = [`lea-${how}`, `max-${how}`];
      await claims.take([lea, max]);
      await claims.posting(lea);
      await cluster.restart(how);
      expect((await failureOf(() => claims.posting(max))).kind).toBe('unavailable');
      expect(claims.lost()?.kind).toBe('unavailable');
      const posted = await (await claimsOf()).take([lea, max]);
      expect(asked(posted)).toEqual([lea]);
      expect(ageOf(posted, lea)).toBeLessThan(-20);
    },
  );

  test('what is remembered is forgotten after a day, and only then', async () => {
    const claims = await claimsOf();
    await claims.take(['nia']);
    await claims.posting('nia');
    await claims.ended('nia', { event: 'ended', time: Date.now(), unanswered: 1 });
    await claims.release(['nia']);
    const count = async (): Promise<unknown> => {
      await (await claimsOf()).release([]);
      return (
        await cluster.query(
          "SELECT count(*)::integer AS n FROM chatelaine.claim WHERE session IS NULL AND posted > now() - interval '1 minute'",
        )
      )[0]?.['n'];
    };
    const before = Number(await count());
    await cluster.query(`UPDATE chatelaine.claim SET forget = forget - interval '23 hours' WHERE session IS NULL`);
    expect(await count()).toBe(before);
    await cluster.query(`UPDATE chatelaine.claim SET forget = forget - interval '2 hours' WHERE session IS NULL`);
    expect(await count()).toBe(0);
  });

  test('the database holds neither names nor hashes that can be guessed without the salt', async () => {
    const claims = await claimsOf();
    await claims.take(['olga-4711']);
    const sent = hash('sha256', `${target}\0olga-4711`, 'buffer');
    const [row] = await cluster.query(
      `SELECT string_agg(to_jsonb(c)::text, ' ') AS claims, count(*) FILTER (WHERE c.who IN ($1, sha256($1)))::integer AS guessed
       FROM chatelaine.claim c`,
      [sent],
    );
    expect(row?.['claims']).not.toContain('olga');
    expect(row?.['guessed']).toBe(0);
  });

  const answer = { status: 201, time: 1_700_000_000_000, key_end: 'wxyz' };

  test('an open answer stays, whoever takes over and however old it is, until a list has shown the license', async () => {
    const first = ledgerOf();
    const one = await claimsOf(first);
    await one.take(['tess', 'uma']);
    await one.posting('tess');
    await one.ended('tess', { event: 'answered', ...answer });
    await first.close();
    const next = await claimsOf();
    expect(open(await next.take(['tess', 'uma']))).toEqual([['tess', answer]]);
    const openFor = (name: string, ...users: string[]) => ledgerOf().openAnswers(name, users);
    expect(await openFor(target, 'tess', 'uma', 'nobody')).toEqual(new Map([['tess', answer]]));
    await next.release(['tess', 'uma']);
    expect(await openFor(target, 'tess', 'uma')).toEqual(new Map([['tess', answer]]));
    expect(await openFor('https://licenses.test 8', 'tess')).toEqual(new Map());
    await cluster.query(`UPDATE chatelaine.claim SET forget = forget - interval '2 years'`);
    const later = await claimsOf();
    expect(open(await later.take(['tess']))).toEqual([['tess', answer]]);
    await later.release(['tess'], new Set(['tess']));
    expect(await openFor(target, 'tess')).toEqual(new Map());
    expect(open(await (await claimsOf()).take(['tess']))).toEqual([]);
  });

  test('users are busy while another session that lives may send for them, and no longer once an answer is recorded', async () => {
    const ledger = ledgerOf();
    const [one, other] = [await claimsOf(ledger), await claimsOf()];
    await one.take(['busy-1', 'busy-2', 'busy-3']);
    const users = ['busy-1', 'busy-2', 'busy-3', 'busy-4'];
    expect(await other.busy(users)).toEqual({
      now: expect.any(Number) as number,
      count: 3,
      holder: expect.stringMatching(/^process \d+ on here.test$/) as string,
    });
    await one.ended('busy-1', { event: 'answered', ...answer });
    await one.ended('busy-2', { event: 'ended', time: 1, unanswered: 1 });
    await one.release(['busy-2']);
    expect([(await other.busy(users)).count, (await one.busy(users)).count]).toEqual([1, 0]);
    await ledger.close();
    expect((await other.busy(users)).count).toBe(0);
  });

  test('an answer for a user that is not held is an error: it could be asked for again', async () => {
    const claims = await claimsOf();
    await claims.take(['vera']);
    await expect(claims.ended('wim', { event: 'answered', ...answer })).rejects.toThrow('holds 0 of 1 users');
    expect(claims.lost()).toBeDefined();
  });

  test('sessions that claim, record and give back the same users in any order never deadlock', async () => {
    const users = Array.from({ length: 600 }, (_one, index) => `crowd-${index}`);
    const deadlocks = async (): Promise<unknown> =>
      (await cluster.query(`SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'`))[0]?.['deadlocks'];
    const before = await deadlocks();
    const work = async (index: number): Promise<void> => {
      for (let round = 0; round < 6; round += 1) {
        const ledger = ledgerOf();
        const claims = await claimsOf(ledger);
        const wanted = (index + round) % 2 === 0 ? users : users.toReversed();
        const { held } = await claims.takeFree(wanted);
        const mine = wanted.filter((user) => !held.includes(user));
        const [first] = mine;
        if (first !== undefined) await claims.posting(first, () => mine.slice(0, 100));
        const given = mine.slice(round * 20);
        if (round % 2 === 1)
          for (const user of given) await claims.ended(user, { event: 'ended', time: 1, unanswered: 1 });
        await claims.release(given);
        await ledger.close();
      }
    };
    await Promise.all([0, 1, 2, 3].map(work));
    expect(await deadlocks()).toEqual(before);
  });

  test('what the database undid is sent again, also where the role isolates its transactions', async () => {
    await cluster.query('CREATE ROLE serial LOGIN');
    await cluster.query('GRANT USAGE ON SCHEMA chatelaine TO serial');
    await cluster.query(`ALTER ROLE serial SET default_transaction_isolation = 'serializable'`);
    const url = cluster.url.replace('tester@', 'serial@');
    const users = Array.from({ length: 20 }, (_one, index) => `serial-${index}`);
    const claims = await Promise.all(users.slice(0, 5).map(() => claimsOf(ledgerOf(0, url))));
    const taken = await Promise.all(claims.map((own) => own.takeFree(users)));
    expect(taken.map(({ held }) => users.length - held.length).reduce((sum, count) => sum + count)).toBe(users.length);
  });

  test('a session asks for what a vanished machine needs, and PGOPTIONS stays out', async () => {
    vi.stubEnv('PGOPTIONS', '-c tcp_user_timeout=7 -c application_name=options');
    onTestFinished(() => void vi.unstubAllEnvs());
    const url = `postgres://tester@127.0.0.1:${cluster.port}/postgres`;
    const database = await openDatabase(await ledgerAddress(url, systemIn(cluster.socket)), {
      alarm: realAlarm,
      signal: new AbortController().signal,
      caFile: undefined,
    });
    onTestFinished(() => database.close());
    const { signal } = new AbortController();
    const shown = async (name: string) => (await database.query(`SHOW ${name}`, [], { signal }))[0]?.[name];
    expect([await shown('application_name'), await shown('tcp_user_timeout')]).toEqual(['chatelaine', '0']);
    await database.query('SELECT chatelaine.open($1, $2, 1, 1)', [ledgerVersion, 'here'], { signal });
    const names = ['tcp_user_timeout', 'tcp_keepalives_idle', 'idle_session_timeout', 'default_transaction_isolation'];
    const values: unknown[] = [];
    for (const name of names) values.push(await shown(name));
    expect(values).toEqual(['30000', '15', '0', 'read committed']);
  });

  test('a ledger that is upgraded under a run stops it as incomplete, and the older program is told to be upgraded', async () => {
    await cluster.query('CREATE DATABASE moving');
    const url = cluster.url.replace('/postgres?', '/moving?');
    await ledgerOf(0, url).init();
    await cluster.query(madeLongAgo, [], 'moving');
    const claims = await claimsOf(ledgerOf(0, url));
    await claims.take(['xena']);
    await cluster.query('UPDATE chatelaine.ledger SET version = version + 1', [], 'moving');
    const caught = await failureOf(() => claims.posting('xena'));
    expect([caught.kind, caught.hint]).toEqual([
      'unavailable',
      'Upgrade chatelaine on this machine. Then run the same command again: it resumes.',
    ]);
    expect((await failureOf(() => claimsOf(ledgerOf(0, url)))).hint).toBe('Upgrade chatelaine on this machine.');
  });

  test('a role that may not call the functions is told which right it lacks', async () => {
    await cluster.query('CREATE ROLE revoked LOGIN');
    await cluster.query('CREATE DATABASE strict');
    const url = cluster.url.replace('/postgres?', '/strict?');
    await ledgerOf(0, url).init();
    await cluster.query(madeLongAgo, [], 'strict');
    await cluster.query('GRANT USAGE ON SCHEMA chatelaine TO revoked', [], 'strict');
    await cluster.query('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA chatelaine FROM PUBLIC', [], 'strict');
    const asked = () => claimsOf(ledgerOf(0, url.replace('tester@', 'revoked@')));
    expect(await failureOf(asked)).toMatchObject({
      kind: 'auth',
      hint: 'The owner gives the right, after each ledger init: GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA chatelaine TO "revoked";',
    });
    await cluster.query('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA chatelaine TO revoked', [], 'strict');
    expect((await (await asked()).takeFree(['abe'])).held).toEqual([]);
  });

  test('where the role has no connection left, a run waits for one', async () => {
    await cluster.query('CREATE ROLE narrow LOGIN CONNECTION LIMIT 1');
    await cluster.query('GRANT USAGE ON SCHEMA chatelaine TO narrow');
    const url = cluster.url.replace('tester@', 'narrow@');
    const first = ledgerOf(0, url);
    await claimsOf(first);
    const notes: string[] = [];
    const options = { settle: 5000, remember, signal: new AbortController().signal, requestLimit: 1000 };
    const note = (text: string): void => {
      notes.push(text);
      void first.close();
    };
    const claims = await ledgerOf(0, url).claims(target, { ...options, note });
    expect((await claims.takeFree(['bea'])).held).toEqual([]);
    expect(notes).toEqual([expect.stringMatching(/takes no more connections.*; waiting for a free one$/)]);
  });

  test('status shows who holds what, active and ended, and no users', async () => {
    const ledger = ledgerOf();
    const claims = await ledger.claims('https://status.test 8', {
      settle: 0,
      remember,
      signal: new AbortController().signal,
      note: () => undefined,
      requestLimit: 1,
    });
    await claims.takeFree(['pia', 'quinn']);
    await claims.posting('pia');
    const held = async () => (await ledgerOf().status()).filter((one) => one.target === 'https://status.test 8');
    const row = {
      target: 'https://status.test 8',
      pid: process.pid,
      users: 2,
      sending: 1,
      until: expect.stringMatching(/^20\d\d-.*Z$/) as string,
      host: expect.any(String) as string,
    };
    expect(await held()).toEqual([{ ...row, state: 'active', since: expect.stringMatching(/^20\d\d-.*Z$/) as string }]);
    await ledger.close();
    expect(await held()).toEqual([{ ...row, state: 'ended', since: expect.any(String) as string }]);
  });

  test('a role with USAGE alone can claim, and can read nothing', async () => {
    await cluster.query('CREATE ROLE runner LOGIN');
    const url = cluster.url.replace('tester@', 'runner@');
    expect((await failureOf(() => claimsOf(ledgerOf(0, url)))).kind).toBe('auth');
    await cluster.query('GRANT USAGE ON SCHEMA chatelaine TO runner');
    const claims = await claimsOf(ledgerOf(0, url));
    await claims.take(['rosa']);
    await claims.posting('rosa');
    await claims.ended('rosa', { event: 'ended', time: Date.now(), unanswered: 1 });
    await claims.release(['rosa']);
    await ledgerOf(0, url).examine();
    const readable = await cluster.query(
      `SELECT bool_or(has_table_privilege('runner', c.oid, 'SELECT')) AS any FROM pg_class c WHERE c.relnamespace = 'chatelaine'::regnamespace AND c.relkind = 'r'`,
    );
    expect(readable).toEqual([{ any: false }]);
  });

  test('init is idempotent, also when two run it at once in an empty database', async () => {
    await cluster.query('CREATE DATABASE fresh');
    const url = cluster.url.replace('/postgres?', '/fresh?');
    const outcomes = await Promise.all([ledgerOf(0, url).init(), ledgerOf(0, url).init()]);
    expect(outcomes.toSorted()).toEqual(['created', 'unchanged']);
    expect(await ledgerOf(0, url).init()).toBe('unchanged');
  });

  test('a database without a ledger, of another version, or that is not there is exit 3 with the way out', async () => {
    await cluster.query('CREATE DATABASE bare');
    const bare = cluster.url.replace('/postgres?', '/bare?');
    expect(await failureOf(() => claimsOf(ledgerOf(0, bare)))).toEqual({
      kind: 'config',
      message: expect.stringContaining('the database socket') as string,
      hint: 'Create it once: chatelaine ledger init',
    });
    expect((await failureOf(() => ledgerOf(0, bare).examine())).kind).toBe('config');
    expect((await failureOf(() => claimsOf(ledgerOf(0, cluster.url.replace('/postgres?', '/none?'))))).kind).toBe(
      'config',
    );
    const other = ledgerOf(0, bare);
    await other.init();
    await cluster.query('SELECT 1');
    const connected = ledgerOf(0, bare);
    await other.close();
    expect(await connected.init()).toBe('unchanged');
  });

  test.each(['a replica that took over', 'a dump that was read again', 'a schema that was dropped and made again'])(
    'after %s each user counts as asked for until the last POST of before must have ended, once',
    async (way) => {
      const restored = await startPostgres();
      onTestFinished(() => restored.stop());
      await ledgerOf(0, restored.url).init();
      await restored.query(madeLongAgo);
      const notes: string[] = [];
      const take = async (url: string, requestLimit = 30_000): Promise<RequestHistories> => {
        const options = { settle: 5000, remember, signal: new AbortController().signal, requestLimit };
        const waiting = { ...options, note: (text: string) => notes.push(text) };
        const claims = withTake(await ledgerOf(0, url).claims(target, waiting), realClock, waiting);
        const users = ['ada', 'ben'];
        const histories = await claims.take(users);
        await claims.release(users);
        return histories;
      };
      expect([await take(restored.url), notes]).toEqual([new Map(), []]);
      if (way.startsWith('a dump')) await restored.restoreInto('again');
      else if (way.startsWith('a replica')) await restored.restart('promote');
      else {
        await restored.query('DROP SCHEMA chatelaine CASCADE');
        await ledgerOf(0, restored.url).init();
      }
      const url = way.startsWith('a dump') ? restored.url.replace('/postgres?', '/again?') : restored.url;

      for (const _run of ['the first', 'the second']) {
        const histories = await take(url);
        expect(asked(histories)).toEqual(['ada', 'ben']);
        expect(ageOf(histories, 'ada')).toBeCloseTo(-35, -1);
      }
      expect(notes).toEqual(
        Array(2).fill(
          expect.stringMatching(
            /^the ledger is new or was restored, or a replica took over: no license is created in the next \d+s$/,
          ),
        ),
      );

      const database = way.startsWith('a dump') ? 'again' : 'postgres';
      await restored.query(`UPDATE chatelaine.ledger SET restored = restored - interval '41 s'`, [], database);
      expect(asked(await take(url))).toEqual([]);
    },
  );

  test.each(['FUNCTION chatelaine.take', 'FUNCTION chatelaine.about', 'TABLE chatelaine.claim'])(
    'a ledger that was restored without %s is named by init and by doctor',
    async (part) => {
      const name = `part_${part.replace(/\W/g, '_').toLowerCase()}`;
      await cluster.query(`CREATE DATABASE ${name}`);
      const ledger = ledgerOf(0, cluster.url.replace('/postgres?', `/${name}?`));
      await ledger.init();
      await cluster.query(`DROP ${part}`, [], name);
      for (const work of [() => ledger.init(), () => ledger.examine()])
        expect(await failureOf(work)).toMatchObject({
          kind: 'config',
          message: `the schema chatelaine was restored in part: it lacks ${part.replace(/.*\./, '')}`,
        });
    },
  );

  test('an address where nobody listens is exit 7', async () => {
    const url = `postgres://tester@127.0.0.1:1/postgres`;
    expect(await failureOf(() => claimsOf(ledgerOf(0, url)))).toEqual({
      kind: 'unavailable',
      message: 'the ledger 127.0.0.1:1/postgres is not available: connect ECONNREFUSED 127.0.0.1:1',
      hint: 'Without the ledger nothing is created. chatelaine doctor shows what is wrong with it.',
    });
  });
});
