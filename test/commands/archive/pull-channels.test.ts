import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf, type ChatServer, type SeenRequest } from '../../helpers/chat-server.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

const kitchen = topicOf('lunch', idsBetween(1, 3), { stream_id: 5, channel: 'kitchen' });
const garden = topicOf('roses', idsBetween(10, 11), { stream_id: 7, channel: 'garden' });

interface Place {
  readonly server: ChatServer;
  readonly folder: string;
  readonly channels: { stream_id: number; name: string }[];
}

async function place(...names: readonly [number, string][]): Promise<Place> {
  const channels = names.map(([stream_id, name]) => ({ stream_id, name }));
  const server = await openChatServer({ messages: [...kitchen, ...garden], channels });
  return { server, channels, folder: join(emptyHome(), 'all') };
}

const line = (folder: string): string => `archive pull ${folder} --all-channels -o json`;

/** The rows of a pull: status, channel, folder inside the place, messages and how many are new. */
function rowsOf(stdout: string, folder: string): unknown[] {
  const rows = JSON.parse(stdout) as Record<'status' | 'channel' | 'folder' | 'messages' | 'added', unknown>[];
  return rows.map((row) => [
    row.status,
    row.channel,
    String(row.folder).slice(folder.length + 1),
    row.messages,
    row.added,
  ]);
}

test('keeps a folder for each channel, and a later pull finds what is new', async () => {
  const { server, folder, channels } = await place([5, 'kitchen']);

  const first = await server.run(line(folder));
  channels.push({ stream_id: 7, name: 'garden' });
  server.messages.push(...topicOf('lunch', [20], { stream_id: 5 }));
  const second = await server.run(line(folder));
  const third = await server.run(line(folder));

  expect(first).toMatchObject({ exitCode: 0 });
  expect(rowsOf(first.stdout, folder)).toEqual([['pulled', 'kitchen', '5-kitchen', 3, 3]]);
  expect(rowsOf(second.stdout, folder)).toEqual([
    ['pulled', 'kitchen', '5-kitchen', 4, 1],
    ['pulled', 'garden', '7-garden', 2, 2],
  ]);
  expect(rowsOf(third.stdout, folder)).toEqual([
    ['pulled', 'kitchen', '5-kitchen', 4, 0],
    ['pulled', 'garden', '7-garden', 2, 0],
  ]);
});

test('a folder of channels, or of other files, is no new archive', async () => {
  const { server, folder } = await place([5, 'kitchen']);
  await server.run(line(folder));
  const pull = (to: string) => server.run(`archive pull ${to} --channel kitchen -o json`);

  const [ofChannels, of] = [await pull(folder), join(emptyHome(), 'letters')];
  mkdirSync(of);
  writeFileSync(join(of, 'letter.txt'), 'Dear Ada');
  const ofOthers = await pull(of);

  expect([ofChannels.exitCode, ofOthers.exitCode]).toEqual([2, 2]);
  expect(ofChannels.error?.hint).toBe('For archives of all channels give --all-channels.');
  expect(ofOthers.error?.message).toBe(`${of} is not an archive and holds other files, such as letter.txt`);
  expect(ofOthers.error?.hint).toBe('Name an empty folder.');
  expect(readdirSync(of)).toEqual(['letter.txt']);
});

test('folders that only look like a channel, or hold an archive under another name, are left alone', async () => {
  const { server, folder } = await place([5, 'kitchen']);
  mkdirSync(join(folder, '9-notes'), { recursive: true });
  mkdirSync(join(folder, 'notes'));
  writeFileSync(join(folder, 'notes', 'archive.json'), '{}');

  const { exitCode, stdout } = await server.run(line(folder));

  expect({ exitCode, rows: rowsOf(stdout, folder) }).toEqual({
    exitCode: 0,
    rows: [['pulled', 'kitchen', '5-kitchen', 3, 3]],
  });
});

