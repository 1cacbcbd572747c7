import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { schemaSql, statements } from '../../../src/store/ledger/ledger-sql.ts';
import { stateIn } from '../../../src/store/ledger/ledger.ts';
import { LedgerWrites, type Ask } from '../../../src/store/ledger/ledger-writes.ts';
import { LicenseWrites } from '../../../src/store/record/joined-writes.ts';
import type { AskedWrite, UserLock } from '../../../src/store/record/writes.ts';
import { isWhole } from '../../helpers/extent.ts';
import { needs } from '../../helpers/needs.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { chanceOf } from '../../simulation/chance.ts';
import { createLedgerMemory } from '../../simulation/ledger-memory.ts';
import { systemIn } from '../system.ts';

const orders = isWhole ? 200 : 4;
const names = ['ada', 'Ada', 'ben', 'cyd'];
const drawn = ['lock', 'lock', 'lock', 'begin', 'begin', 'end', 'known', 'others', 'release', 'firsts', 'die'] as const;
const user = (remote_user: string) => ({ app_code: 7, remote_user });
const asked: AskedWrite = { kind: 'creation', app_code: 7, settle: 3_600_000, unanswered: 0, isFirst: true };

interface Connection {
  readonly ask: Ask;
  close(): Promise<void>;
}

interface Lock extends UserLock {
  readonly folded: readonly string[];
}

/** Three runs do so many drawn things with four names, of which two are one; what each of them learns. */
async function playOrder(seed: number, connect: () => Promise<Connection>): Promise<readonly unknown[]> {
  const chance = chanceOf(seed);
  const clock = { ...realClock, sleep: () => Promise.resolve() };
  const host = { system: systemIn('/nowhere'), clock, alarm: realAlarm };
  const runs: { store: LicenseWrites; connection: Connection; locks: Map<string, Lock>; ids: string[] }[] = [];
  let born = 0;
  const begin = async () => {
    const connection = await connect();
    const token = `s${seed}run${(born += 1)}`;
    const named = { token, run: token, command: 'license apply', note: () => undefined };
    const [about] = await connection.ask(statements.about, []);
    const run = { ...named, settle: 5000, requestLimit: 30_000 };
    const place = new LedgerWrites(connection.ask, stateIn(about), 'https://licenses.test', run, host, host.alarm);
    await place.open();
    const { signal } = new AbortController();
    const store = new LicenseWrites([place], { token, settle: 5000, ...host, signal, say: () => undefined });
    return { store, connection, locks: new Map<string, Lock>(), ids: [] };
  };
  for (let number = 0; number < 3; number += 1) runs[number] = await begin();
  const learned: unknown[] = [];
  for (let step = 0; step < 30; step += 1) {
    const [number, name] = [chance.below(3), chance.pick(names)];
    const run = runs[number] ?? (await begin());
    const { store, locks, ids } = run;
    const id = store.newId();
    const deeds = {
      async lock() {
        const wanted = [name, chance.pick(names)];
        const folded = wanted.map((one) => one.toLowerCase());
        // The lock of the computer keeps the workers of one run apart.
        if ([...locks.values()].some((own) => own.folded.some((one) => folded.includes(one)))) return 'own';
        const lock = await store.lockNow(wanted.map(user));
        if (lock) locks.set(name, { ...lock, folded });
        else await turn();
        await store.load();
        return lock && 'taken';
      },
      async release() {
        await locks.get(name)?.release();
        await turn();
        await store.load();
        return locks.delete(name);
      },
      async begin() {
        if (!locks.has(name)) return 'not held';
        const kind = chance.pick(['creation', 'creation', 'change'] as const);
        await store.begin(id, [user(name)], { ...asked, kind });
        ids.push(id);
        return 'begun';
      },
      async end() {
        const [one] = ids.splice(chance.below(ids.length), 1);
        const is = chance.pick(['answered', 'no answer', 'refused', 'shown'] as const);
        if (one === undefined) return undefined;
        await store.end(
          one,
          is === 'answered'
            ? { is, status: 201, key_end: 'wxyz' }
            : is === 'no answer'
              ? { is, n: chance.pick([2, 0]) }
              : { is },
        );
        await store.load();
        return is;
      },
      async known() {
        const { pending, open } = await store.known(user(name));
        const [first] = pending;
        if (first && chance.happens(0.5)) await store.end(first.id, { is: 'not processed' });
        await store.load();
        return [
          pending.map((one) => [one.id, one.run, one.n, one.ended > realClock.elapsed()]),
          open?.id,
          open?.key_end,
        ];
      },
      others: async () => (await store.load()).n,
      firsts: async () => (await store.openFirsts()).map((one) => [one.id, one.isOf(user(name))]).sort(),
      async die() {
        await run.connection.close();
        runs[number] = await begin();
        return 'died';
      },
    };
    const deed = chance.pick(drawn);
    learned.push([number, name, deed, await deeds[deed]()]);
  }
  for (const { connection } of runs) await connection.close();
  return learned;
}

describe('a ledger in memory and PostgreSQL', needs('postgresql'), () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startPostgres();
    await cluster.query(schemaSql + madeLongAgo);
  });

  afterAll(() => cluster.stop());

  async function connectPostgres(): Promise<Connection> {
    const client = new pg.Client({ host: cluster.socket, port: cluster.port, user: 'tester', database: 'postgres' });
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return {
      ask: async (text, values) => (await client.query<Record<string, unknown>>(text, [...values])).rows,
      async close() {
        await client.end();
        const gone = `SELECT FROM pg_stat_activity WHERE pid = ${rows[0]?.pid ?? 0}`;
        while ((await cluster.query(gone)).length > 0);
      },
    };
  }

  function memory(): () => Promise<Connection> {
    const ledger = createLedgerMemory(() => Date.now());
    return () => {
      let isOpen = true;
      const connection = { isOpen: () => isOpen };
      const ask: Ask = (text, values) => Promise.resolve(ledger.query(connection, text, values));
      const close = () => Promise.resolve(void (isOpen = false));
      return Promise.resolve({ ask, close });
    };
  }

  test(`whatever three runs do with three users, in ${orders} drawn orders: both say the same`, async () => {
    for (let seed = 1; seed <= orders; seed += 1) {
      await cluster.query('TRUNCATE chatelaine.line, chatelaine.run');
      expect(await playOrder(seed, memory())).toEqual(await playOrder(seed, connectPostgres));
    }
  });
});
