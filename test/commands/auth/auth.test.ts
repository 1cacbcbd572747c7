import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, fakeService, openSandbox, run, runAlone, type Ran } from '../../helpers/run.ts';
import { licensingUrl, type FakeService } from '../../helpers/service.ts';
import { needs } from '../../helpers/needs.ts';

const done = { result: 'success', msg: '' };
const check = '/v1/license/';
const ask = { method: 'GET', path: '/api/v1/messages', query: { anchor: 'newest', num_before: '0', num_after: '0' } };
const ok = { ...done, messages: [] };

interface Place {
  readonly home: string;
  readonly config: string;
  /** One command line in this home, without credentials in the environment. */
  run(
    line: string,
    options?: { stdin?: string; tty?: boolean; service?: FakeService; env?: Record<string, string> },
  ): Promise<Ran>;
}

function place(): Place {
  const home = emptyHome();
  return {
    home,
    config: join(home, '.config', 'chatelaine'),
    run: (line, { service = fakeService(), ...options } = {}) => run(service, line, { ...options, home, bare: true }),
  };
}

/** Stores a profile without asking the server. */
async function store(at: Place, name: string, more = ''): Promise<void> {
  const line = `auth login licensing --base-url ${licensingUrl} --app-code 7 --name ${name} --api-key-stdin --no-check ${more}`;
  expect(await at.run(line, { stdin: `key-of-${name}\n` })).toMatchObject({ exitCode: 0, stderr: '' });
}

async function storeChat(at: Place, name: string, more = ''): Promise<void> {
  const line = `auth login chat --site https://chat.test --email ada@chat.test --name ${name} --api-key-stdin --no-check ${more}`;
  expect(await at.run(line, { stdin: `key-of-${name}\n` })).toMatchObject({ exitCode: 0, stderr: '' });
}

const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);

