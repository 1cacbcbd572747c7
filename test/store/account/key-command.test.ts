import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { runKeyCommand, splitWords, type KeyCommandOptions } from '../../../src/store/account/key-command.ts';
import { readKeyFile } from '../../../src/store/account/secrets.ts';
import type { Alarm, Environment } from '../../../src/core/system.ts';
import { failureOf, place } from '../place.ts';
import { needs } from '../../helpers/needs.ts';

describe('words', () => {
  test.each<[string, string[]]>([
    ['pass show app', ['pass', 'show', 'app']],
    ['  pass\t show\napp ', ['pass', 'show', 'app']],
    [`a 'b c' "d e" f\\ g`, ['a', 'b c', 'd e', 'f g']],
    [`a''b "" ''`, ['ab', '', '']],
    [`"a\\"b\\\\c\\$d\\\`e\\nf"`, ['a"b\\c$d`e\\nf']],
    [`'a\\b'`, ['a\\b']],
    ['a\\\nb "c\\\nd"', ['ab', 'cd']],
    ['echo $HOME ~ * $(id) `id` #x a|b;c&d', ['echo', '$HOME', '~', '*', '$(id)', '`id`', '#x', 'a|b;c&d']],
    [`sh -c 'pass show x | head -1'`, ['sh', '-c', 'pass show x | head -1']],
  ])('%j', (text, words) => {
    expect(splitWords(text, 'linux')).toEqual(words);
  });

  test.each<[string, string[]]>([
    [
      String.raw`C:\tools\key.exe --file C:\my\key.txt`,
      [String.raw`C:\tools\key.exe`, '--file', String.raw`C:\my\key.txt`],
    ],
    [
      String.raw`"C:\Program Files\op.exe" 'a\b' \server\x`,
      [String.raw`C:\Program Files\op.exe`, String.raw`a\b`, String.raw`\server\x`],
    ],
    [String.raw`powershell -Command "Get-Secret \"a b\"" \"x\"`, ['powershell', '-Command', 'Get-Secret "a b"', '"x"']],
  ])('on Windows a backslash is itself: %s', (text, words) => {
    expect(splitWords(text, 'win32')).toEqual(words);
  });

  test.each(["a 'b", 'a "b', 'a "b\\"', 'a\\', `a 'b' "`])('%j is unbalanced', async (text) => {
    expect((await failureOf(() => splitWords(text, 'linux'))).message).toBe(
      'the key command has an open quote, or a backslash at its end',
    );
  });

  test.each(['', '  ', "''", '"" x', '\\\n'])('%j is empty', async (text) => {
    expect((await failureOf(() => splitWords(text, 'linux'))).message).toBe('the key command is empty');
  });

  const quoted = (word: string): fc.Arbitrary<string> =>
    fc.constantFrom(
      `'${word.replaceAll("'", `'\\''`)}'`,
      `"${word.replace(/["\\$`]/g, '\\$&')}"`,
      word.replace(/[^\w]/gu, (character) => (character === '\n' ? `'\n'` : `\\${character}`)) || "''",
    );
  const argv = fc
    .array(
      fc.string({ unit: 'grapheme' }).filter((word) => word !== ''),
      { minLength: 1, maxLength: 6 },
    )
    .chain((words) =>
      fc.tuple(fc.constant(words), fc.tuple(...words.map(quoted)), fc.constantFrom(' ', '\t', '\n', '  ')),
    );

  test('whatever is quoted comes back as it was', () => {
    fc.assert(
      fc.property(argv, ([words, spellings, blank]) => {
        expect(splitWords(spellings.join(blank), 'linux')).toEqual(words);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

const shell = '/bin/sh';

function options(env: Environment = { PATH: '/usr/bin:/bin' }): KeyCommandOptions & { readonly folder: string } {
  const { folder, system } = place(env);
  return { folder, system, alarm: realAlarm };
}

test.each([
  ['printf key', 'key'],
  [`printf 'key\\nmore\\n'`, 'key'],
  [`printf 'key\\r\\n'`, 'key'],
  [`${shell} -c 'printf key; printf noise >&2'`, 'key'],
])('the first line of %j is the key', needs('shell'), async (command, key) => {
  expect((await runKeyCommand(command, options())).reveal()).toBe(key);
});

test('what Node refuses to begin is a failure of the key command', async () => {
  const { system, alarm } = options();
  const caught = await failureOf(() => runKeyCommand('/bin/sh "a\0b"', { system, alarm }));
  expect(caught).toMatchObject({ kind: 'config', message: "the key command '/bin/sh' cannot be run: error" });
});

test('it gets the environment without the credentials of chatelaine', needs('shell'), async () => {
  const env = {
    PATH: '/usr/bin:/bin',
    CHATELAINE_API_KEY: 'canary',
    CHATELAINE_API_KEY_FILE: '/canary',
    CHATELAINE_CHAT_API_KEY: 'canary',
    CHATELAINE_CHAT_API_KEY_FILE: '/canary',
    CHATELAINE_BASE_URL: 'https://a.example',
    PASSWORD_STORE_DIR: '/store',
  };
  const key = await runKeyCommand(`${shell} -c 'env | grep -E "CHATELAINE|STORE" | sort | tr "\\n" ,'`, options(env));
  expect(key.reveal()).toBe('CHATELAINE_BASE_URL=https://a.example,PASSWORD_STORE_DIR=/store,');
});

test('no shell sees the words', needs('shell'), async () => {
  expect((await runKeyCommand('echo $HOME;id', options())).reveal()).toBe('$HOME;id');
});

const hint = 'Run it by hand to see why: it must print the key as its first line.';

test.each([
  ['true', "the key command 'true' printed no key"],
  [`printf '\\ncanary'`, "the key command 'printf' printed no key"],
  ['false', "the key command 'false' ended with exit code 1"],
  [`${shell} -c 'echo canary; exit 3'`, "the key command '/bin/sh' ended with exit code 3"],
  [
    `${shell} -c 'echo kiwi; echo one; echo of kiwi: no one key >&2; exit 2'`,
    "the key command '/bin/sh' ended with exit code 2: of [secret]: no one key",
  ],
  [`${shell} -c 'echo canary; kill -9 $$'`, "the key command '/bin/sh' ended with SIGKILL"],
  ['/nowhere/canary-free', "the key command '/nowhere/canary-free' cannot be run: ENOENT"],
  ['no-such-program', "the key command 'no-such-program' was not found on an absolute entry of PATH"],
  ['./here', "the key command './here' is a relative path; write the absolute one"],
  [
    `${shell} -c 'head -c 65536 /dev/zero | tr "\\\\000" e >&2; exit 2'`,
    `the key command '/bin/sh' ended with exit code 2: ${'e'.repeat(200)}`,
  ],
  ['yes canary', "the key command 'yes' printed more than 65536 characters"],
])('%j fails', needs('shell'), async (command, message) => {
  expect(await failureOf(() => runKeyCommand(command, options()))).toEqual({ kind: 'config', message, hint });
});

test('a key that cannot be sent is refused and not shown', needs('shell'), async () => {
  const caught = await failureOf(() => runKeyCommand(`printf 'canary\\tkey'`, options()));
  expect(caught.message).toBe("key command 'printf': the key contains a character that cannot be sent");
  expect(JSON.stringify(caught)).not.toContain('canary');
});

test('relative entries of PATH are passed over, and what is no program', needs('shell'), async () => {
  const { folder, ...rest } = options();
  for (const name of ['first', 'second']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'first/mine'), '#!/bin/sh\necho first', { mode: 0o644 });
  writeFileSync(join(folder, 'second/mine'), '#!/bin/sh\necho second');
  chmodSync(join(folder, 'second/mine'), 0o755);
  const relative = join('..', '..', folder, 'second');
  const system = { ...rest.system, env: { PATH: `${relative}:.::${folder}/first:${folder}/second:/bin` } };
  expect((await runKeyCommand('mine', { ...rest, system })).reveal()).toBe('second');
  const onlyRelative = { ...rest.system, env: { PATH: `.:${relative}` } };
  expect((await failureOf(() => runKeyCommand('mine', { ...rest, system: onlyRelative }))).message).toContain(
    'not found',
  );
});

test('what a failed one says on stderr is reported, without what it printed', needs('shell'), async () => {
  const line = `${shell} -c 'echo canary; echo bad canary >&2; exit 1'`;
  expect((await failureOf(() => runKeyCommand(line, options()))).message).toMatch(/exit code 1: bad \[secret\]$/);
});

test('it does not read what is piped to chatelaine', needs('shell'), async () => {
  expect((await runKeyCommand(`${shell} -c 'cat; echo end'`, options())).reveal()).toBe('end');
});

test('a slow one is reported', needs('shell'), async () => {
  const alarm: Alarm = (span, ring) => realAlarm(span === 30_000 ? 50 : span, ring);
  expect(await failureOf(() => runKeyCommand('sleep 60', { ...options(), alarm }))).toEqual({
    kind: 'config',
    message: "the key command 'sleep' was still running after 30s",
    hint,
  });
});

/** Runs it until it wrote that file, then stops it. */
async function stopAfter(path: string, command: string, rest: KeyCommandOptions): Promise<void> {
  const controller = new AbortController();
  const running = runKeyCommand(command, { ...rest, signal: controller.signal });
  while (!existsSync(path)) await realClock.sleep(5);
  controller.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
}

test('it is ended with all that it started', needs('shell'), async () => {
  const { folder, ...rest } = options();
  const pids = join(folder, 'pids');
  const command = `${shell} -c 'sleep 60 & echo $! $$ > ${pids}.new; mv ${pids}.new ${pids}; wait'`;
  await stopAfter(pids, command, rest);
  const started = readFileSync(pids, 'utf8').trim().split(' ');
  expect(started).toHaveLength(2);
  await expect.poll(() => started.filter((pid) => isRunning(pid))).toEqual([]);
});

test('one that ignores SIGTERM is killed', needs('shell'), async () => {
  const { folder, ...rest } = options();
  const path = join(folder, 'pid');
  const command = `${shell} -c 'trap "" TERM; echo $$ > ${path}.new; mv ${path}.new ${path}; while :; do sleep 1; done'`;
  await stopAfter(path, command, rest);
  expect(isRunning(readFileSync(path, 'utf8').trim())).toBe(false);
});

test('Ctrl-C ends it with its reason', needs('shell'), async () => {
  const controller = new AbortController();
  const { folder, ...rest } = options();
  const path = join(folder, 'begun');
  const running = runKeyCommand(`${shell} -c ': > ${path}; sleep 60'`, { ...rest, signal: controller.signal });
  const ended = expect(running).rejects.toThrow('Ctrl-C');
  await expect.poll(() => existsSync(path)).toBe(true);
  controller.abort(new Error('Ctrl-C'));
  await ended;
  // After it none is started, and so none is ended.
  const kill = () => expect.unreachable();
  const stopped = { ...rest, system: { ...rest.system, kill }, signal: controller.signal };
  await expect(runKeyCommand('sleep 60', stopped)).rejects.toThrow('Ctrl-C');
});

test('a background process that it leaves behind is not waited for', needs('proc', 'shell'), async () => {
  const { folder, ...rest } = options();
  const path = join(folder, 'pid');
  const key = await runKeyCommand(`${shell} -c 'sleep 60 & echo $! > ${path}; echo key; exit 0'`, rest);
  const pid = readFileSync(path, 'utf8').trim();
  expect({ key: key.reveal(), isRunning: isRunning(pid) }).toEqual({ key: 'key', isRunning: true });
  process.kill(Number(pid));
});

test(
  'the reason that a failed one gives after its end is waited for, until its pipes are closed',
  needs('shell'),
  async () => {
    const { folder: _, ...rest } = options();
    const spans: number[] = [];
    const alarm = (span: number): (() => void) => (spans.push(span), () => undefined);
    const command = `${shell} -c 'echo canary; (while kill -0 $$ 2>/dev/null; do :; done; echo locked >&2) & exit 2'`;
    const caught = await failureOf(() => runKeyCommand(command, { ...rest, alarm }));
    expect(caught.message).toBe("the key command '/bin/sh' ended with exit code 2: locked");
    expect(spans).toContain(100);
  },
);

test('nor is one that a failed one leaves behind', needs('proc', 'shell'), async () => {
  const { folder, ...rest } = options();
  const path = join(folder, 'pid');
  const command = `${shell} -c 'sleep 60 & echo $! > ${path}; echo canary; echo locked >&2; exit 2'`;
  const caught = await failureOf(() => runKeyCommand(command, rest));
  expect(caught.message).toBe("the key command '/bin/sh' ended with exit code 2: locked");
  process.kill(Number(readFileSync(path, 'utf8')));
});

/** Ended and waiting for its parent counts as not running. */
function isRunning(pid: string): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) Z/.test(readFileSync(path, 'utf8'));
}

test.each<[string, Buffer]>([
  ['UTF-8 with a mark', Buffer.from('\ufeffkey-1\r\n')],
  ['UTF-16 as PowerShell 5 writes it', Buffer.from('\ufeffkey-1\r\n', 'utf16le')],
  ['UTF-16 of the other order', Buffer.from('\ufeffkey-1\r\nmore', 'utf16le').swap16()],
  ['UTF-16 without a line end', Buffer.from('\ufeffkey-1', 'utf16le')],
])('a key file in %s', async (_what, bytes) => {
  const { folder, system } = place();
  const path = join(folder, 'key.txt');
  writeFileSync(path, bytes, { mode: 0o600 });
  expect((await readKeyFile(path, 'KEY', system)).reveal()).toBe('key-1');
});
