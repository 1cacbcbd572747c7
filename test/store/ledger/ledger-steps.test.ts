import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import pg from 'pg';
import {
  ledgerSteps,
  ledgerVersion,
  upgradeLedger,
  upgradeScript,
  versionIn,
  type LedgerStep,
  type SendStatement,
} from '../../../src/store/ledger/ledger-steps.ts';
import { startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { needs } from '../../helpers/needs.ts';
import { failureOf } from '../place.ts';

/** The steps of a program to come: the last one moves what the one before it added. */
const later: readonly LedgerStep[] = [
  ...ledgerSteps,
  { version: 3, what: 'notes', sql: 'ALTER TABLE chatelaine.target ADD COLUMN note text;' },
  { version: 4, what: 'longer notes', sql: 'ALTER TABLE chatelaine.target RENAME COLUMN note TO remark;' },
];

test('the steps are numbered from 1 without a gap', () => {
  expect(ledgerSteps.map(({ version }) => version)).toEqual(ledgerSteps.map((_step, index) => index + 1));
  expect(ledgerVersion).toBe(ledgerSteps.length);
});

test('a script of a version that is not known is refused', async () => {
  expect(await failureOf(() => upgradeScript(5, later))).toEqual({
    kind: 'config',
    message: 'the ledger has version 5, and this chatelaine knows version 4 at most',
    hint: 'Upgrade chatelaine on this machine.',
  });
});

describe('the steps of a ledger', needs('postgresql'), () => {
  let cluster: Cluster;
  const clients: pg.Client[] = [];

  beforeAll(async () => {
    cluster = await startPostgres();
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await cluster.stop();
  });

  /** A connection of its own to an empty database. */
  async function database(name: string): Promise<() => Promise<SendStatement>> {
    await cluster.query(`CREATE DATABASE ${name}`);
    return async () => {
      const client = new pg.Client({ host: cluster.socket, port: cluster.port, user: 'tester', database: name });
      clients.push(client);
      await client.connect();
      return async (text, values = []) => (await client.query<Record<string, unknown>>(text, [...values])).rows;
    };
  }

  test('each version is brought to the last one, and what it holds stays', async () => {
    const rows = await (await database('steps'))();
    expect([await versionIn(rows), await upgradeLedger(rows, later.slice(0, 1))]).toEqual([0, 'created']);
    await rows(`INSERT INTO chatelaine.target (name) VALUES ('https://licenses.test 7')`);
    const salt = await rows('SELECT salt FROM chatelaine.ledger');
    expect([await versionIn(rows), await upgradeLedger(rows, later)]).toEqual([1, 'upgraded']);
    expect([await versionIn(rows), await upgradeLedger(rows, later)]).toEqual([4, 'unchanged']);
    expect(await rows('SELECT name, remark FROM chatelaine.target')).toEqual([
      { name: 'https://licenses.test 7', remark: null },
    ]);
    expect(await rows('SELECT salt FROM chatelaine.ledger')).toEqual(salt);
  });

  test('a step that fails leaves the ledger as it was', async () => {
    const rows = await (await database('broken'))();
    await upgradeLedger(rows, later.slice(0, 1));
    const steps = [...later, { version: 5, what: 'a mistake', sql: 'ALTER TABLE chatelaine.no_table ADD x text;' }];
    await expect(upgradeLedger(rows, steps)).rejects.toThrow('no_table');
    await rows('ROLLBACK');
    expect([await versionIn(rows), await rows('SELECT * FROM chatelaine.target')]).toEqual([1, []]);
    expect(
      await rows(`SELECT column_name FROM information_schema.columns WHERE column_name IN ('note', 'remark')`),
    ).toEqual([]);
  });

  test.each([0, 1])(
    'many that init a ledger of version %i at once: one does it, the others find it done',
    async (from) => {
      const connect = await database(`crowd_${from}`);
      if (from > 0) await upgradeLedger(await connect(), later.slice(0, from));
      const crowd = await Promise.all(Array.from({ length: 8 }, connect));
      const outcomes = await Promise.all(crowd.map((rows) => upgradeLedger(rows, later)));
      const [done, ...rest] = outcomes.toSorted((one) => (one === 'unchanged' ? 1 : -1));
      expect([done, new Set(rest)]).toEqual([from === 0 ? 'created' : 'upgraded', new Set(['unchanged'])]);
    },
  );

  test('a newer ledger is left alone', async () => {
    const rows = await (await database('newer'))();
    await upgradeLedger(rows, later);
    const { kind, hint } = await failureOf(() => upgradeLedger(rows));
    expect([kind, hint]).toEqual(['config', 'Upgrade chatelaine on this machine.']);
    expect(await versionIn(rows)).toBe(4);
  });

  test('the script does the same, once: on another version it fails and changes nothing', async () => {
    const rows = await (await database('scripted'))();
    await rows(upgradeScript(0, later.slice(0, 1)));
    expect(await versionIn(rows)).toBe(1);
    const script = upgradeScript(1, later);
    expect(script).not.toContain('CREATE TABLE chatelaine.claim');
    await rows(script);
    expect(await versionIn(rows)).toBe(4);
    for (const text of [script, upgradeScript(0, later)]) {
      await expect(rows(text)).rejects.toThrow('no longer as it was when this script was written');
      await rows('ROLLBACK');
    }
    expect([await versionIn(rows), upgradeScript(4, later)]).toEqual([
      4,
      '-- The ledger has version 4: nothing is to be done.\n',
    ]);
  });

  test.each(['an init', 'a script'])('a ledger that has lost its salt is given no new one by %s', async (way) => {
    const rows = await (await database(way === 'an init' ? 'lost_init' : 'lost_script'))();
    await upgradeLedger(rows);
    await rows('DELETE FROM chatelaine.ledger');
    if (way === 'an init')
      expect(await failureOf(() => upgradeLedger(rows))).toMatchObject({
        kind: 'config',
        message: 'the table chatelaine.ledger has lost its only row, and with it the salt of all claims',
      });
    else {
      await expect(rows(upgradeScript(0))).rejects.toThrow('no longer as it was');
      await rows('ROLLBACK');
    }
    expect(await rows('SELECT * FROM chatelaine.ledger')).toEqual([]);
  });

  test('a role with USAGE alone learns what is missing', async () => {
    const connect = await database('watched');
    await upgradeLedger(await connect(), later.slice(0, 1));
    await cluster.query(`CREATE ROLE watcher LOGIN`);
    await cluster.query(`GRANT USAGE ON SCHEMA chatelaine TO watcher`, [], 'watched');
    const rows = await connect();
    await rows('SET ROLE watcher');
    expect(await versionIn(rows)).toBe(1);
  });
});