describe('auth login', () => {
  test('an empty --ledger removes the one that is stored; none typed keeps it', async () => {
    const at = place();
    const stored = (): unknown =>
      (json(join(at.config, 'config.json')) as { profiles: Record<string, { ledger?: string }> }).profiles['main']
        ?.ledger;
    await store(at, 'main', '--ledger postgres://db.test/x');
    expect(stored()).toBe('postgres://db.test/x');
    const again = (more: string) =>
      at.run(
        `auth login licensing --base-url ${licensingUrl} --app-code 7 --name main --api-key-stdin --no-check ${more}`,
        { stdin: 'k\n' },
      );
    expect(await again('')).toMatchObject({ exitCode: 0 });
    expect(stored()).toBe('postgres://db.test/x');
    expect(await again("--ledger ''")).toMatchObject({ exitCode: 0 });
    expect(stored()).toBeUndefined();
  });

  test('tries the key, then stores it in files that nobody else can read', needs('modes'), async () => {
    const at = place();
    const service = fakeService();
    service.expect({ method: 'GET', path: check, authorization: 'Token the key' }).reply(200, []);

    const { exitCode, stdout } = await at.run(
      `auth login licensing --base-url ${licensingUrl}/v1/ --app-code 7 --api-key-stdin -o json`,
      { stdin: 'the key\nanother line\n', service },
    );

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ profile: 'app-7', kind: 'licensing', status: 'stored' });
    expect(
      readdirSync(at.config)
        .filter((name) => name.endsWith('.json'))
        .sort(),
    ).toEqual(['config.json', 'credentials.json']);
    expect([at.config, join(at.config, 'config.json'), join(at.config, 'credentials.json')].map(mode)).toEqual([
      '700',
      '600',
      '600',
    ]);
    expect(json(join(at.config, 'config.json'))).toMatchObject({
      defaults: { licensing: 'app-7' },
      profiles: { 'app-7': { kind: 'licensing', base_url: licensingUrl, app_code: 7 } },
    });
    expect(json(join(at.config, 'credentials.json'))).toMatchObject({
      keys: { 'app-7': { origin: licensingUrl, api_key: 'the key' } },
    });
    expect(readFileSync(join(at.config, 'config.json'), 'utf8')).not.toContain('the key');
  });

  test('of a chat account asks for no message at all', async () => {
    const at = place();
    const service = fakeService();
    service
      .expect({ ...ask, authorization: `Basic ${Buffer.from('ada@chat.test:the-key').toString('base64')}` })
      .reply(200, ok);

    const { exitCode, stdout } = await at.run(
      'auth login chat --site chat.test/api/ --email ada@chat.test --api-key-stdin -o json',
      { stdin: 'the-key', service },
    );

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ profile: 'chat.test', kind: 'chat', status: 'stored' });
  });

  test.each([
    ['refused', 401, { detail: 'Invalid token.' }, 4],
    ['not there', 404, '<html>', 6],
    ['broken', 500, '{}', 7],
    ['a login page', 200, '<html>', 7],
  ])('a check that fails (%s) writes nothing', async (_what, status, body, exitCode) => {
    const at = place();
    const service = fakeService();
    service.expect({ method: 'GET', path: check, authorization: 'Token wrong-key' }).reply(status, body);

    const ran = await at.run(`auth login licensing --base-url ${licensingUrl} --app-code 7 --api-key-stdin --trace`, {
      stdin: 'wrong-key\n',
      service,
    });

    service.done();
    expect(ran.exitCode).toBe(exitCode);
    expect(existsSync(at.config)).toBe(false);
    expect(ran.stderr).not.toContain('wrong-key');
  });

  test.each([
    ['licensing --app-code 7', /needs --base-url and --app-code/],
    [`licensing --base-url ${licensingUrl}`, /needs --base-url and --app-code/],
    [`licensing --base-url ${licensingUrl} --app-code x`, /--app-code: 'x' is not a whole number/],
    [`licensing --base-url ${licensingUrl} --app-code 7 --site https://x.test`, /does not accept --site/],
    ['licensing --base-url ftp://x.test --app-code 7', /neither https nor http/],
    ['licensing --base-url https://me:secret@x.test --app-code 7', /user name or password/],
    ['licensing --base-url https://x.test?a=b --app-code 7', /query or fragment/],
    ['licensing --base-url nonsense --app-code 7', /is not a URL/],
    ['chat --site https://x.test', /needs --site and --email/],
    ['chat --site https://x.test --email a:b', /e-mail address/],
    ['chat --site https://x.test --email a@b.test --key-field code', /does not accept --key-field/],
    ['chat --site https://x.test --email a@b.test --name -x', /a profile name is/],
    ['chat --site https://x.test --email a@b.test --name environment', /cannot be named 'environment'/],
    ['nonsense', /is not one of licensing, chat/],
    ['', /required|missing/],
    [`licensing --base-url ${licensingUrl} --app-code 7 --api-key-file f`, /give one of/],
  ])('%s is exit 2, and nothing is written', async (rest, message) => {
    const at = place();

    const { exitCode, error, stderr } = await at.run(`auth login ${rest} --api-key-stdin -o json`, { stdin: 'k' });

    expect({ exitCode, config: existsSync(at.config) }).toEqual({ exitCode: 2, config: false });
    expect(error?.message).toMatch(message);
    expect(stderr).not.toContain('secret@');
  });

  test.each(['http://licenses.test', 'http://10.0.0.1:8000'])('%s is not encrypted: exit 3', async (url) => {
    const at = place();

    const { exitCode } = await at.run(`auth login licensing --base-url ${url} --app-code 7 --api-key-stdin`, {
      stdin: 'k',
    });

    expect({ exitCode, config: existsSync(at.config) }).toEqual({ exitCode: 3, config: false });
  });

  test('without a terminal there is nobody to ask for the key: exit 2', async () => {
    expect(await place().run(`auth login licensing --base-url ${licensingUrl} --app-code 7`)).toMatchObject({
      exitCode: 2,
    });
  });

  test.each(['', '\n', 'two words\u0000'])(
    'a key that is none (%j) is refused, and nothing is written',
    async (stdin) => {
      const at = place();

      const { exitCode } = await at.run(
        `auth login licensing --base-url ${licensingUrl} --app-code 7 --api-key-stdin --no-check`,
        { stdin },
      );

      expect(exitCode).toBe(3);
      expect(existsSync(at.config)).toBe(false);
    },
  );

  test('asks the key command once in a run, however many parts of it need the key', needs('shell'), async () => {
    const at = place();
    const command = join(at.home, 'give-key');
    writeFileSync(command, '#!/bin/sh\necho asked >> "$0.log"\necho key\n', { mode: 0o700 });
    await at.run(`auth login licensing --base-url ${licensingUrl} --app-code 7 --no-check --key-command "${command}"`);
    rmSync(`${command}.log`);
    const service = fakeService();
    service.expect({ method: 'GET', path: '/v1/license/', authorization: 'Token key' }).reply(200, []);

    expect(await at.run('license list', { service })).toMatchObject({ exitCode: 0 });

    service.done();
    expect(readFileSync(`${command}.log`, 'utf8')).toBe('asked\n');
  });
});

