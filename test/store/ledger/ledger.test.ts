import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { openLedger, type Ledger } from '../../../src/store/ledger/ledger.ts';
import type { SharedClaims } from '../../../src/store/claims.ts';
import { startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { needs } from '../../helpers/programs.ts';
import { failureOf, machineIn } from '../place.ts';

const target = 'https://licenses.test 7';
const minutes = 60_000;

describe('a ledger', needs('postgresql'), () => {
  let cluster: Cluster;
  const opened: Ledger[] = [];

  beforeAll(async () => {
    cluster = await startPostgres();
    await ledgerOf().init();
  }, 60_000);

  afterAll(async () => {
    await Promise.all(opened.map((ledger) => ledger.close()));
    await cluster.stop();
  });

  /** A run of its own: its own connection, and a clock that is `ahead` of the database's. */
  function ledgerOf(ahead = 0, url = cluster.url): Ledger {
    const world = {
      machine: machineIn(cluster.socket),
      clock: { ...realClock, now: () => Date.now() + ahead },
      alarm: realAlarm,
      signal: new AbortController().signal,
      caFile: undefined,
      watch: <T>(secret: T): T => secret,
    };
    const ledger = openLedger(url, world);
    opened.push(ledger);
    return ledger;
  }

  /** Claims of a run that gives up as soon as it would have to wait. */
  async function claimsOf(ledger = ledgerOf(), requestLimit = 30_000): Promise<SharedClaims> {
    const run = new AbortController();
    const note = (text: string): void => run.abort(new Error(text));
    const claims = await ledger.claims(target, { settle: 5000, signal: run.signal, note, requestLimit });
    await claims.takeFree([]);
    return claims;
  }

  const back = (...users: string[]) => users.map((remote_user) => ({ remote_user }));

  /** How many seconds ago a moment is; later than now is negative. */
  function ageOf(posted: ReadonlyMap<string, number>, user: string): number {
    return (realClock.elapsed() - (posted.get(user) ?? NaN)) / 1000;
  }

  test('a user that a session holds cannot be claimed by another one until it is given back', async () => {
    const [one, other] = [await claimsOf(), await claimsOf()];
    expect([...(await one.take(['ada', 'ben'])).posted]).toEqual([]);
    expect(await other.takeFree(['ben', 'cy'])).toEqual({
      now: expect.any(Number) as number,
      posted: new Map(),
      answers: new Map(),
      held: ['ben'],
      holder: expect.stringMatching(/^process \d+ on /) as string,
    });
    await expect(other.take(['ben'])).rejects.toThrow(/^waiting for process \d+ on .*, which is creating licenses/);
    await one.release(back('ada', 'ben'));
    expect([...(await (await claimsOf()).take(['ada', 'ben'])).posted]).toEqual([]);
  });

  test('the applications of one run share its session: claims of the first outlive those of the second', async () => {
    const ledger = ledgerOf();
    const first = await claimsOf(ledger);
    await first.take(['two-apps']);
    const run = { settle: 5000, signal: new AbortController().signal, note: () => undefined, requestLimit: 30_000 };
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
    await claims.release(users.map((remote_user) => ({ remote_user })));
    expect((await (await claimsOf()).takeFree(users)).held).toEqual([]);
  });

  test('the end of a POST is a moment of the database: machines whose clocks differ, or are set meanwhile, read its age', async () => {
    const early = await claimsOf(ledgerOf(-10 * minutes));
    await early.take(['dora']);
    await early.posting('dora');
    // Since the POST ended the clock of this machine was set forward by an hour.
    await early.release([{ remote_user: 'dora', posted: Date.now() - 70 * minutes }]);
    const late = await claimsOf(ledgerOf(10 * minutes));
    const age = ageOf((await late.take(['dora'])).posted, 'dora');
    expect(age).toBeGreaterThanOrEqual(-0.1);
    expect(age).toBeLessThan(3);
  });

  test('a session that ends before it records a POST leaves its users free, with nothing to wait for', async () => {
    const ledger = ledgerOf();
    await (await claimsOf(ledger)).take(['eve']);
    await ledger.close();
    expect([...(await (await claimsOf()).take(['eve'])).posted]).toEqual([]);
  });

  test('a POST whose end is not recorded ends at its time limit, for whoever takes over and after that', async () => {
    const ledger = ledgerOf();
    const claims = await claimsOf(ledger, 20_000);
    await claims.take(['finn', 'gwen']);
    await claims.posting('finn');
    await ledger.close();
    const next = await claimsOf();
    const { posted } = await next.take(['finn', 'gwen']);
    expect([...posted.keys()]).toEqual(['finn']);
    expect(ageOf(posted, 'finn')).toBeLessThan(-20);
    expect(ageOf(posted, 'finn')).toBeGreaterThan(-26);
    // Given back without a POST of its own, as after Ctrl-C: the next one has to wait all the same.
    await next.release(back('finn', 'gwen'));
    expect(ageOf((await (await claimsOf()).take(['finn'])).posted, 'finn')).toBeLessThan(-19);
  });

  test('a refused POST leaves nothing to wait for', async () => {
    const claims = await claimsOf();
    await claims.take(['hal']);
    await claims.posting('hal');
    await claims.release(back('hal'));
    expect([...(await (await claimsOf()).take(['hal'])).posted]).toEqual([]);
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
      const { posted } = await (await claimsOf()).take([lea, max]);
      expect([...posted.keys()]).toEqual([lea]);
      expect(ageOf(posted, lea)).toBeLessThan(-20);
    },
  );

  test('what is remembered is forgotten after a day, and only then', async () => {
    const claims = await claimsOf();
    await claims.take(['nia']);
    await claims.posting('nia');
    await claims.release([{ remote_user: 'nia', posted: Date.now() }]);
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

  test('status shows who holds what, active and ended, and no users', async () => {
    const ledger = ledgerOf();
    const claims = await ledger.claims('https://status.test 8', {
      settle: 0,
      signal: new AbortController().signal,
      note: () => undefined,
      requestLimit: 1,
    });
    await claims.take(['pia', 'quinn']);
    await claims.posting('pia');
    const held = async () => (await ledgerOf().status()).filter((one) => one.target === 'https://status.test 8');
    const row = {
      target: 'https://status.test 8',
      pid: process.pid,
      users: 2,
      sending: 1,
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
    await claims.release([{ remote_user: 'rosa', posted: Date.now() }]);
    expect(Math.abs(await ledgerOf(0, url).skew())).toBeLessThan(2000);
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
    expect((await failureOf(() => ledgerOf(0, bare).skew())).kind).toBe('config');
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

  test('an address where nobody listens is exit 7', async () => {
    const url = `postgres://tester@127.0.0.1:1/postgres`;
    expect(await failureOf(() => claimsOf(ledgerOf(0, url)))).toEqual({
      kind: 'unavailable',
      message: 'the ledger 127.0.0.1:1/postgres is not available: connect ECONNREFUSED 127.0.0.1:1',
      hint: 'Without the ledger nothing is created. chatelaine doctor shows what is wrong with it.',
    });
  });
});
