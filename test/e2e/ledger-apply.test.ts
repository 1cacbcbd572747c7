import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../helpers/postgres.ts';
import { needs } from '../helpers/needs.ts';
import { openService, start, storeProfiles, temporaryHome, type Done } from './program.ts';

describe('processes that share a ledger', needs('postgresql'), () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startPostgres();
  });

  afterAll(() => cluster.stop());

  test('a roster of two applications on two machines, of which one is killed: one license in each application', async () => {
    const faults = readFaults('POST /v1/license/=drop-after:0.03,drop-before:0.03,delay-commit:0.03@300ms', 5);
    const { sandbox } = await openService({ faults, latency: 20 });
    const env = { CHATELAINE_LEDGER: cluster.url };
    expect((await start('ledger init', { env }).ended).code).toBe(0);
    await cluster.query(madeLongAgo);
    const { apps } = sandbox.licensing;
    const rows = Array.from({ length: 24 }, (_, index) => `two-${index >> 1},${apps[index % 2]?.app_code ?? ''}`);
    const machines = [0, 1].map(() => {
      const home = temporaryHome();
      storeProfiles(home, sandbox.licensing);
      const text = ['remote_user,app_code,size_allowance', ...rows.map((row) => `${row},4`), ''].join('\n');
      writeFileSync(join(home, 'roster.csv'), text);
      return () => start('license apply roster.csv -o ndjson --settle 600ms', { env, home, stdin: null });
    });
    const [first, second] = machines;
    if (!first || !second) throw new Error('no machines');

    const killed = first();
    const other = second();
    await killed.shows(/"status":"created"/);
    killed.child.kill('SIGKILL');
    const again = first();
    const ended: readonly Done[] = await Promise.all([killed.ended, other.ended, again.ended]);

    expect(ended.map(({ code, signal }) => signal ?? code)).toEqual(['SIGKILL', 0, 0]);
    const held = sandbox.state.licenses().filter(({ remote_user }) => remote_user.startsWith('two-'));
    expect(held.map(({ remote_user, app_code }) => `${remote_user},${app_code}`).toSorted()).toEqual(rows.toSorted());
    // The other one may have done all that was left before the first one is there again.
    expect(ended[1]?.stdout).toContain('"status":"created"');
  });
});
