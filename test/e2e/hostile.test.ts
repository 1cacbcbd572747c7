import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { onesFor, sampleOf } from '../helpers/extent.ts';
import { openOrigin } from '../helpers/origin.ts';
import { needs } from '../helpers/needs.ts';
import { openService, start, temporaryHome, type Done } from './program.ts';

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

test('a FIFO in the place of any file that is read holds no command', needs('shell'), async () => {
  const { home, files } = await filledHome();
  const codes: Record<string, number | null> = {};
  const tried: string[] = [];
  for (const [turn, file] of [...files, '.config/chatelaine/config.lock'].entries()) {
    const [path, kept] = [join(home, file), join(home, 'moved-away')];
    if (existsSync(path)) renameSync(path, kept);
    execFileSync('mkfifo', ['-m', '600', path]);
    for (const line of onesFor(turn, readers.find(([folder]) => folder.test(file))?.[1] ?? [])) {
      const { code, stderr } = await start(line, { home }).ended;
      const isNamed = stderr.includes(`${basename(file)} is not a regular file`);
      const name = `${file.replace(/[0-9a-f]{20,}/, 'HASH')}: ${line}`;
      tried.push(name);
      if (code !== 3 || !isNamed) codes[name] = code;
    }
    rmSync(path);
    if (existsSync(kept)) renameSync(kept, path);
  }
  const [config, state] = ['.config/chatelaine', '.local/state/chatelaine'];
  const others = {
    // A completion cannot report it.
    [`${config}/config.json: __complete zsh -p p`]: 0,
    [`${config}/credentials.json: __complete zsh -p p`]: 0,
    [`${config}/credentials.json: auth use prod`]: 0,
    [`${config}/config.lock: auth token prod`]: 0,
    [`${config}/config.lock: __complete zsh -p p`]: 0,
    // A journal that is done is not read again; what the sandbox cannot read is an error of its services.
    [`${state}/journals/HASH.ndjson.done: ${apply}`]: 0,
    [`${state}/sandbox.ndjson: ${apply}`]: 7,
    // What was done is not undone where the history cannot take it.
    [`${state}/history-${new Date().getUTCFullYear()}.ndjson: ${apply}`]: 0,
  };
  expect(codes).toEqual(Object.fromEntries(Object.entries(others).filter(([name]) => tried.includes(name))));
});

const nested = (open: string, close: string, size: number): string =>
  open.repeat(30) + 'seen'.padEnd(size, '<br>x') + close.repeat(30);

/** Content that takes long to render. */
const hostile: Readonly<Record<string, string>> = {
  'a table of wide cells': '<table><tr><td colspan=20000 rowspan=1000000>seen</td></tr></table>'.repeat(5),
  'a table of 20,000 cells': `<table>${`<tr>${'<td>seen</td>'.repeat(100)}</tr>`.repeat(200)}</table>`,
  'one long word': 'seen'.repeat(50_000),
  'tags that are not closed': `seen${'<b>'.repeat(100_000)}`,
  'spoilers in spoilers': nested('<div class="spoiler-content">', '</div>', 300_000),
};

/**
 * An organization whose messages all have one content: the environment that points to it, and when it is first asked.
 */
async function chatOf(content: string, count: number) {
  const message = {
    ...{ type: 'stream', stream_id: 1, display_recipient: 'general', subject: 't', timestamp: 1, content },
    ...{ sender_id: 2, sender_full_name: 'Eve', sender_email: 'eve@chat.test', content_type: 'text/html' },
  };
  const messages = Array.from({ length: count }, (_, index) => ({ ...message, id: index + 1 }));
  const head = {
    result: 'success',
    msg: '',
    found_oldest: true,
    found_newest: true,
    history_limited: false,
    anchor: 1,
  };
  const body = JSON.stringify({ ...head, messages });
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  const { port } = await openOrigin(({ url }) => {
    answer();
    return { body: url.includes('/messages') ? body : '{"result":"success","msg":""}' };
  });
  const env = {
    CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`,
    CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
    CHATELAINE_CHAT_API_KEY: 'key-of-the-test-123',
  };
  return { env, asked };
}

test.each(sampleOf(1, Object.entries(hostile)))('%s holds neither a fetch nor an export', async (what, content) => {
  const { env } = await chatOf(content, 1);
  const { ended, home } = start('archive pull kept --channel id:1 --both', { env });
  await ended;
  const lines = ['messages fetch -o text', 'archive export kept -o html', 'messages fetch -o table'];
  for (const line of onesFor(Object.keys(hostile).indexOf(what), lines)) {
    const { code, stdout } = await start(line, { env, home }).ended;
    expect({ line, code, stdout }).toEqual({ line, code: 0, stdout: expect.stringContaining('seen') as string });
    expect(stdout.includes('more characters are not shown]')).toBe(content.length > 150_000);
  }
});

const rendering = [
  ...['text', 'table'].map((format) => ({ line: `messages fetch -o ${format}`, isArchived: false })),
  { line: 'archive export kept -o html', isArchived: true },
];

test.each(sampleOf(1, rendering))(
  'rendering that takes minutes ends by the deadline and by SIGTERM: $line',
  needs('signals'),
  async ({ line, isArchived }) => {
    const content = nested('<blockquote>', '</blockquote>', 100_000);
    const home = temporaryHome();
    const { env } = await chatOf(content, 190);
    const again = await chatOf(content, 190);
    if (isArchived) await start('archive pull kept --channel id:1', { env, home }).ended;
    const late = await start(`${line} --deadline 1s`, { env, home }).ended;
    // Rows that were printed make a part; an export has printed its beginning.
    expect(late.code).toBe(isArchived ? 8 : 7);
    expect(late.stderr).toContain('the deadline of 1s was reached');
    const run = start(line, { env: again.env, home });
    if (isArchived) run.child.stdout?.once('data', () => run.child.kill('SIGTERM'));
    else {
      await again.asked;
      run.child.kill('SIGTERM');
    }
    expect((await run.ended).code).toBe(143);
  },
);

test('an expression of jq that never ends is exit 6 at the deadline, and the key was written', async () => {
  const { env } = await openService();
  let deadline = 1;
  let done: Done;
  // A busy machine can be so slow that a deadline comes before the key: then one of twice the length is tried.
  do {
    const create = `license create --remote-user ada-${deadline} --size-allowance 3 --deadline ${deadline}s`;
    done = await start(`${create} --jq last(repeat(1))`, { env }).ended;
    deadline *= 2;
  } while (done.stdout === '');
  const { code, stdout, stderr } = done;
  const problem = /did not end: the deadline of [\dms]+ was reached/;
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringMatching(problem) as string });
  expect(JSON.parse(stdout)).toMatchObject({ license_code: expect.any(String) as string });
});

test('an expression of jq that recurses without end is exit 6, and the key was written', async () => {
  const { env } = await openService();
  const create = 'license create --remote-user ada --size-allowance 3';
  const { code, stdout, stderr } = await start(`${create} --jq def\tf:1+f;f`, { env }).ended;
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('needs too much memory') as string });
  expect(JSON.parse(stdout)).toMatchObject({ remote_user: 'ada', license_code: expect.any(String) as string });
});
