import { chmodSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startPostgres } from '../helpers/postgres.ts';
import { emptyHome, fakeService, run, type RunOptions } from '../helpers/run.ts';
import { needs } from '../helpers/needs.ts';

/**
 * What version 0.1.0 left on a computer: every later version reads it. A POST for ada and one of a roster for cy were
 * answered with 201, and no list has shown the licenses; ben was resized 4 -> 6; a topic was purged. Another computer
 * told the ledger, which is a dump of pg_dump --inserts without comments, that it renamed dora to dee.
 */
const fixture = 'test/fixtures/state-1';
const later: Pick<RunOptions, 'now'> = { now: Date.UTC(2026, 2, 2, 12) };

function homeOfOld(): string {
  const home = emptyHome();
  cpSync(join(fixture, 'state'), join(home, '.local/state/chatelaine'), { recursive: true });
  cpSync(join(fixture, 'config'), join(home, '.config/chatelaine'), { recursive: true });
  // Git keeps no modes.
  for (const folder of ['.local', '.config'])
    for (const name of ['', ...readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })]) {
      const path = join(home, folder, name);
      chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600);
    }
  return home;
}

test('the configuration and its key are used', async () => {
  const home = homeOfOld();
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, [{ license_code: 'K-1', remote_user: 'eve', app_code: 7 }]);
  const ran = await run(service, 'license list -o json --fields remote_user', { home, bare: true });
  service.done();
  expect({ exitCode: ran.exitCode, rows: JSON.parse(ran.stdout) as unknown }).toEqual({
    exitCode: 0,
    rows: [{ remote_user: 'eve' }],
  });
});

test('an open answer keeps its user: nothing is sent', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, []);
  const line = 'license ensure --remote-user ada --size-allowance 4 -o json';
  const { exitCode, error } = await run(service, line, { home: homeOfOld(), ...later });
  service.done();
  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 9,
    message:
      'the server answered a request of 2026-03-01T12:00:00Z with 201, with a license whose key ends with ADA1; ' +
      "no list shows a license of 'ada'",
  });
});

test('a journal is resumed: the row that was answered is not sent again', async () => {
  const home = homeOfOld();
  const roster = join(home, 'roster.csv');
  writeFileSync(roster, 'remote_user,size_allowance\ncy,2\nben,6\n');
  const service = fakeService();
  const ben = { license_code: 'KEY-BEN1', remote_user: 'ben', app_code: 7, size_allowance: 6 };
  service.expect('GET /v1/license/?remote_user=cy&app_code=7').reply(200, []);
  service.expect('GET /v1/license/?remote_user=ben&app_code=7').reply(200, [ben]);
  service.expect('GET /v1/license/?remote_user=cy&app_code=7').reply(200, []);
  const { exitCode, stdout, stderr } = await run(service, `license apply ${roster} -o json`, { home, ...later });
  service.done();
  expect(exitCode).toBe(9);
  expect(stderr).toContain('Resuming an interrupted run');
  expect((JSON.parse(stdout) as { status: string }[]).map(({ status }) => status)).toEqual(['unknown', 'unchanged']);
});

test('the history is shown', async () => {
  const line = 'license history -o json --fields run,remote_user,change,license_code_end';
  const { exitCode, stdout } = await run(fakeService(), line, { home: homeOfOld(), ...later });
  expect({ exitCode, rows: JSON.parse(stdout) as unknown }).toEqual({
    exitCode: 0,
    rows: [
      { run: 'XHBA', remote_user: 'ada', change: 'created', license_code_end: 'ADA1' },
      { run: 'DH8X', remote_user: 'ben', change: 'resized 4 -> 6', license_code_end: 'BEN1' },
      { run: 'G31R', remote_user: 'cy', change: 'unknown: a license was requested', license_code_end: 'CY01' },
    ],
  });
});

test('the archive of a purge and its record are verified', async () => {
  const folder = join(emptyHome(), 'purge');
  cpSync(join(fixture, 'purge'), folder, { recursive: true });
  const [name = ''] = readdirSync(folder);
  const { exitCode, stderr } = await run(fakeService(), `archive verify ${join(folder, name)}`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'messages: 8, parts: 1; no problem\n' });
});

describe('a ledger', needs('postgresql'), () => {
  test('is upgraded, and its open answer keeps its user', async () => {
    const cluster = await startPostgres();
    try {
      await cluster.query(readFileSync(join(fixture, 'ledger.sql'), 'utf8'));
      const env = { CHATELAINE_LEDGER: cluster.url };
      const init = await run(fakeService(), 'ledger init -o json', { env });
      expect(JSON.parse(init.stdout)).toMatchObject({ status: 'upgraded' });
      const line = 'license history --remote-user dora -o json --fields account,computer,remote_user,change';
      const history = await run(fakeService(), line, { env, ...later });
      expect(JSON.parse(history.stdout)).toEqual([
        { account: 'anna', computer: 'other.test', remote_user: '?', change: 'renamed from dora' },
      ]);
      const service = fakeService();
      for (let look = 0; look < 2; look += 1)
        service.expect('GET /v1/license/?remote_user=dee&app_code=7').reply(200, []);
      const ran = await run(service, 'license ensure --remote-user dee --size-allowance 4 -o json', { env, ...later });
      expect(ran.exitCode).toBe(9);
      expect(ran.error?.message).toContain('with a license whose key ends with DEE1');
    } finally {
      await cluster.stop();
    }
  });
});
