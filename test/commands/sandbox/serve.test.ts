import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownAddress } from '../../../scripts/needs.js';
import { needs } from '../../helpers/needs.ts';
import { emptyHome, runAlone, type Ran } from '../../helpers/run.ts';

interface Served {
  readonly env: Readonly<Record<string, string>>;
  /** What it wrote to --ready-file. */
  readonly ready: string;
  /** Runs a line with those variables, changed. */
  run(line: string, changed?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Ctrl-C. */
  end(): Promise<Ran>;
}

async function serving(options: string): Promise<Served> {
  const home = emptyHome();
  const file = join(home, 'ready');
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  let served: Promise<Ran> | undefined;
  await new Promise<void>((ready, failed) => {
    const running = { home, interrupt: ending.signal, written: ready };
    served = runAlone(`sandbox serve --ready-file ${file} ${options}`, running);
    void served.then(({ stderr }) => failed(new Error(stderr)));
  });
  const ready = readFileSync(file, 'utf8');
  const exported = ready.matchAll(/^export (\w+)=(.*)$/gm);
  const env = Object.fromEntries(Array.from(exported, ([, name = '', value = '']): [string, string] => [name, value]));
  return {
    env,
    ready,
    run: (line, changed = {}) => runAlone(line, { env: { ...env, ...changed } }),
    end: async () => {
      ending.abort();
      const ran = await served;
      if (!ran) throw new Error('it did not serve');
      return ran;
    },
  };
}

test.each([
  ['powershell', "$env:CHATELAINE_APP_CODE = '4711'"],
  ['cmd', 'set "CHATELAINE_APP_CODE=4711"'],
])('--shell %s prints its lines, and writes them to --ready-file', async (shell, line) => {
  const { ready, end } = await serving(`--shell ${shell}`);
  expect(ready.split('\n')).toContain(line);
  expect((await end()).stdout).toBe(ready);
});

test('--listen 127.0.0.2 serves there alone, and plain http to it needs no consent', needs('loopback'), async () => {
  const { env, run } = await serving('--shell sh --listen 127.0.0.2');
  const url = env['CHATELAINE_BASE_URL'] ?? '';
  expect(url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  expect(env).not.toHaveProperty('CHATELAINE_ALLOW_HTTP');
  expect(await run('license list --limit 1')).toMatchObject({ exitCode: 0, stderr: '' });
  const elsewhere = { CHATELAINE_BASE_URL: url.replace('127.0.0.2', '127.0.0.1') };
  expect(await run('license list --retries 0', elsewhere)).toMatchObject({ exitCode: 7 });
});

const own = ownAddress();

describe('a sandbox on an address of this computer that others reach', needs('network'), () => {
  test('prints its URL with the consent that it needs, and each run over it says that it is not encrypted', async () => {
    const { env, run } = await serving(`--shell sh --listen ${own}`);
    const host = new URL(env['CHATELAINE_BASE_URL'] ?? '').host;
    const line = `note: http://${host} is not encrypted: others on the network can read the key and everything else that is sent\n`;
    expect(env['CHATELAINE_ALLOW_HTTP']).toBe(host);

    expect(await run('license ensure --remote-user ada --size-allowance 3')).toMatchObject({
      exitCode: 0,
      stderr: `${line}created: the license of ada in application 4711\n`,
    });
    expect(await run('messages fetch --limit 1 -o json')).toMatchObject({ exitCode: 0, stderr: line });
    expect(await run('license list -q')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('with --listen 0.0.0.0 is printed as it is reached from here, and pages lead on wherever it is reached', async () => {
    const { env, run } = await serving('--shell sh --listen 0.0.0.0 --list-shape next --page-size 2');
    const here = env['CHATELAINE_BASE_URL'] ?? '';
    expect(here).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const there = { CHATELAINE_BASE_URL: here.replace('127.0.0.1', own ?? ''), CHATELAINE_ALLOW_HTTP: own ?? '' };

    const listed = await run('license list -q', there);
    expect(listed).toMatchObject({ exitCode: 0, stdout: (await run('license list -q')).stdout });
    expect(listed.stdout.trimEnd().split('\n')).toHaveLength(6);
    const first = await run('api licensing GET license/ --include', there);
    expect(first.stdout).toContain(`${there.CHATELAINE_BASE_URL}/v1/license/?page=2`);
  });
});

test('a port that another program has is said, and any free one offered', async () => {
  const { env } = await serving('--shell sh');
  const { port } = new URL(env['CHATELAINE_BASE_URL'] ?? '');
  const { exitCode, stderr } = await runAlone(`sandbox serve --port ${port}`);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: `chatelaine: port ${port} cannot be used: it is in use\nhint: Leave --port out for any free one.\n`,
  });
});

test.each([
  ['203.0.113.9', '203.0.113.9 is no address of this computer'],
  ['nosuch.invalid', 'nosuch.invalid'],
  ['fe80::1', 'fe80::1'],
] as const)('--listen %s says what is wrong and what to do', async (address, reason) => {
  const { exitCode, stdout, stderr } = await runAlone(`sandbox serve --listen ${address}`);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/^chatelaine: --listen: /);
  expect(stderr).toContain(reason);
  expect(stderr).toContain('Write 0.0.0.0 for every address of this computer, or leave --listen out');
});
