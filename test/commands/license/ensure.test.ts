import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';
import { endProcess } from '../../helpers/end-process.ts';
import { sharedTime } from './shared-time.ts';

async function service(fault?: string, options: Partial<SandboxOptions> = {}) {
  const time = sharedTime();
  const home = emptyHome();
  const opened = await openSandbox({
    clock: time.sandbox,
    ...(fault === undefined ? {} : { faults: readFaults(fault, 1) }),
    ...options,
  });
  const ensure = (words = '', size = 4) =>
    opened.run(`license ensure --remote-user ada --size-allowance ${size} ${words}`, {
      home,
      clock: time.client,
    });
  const ada = () => opened.sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'ada');
  return { ensure, ada, time, home, run: opened.run };
}

describe('license ensure', () => {
  test('creates, leaves, and resizes one license, and prints its key alone', async () => {
    const { ensure, ada } = await service();

    const runs = [await ensure(), await ensure(), await ensure('', 9), await ensure('-o json', 9)];

    const key = ada()[0]?.license_code ?? '';
    expect(runs.slice(0, 3).map(({ stdout }) => stdout)).toEqual([`${key}\n`, `${key}\n`, `${key}\n`]);
    expect(JSON.parse(runs[3]?.stdout ?? '')).toMatchObject({ license_code: key, size_allowance: 9 });
    expect(runs.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      runs.map(() => ({ exitCode: 0, stderr: '' })),
    );
    expect(ada()).toHaveLength(1);
  });

  test.each(['drop-after', 'delay-commit@4s', '502-after', 'cut', 'empty', 'json-garbage', 'drop-before', '504'])(
    'after %s: one license, and its key',
    async (kind) => {
      const { ensure, ada } = await service(`POST /*=${kind.replace('@', '#1@').replace(/^[^#]*$/, '$&#1')}`);

      const { exitCode, stdout } = await ensure();

      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${ada()[0]?.license_code ?? ''}\n` });
      expect(ada()).toHaveLength(1);
    },
  );

  test('twenty at once', async () => {
    const { run, ada, home } = await service();
    const clock = {
      now: () => Date.now(),
      random: () => Math.random(),
      sleep: (span: number) => new Promise<void>((resolve) => setTimeout(resolve, span)),
    };

    const runs = await Promise.all(
      Array.from({ length: 20 }, () => run('license ensure --remote-user ada --size-allowance 4', { home, clock })),
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
      sleep: async () => stop.abort(new Failure('terminated', 'ended by SIGTERM')),
    };
    const line = 'license ensure --remote-user ada --size-allowance 4';
    const first = await run(line, { home, clock: dying, interrupt: stop.signal });
    endProcess(home);
    expect(ada()).toEqual([]);

    const second = await ensure();

    expect([first.exitCode, second.exitCode]).toEqual([143, 0]);
    expect(second.lines[0]).toContain('an earlier run ended while it was at work on ada: waiting 5s');
    expect(ada()).toHaveLength(1);
  });

  test('a list that fails after a doubt is exit 9 with what to look at, and nothing is printed', async () => {
    const { ensure } = await service('POST /*=drop-after;GET /*=502#99+1');

    const { exitCode, stdout, error } = await ensure('-o json');

    expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: '' });
    expect(error?.hint).toContain("license list --remote-user 'ada' --app-code 4711");
  });

  test('a dry run shows the POST, and claims nothing', async () => {
    const { ensure, ada, home } = await service();

    const { exitCode, stdout } = await ensure('--dry-run -o json');

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ method: 'POST' }]);
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
});
