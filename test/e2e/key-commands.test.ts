import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { openService, shell, temporaryHome, type Done } from './program.ts';

/** Key managers as people use them, and what their processes get to see. */

async function loginAndList(
  home: string,
  command: string,
  baseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ login: Done; list: Done }> {
  const login = `chatelaine auth login licensing --base-url ${baseUrl} --app-code 4711 --key-command '${command}'`;
  return {
    login: await shell(login, { home, env }).ended,
    list: await shell('chatelaine license list -o json', { home, env }).ended,
  };
}

describe('a key is asked for once in a run, however many parts of a command need it', () => {
  const roster = 'remote_user,size_allowance\nq,3\n';
  const lines = {
    licensing: ['license list', 'license apply roster.csv', 'license create --remote-user zz --size-allowance 3'],
    chat: ['messages fetch --channel general --limit 2', 'topic delete general launch --dry-run', 'archive pull kept'],
  };

  test.each(sampleOf(1, [...lines.licensing, ...lines.chat]))('from a pipe: %s', needs('shell'), async (line) => {
    const home = temporaryHome();
    const { CHATELAINE_API_KEY: key = '', CHATELAINE_CHAT_API_KEY: chatKey = '', ...env } = (await openService()).env;
    writeFileSync(join(home, 'roster.csv'), roster);
    const files = `CHATELAINE_API_KEY_FILE=<(echo ${key}) CHATELAINE_CHAT_API_KEY_FILE=<(echo ${chatKey})`;
    const done = await shell(`${files} chatelaine ${line}`, { home, env }).ended;
    expect(done.stderr).not.toContain('key');
    // No topic of that name.
    expect(done.code).toBe(line.startsWith('topic') ? 5 : 0);
  });
});

describe('pass', needs('pass'), () => {
  test('gives the key at each use, and only its command is stored', needs('shell'), async () => {
    const home = temporaryHome();
    const { sandbox } = await openService();
    const env = { GNUPGHOME: join(home, 'gpg'), PASSWORD_STORE_DIR: join(home, 'store') };
    mkdirSync(env.GNUPGHOME, { mode: 0o700 });
    const own = { cwd: home, stdio: 'pipe', env: { ...process.env, HOME: home, ...env } } as const;
    const generate = ['--batch', '--passphrase', '', '--quick-generate-key', 'chatelaine test', 'default', 'default'];
    execFileSync('gpg', generate, own);
    execFileSync('pass', ['init', 'chatelaine test'], own);
    const insert = (key: string): void =>
      void execFileSync('pass', ['insert', '-m', '-f', 'chatelaine/prod'], { ...own, input: `${key}\nurl: x\n` });
    try {
      insert('sandbox-key-of-app-4711');
      const { login, list } = await loginAndList(home, 'pass show chatelaine/prod', sandbox.licensing.base_url, env);
      expect({ code: login.code, stderr: login.stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(list.stdout)).toHaveLength(6);
      expect(storedIn(home)).not.toContain('sandbox-key-of-app-4711');

      insert('another-key');
      const refused = await shell('chatelaine license list', { home, env }).ended;
      expect({ code: refused.code, shown: refused.stderr.includes('another-key') }).toEqual({ code: 4, shown: false });
    } finally {
      spawnSync('gpgconf', ['--kill', 'gpg-agent'], own);
    }
  });
});

describe('secret-tool', needs('keyring'), () => {
  test('gives the key at each use', needs('shell'), async () => {
    const home = temporaryHome();
    const { sandbox } = await openService();
    const script = [
      'printf "\\n" | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1',
      'printf %s sandbox-key-of-app-4711 | secret-tool store --label=chatelaine service chatelaine account prod',
      `chatelaine auth login licensing --base-url ${sandbox.licensing.base_url} --app-code 4711 --key-command "secret-tool lookup service chatelaine account prod"`,
      'chatelaine license list -o json',
    ].join('\n');
    writeFileSync(join(home, 'script.sh'), `chatelaine() { "$NODE" "$PROGRAM" "$@"; }\n${script}\n`);
    const done = await shell('dbus-run-session -- bash ./script.sh', { home }).ended;
    expect({ code: done.code, stderr: done.stderr.replace(/^.*dbus-daemon.*\n/gm, '') }).toEqual({
      code: 0,
      stderr: '',
    });
    expect(done.stdout).toContain('"remote_user": "physio-7731"');
    expect(storedIn(home)).not.toContain('sandbox-key-of-app-4711');
  });
});

describe('a key command', needs('proc', 'shell'), () => {
  test('sees no secret of the environment, and nothing in the arguments of the program', needs('shell'), async () => {
    const home = temporaryHome();
    const { sandbox, env } = await openService();
    const spy = join(home, 'spy');
    writeFileSync(
      spy,
      '#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/environ > environ\ntr "\\0" "\\n" < /proc/$PPID/cmdline > cmdline\necho sandbox-key-of-app-4711\n',
      { mode: 0o755 },
    );
    const secrets = {
      CHATELAINE_CHAT_SITE: env['CHATELAINE_CHAT_SITE'] ?? '',
      CHATELAINE_CHAT_EMAIL: env['CHATELAINE_CHAT_EMAIL'] ?? '',
      CHATELAINE_CHAT_API_KEY: 'canary-chat-key',
      CHATELAINE_KEPT: 'yes',
    };
    const { login, list } = await loginAndList(home, spy, sandbox.licensing.base_url, secrets);
    expect([login.code, list.code]).toEqual([0, 0]);
    const environ = readFileSync(join(home, 'environ'), 'utf8');
    expect(environ).not.toContain('canary-chat-key');
    expect(environ).toContain('CHATELAINE_CHAT_EMAIL=');
    expect(environ).toContain(`HOME=${home}`);
    expect(readFileSync(join(home, 'cmdline'), 'utf8')).not.toMatch(/canary|sandbox-key/);
  });
});

function storedIn(home: string): string {
  const folder = join(home, '.config', 'chatelaine');
  return ['config.json', 'credentials.json']
    .map((name) => join(folder, name))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}
