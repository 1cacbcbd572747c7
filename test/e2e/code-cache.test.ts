import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { launch } from '../helpers/launch.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin } from '../helpers/origin.ts';

let caches: string;
beforeEach(() => {
  caches = mkdtempSync(join(tmpdir(), 'chatelaine-cache-'));
  onTestFinished(() => rmSync(caches, { recursive: true }));
});

/** A command with a request of its own on a fresh loopback service. */
async function list(more: Readonly<Record<string, string>> = {}): Promise<{ stdout: string; stderr: string }> {
  const { port } = await openOrigin(() => ({
    body: '[{"license_code":"k","remote_user":"ada","app_code":7,"size_allowance":4}]',
  }));
  const unit = { CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`, CHATELAINE_API_KEY: 'key', CHATELAINE_APP_CODE: '7' };
  return run(['license', 'list', '--no-header'], { ...unit, ...more });
}

async function run(
  words: readonly string[],
  { program = 'bin/chatelaine.cjs', ...more }: Readonly<Record<string, string>> = {},
) {
  return launch(process.execPath, [program, ...words], {
    env: { PATH: process.env['PATH'], HOME: caches, XDG_CACHE_HOME: caches, ...more },
    timeout: 170_000,
    killSignal: 'SIGKILL',
  });
}

const answer = { stdout: 'k\tada\t7\t4', stderr: '' };
const kept = (): string => {
  const [name = ''] = readdirSync(join(caches, 'chatelaine'));
  return join(caches, 'chatelaine', name);
};

const written = (): bigint => statSync(kept(), { bigint: true }).mtimeNs;

test('the first request writes a cache, which V8 accepts in the next run', needs('modes'), async () => {
  expect(await list()).toMatchObject(answer);
  const before = written();
  expect(await list()).toMatchObject(answer);
  // One that is refused would be written again.
  expect(written()).toBe(before);
});

test.each([
  ['a request', ['license', 'list', '--no-header'], answer.stdout],
  ['TAB', ['__complete', 'zsh', 'topic', 'list', ''], 'words'],
])('%s with a home in which no folder can be made ends', needs('proc'), async (_what, words, stdout) => {
  const nowhere = '/proc/chatelaine-has-no-such-folder';
  const chat = { CHATELAINE_CHAT_EMAIL: 'ada@chat.example', CHATELAINE_CHAT_API_KEY: 'key' };
  const { port } = await openOrigin(() => ({
    body: '[{"license_code":"k","remote_user":"ada","app_code":7,"size_allowance":4}]',
  }));
  const url = `http://127.0.0.1:${port}`;
  const unit = { CHATELAINE_BASE_URL: url, CHATELAINE_API_KEY: 'key', CHATELAINE_APP_CODE: '7' };
  const env = { HOME: nowhere, XDG_CACHE_HOME: '', ...unit, ...chat, CHATELAINE_CHAT_SITE: url };

  expect(await run(words, env)).toMatchObject({ stdout, stderr: '' });
});

test('a cache made under other flags of V8 is refused and replaced, without a word', needs('modes'), async () => {
  await list({ NODE_OPTIONS: '--interpreted-frames-native-stack' });
  const before = written();
  expect(await list()).toMatchObject(answer);
  expect(written()).not.toBe(before);
});

test.each([
  ['CHATELAINE_NO_CACHE=1', () => list({ CHATELAINE_NO_CACHE: '1' })],
  ['a command that sends nothing', () => run(['settings', 'describe', 'color_scheme'])],
])('%s writes none', async (_words, start) => {
  await start();
  expect(readdirSync(caches)).not.toContain('chatelaine');
});
