import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testOfAll } from '../helpers/extent.ts';
import { readFaults } from '../../src/sandbox/faults.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../helpers/postgres.ts';
import { needs } from '../helpers/needs.ts';
import { openService, start, temporaryHome, type Done } from './program.ts';

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
    const { base_url, apps } = sandbox.licensing;
    const rows = Array.from({ length: 120 }, (_, index) => `two-${index >> 1},${apps[index % 2]?.app_code ?? ''}`);
    const machines = await Promise.all(
      [0, 1].map(async () => {
        const home = temporaryHome();
        for (const { app_code, api_key } of apps) {
          const login = `auth login licensing --base-url ${base_url} --app-code ${app_code} --name app-${app_code}`;
          await start(`${login} --api-key-stdin --no-check`, { home, stdin: `${api_key}\n` }).ended;
        }
        const text = ['remote_user,app_code,size_allowance', ...rows.map((row) => `${row},4`), ''].join('\n');
        writeFileSync(join(home, 'roster.csv'), text);
        return () => start('license apply roster.csv -o ndjson --settle 600ms', { env, home, stdin: null });
      }),
    );
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

  testOfAll('machines that share a roster read two lists each, and wait for no --settle', async () => {
    const { sandbox } = await openService({ latency: 20 });
    const env = { CHATELAINE_LEDGER: cluster.url };
    expect((await start('ledger init', { env }).ended).code).toBe(0);
    await cluster.query(madeLongAgo);
    const [app] = sandbox.licensing.apps;
    const names = Array.from({ length: 400 }, (_, index) => `shared-${index}`);
    const ended = await Promise.all(
      [0, 1].map(async () => {
        const home = temporaryHome();
        const login = `auth login licensing --base-url ${sandbox.licensing.base_url} --app-code ${app.app_code}`;
        await start(`${login} --api-key-stdin --no-check`, { home, stdin: `${app.api_key}\n` }).ended;
        writeFileSync(
          join(home, 'roster.csv'),
          ['remote_user,size_allowance', ...names.map((name) => `${name},4`), ''].join('\n'),
        );
        const done = await start('license apply roster.csv -o ndjson --log log.ndjson', { env, home, stdin: null })
          .ended;
        const log = readFileSync(join(home, 'log.ndjson'), 'utf8');
        const urls = [...log.matchAll(/"event":"answer","method":"GET","url":"([^"]*)"/g)].map(([, url = '']) => url);
        const looks = urls.filter((url) => url.includes('remote_user=')).length;
        return { done, looks, lists: urls.length - looks };
      }),
    );

    expect(ended.map(({ done }) => done.code)).toEqual([0, 0]);
    expect(Math.max(...ended.map(({ lists }) => lists))).toBeLessThanOrEqual(2);
    // Each user is looked up by the machine that creates the license; the first one shows both that the filter works.
    expect(ended.reduce((sum, { looks }) => sum + looks, 0)).toBeLessThanOrEqual(names.length + 2);
    expect(ended.map(({ done }) => done.stderr).join('')).not.toContain('listing again');
    const made = sandbox.state.licenses().filter(({ remote_user }) => remote_user.startsWith('shared-'));
    expect(made.map(({ remote_user }) => remote_user).toSorted()).toEqual(names.toSorted());
    for (const { done } of ended) expect(done.stdout).toContain('"status":"created"');
  });
});
