import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LicensingApi } from '../../../src/api/licensing/licensing.ts';
import { Failure } from '../../../src/core/failure.ts';
import { auditSensors } from '../../../src/jobs/license/audit-sensors.ts';
import { realTime } from '../../helpers/clock.ts';
import { gather } from '../../helpers/gather.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';
import { emptyHome, fakeService, openSandbox, run as runFake, type Ran } from '../../helpers/run.ts';

const sensors = [
  'mac_address,remote_user',
  'D4:22:CD:00:03:01,clinic-north/ward-3',
  'd422cd000302,physio-7740',
  'D4-22-CD-00-03-03,clinic-north/gait-lab',
  'd4.22.cd.00.03.ff,physio-7731',
  '',
].join('\n');

async function service(fault?: string) {
  const { run, log, home } = await licensingWorld({}, fault);
  const audit = (words = '', stdin = sensors) => run(`first-activation audit - -o json ${words}`, { stdin });
  return { audit, log, home };
}

function statuses({ stdout }: Ran): Record<string, string> {
  const rows = JSON.parse(stdout) as { mac_address: string; status: string }[];
  return Object.fromEntries(rows.map(({ mac_address, status }) => [mac_address.slice(-2), status]));
}

const journals = (home: string) => readdirSync(join(home, '.local/state/chatelaine/journals'));

