import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWhole } from '../../helpers/extent.ts';
import { Failure } from '../../../src/core/failure.ts';
import type { SandboxOptions } from '../../helpers/sandbox.ts';
import { fakeService, run as runFake } from '../../helpers/run.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';
import { endProcess } from '../../helpers/end-process.ts';
import { realClock } from '../../../src/cli/clock.ts';

async function service(fault?: string, options: Partial<SandboxOptions> = {}) {
  const world = await licensingWorld({}, fault, options);
  const ensure = (words = '', size = 4) =>
    world.run(`license ensure --remote-user ada --size-allowance ${size} ${words}`);
  const ada = () => world.sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'ada');
  return { ...world, ensure, ada, run: world.runElsewhere };
}

describe('license ensure', () => {
  const atOnce = isWhole ? 20 : 6;

  test('creates, leaves, and resizes one license, and prints its key alone', async () => {
    const { ensure, ada } = await service();

    const runs = [await ensure(), await ensure(), await ensure('', 9), await ensure('-o json', 9)];

    const key = ada()[0]?.license_code ?? '';
    expect(runs.slice(0, 3).map(({ stdout }) => stdout)).toEqual([`${key}\n`, `${key}\n`, `${key}\n`]);
    expect(JSON.parse(runs[3]?.stdout ?? '')).toMatchObject({ license_code: key, size_allowance: 9 });
    expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(
      ['created', 'unchanged', 'resized 4 -> 9', 'unchanged'].map((outcome) => [
        0,
        `${outcome}: the license of ada in application 4711\n`,
      ]),
    );
    expect(ada()).toHaveLength(1);
  });

  test.each(['drop-after', 'delay-commit@4s', '502-after', 'cut', 'empty', 'json-garbage', 'drop-before', '504'])(
    'after %s: one license, its key, and nothing pending for later runs',
    async (kind) => {
      const { ensure, ada, home } = await service(`POST /*=${kind.replace('@', '#1@').replace(/^[^#]*$/, '$&#1')}`);

      const { exitCode, stdout } = await ensure();

      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${ada()[0]?.license_code ?? ''}\n` });
      expect(ada()).toHaveLength(1);
      const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
      expect(files.filter((file) => file.endsWith('.run'))).toEqual([]);
    },
  );

  test(`${atOnce} at once`, async () => {
    const { run, ada, home } = await service();

    const runs = await Promise.all(
      Array.from({ length: atOnce }, () =>
        run('license ensure --remote-user ada --size-allowance 4', { home, clock: realClock }),
      ),
    );

    expect(ada()).toHaveLength(1);
    expect(new Set(runs.map(({ exitCode, stdout }) => `${exitCode} ${stdout}`))).toEqual(
      new Set([`0 ${ada()[0]?.license_code ?? ''}\n`]),
    );
  });

  test('after a run that died at work, it waits until the server must have carried that one out', async () => {
    const stop = new AbortController();
    const { run, ensure, ada, time, home } = await service('POST /*=delay-commit#1@4s');
    const dying = {
      ...time.client,
      sleep: async () => {
        stop.abort(new Failure('terminated', 'ended by SIGTERM'));
        throw new Failure('terminated', 'ended by SIGTERM');
      },
    };
    const line = 'license ensure --remote-user ada --size-allowance 4';
    const first = await run(line, { home, clock: dying, interrupt: stop.signal });
    endProcess(home);
    expect(ada()).toEqual([]);

    const second = await ensure();

    expect([first.exitCode, second.exitCode]).toEqual([143, 0]);
    expect(second.lines[0]).toContain('an earlier run may have requested a license of ada: listing again in');
    expect(ada()).toHaveLength(1);
  });

  test('a list that fails after an unconfirmed request is exit 9 with what to look at, and nothing is printed', async () => {
    const { ensure } = await service('POST /*=drop-after;GET /*=502#99+3');

    const { exitCode, stdout, error } = await ensure('-o json');

    expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: '' });
    expect(error?.hint).toContain('license list --remote-user ada --app-code 4711');
  });

  test('a dry run shows what would be created, and claims nothing', async () => {
    const { ensure, ada, home } = await service();

    const { exitCode, stdout } = await ensure('--dry-run -o json');

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ remote_user: 'ada', status: 'would be created' });
    expect(ada()).toEqual([]);
    expect(readdirSync(home)).toEqual(['tmp']);
  });

  test('without a writable home it works all the same', async () => {
    const { ensure, ada, home } = await service();
    mkdirSync(join(home, '.local'));
    writeFileSync(join(home, '.local/state'), 'a file');

    expect((await ensure()).exitCode).toBe(0);
    expect(ada()).toHaveLength(1);
  });

  test.each(['-o csv', '-o tsv', '-o table', '--fields license_code', '-o json --fields license_code'])(
    '%s is exit 2, and nothing is sent',
    async (words) => {
      const { ensure, ada } = await service();

      const { exitCode, lines } = await ensure(words);

      expect({ exitCode, ada: ada() }).toEqual({ exitCode: 2, ada: [] });
      expect(lines[0]).toContain('license ensure prints text without columns');
    },
  );

  test('a format and fields of the environment are ignored', async () => {
    const { run, ada, time, home } = await service();
    const line = 'license ensure --remote-user ada --size-allowance 4';

    const env = { CHATELAINE_OUTPUT: 'csv', CHATELAINE_FIELDS: 'remote_user' };
    const key = await run(line, { home, clock: time.client, env });
    const whole = await run(`${line} -o json`, { home, clock: time.client, env: { CHATELAINE_FIELDS: 'remote_user' } });

    expect(key.stdout).toBe(`${ada()[0]?.license_code ?? ''}\n`);
    expect(JSON.parse(whole.stdout)).toMatchObject({ license_code: ada()[0]?.license_code, size_allowance: 4 });
  });

  test('127.0.0.1 and localhost are one server', async () => {
    const { run, env, time, home } = await service();
    const line = 'license ensure --remote-user ada --size-allowance 4';
    await run(line, { home, clock: time.client });
    const other = { CHATELAINE_BASE_URL: env['CHATELAINE_BASE_URL']?.replace('127.0.0.1', 'localhost') };

    await run(line, { home, clock: time.client, env: other });

    expect(readdirSync(join(home, '.local/state/chatelaine/locks'))).toHaveLength(1);
  });

  test('nothing is created on a list that is not whole (8)', async () => {
    const fake = fakeService();
    fake.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, { results: [], has_more: true });

    const control = 'GET /v1/license/?remote_user=chatelaine-control-1ai6p167&app_code=7';
    for (const query of [control, 'GET /v1/license/?app_code=7'])
      fake.expect(query).reply(200, { results: [], has_more: true });

    const ran = await runFake(fake, 'license ensure --remote-user ada --size-allowance 4');

    expect(ran.exitCode).toBe(8);
    expect(fake.seen.filter((line) => line.startsWith('POST'))).toEqual([]);
  });
});

test('a change that is answered without the license is shown with its user and application', async () => {
  const service = fakeService();
  const listed = { license_code: 'K-1', remote_user: 'ada', app_code: 7, size_allowance: 3 };
  service.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, [listed]);
  service.expect({ method: 'PATCH', path: '/v1/license/K-1/', json: { size_allowance: 4 } }).reply(200, '');
  service.expect('GET /v1/license/K-1/', 2).reply(200, { ...listed, size_allowance: 4 });

  const { exitCode, stdout } = await runFake(service, 'license ensure --remote-user ada --size-allowance 4 -o json');

  service.done();
  expect({ exitCode, license: JSON.parse(stdout) as unknown }).toEqual({
    exitCode: 0,
    license: { ...listed, size_allowance: 4, size_allowance_before: 3, status: 'resized' },
  });
});
