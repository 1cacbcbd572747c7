import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyHome, runAlone } from '../../helpers/run.ts';
import { needs } from '../../helpers/needs.ts';

const url = 'http://127.0.0.1:1';

async function stored(more = ''): Promise<string> {
  const home = emptyHome();
  const line = `auth login licensing --base-url ${url} --app-code 7 --name prod --no-check --api-key-stdin ${more}`;
  expect(await runAlone(line, { home, stdin: 'the-old-key\n' })).toMatchObject({ exitCode: 0 });
  return home;
}

const config = (home: string, file = 'config'): string =>
  readFileSync(join(home, '.config', 'chatelaine', `${file}.json`), 'utf8');

/** With a key, so that its hidden question is not asked. */
function keyFile(): string {
  const file = join(emptyHome(), 'key');
  writeFileSync(file, 'the-new-key\n', { mode: 0o600 });
  return file;
}

test('--name of a stored profile asks for nothing that is stored', async () => {
  const home = await stored();
  const { exitCode, stderr } = await runAlone(`auth login --name prod --no-check --api-key-file ${keyFile()}`, {
    home,
    tty: true,
    answers: [],
  });
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(JSON.parse(config(home))).toMatchObject({ profiles: { prod: { base_url: url, app_code: 7 } } });
  expect(config(home, 'credentials')).toContain('the-new-key');
});

test.each(['auth login', 'auth status', 'auth use x', 'license list --all-apps'])('%s: the sign-in', async (line) => {
  const { stderr } = await runAlone(line, { home: emptyHome() });
  expect(stderr).toContain('\n  chatelaine auth login licensing --base-url URL --app-code C\n');
});

test.each([
  ['licensing', '--name new', 'auth login licensing needs --base-url and --app-code'],
  ['chat', '', 'auth login chat needs --site and --email'],
])('what is left out is named: auth login %s %s', async (kind, name, message) => {
  const line = `auth login ${kind} ${name} --no-check --api-key-file ${keyFile()}`;
  const { exitCode, stderr } = await runAlone(line, { home: await stored(), tty: true, answers: [] });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});

test('an endless key on standard input is refused, and its first line suffices', async () => {
  const login = `auth login licensing --base-url ${url} --app-code 7 --no-check --api-key-stdin`;
  expect(await runAlone(login, { stdin: 'key-of-the-test-123\n'.repeat(5000) })).toMatchObject({ exitCode: 0 });
  const endless = await runAlone(login, { stdin: 'k'.repeat(70_000) });
  expect(endless.exitCode).toBe(2);
  expect(endless.stderr).toContain('standard input: it is larger than 64 KiB');
});

test.each([
  ['--password --api-key-stdin', 'give one of --password, --api-key-stdin, --api-key-file and --key-command'],
  ['--password --no-input', '--password needs a terminal to ask for it'],
])('%s is exit 2', async (words, message) => {
  const line = `auth login chat --site ${url} --email ada@chat.test ${words}`;
  const { exitCode, stderr } = await runAlone(line, { tty: true });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});

describe('--ca-file', () => {
  const kept = (home: string): unknown =>
    (JSON.parse(config(home)) as { profiles: { prod: { ca_file?: string } } }).profiles.prod.ca_file;

  test('is kept in the profile by its absolute path, and an empty one removes it', async () => {
    const home = await stored('--ca-file ca.pem');
    expect(kept(home)).toBe(join(process.cwd(), 'ca.pem'));
    const again = 'auth login --name prod --api-key-stdin --no-check';
    await runAlone(again, { home, stdin: 'k-2\n' });
    expect(kept(home)).toBe(join(process.cwd(), 'ca.pem'));
    await runAlone(`${again} --ca-file ''`, { home, stdin: 'k-3\n' });
    expect(kept(home)).toBeUndefined();
  });

  test('is used by each run of the profile, unless another one is typed', async () => {
    const home = await stored('--ca-file /none/ca.pem');
    const list = async (more: string) => (await runAlone(`license list ${more}`, { home })).stderr;
    expect(await list('--retries 0')).toContain('cannot use the CA file /none/ca.pem');
    expect(await list('--retries 0 --ca-file /none/other.pem')).toContain('cannot use the CA file /none/other.pem');
    expect((await runAlone('doctor', { home })).stdout).toContain('cannot use the CA file /none/ca.pem');
  });

  test('of the environment is used for the check and not kept', async () => {
    const home = emptyHome();
    const line = `auth login licensing --base-url ${url} --app-code 7 --name prod --api-key-stdin`;
    const env = { CHATELAINE_CA_FILE: '/none/ca.pem' };
    expect(await runAlone(line, { home, env, stdin: 'key-1\n' })).toMatchObject({ exitCode: 3 });
    await runAlone(`${line} --no-check`, { home, env, stdin: 'key-1\n' });
    expect(kept(home)).toBeUndefined();
  });
});

