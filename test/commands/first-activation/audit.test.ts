import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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
    expect(existsSync(join(home, '.local/state/chatelaine'))).toBe(false);
  });

  test('nobody lent anything: exit 0', async () => {
    const { audit } = await service();
    expect((await audit('', 'mac_address,remote_user\nD422CD000301,clinic-north/ward-3\n')).exitCode).toBe(0);
  });

  test('one that cannot be looked up is exit 8, also beside a lent one; the same command begins again', async () => {
    const { audit, log } = await service('GET /*=html#1');

    const first = await audit('--concurrency 1');
    const asked = log.length;
    const second = await audit();

    expect(statuses(first)).toEqual({ '01': 'error', '02': 'lent', '03': 'ok', FF: 'never-activated' });
    expect(first.exitCode).toBe(8);
    expect(statuses(second)).toEqual({ '01': 'ok', '02': 'lent', '03': 'ok', FF: 'never-activated' });
    expect({ exitCode: second.exitCode, asked: log.length - asked }).toEqual({ exitCode: 10, asked: 4 });
  });

  test('a server that is gone ends the audit after three lookups in a row', async () => {
    const { audit, log } = await service('GET /*=502');
    const many = Array.from({ length: 200 }, (_, index) => `${(0xd422cd000000 + index).toString(16)},user-${index}`);

    const ran = await audit('--concurrency 1 --retries 0', ['mac_address,remote_user', ...many].join('\n'));

    expect([ran.exitCode, log.length]).toEqual([8, 3]);
    const message = /^200 of 200 sensors .+\n3 failed \(D4:22:CD:00:00:00 and 2 more\):\n {2}the licensing API failed/;
    expect(ran.error?.message).toMatch(message);
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
