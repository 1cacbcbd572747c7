import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyHome, runAlone, type Ran } from '../helpers/run.ts';
import { needs } from '../helpers/needs.ts';

/** Whoever can write the configuration runs a key command as this user (docs/apis.md, Credentials). */

const stranger = 4321;
const unit = { CHATELAINE_BASE_URL: 'http://127.0.0.1:1', CHATELAINE_API_KEY: 'k', CHATELAINE_APP_CODE: '7' };
const chatUnit = {
  CHATELAINE_CHAT_SITE: 'http://127.0.0.1:1',
  CHATELAINE_CHAT_EMAIL: 'a@b.test',
  CHATELAINE_CHAT_API_KEY: 'k',
};
const login = 'auth login licensing --base-url http://127.0.0.1:1 --app-code 8 --name eight --api-key-stdin --no-check';

describe('the configuration folder', needs('modes', 'shell'), () => {
  let home = '';
  let config = '';
  const file = (name: string): string => join(config, name);
  const run = (line: string, env: Record<string, string> = {}): Promise<Ran> =>
    runAlone(line, { home, env, stdin: 'key-of-eight\n' });

  beforeEach(async () => {
    home = emptyHome();
    config = join(home, '.config', 'chatelaine');
    const command = join(home, 'give-key');
    writeFileSync(command, `#!/bin/sh\ntouch '${home}/ran'\necho the-key\n`, { mode: 0o700 });
    const stored = await run(
      `auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --no-check --key-command ${command}`,
    );
    expect(stored.exitCode).toBe(0);
    rmSync(join(home, 'ran'));
  });

  const hasRun = (): boolean => existsSync(join(home, 'ran'));

  test('that is ours alone is used, and may be read by others', async () => {
    expect(await run('auth token app-7')).toMatchObject({ exitCode: 0, stdout: 'the-key\n' });
    expect(hasRun()).toBe(true);
    chmodSync(config, 0o755);
    expect(await run('auth token app-7')).toMatchObject({ exitCode: 0 });
  });

  test.each([0o775, 0o702, 0o1777])(
    'of mode %o is refused, names chmod, and is not repaired',
    needs('root'),
    async (mode) => {
      chownSync(config, 0, 1);
      chmodSync(config, mode);
      const before = readFileSync(file('config.json'), 'utf8');
      for (const line of ['license list', login, 'auth logout app-7']) {
        const { exitCode, stderr } = await run(line);
        expect({ line, exitCode, stderr }).toEqual({
          line,
          exitCode: 3,
          stderr:
            `chatelaine: the folder ${config} can be written by other users (mode ${(mode & 0o777).toString(8)})\n` +
            `hint: Check what it contains, then:\n  chmod 700 ${config}\n`,
        });
      }
      expect(hasRun()).toBe(false);
      expect(statSync(config).mode & 0o1777).toBe(mode);
      expect(readFileSync(file('config.json'), 'utf8')).toBe(before);
    },
  );

  test('is named by doctor', async () => {
    chmodSync(config, 0o777);
    const { exitCode, stdout } = await run('doctor -o json');
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toContainEqual({
      check: 'configuration',
      subject: config,
      status: 'problem',
      detail: `the folder ${config} can be written by other users (mode 777)`,
      advice: `Check what it contains, then: chmod 700 ${config}`,
    });
  });

  test.each(['config.json', 'credentials.json'])('with a %s that others can write is refused', async (name) => {
    writeFileSync(file('credentials.json'), '{}', { mode: 0o600 });
    chmodSync(file(name), 0o622);
    const { exitCode, stderr } = await run('auth token app-7');
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`chmod 600 ${file(name)}`);
    expect(await run(login)).toMatchObject({ exitCode: 3 });
    expect(statSync(file(name)).mode & 0o777).toBe(0o622);
    expect(hasRun()).toBe(false);
  });

  test.each([
    ['messages fetch', chatUnit, 7],
    ['auth token licensing', unit, 0],
    ['license list', { ...unit, CHATELAINE_PROFILE: 'app-7' }, 7],
  ])('is not looked at where the environment holds the credential: %s', async (line, env, exit) => {
    chmodSync(config, 0o777);
    expect((await run(line, env)).exitCode).toBe(exit);
    expect(hasRun()).toBe(false);
    expect((await run(line, { ...env, CHATELAINE_CONFIG_DIR: 'relative' })).exitCode).toBe(exit);
    if (line !== 'auth token licensing')
      expect(await run(`${line} --profile app-7`, env)).toMatchObject({ exitCode: 3 });
  });

  test('is judged after its links are followed; the folders above are not looked at', async () => {
    const real = join(home, 'elsewhere');
    renameSync(config, real);
    symlinkSync(real, config);
    chmodSync(join(home, '.config'), 0o777);
    expect(await run('auth token app-7')).toMatchObject({ exitCode: 0 });
    chmodSync(real, 0o777);
    expect(await run('auth token app-7')).toMatchObject({ exitCode: 3 });
  });

  test('of CHATELAINE_CONFIG_DIR is looked at too', async () => {
    chmodSync(config, 0o777);
    const env = { CHATELAINE_CONFIG_DIR: config, XDG_CONFIG_HOME: '/nonexistent' };
    expect(await run('auth token app-7', env)).toMatchObject({ exitCode: 3 });
    chmodSync(config, 0o700);
    expect(await run('auth token app-7', env)).toMatchObject({ exitCode: 0 });
  });

  describe('and other users', needs('root'), () => {
    test('a folder of another user is refused and names chown', async () => {
      chownSync(config, stranger, stranger);
      const { exitCode, stderr } = await run(login);
      expect(exitCode).toBe(3);
      expect(stderr).toBe(
        `chatelaine: the folder ${config} belongs to another user (id ${stranger})\n` +
          `hint: Check what it holds, then:\n  chown 0 ${config}\n`,
      );
      expect(await run('auth token app-7')).toMatchObject({ exitCode: 3 });
      expect(hasRun()).toBe(false);
    });

    test('a link to a folder of another user is refused', async () => {
      const theirs = join(home, 'theirs');
      renameSync(config, theirs);
      chownSync(theirs, stranger, stranger);
      symlinkSync(theirs, config);
      expect(await run('auth token app-7')).toMatchObject({ exitCode: 3 });
    });
  });

  test('that is a file is refused in words', async () => {
    rmSync(config, { recursive: true });
    mkdirSync(join(home, '.config'), { recursive: true });
    writeFileSync(config, '');
    const { exitCode, stderr } = await run(login);
    expect(exitCode).toBe(3);
    expect(stderr.replaceAll(home, '')).not.toMatch(/E[A-Z]{4,}|illegal/);
  });
});
