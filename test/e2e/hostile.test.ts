import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { openOrigin } from '../helpers/origin.ts';
import { start, temporaryHome } from './program.ts';

const pull = '--sandbox archive pull kept --channel firmware --files';
const apply = '--sandbox license apply roster.csv --yes';

/** What reads the files of a folder. */
const readers: readonly (readonly [folder: RegExp, lines: readonly string[]])[] = [
  [/^\.config\//, ['auth use prod', 'auth token prod', '__complete zsh -p p']],
  [/^kept\//, ['archive verify kept', pull, 'archive export kept -o csv']],
  [/^\.local\//, [apply]],
];

async function filledHome(): Promise<{ readonly home: string; readonly files: readonly string[] }> {
  const home = temporaryHome();
  writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\nada,3\n');
  const login =
    'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --name prod --no-check --api-key-stdin';
  for (const line of [login, pull, apply]) await start(line, { home, stdin: 'the-key\n' }).ended;
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(home, name)).isFile() && !name.startsWith('.cache') && name !== 'roster.csv')
    .sort();
  return { home, files };
}

test.skipIf(process.platform === 'win32')('a FIFO in the place of any file that is read holds no command', async () => {
  const { home, files } = await filledHome();
  const codes: Record<string, number | null> = {};
  for (const file of [...files, '.config/chatelaine/config.lock']) {
    const [path, kept] = [join(home, file), join(home, 'moved-away')];
    if (existsSync(path)) renameSync(path, kept);
    execFileSync('mkfifo', ['-m', '600', path]);
    for (const line of readers.find(([folder]) => folder.test(file))?.[1] ?? []) {
      const { code, stderr } = await start(line, { home }).ended;
      const isNamed = stderr.includes(`${basename(file)} is not a regular file`);
      if (code !== 3 || !isNamed) codes[`${file.replace(/[0-9a-f]{20,}/, 'HASH')}: ${line}`] = code;
    }
    rmSync(path);
    if (existsSync(kept)) renameSync(kept, path);
  }
  const [config, state] = ['.config/chatelaine', '.local/state/chatelaine'];
  expect(codes).toEqual({
    // A completion cannot report it.
    [`${config}/config.json: __complete zsh -p p`]: 0,
    [`${config}/credentials.json: __complete zsh -p p`]: 0,
    [`${config}/credentials.json: auth use prod`]: 0,
    [`${config}/config.lock: auth token prod`]: 0,
    [`${config}/config.lock: __complete zsh -p p`]: 0,
    // A journal that is done is not read again; what the sandbox cannot read is an error of its services.
    [`${state}/journals/HASH.ndjson.done: ${apply}`]: 0,
    [`${state}/sandbox.ndjson: ${apply}`]: 7,
  });
});

test.each(['text', 'table'])('a message with a hostile table does not hold -o %s', async (format) => {
  const content = '<table><tr><td colspan=20000 rowspan=1000000>seen</td></tr></table>'.repeat(5);
  const message = {
    id: 1,
    type: 'stream',
    stream_id: 1,
    display_recipient: 'general',
    subject: 't',
    sender_full_name: 'Eve',
  };
  const body = JSON.stringify({
    ...{ result: 'success', msg: '', found_oldest: true, found_newest: true, history_limited: false, anchor: 1 },
    messages: [
      { ...message, sender_id: 2, sender_email: 'eve@chat.test', content_type: 'text/html', timestamp: 1, content },
    ],
  });
  const { port } = await openOrigin(() => ({ body }));
  const env = {
    CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`,
    CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
    CHATELAINE_CHAT_API_KEY: 'key-of-the-test-123',
  };
  const { code, stdout } = await start(`messages fetch -o ${format} --deadline 20s`, { env }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('seen') as string });
});
