import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { readKey } from '../../src/commands/auth/account.ts';
import { Secret } from '../../src/core/secret.ts';
import { openOrigin } from '../helpers/origin.ts';
import { emptyHome, fakeService, openSandbox, run, runAlone } from '../helpers/run.ts';

const unused = (): never => {
  throw new Error('not used');
};
const unusedKeys = {
  keys: {
    fromFile: unused,
    fromInput: unused,
    fromCommand: unused,
    fromPassword: unused,
    othersCanRead: unused,
    headers: unused,
  },
  secrets: { hide: unused, clean: unused },
};

/** Each way in which an editor or a shell of Windows may write a text. */
const forms = [
  ['UTF-8 with a mark', (text: string) => Buffer.from(`\uFEFF${text}`)],
  ['UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['UTF-16 of the other order', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
] as const;

describe.each(sampleOf(1, forms))('a text in %s is read wherever people give one', (_form, encoded) => {
  const fileOf = (name: string, text: string): string => {
    const file = join(emptyHome(), name);
    writeFileSync(file, encoded(text.replaceAll('\n', '\r\n')), { mode: 0o600 });
    return file;
  };

  test('a zuliprc, from a file and from standard input', async () => {
    const text = '[api]\nemail=ada@b.example\nkey=key-1234\nsite=https://b.example\n';
    for (const [source, stdin] of [[fileOf('zuliprc', text), ''] as const, ['-', encoded(text)] as const]) {
      const home = emptyHome();
      const ran = await runAlone(`auth import ${source} --name work --no-check`, { home, stdin });
      expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect((await runAlone('auth token work', { home })).stdout).toBe('key-1234\n');
    }
  });

  test('settings', async () => {
    const { run } = await openSandbox();
    const file = fileOf('settings.txt', 'color_scheme=dark\n');
    expect(await run(`settings set --from ${file} --dry-run -o json`)).toMatchObject({ exitCode: 0 });
    const stdin = encoded('color_scheme=dark\n');
    expect(await run('settings set --from - --dry-run -o json', { stdin })).toMatchObject({ exitCode: 0 });
  });

  test('findings that are accepted', async () => {
    const { run } = await openSandbox();
    const home = emptyHome();
    const plain = join(home, 'accepted');
    await run('license create --remote-user ada --size-allowance 4 -y');
    await run('license create --remote-user ada --size-allowance 4 -y');
    expect((await run('license audit', { home })).exitCode).toBe(10);
    await run(`license audit --write-accepted ${plain}`, { home });
    const file = fileOf('accepted', readFileSync(plain, 'utf8'));
    expect((await run(`license audit --accept ${file}`, { home })).exitCode).toBe(0);
  });

  test('a plan that was reviewed', async () => {
    const { run } = await openSandbox();
    const [plan, roster] = [join(emptyHome(), 'plan.json'), fileOf('r.csv', 'remote_user,size_allowance\nnew,4\n')];
    expect((await run(`license apply ${roster} --dry-run --write-plan ${plan}`)).exitCode).toBe(0);
    const file = fileOf('plan.json', readFileSync(plan, 'utf8'));
    expect((await run(`license apply --plan ${file} --dry-run`)).exitCode).toBe(0);
  });

  test('topics, codes, a user, and a key on standard input', async () => {
    const { run } = await openSandbox();
    const topics = await run('topic delete general --from - --dry-run', { stdin: encoded('greetings\n') });
    expect(topics.stderr).not.toContain('\uFEFF');
    const created = await run('license create --remote-user zoe --size-allowance 4 -q');
    const viewed = await run('license view - -o json', { stdin: encoded(created.stdout) });
    expect(JSON.parse(viewed.stdout)).toMatchObject({ remote_user: 'zoe' });
    const listed = await run('license list --remote-user - -o json', { stdin: encoded('zoe\n') });
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    const login = 'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --name p --api-key-stdin --no-check';
    const home = emptyHome();
    expect((await runAlone(login, { home, stdin: encoded('key-5678\n') })).exitCode).toBe(0);
    expect((await runAlone('auth token p', { home })).stdout).toBe('key-5678\n');
  });
});

describe('what is not UTF-8 is refused, and nothing is sent', () => {
  /** Latin-1: what reads it as UTF-8 has U+FFFD in place of the é. */
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

  test.each([
    ['settings set --from {file}', 'full_name=Ren\xe9\n', '{file}: not valid UTF-8'],
    ['settings set --from -', 'color_scheme=dark\nfull_name=Ren\xe9\n', 'standard input: not valid UTF-8'],
    ['topic delete general --from {file} -y', 'caf\xe9\nx\nth\xe9\n', '{file}: not valid UTF-8'],
    ['topic delete general x -y --hold {file}', 'caf\xe9\n', '{file}: not valid UTF-8'],
    ['view rename narrow/is/alerted -', 'caf\xe9\n', 'standard input: not valid UTF-8'],
    ['license list --remote-user -', 'ren\xe9\n', 'standard input: not valid UTF-8'],
    ['license create --size-allowance 2 --remote-user -', 'ren\xe9\n', 'standard input: not valid UTF-8'],
    ['auth import {file} --no-check', '[api]\nemail=ren\xe9@b.example\n', 'not valid UTF-8'],
    [
      'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --no-check --api-key-file {file}',
      'key-\xe9\n',
      '--api-key-file: {file}: not valid UTF-8',
    ],
    [
      'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --no-check --api-key-stdin',
      'key-\xe9\n',
      'standard input: not valid UTF-8',
    ],
  ])('%s', async (line, text, message) => {
    const { run, sandbox } = await openSandbox();
    const home = emptyHome();
    const file = join(home, 'given');
    writeFileSync(file, latin(text), { mode: 0o600 });
    const before = JSON.stringify(sandbox.state.licenses());
    const ran = await run(`${line.replace('{file}', file)} -o json`, { home, stdin: latin(text) });
    expect(ran.error?.message).toContain(message.replace('{file}', file));
    expect(ran.error?.exit).toBe(line.includes('--api-key-file') ? 3 : 2);
    expect(JSON.stringify(sandbox.state.licenses())).toBe(before);
  });

  test.each([
    ['license create --size-allowance 2 --remote-user Ren\ufffd'],
    ['view rename narrow/is/alerted Caf\ufffd'],
    ['api chat POST messages -f content=caf\ufffd'],
    ['topic delete general caf\ufffd -y'],
  ])('nor is a word of the command line: %s', async (line) => {
    const service = fakeService();
    const ran = await run(service, `${line} -o json`);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.error?.message).toMatch(/^'.*\ufffd' is not valid UTF-8$/);
    service.done();
  });
});