describe('auth import', () => {
  test('reads a zuliprc', async () => {
    const at = place();
    const file = join(at.home, 'zuliprc');
    writeFileSync(file, '[api]\nemail=ada@chat.test\nkey=chat-key-9b2e44\nsite=https://chat.test/\n', { mode: 0o600 });
    const service = fakeService();
    service.expect(ask).reply(200, ok);

    const { exitCode, stdout } = await at.run(`auth import ${file} -o json`, { service });

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ profile: 'chat.test', kind: 'chat', status: 'stored' });
    expect((await at.run('auth token chat')).stdout).toBe('chat-key-9b2e44\n');
  });

  test('--profile names the profile, as --name does; two names are refused', async () => {
    const at = place();
    const file = join(at.home, 'zuliprc');
    writeFileSync(file, '[api]\nemail=ada@chat.test\nkey=chat-key-9b2e44\nsite=https://chat.test/\n', { mode: 0o600 });

    const { exitCode, stdout } = await at.run(`auth import ${file} --profile work --no-check -o json`);
    const login = 'auth login chat --site https://chat.test --email ada@chat.test --api-key-stdin --no-check -o json';
    const second = await at.run(`${login} --profile second`, { stdin: 'chat-key-9b2e44' });
    const both = await at.run(`auth import ${file} --profile work --name play --no-check -o json`);

    expect({ exitCode, ...(JSON.parse(stdout) as object) }).toMatchObject({ exitCode: 0, profile: 'work' });
    expect(JSON.parse(second.stdout)).toMatchObject({ profile: 'second' });
    expect(both).toMatchObject({
      exitCode: 2,
      error: { message: "--name 'play' and --profile 'work' are two profiles" },
    });
  });

  test('an address is one in any case: the same account is replaced without a question', async () => {
    const at = place();
    const login = (email: string) =>
      `auth login chat --site https://chat.test --email ${email} --api-key-stdin --no-check`;

    await at.run(login('ada@chat.test'), { stdin: 'chat-key-9b2e44' });
    const { exitCode, stdout } = await at.run(`${login('ADA@chat.test')} -o json`, { stdin: 'chat-key-9b2e45' });

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ profile: 'chat.test', status: 'replaced unchecked' });
  });
});

test('of a zuliprc with plain http nothing is sent or stored', async () => {
  const at = place();
  const stdin = '[api]\nemail=a@b.test\nkey=k\nsite=http://chat.test\n';

  expect(await at.run('auth import -', { stdin })).toMatchObject({ exitCode: 3 });
  expect(existsSync(at.config)).toBe(false);
});

test('a profile that is typed goes before the credentials of the environment, which go before CHATELAINE_PROFILE', async () => {
  const at = place();
  await store(at, 'first');
  await store(at, 'second');
  const token = async (line: string, env: Record<string, string> = {}): Promise<string> =>
    (await at.run(`auth token licensing ${line}`, { env })).stdout.trim();
  const unit = { CHATELAINE_BASE_URL: 'https://other.test', CHATELAINE_API_KEY: 'key-of-environment' };

  expect(await token('', { CHATELAINE_PROFILE: 'second' })).toBe('key-of-second');
  expect(await token('', { ...unit, CHATELAINE_PROFILE: 'second' })).toBe('key-of-environment');
  expect(await token('--profile second', unit)).toBe('key-of-second');
  expect(await token('')).toBe('key-of-first');
  await at.run('auth use second');
  expect(await token('')).toBe('key-of-second');
});

