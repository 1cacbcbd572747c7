import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { openLedger } from '../../../src/store/ledger/ledger.ts';
import { upgradeScript } from '../../../src/store/ledger/ledger-steps.ts';
import { needs } from '../../helpers/needs.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { failureOf } from '../place.ts';
import { systemIn } from '../system.ts';

/** A database that answers what no ledger answers, and a pooler that changes connections between statements. */

const options = {
  ...{ settle: 5000, remember: 86_400_000, requestLimit: 30_000, width: 1 },
  ...{ signal: new AbortController().signal, note: () => undefined },
};

describe('a ledger whose answers are not as they should be', needs('postgresql'), () => {
  let cluster: Cluster;
  let count = 0;

  beforeAll(async () => {
    cluster = await startPostgres();
  });

  afterAll(() => cluster.stop());

  /** A ledger of a database of its own, after these statements. */
  async function ledgerAfter(sql: string, role = 'tester') {
    const database = `odd_${(count += 1)}`;
    await cluster.query(`CREATE DATABASE ${database}`);
    await cluster.query(upgradeScript(0) + madeLongAgo + sql, [], database);
    const url = cluster.url.replace('/postgres?', `/${database}?`).replace('tester@', `${role}@`);
    const host = { clock: realClock, alarm: realAlarm, signal: options.signal, caFile: undefined };
    const ledger = openLedger(url, { ...host, system: systemIn(cluster.socket), watch: (secret) => secret });
    onTestFinished(() => ledger.close());
    return ledger;
  }

  const take = 'take(asked_version integer, me integer, target_name text, users bytea[])';
  const busy = 'busy(asked_version integer, me integer, users bytea[])';
  const queued = 'queued(asked_version integer, me integer, server text, wide integer, known text, next text)';
  const answers = 'open_answers(users bytea[])';
  const claims = 'the ledger answered with something else than claims';

  test.each([
    [take, 'null', claims],
    [take, '7', claims],
    [take, '{"past":[],"held":[]}', claims],
    [take, '{"now":"1","past":[],"held":[]}', claims],
    [take, '{"now":1,"held":[]}', claims],
    [take, '{"now":1,"past":[],"held":{}}', claims],
    [take, '{"now":1,"past":[["x",1,"open"]],"held":[]}', claims],
    [take, '{"now":1,"past":[["x",1,{"status":201}]],"held":[]}', claims],
    [busy, 'null', claims],
    [busy, '{"now":1}', claims],
    [busy, '{"count":0}', claims],
    [answers, '7', claims],
    [answers, '[["x",{"status":"201"}]]', claims],
    [queued, 'null', 'the ledger answered with something else than a queue'],
    [queued, '{"now":1,"state":null}', 'the ledger answered with something else than a queue'],
    [queued, '{"now":1,"dead":[],"state":{"left":7}}', 'the ledger answered with something else than a queue'],
  ])('%s answers %s: nothing is created', async (name, answer, message) => {
    const ledger = await ledgerAfter(
      `CREATE OR REPLACE FUNCTION chatelaine.${name} RETURNS json LANGUAGE sql AS $$ SELECT '${answer}'::json $$;`,
    );
    const ask = async () => {
      if (name === answers) return ledger.openAnswers('https://licenses.test 7', ['ada']);
      const opened = await ledger.claims('https://licenses.test 7', options);
      if (name === take) return opened.takeFree(['ada']);
      if (name === busy) return opened.busy(['ada']);
      return (await ledger.queue('https://licenses.test', options)).read();
    };
    expect(await failureOf(ask)).toMatchObject({ kind: 'unavailable', message });
  });

  test.each([
    ['gives each statement another connection', `nextval('pooled.pids')::integer`],
    ['gives two clients one connection', '7'],
    [
      'changes connections later',
      `CASE WHEN nextval('pooled.pids') < 3 THEN 1000 + currval('pooled.pids')::integer ELSE 7 END`,
    ],
  ])('doctor refuses a pooler that %s', async (_what, pid) => {
    const role = `pooled_${count}`;
    const ledger = await ledgerAfter(
      `CREATE ROLE ${role} LOGIN SUPERUSER; CREATE SCHEMA pooled; CREATE SEQUENCE pooled.pids;
       CREATE FUNCTION pooled.pg_backend_pid() RETURNS integer LANGUAGE sql AS $$ SELECT ${pid} $$;
       ALTER ROLE ${role} SET search_path = pooled, pg_catalog;`,
      role,
    );
    const { kind, message, hint } = await failureOf(() => ledger.examine());
    expect([kind, message]).toEqual(['config', expect.stringContaining('changes connections between statements')]);
    expect(hint).toContain('pool_mode = session');
  });

  test('a connection of its own for each client is right', async () => {
    await expect((await ledgerAfter('')).examine()).resolves.toBeUndefined();
  });
});
