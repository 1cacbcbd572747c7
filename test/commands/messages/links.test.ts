import { describe, expect, test } from 'vitest';
import { openSandbox } from '../../helpers/run.ts';

type Row = Readonly<Record<string, string>>;

async function rowsOf(line: readonly string[]): Promise<readonly Row[]> {
  const { run } = await openSandbox();
  const { stdout } = await run(line);
  return JSON.parse(stdout) as Row[];
}

describe('what --fields url prints can be given back', () => {
  test.each([
    ['of a topic', '--channel general --limit 1'],
    ['of a conversation of two', '--dm 9 --limit 1'],
    ['of a group', '--is dm --limit 1'],
  ])('%s', async (_what, selection) => {
    const { run } = await openSandbox();
    const { stdout: url } = await run(`messages fetch ${selection} --fields url --no-header`);
    const link = url.trim();
    const ids = async (words: readonly string[]): Promise<string> =>
      (await run([...words, '--fields', 'id', '--no-header'])).stdout;

    const conversation = await ids(['messages', 'fetch', '--channel', link, '--all']);
    expect(await ids(['messages', 'fetch', link, '--since', '2020-01-01'])).toBe(conversation);
    // It is the newest: from there on it is the only one.
    expect(await ids(['messages', 'fetch', link])).toBe(`${/\d+$/.exec(link)?.[0] ?? ''}\n`);
    expect(conversation.trim().split('\n').length).toBeGreaterThan(1);
  });
});

test('--num-before and --num-after are of the message of the link', async () => {
  const topic = '#narrow/channel/1-general/topic/who.20has.20dock.204.3F';
  const all = await rowsOf(['messages', 'fetch', topic, '--all', '-o', 'json']);
  const middle = Number(all[1]?.['id']);

  const around = await rowsOf([
    'messages',
    'fetch',
    `${topic}/near/${middle}`,
    '--num-before',
    '1',
    '--num-after',
    '1',
    '-o',
    'json',
  ]);

  expect(around).toEqual(all.slice(0, 3));
});

test.each([
  ['messages fetch', ['messages', 'fetch']],
  ['messages fetch --channel', ['messages', 'fetch', '--channel']],
  ['archive pull --channel', ['archive', 'pull', 'kitchen', '--channel']],
  ['topic list', ['topic', 'list']],
  ['topic delete', ['topic', 'delete']],
  ['view pin', ['view', 'pin']],
])('%s refuses the link of another host, and names both', async (_what, words) => {
  const { run } = await openSandbox();

  const { exitCode, stderr } = await run([...words, 'https://other.example.org/#narrow/channel/1-general/topic/lunch']);

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/the link leads to other\.example\.org, but the account is on 127\.0\.0\.1:\d+/);
});

test('a word that is no link says what is meant', async () => {
  const { run } = await openSandbox();

  expect((await run('messages fetch general')).lines).toEqual([
    "chatelaine: 'general' is not a link",
    'hint: For a channel write --channel NAME, for words in messages --search WORDS.',
  ]);
});

describe('me', () => {
  test.each([
    ['--sender me', (sender: string) => sender === 'Mara Lindqvist'],
    ['--not sender=me', (sender: string) => sender !== 'Mara Lindqvist'],
  ])('%s is the account', async (words, isWanted) => {
    const rows = await rowsOf([
      'messages',
      'fetch',
      '--channel',
      'general',
      ...words.split(' '),
      '--all',
      '-o',
      'json',
    ]);

    expect(rows.length).toBeGreaterThan(2);
    expect(rows.map((row) => row['sender_full_name'] ?? '').every(isWanted)).toBe(true);
  });

  test('is a name where it is typed as one', async () => {
    const { run } = await openSandbox();

    expect((await run('messages fetch --sender name:me')).exitCode).toBe(6);
  });
});