describe('blanks around a key are no part of it', () => {
  const key = 'key-9012';
  const login = 'auth login licensing --app-code 7 --name p';

  test('auth login', async () => {
    const { port, seen } = await openOrigin();
    const home = emptyHome();
    const stdin = `  ${key} \t\r\n`;
    const line = `${login} --base-url http://127.0.0.1:${port} --api-key-stdin`;
    expect((await runAlone(line, { home, stdin })).exitCode).toBe(0);
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set([`Token ${key}`]));
    expect((await runAlone('auth token p', { home })).stdout).toBe(`${key}\n`);
  });

  test('nor of one that is typed where it is asked for', async () => {
    const profile = { kind: 'licensing', name: 'p', base_url: 'http://127.0.0.1:1', app_code: 7 } as const;
    const asked = async (text: string): Promise<string> => {
      const context = {
        terminal: { canAsk: () => true, isShown: unused, ask: unused, secret: () => Promise.resolve(new Secret(text)) },
        say: () => undefined,
      };
      return (await readKey({}, profile, { ...unusedKeys, ...context })).reveal();
    };
    expect(await asked(` ${key}\t `)).toBe(key);
    await expect(asked(`'${key}'`)).rejects.toThrow('API key: the key is in quotes');
    await expect(asked(' ')).rejects.toThrow('API key: the key is empty');
  });

  test('nor of one in a variable, a file, or a credential that an earlier version stored', async () => {
    const { port, seen } = await openOrigin();
    const home = emptyHome();
    const file = join(home, 'key');
    writeFileSync(file, ` ${key} \n`, { mode: 0o600 });
    const unit = { CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`, CHATELAINE_APP_CODE: '7' };
    for (const env of [{ CHATELAINE_API_KEY: ` ${key} ` }, { CHATELAINE_API_KEY_FILE: file }])
      expect((await runAlone('license list', { env: { ...unit, ...env } })).exitCode).toBe(0);
    const stored = join(home, '.config/chatelaine/credentials.json');
    const base = `--base-url http://127.0.0.1:${port} --api-key-stdin --no-check`;
    await runAlone(`${login} ${base}`, { home, stdin: `${key}\n` });
    writeFileSync(stored, readFileSync(stored, 'utf8').replace(`"${key}"`, `"${key} "`));
    expect((await runAlone('license list -p p', { home })).exitCode).toBe(0);
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set([`Token ${key}`]));
  });

  test.each([`"${key}"`, `'${key}'`])('one in quotes is named, and not shown: %s', async (typed) => {
    const line = `${login} --base-url http://127.0.0.1:1 --no-check --api-key-stdin`;
    const ran = await runAlone(line, { home: emptyHome(), stdin: `${typed}\n` });
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain('the key is in quotes');
    expect(ran.stderr).not.toContain(key);
  });

  test.each([
    ['--site', '"https://chat.example"', 'the site is in quotes'],
    ['--site', "'chat.example'", 'the site is in quotes'],
    ['--site', 'https://"chat.example"', 'the site is in quotes'],
    ['--email', '"ada@b.example"', 'the e-mail address is in quotes'],
  ])('%s %s', async (option, value, words) => {
    const others = option === '--site' ? '--email a@b.example' : '--site https://chat.example';
    const line = `auth login chat --api-key-stdin --no-check ${others}`.split(' ');
    const { exitCode, stderr } = await runAlone([...line, option, value], { stdin: 'k-1\n' });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `chatelaine: ${option}: ${words}\nhint: Write it without them: here they are a part of it.\n`,
    });
  });
});