test.each([
  ['../../etc', '5-etc'],
  ['a/b\\c:d*e', '5-a-b-c-d-e'],
  ['..', '5'],
  ['.hidden', '5-hidden'],
  ['tab\tline\nbell\u0007', '5-tab-line-bell'],
  ['\u202Egnp.exe', '5-gnp.exe'],
  ['Küche 🍋 日本', '5-Küche-日本'],
  ['x'.repeat(300), `5-${'x'.repeat(60)}`],
  [`${'y'.repeat(59)}😀`, `5-${'y'.repeat(59)}`],
  ['CON', '5-CON'],
])('the channel %j has a folder that every file system takes', async (name, expected) => {
  const { server, folder } = await place([5, name]);
  expect((await server.run(line(folder))).exitCode).toBe(0);
  expect(readdirSync(folder)).toEqual([expected]);
});

test('channels whose names are one on a disk have folders of their own, and a renamed one keeps its folder', async () => {
  const { server, folder, channels } = await place([5, 'a/b'], [7, 'A b']);
  await server.run(line(folder));
  channels.splice(0, 2, { stream_id: 5, name: 'A b' }, { stream_id: 7, name: 'a/b' });

  const { exitCode, stdout } = await server.run(line(folder));

  expect(exitCode).toBe(0);
  expect(rowsOf(stdout, folder)).toEqual([
    ['pulled', 'A b', '5-a-b', 3, 0],
    ['pulled', 'a/b', '7-A-b', 2, 0],
  ]);
});

test('a channel that is deleted keeps its archive and is named', async () => {
  const { server, folder, channels } = await place([5, 'kitchen'], [7, 'garden']);
  await server.run(line(folder));
  channels.pop();
  server.messages.splice(3);

  const { exitCode, stdout, stderr } = await server.run(`archive pull ${folder} --all-channels -o ndjson`);

  expect(exitCode).toBe(0);
  expect(stdout).toContain('"channel":"garden","status":"not listed"');
  expect(stderr).toContain("channel 'garden' (id 7): the server no longer lists it");
  expect(readFileSync(join(folder, '7-garden', 'rendered-000001.ndjson'), 'utf8').split('\n')).toHaveLength(3);
});

test('a channel of which nothing is visible is named, leaves no folder, and is no failure', async () => {
  const { server, folder } = await place([5, 'kitchen'], [8, 'empty']);

  const { exitCode, stdout, stderr } = await server.run(`archive pull ${folder} --all-channels -o csv`);

  expect(exitCode).toBe(0);
  expect(stdout).toContain(`${join(folder, '8-empty')},,0,empty,not visible`);
  expect(stderr).toContain("channel 'empty' (id 8): ");
  expect(stderr).toContain('2 channels, 1 not visible');
  expect(readdirSync(folder)).toEqual(['5-kitchen']);
});

test('a sender whom the server does not know ends it, as with --channel', async () => {
  const { run } = await openSandbox();
  const folder = join(emptyHome(), 'all');

  const [all, one] = await Promise.all([
    run(`archive pull ${folder} --all-channels --sender nobody@x -o json`),
    run(`archive pull ${folder}-one --channel general --sender nobody@x -o json`),
  ]);

  for (const { error, exitCode } of [all, one]) {
    expect(exitCode).toBe(6);
    expect(error?.message).toBe("no user 'nobody@x'");
    expect(error?.hint).toContain('name the user by the id');
  }
});

test('a key that is refused at the second channel ends it with 4: the first is kept, no later one is asked for', async () => {
  const channels = [5, 7, 9].map((stream_id) => ({ stream_id, name: `c${stream_id}` }));
  const messages = [...kitchen, ...garden, ...topicOf('tea', [30], { stream_id: 9, channel: 'c9' })];
  const isOf = (narrow = '', id: number): boolean => new RegExp(`\\b${id}\\b`).test(narrow);
  let isRefused = true;
  const refuses = ({ parameters: { narrow } }: SeenRequest): boolean => isRefused && isOf(narrow, 7);
  const server = await openChatServer({ messages, channels, refuses });
  const folder = join(emptyHome(), 'all');

  const first = await server.run(line(folder));
  const asked = server.seen.filter(({ parameters: { narrow } }) => isOf(narrow, 9));
  isRefused = false;
  const second = await server.run(line(folder));

  expect(first.exitCode).toBe(4);
  expect(asked).toEqual([]);
  expect(rowsOf(first.stdout, folder)).toEqual([['pulled', 'c5', '5-c5', 3, 3]]);
  expect(rowsOf(second.stdout, folder).map((row) => (row as unknown[]).slice(3))).toEqual([
    [3, 0],
    [2, 2],
    [1, 1],
  ]);
});