test(
  'a key file that others can read: the hint says what a pod, docker and compose can set',
  needs('modes'),
  async () => {
    const file = join(emptyHome(), 'key');
    writeFileSync(file, 'a-key\n');
    chmodSync(file, 0o444);
    const { exitCode, stderr } = await runAlone(
      `auth login licensing --base-url ${url} --app-code 7 --no-check --api-key-file ${file}`,
    );
    expect(exitCode).toBe(3);
    for (const word of [`chmod 600 ${file}`, 'defaultMode: 0400', 'fsGroup', 'docker and compose', 'swarm', '<(cat'])
      expect(stderr).toContain(word);
  },
);

describe('--header-file', () => {
  const lines = 'CF-Access-Client-Id: 4711.access\n\nCF-Access-Client-Secret:  s3cr3t-of-the-proxy \nX-Team: a\n';
  const sent = {
    'cf-access-client-id': '4711.access',
    'cf-access-client-secret': 's3cr3t-of-the-proxy',
    'x-team': 'a',
  };

  /** A licensing server and chat that lets nothing past without the headers. */
  async function guarded(
    answer: (path: string) => { status?: number; location?: string; body?: unknown } = () => ({}),
  ) {
    const seen: { path: string; headers: IncomingHttpHeaders }[] = [];
    const server = createServer(({ url: path = '', headers }, response) => {
      seen.push({ path, headers });
      const { status = 200, location, body } = answer(path);
      const usual = path.startsWith('/api') ? { result: 'success', msg: '', messages: [] } : [];
      response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) });
      response.end(JSON.stringify(body ?? usual));
    });
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
  }

  function headerFile(text = lines): string {
    const file = join(emptyHome(), 'headers');
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  const login = (base: string, more: string): string =>
    `auth login licensing --base-url ${base} --app-code 7 --name prod --api-key-file ${keyFile()} ${more}`;

  test('goes with the check, is kept like the key, and goes with each request of the profile', async () => {
    const { url: base, seen } = await guarded();
    const home = emptyHome();
    expect(await runAlone(login(base, `--header-file ${headerFile()}`), { home })).toMatchObject({ exitCode: 0 });
    expect(config(home)).not.toContain('s3cr3t');
    expect(JSON.parse(config(home, 'credentials'))).toMatchObject({ keys: { prod: { headers: sent } } });
    await runAlone('license list', { home });
    await runAlone('doctor', { home });
    // A new key keeps them, an empty name removes them.
    await runAlone(login(base, ''), { home });
    expect(seen).toHaveLength(4);
    for (const { headers } of seen) expect(headers).toMatchObject(sent);
    await runAlone(login(base, "--no-check --header-file ''"), { home });
    await runAlone('license list', { home });
    expect(seen.at(-1)?.headers['x-team']).toBeUndefined();
  });

  test('of a chat goes with the calls that need no account too', async () => {
    const { url: site, seen } = await guarded();
    const home = emptyHome();
    const line = `auth login chat --site ${site} --email ada@chat.test --api-key-file ${keyFile()} --header-file -`;
    expect(await runAlone(line, { home, stdin: lines })).toMatchObject({ exitCode: 0 });
    await runAlone('doctor', { home });
    expect(seen.map(({ path }) => path.replace(/\?.*/, ''))).toContain('/api/v1/server_settings');
    for (const { headers } of seen) expect(headers).toMatchObject(sent);
  });

  test('of the environment goes with its units of both kinds', async () => {
    const { url: base, seen } = await guarded();
    const env = {
      ...{ CHATELAINE_BASE_URL: base, CHATELAINE_API_KEY: 'key-1', CHATELAINE_HEADER_FILE: headerFile() },
      ...{ CHATELAINE_CHAT_SITE: base, CHATELAINE_CHAT_EMAIL: 'a@b.test', CHATELAINE_CHAT_API_KEY: 'key-2' },
    };
    expect(await runAlone('license list', { env })).toMatchObject({ exitCode: 0 });
    expect(await runAlone('api chat GET messages', { env })).toMatchObject({ exitCode: 0 });
    for (const { headers } of seen) expect(headers).toMatchObject(sent);
    const wrong = await runAlone('license list', { env: { ...env, CHATELAINE_HEADER_FILE: headerFile('a\n') } });
    expect(wrong).toMatchObject({ exitCode: 3 });
    expect(wrong.stderr).toMatch(/CHATELAINE_HEADER_FILE: .*headers:1: not a line NAME: VALUE/);
    expect(await runAlone('license list', { env: { ...env, CHATELAINE_HEADER_FILE: '' } })).toMatchObject({
      exitCode: 3,
    });
  });

  test('is nowhere shown: not in a trace, a log, an error or a dry run; curl reads it from a variable', async () => {
    const words = 'no proxy for s3cr3t-of-the-proxy';
    const { url: base } = await guarded((path) => {
      if (path.includes('remote_user')) return { status: 400, body: { detail: words } };
      return path.includes('K-1') ? { body: { license_code: 'K-1', remote_user: 'ada', size_allowance: 2 } } : {};
    });
    const home = emptyHome();
    await runAlone(login(base, `--no-check --header-file ${headerFile()}`), { home });
    const log = join(home, 'log');
    const ran = await runAlone(`license list --remote-user ada --trace --log ${log}`, { home });
    expect(ran.exitCode).toBe(6);
    expect(ran.stderr).toContain('cf-access-client-id: [secret]');
    expect(ran.stderr).toContain('x-team: [secret]');
    const dry = await runAlone('license edit K-1 --size-allowance 3 --dry-run -o curl', { home });
    expect(dry.stdout).toContain('HEADERS_KEY_prod=$(chatelaine auth token prod --headers)');
    expect(dry.stdout).toContain('--header @<(printf %s "$HEADERS_KEY_prod")');
    const json = await runAlone('license edit K-1 --size-allowance 3 --dry-run -o json', { home });
    for (const text of [ran.stderr, ran.stdout, readFileSync(log, 'utf8'), dry.stdout, json.stdout])
      expect(text).not.toMatch(/s3cr3t|4711\.access/);
    const token = await runAlone('auth token prod --headers', { home });
    expect(token.stdout).toBe(
      Object.entries(sent)
        .map(([name, value]) => `${name}: ${value}\n`)
        .join(''),
    );
  });

  test('is bound to the origin: no redirect elsewhere and no other URL gets it', async () => {
    const other = await guarded();
    const { url: base, seen } = await guarded((path) =>
      path.startsWith('/v1/license') ? { status: 302, location: `${other.url}/v1/license/` } : {},
    );
    const home = emptyHome();
    await runAlone(login(base, `--no-check --header-file ${headerFile()}`), { home });
    await runAlone('license list --retries 0', { home });
    expect([seen.length > 0, other.seen]).toEqual([true, []]);
    await runAlone(login(other.url, '--no-check --yes'), { home });
    await runAlone('license list', { home });
    expect(other.seen.length).toBeGreaterThan(0);
    for (const { headers } of other.seen) expect(headers['x-team']).toBeUndefined();
  });

  test('a bad file is exit 2 with all bad lines, none of which is repeated', async () => {
    const file = headerFile('X-A: 1\nonly-a-secret\nAuthorization: Token x\nx-a: 2\nContent-Type: a\nX-B:\nX-C: ü\n');
    const { exitCode, error, stderr } = await runAlone(login(url, `--no-check -o json --header-file ${file}`));
    expect(exitCode).toBe(2);
    expect(error?.problems).toEqual([
      `${file}:2: not a line NAME: VALUE`,
      `${file}:3: chatelaine sets authorization itself`,
      `${file}:4: x-a is already set, in ${file}:1`,
      `${file}:5: chatelaine sets content-type itself`,
      `${file}:6: x-b has no value`,
      `${file}:7: the value of x-c has a character that cannot be sent`,
    ]);
    expect(stderr).not.toContain('only-a-secret');
    expect((await runAlone(login(url, `--no-check --header-file ${headerFile('\n')}`))).stderr).toContain(
      'no line NAME:',
    );
  });

  test('a file that others can read is refused, and two that read standard input are', needs('modes'), async () => {
    const file = headerFile();
    chmodSync(file, 0o644);
    expect(await runAlone(login(url, `--no-check --header-file ${file}`))).toMatchObject({ exitCode: 3 });
    const both = 'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --api-key-stdin --header-file -';
    expect((await runAlone(both, { stdin: 'a' })).stderr).toContain('both read standard input');
  });
});