describe('auth use, logout, token, status', () => {
  type Entries = Record<string, { origin: string; api_key?: string }>;
  const edited: Readonly<Record<string, (keys: Entries) => Entries>> = {
    'whose key is gone': ({ second }) => ({ ...(second && { second }) }),
    'whose key is for another host': ({ first, ...others }) => ({
      ...others,
      first: { ...first, origin: 'https://else.test' },
    }),
    'whose key is empty': ({ first, ...others }) => ({ ...others, first: { origin: '', ...first, api_key: ' ' } }),
  };
  test.each(Object.entries(edited))('status calls a profile unusable %s', async (_, edit) => {
    const at = place();
    await store(at, 'first');
    await store(at, 'second');
    const file = join(at.config, 'credentials.json');
    const stored = json(file) as { keys: Entries };
    writeFileSync(file, JSON.stringify({ ...stored, keys: edit(stored.keys) }));

    const status = await at.run('auth status -o json');

    expect(JSON.parse(status.stdout)).toMatchObject([
      { profile: 'first', status: 'unusable' },
      { profile: 'second', status: expect.not.stringContaining('unusable') as string },
    ]);
  });

  test('logout forgets profile and key; another default is not chosen silently', async () => {
    const at = place();
    await store(at, 'first');
    await store(at, 'second');

    expect(await at.run('auth logout first --yes')).toMatchObject({ exitCode: 0 });

    expect(readFileSync(join(at.config, 'credentials.json'), 'utf8')).not.toContain('key-of-first');
    expect(await at.run('license list')).toMatchObject({ exitCode: 3 });
    expect(await at.run('auth token second')).toMatchObject({ exitCode: 0, stdout: 'key-of-second\n' });
  });

  test('logout --all forgets every profile, every default and every key; a dry run none', async () => {
    const at = place();
    await store(at, 'first');
    await store(at, 'second');

    const planned = await at.run('auth logout --all --dry-run -o csv');
    const kept = await at.run('auth list -o json');
    const { exitCode, stdout } = await at.run('auth logout --all --yes -o json');

    expect(planned.stdout).toBe('profile,status\nfirst,would be removed\nsecond,would be removed\n');
    expect(JSON.parse(kept.stdout)).toHaveLength(2);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { profile: 'first', status: 'removed' },
      { profile: 'second', status: 'removed' },
    ]);
    const files = ['config.json', 'credentials.json'].map((name) => readFileSync(join(at.config, name), 'utf8')).join();
    expect(files).not.toMatch(/first|second/);
    expect(await at.run('auth logout --all -o json')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  });

  test('logout --all asks, and without a terminal needs --yes', async () => {
    const at = place();
    await store(at, 'first');
    await store(at, 'second');
    const names = async () => (await at.run('auth list -o csv --fields profile --no-header')).stdout;

    expect(await at.run('auth logout --all -o json')).toMatchObject({
      exitCode: 2,
      error: { message: 'auth logout --all needs --yes: nothing was forgotten' },
    });
    const asked = await at.run('auth logout --all', { tty: true, stdin: 'n\n' });
    expect([asked.exitCode, await names()]).toEqual([130, 'first\nsecond\n']);
    expect(asked.stderr).toContain('Forget every profile and its key: first, second? [y/N]');
    const inCi = await at.run('auth logout --all', { tty: true, stdin: 'y\n', env: { CI: '1' } });
    expect([inCi.exitCode, await names()]).toEqual([2, 'first\nsecond\n']);
    const agreed = await at.run('auth logout --all', { tty: true, stdin: 'y\n' });
    expect([agreed.exitCode, await names()]).toEqual([0, '']);
  });

  test.each(['auth logout', 'auth logout first --all'])('%s is exit 2', async (line) => {
    const at = place();
    await store(at, 'first');
    expect(await at.run(line)).toMatchObject({ exitCode: 2 });
  });

  test.each(['auth logout nobody', 'auth use nobody', 'auth token nobody', 'auth status nobody'])(
    '%s is exit 3',
    async (line) => {
      const at = place();
      await store(at, 'first');

      const { exitCode, stderr } = await at.run(line);
      expect([exitCode, stderr]).toEqual([3, expect.stringContaining('no profile')]);
    },
  );

  test('token without a name is exit 2', async () => {
    expect(await place().run('auth token')).toMatchObject({ exitCode: 2 });
  });

  test('status tries every profile: a refused one is exit 4, and the others are shown', async () => {
    const at = place();
    await store(at, 'first');
    await storeChat(at, 'work', '--read-only');
    const service = fakeService();
    service.expect({ method: 'GET', path: check, authorization: 'Token key-of-first' }).reply(403, '{}');
    service
      .expect({ ...ask, authorization: `Basic ${Buffer.from('ada@chat.test:key-of-work').toString('base64')}` })
      .reply(200, ok);
    service.expect('GET /api/v1/server_settings').reply(200, { ...ok, zulip_feature_level: 489 });

    const { exitCode, stdout, stderr } = await at.run('auth status -o json', { service });

    service.done();
    expect(exitCode).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject([
      { profile: 'first', default: true, read_only: false, key: 'stored', status: 'refused' },
      {
        profile: 'work',
        default: true,
        key: 'stored',
        status: 'ok',
        detail: 'read-only, feature level 489',
        advice: null,
      },
    ]);
    expect(stdout + stderr).not.toContain('key-of');
  });

  test('status tries the credentials of the environment too', async () => {
    const { run: runThere } = await openSandbox();

    const { exitCode, stdout } = await runThere('auth status -o json');

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { profile: 'environment', kind: 'licensing', app_code: 4711, status: 'ok' },
      { profile: 'environment', kind: 'chat', email: 'mara@harbour.example', status: 'ok' },
    ]);
  });

  test('status of the embedded sandbox tries its credentials, and needs none that is stored', async () => {
    const { exitCode, stdout } = await runAlone('--sandbox auth status -o json', { home: emptyHome() });

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { profile: 'sandbox', kind: 'licensing', app_code: 4711, status: 'ok' },
      { profile: 'sandbox', kind: 'chat', email: 'mara@harbour.example', status: 'ok' },
    ]);
  });

  test('status with nothing stored is exit 3', async () => {
    expect(await place().run('auth status')).toMatchObject({ exitCode: 3 });
  });

  test('status of a server that is away is exit 7', async () => {
    const at = place();
    for (const name of ['first', 'second']) await store(at, name);
    const service = fakeService();
    service.expect({ method: 'GET', path: check, authorization: 'Token key-of-first' }).fail('ENOTFOUND');

    const { exitCode, stdout } = await at.run('auth status --profile first -o json', { service });

    expect(exitCode).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([{ profile: 'first', status: 'unreachable' }]);
  });
});