describe('first-activation audit', () => {
  test('ok, lent and never activated, in any spelling of the address: exit 10', async () => {
    const { audit, home } = await service();

    const ran = await audit();

    expect(statuses(ran)).toEqual({ '01': 'ok', '02': 'lent', '03': 'ok', FF: 'never-activated' });
    expect(JSON.parse(ran.stdout)).toContainEqual({
      mac_address: 'D4:22:CD:00:03:02',
      remote_user: 'physio-7740',
      app_code: 4711,
      status: 'lent',
      first_user: 'physio-7731',
    });
    const stderr = 'sensors: 2 ok, 1 lent, 1 never activated\n';
    expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 10, stderr });
    expect(journals(home)).toEqual([expect.stringMatching(/\.done$/)]);
  });

  test('nobody lent anything: exit 0', async () => {
    const { audit } = await service();
    expect((await audit('', 'mac_address,remote_user\nD422CD000301,clinic-north/ward-3\n')).exitCode).toBe(0);
  });

  test('one that cannot be looked up is exit 8, also beside a lent one; the same command asks for that one alone', async () => {
    const { audit, log } = await service('GET /*=html#1');

    const first = await audit('--concurrency 1');
    const asked = log.length;
    const second = await audit();

    expect(statuses(first)).toEqual({ '01': 'error', '02': 'lent', '03': 'ok', FF: 'never-activated' });
    expect(first.exitCode).toBe(8);
    expect(statuses(second)).toEqual({ '01': 'ok', '02': 'lent', '03': 'ok', FF: 'never-activated' });
    expect({ exitCode: second.exitCode, asked: log.length - asked }).toEqual({ exitCode: 10, asked: 1 });
  });

  describe('its journal', () => {
    /** 100 sensors of ada; what the journal does with an answer is the test's. */
    const auditOf = (append: () => Promise<void>) => {
      const asked = { count: 0 };
      const licensing = { firstActivation: async () => ((asked.count += 1), { fields: { remote_user: 'ada' } }) };
      const rows = auditSensors(
        Array.from({ length: 100 }, (_, index) => ({ mac_address: `D4:22:CD:00:04:${index}`, remote_user: 'ada' })),
        {
          licensing: () => licensing as unknown as LicensingApi,
          journal: { records: [], append, finish: async () => undefined, close: async () => undefined },
          progress: { step: () => undefined, end: () => undefined },
          concurrency: 4,
          signal: new AbortController().signal,
          conclude: () => undefined,
        },
      );
      return { asked, rows };
    };

    test('no look-up waits for the disk, and the audit ends when all answers are on it', async () => {
      let sync = (): void => undefined;
      const disk = new Promise<void>((resolve) => (sync = resolve));
      const { asked, rows } = auditOf(() => disk);
      for (let row = 0; row < 100; row += 1) await rows.next();
      const end = rows.next();

      expect(asked.count).toBe(100);
      expect(await Promise.race([end, realTime.sleep(20, AbortSignal.timeout(10_000))])).toBeUndefined();
      sync();
      expect((await end).done).toBe(true);
    });

    test('a disk that is full ends the audit', async () => {
      const { asked, rows } = auditOf(() => Promise.reject(new Failure('unavailable', 'the disk is full')));

      await expect(gather(rows)).rejects.toThrow('the disk is full');
      expect(asked.count).toBeLessThan(10);
    });
  });

  test('a server that is gone ends the audit after a few', async () => {
    const { audit, log } = await service('GET /*=502');
    const many = Array.from({ length: 200 }, (_, index) => `${(0xd422cd000000 + index).toString(16)},user-${index}`);

    const ran = await audit('', ['mac_address,remote_user', ...many].join('\n'));

    expect(ran.exitCode).toBe(8);
    expect(ran.error?.message).toBe('200 of 200 sensors could not be looked up');
    expect(log.length).toBeLessThan(8 * 6 + 1);
  });

  test('a refused key is exit 4', async () => {
    const { run } = await openSandbox();
    const ran = await run('first-activation audit -', { stdin: sensors, env: { CHATELAINE_API_KEY: 'wrong' } });
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 4, stdout: '' });
  });

  test('a page in place of an answer does not make a sensor never-activated', async () => {
    const fake = fakeService();
    fake
      .expect('GET /v1/first-activation/?mac_address=D4%3A22%3ACD%3A00%3A03%3A01&app_code=7')
      .reply(404, '<html><title>Not found</title></html>');

    const ran = await runFake(fake, 'first-activation audit - -o json', {
      stdin: 'mac_address,remote_user\nD422CD000301,ada\n',
    });

    fake.done();
    expect({ exitCode: ran.exitCode, statuses: statuses(ran) }).toEqual({ exitCode: 8, statuses: { '01': 'error' } });
    expect(ran.stdout).toContain('the base URL of the profile may be wrong');
  });

  test('first-activation --from reads a table and UTF-16, and names twenty bad lines', async () => {
    const { run } = await openSandbox();
    const ask = (stdin: string) => run('first-activation --from - -o tsv --no-header', { stdin });
    const list = (await ask('D422CD000301\n\nD4:22:CD:00:03:01\n')).stdout;
    const lines = Array.from({ length: 30 }, (_, index) => `x\u0007${index}\n`).join('');
    const bad = await ask(lines);

    expect(list.match(/^D4:22:CD:00:03:01\t/gm)).toHaveLength(2);
    expect((await ask('remote_user,mac_address\nada,D422CD000301\nada,D422CD000301\n')).stdout).toBe(list);
    const file = join(emptyHome(), 'sensors.txt');
    writeFileSync(file, '\uFEFFD422CD000301\r\nD422CD000301\r\n', 'utf16le');
    expect((await run(['first-activation', '--from', file, '-o', 'tsv', '--no-header'])).stdout).toBe(list);
    expect((await ask('PK\u0003\u0004\u0001\u0002 rows')).stderr).not.toMatch(/[\u0001-\u0009]/);
    expect(bad.exitCode).toBe(2);
    expect(bad.stderr).not.toContain('\u0007');
    expect(bad.lines.filter((line) => /standard input:\d+: /.test(line))).toHaveLength(20);
    expect(bad.stderr).toContain('lines 21-30: ');
  });

  test('bad addresses and one that is there twice in other words are all named', async () => {
    const { audit, log } = await service();
    const ran = await audit('', 'mac_address,remote_user\nD422CD0003,ada\nD422CD000301,ada\n');
    const twice = await audit('', 'mac_address,remote_user\nd4:22:cd:00:03:01,ada\nD422CD000301,ada\n');

    const both = await audit(
      '',
      'mac_address,remote_user\nd4:22:cd:00:03:01,ada\nD422CD000301,ada\nD422CD000302,\n1,ada\n',
    );

    expect([ran.exitCode, twice.exitCode, both.exitCode, log.length]).toEqual([2, 2, 2, 0]);
    expect(both.error?.message.split('\n')).toEqual([
      "standard input:3: sensor 'D4:22:CD:00:03:01' is already on line 2",
      'standard input:4: remote_user is missing',
      "standard input:5: '1' is not a sensor address",
    ]);
    expect(both.error?.hint).toContain('Remove one of the lines.');
    expect(ran.error?.message).toBe("standard input:2: 'D422CD0003' is not a sensor address");
    expect(twice.error?.message).toBe("standard input:3: sensor 'D4:22:CD:00:03:01' is already on line 2");
  });
});