test('a channel that is merely empty is no news', async () => {
  const channels = [
    { stream_id: 5, name: 'kitchen', first_message_id: 1 },
    { stream_id: 8, name: 'attic', first_message_id: null },
  ];
  const server = await openChatServer({ messages: kitchen, channels });
  const folder = join(emptyHome(), 'all');

  const { exitCode, stdout, stderr } = await server.run(`archive pull ${folder} --all-channels -o csv`);

  expect(exitCode).toBe(0);
  expect(stdout).toContain(`${join(folder, '8-attic')},,0,attic,empty`);
  expect(stderr).not.toContain('attic');
  expect(stderr).toContain('2 channels\n');
});

test('a channel that fails does not stop the others, and the exit code is 8', async () => {
  const { server, folder } = await place([5, 'kitchen'], [7, 'garden']);
  mkdirSync(join(folder, '5-kitchen'), { recursive: true });
  writeFileSync(join(folder, '5-kitchen', 'letter.txt'), '');

  const { exitCode, stdout, error } = await server.run(line(folder));

  expect(exitCode).toBe(8);
  expect(error).toMatchObject({
    message: '2 channels, 1 failed',
    hint: 'Give the options of the first pull, or name another folder.',
    retryable: false,
  });
  expect(rowsOf(stdout, folder)).toEqual([
    ['failed', 'kitchen', '5-kitchen', null, 0],
    ['pulled', 'garden', '7-garden', 2, 2],
  ]);
});

test('a dry run lists the channels and writes nothing', async () => {
  const { server, folder } = await place([5, 'kitchen']);
  const { exitCode, stdout } = await server.run(`${line(folder)} --dry-run`);
  expect([exitCode, rowsOf(stdout, folder)]).toEqual([
    0,
    [['would be created', 'kitchen', '5-kitchen', undefined, undefined]],
  ]);
  expect(() => readdirSync(folder)).toThrow('ENOENT');
});

test('both forms of the whole sandbox can be verified', async () => {
  const { run } = await openSandbox();
  const folder = join(emptyHome(), 'all');
  expect((await run(`archive pull ${folder} --all-channels --both`)).exitCode).toBe(0);
  const names = readdirSync(folder);
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) expect((await run(`archive verify ${join(folder, name)}`)).exitCode).toBe(0);
});

test('needs a server that lists channels, and a folder that is no archive of its own', async () => {
  const server = await openChatServer({ messages: kitchen });
  const folder = join(emptyHome(), 'one');
  expect(await server.run(line(folder))).toMatchObject({ exitCode: 6 });
  await server.run(`archive pull ${folder} --channel kitchen`);
  expect(await server.run(line(folder))).toMatchObject({ exitCode: 2 });
  const part = await server.run(`archive pull ${folder}2 --all-channels --dm 9`);
  expect(part.exitCode).toBe(2);
  expect(part.stderr).toContain('--all-channels and --dm exclude each other');
});

test('takes the same part of each channel, whose users are looked up once', async () => {
  const users: string[] = [];
  const { run } = await openSandbox({ log: ({ path }) => void (/\/users$/.test(path) && users.push(path)) });
  const folder = join(emptyHome(), 'ines');
  const pull = `archive pull ${folder} --all-channels --sender 'Ines Okafor' --since 2026-01-01 -o json`;

  const ran = await run(pull);
  const pulled = JSON.parse(ran.stdout) as { folder: string; messages: number | null }[];
  expect(ran.exitCode).toBe(0);
  expect(ran.lines.filter((line) => line.includes('is Ines Okafor'))).toHaveLength(1);
  expect(users).toHaveLength(1);
  const { stdout } = await run(`archive export ${folder} -o ndjson`);
  const senders = stdout.split('\n').flatMap((line) => /"sender_id":(\d+)/.exec(line)?.[1] ?? []);
  expect([new Set(senders), senders.length]).toEqual([
    new Set(['10']),
    pulled.reduce((sum, { messages }) => sum + (messages ?? 0), 0),
  ]);
  expect((await run(pull)).exitCode).toBe(0);
  const other = await run(`archive pull ${folder} --all-channels -o json`);
  expect(other.stderr).toContain('was started with another selection');
  expect(other.error?.exit).toBe(8);
});
