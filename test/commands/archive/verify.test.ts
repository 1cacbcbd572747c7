import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import { headOf, seeAsItIs, writeHead } from '../../helpers/archive.ts';
import { idsBetween, openChatServer, topicOf, type ChatServer } from '../../helpers/chat-server.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

/** An archive of 2,010 messages in both forms, in three parts. */
async function archived(options = {}): Promise<{ server: ChatServer; folder: string }> {
  const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 2010)), ...options });
  const folder = join(emptyHome(), 'archive');
  await server.run(`archive pull ${folder} --channel 5 --both`);
  return { server, folder };
}

/** The same archive for tests that ask its server for nothing: it is pulled once. */
const pattern = mkdtempSync(join(tmpdir(), 'chatelaine-verify-'));
afterAll(() => rmSync(pattern, { recursive: true }));
async function copied(): Promise<{ server: ChatServer; folder: string }> {
  if (readdirSync(pattern).length === 0) cpSync((await archived()).folder, pattern, { recursive: true });
  const folder = join(emptyHome(), 'archive');
  cpSync(pattern, folder, { recursive: true });
  return { server: await openChatServer({ messages: [] }), folder };
}

const lists = 'it is not what the last run wrote: it was truncated or changed';
const follows = 'the line of part 2 does not follow the lines before it';

interface Problem {
  readonly file: string;
  readonly problem: string;
}

test('a whole archive: no row, exit 0, and no request', async () => {
  const { server, folder } = await archived();
  const asked = server.seen.length;

  const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);

  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 0,
    stdout: '[]\n',
    stderr: 'messages: 2010, parts: 3; no problem\n',
  });
  expect(server.seen).toHaveLength(asked);
});

const evenIds = idsBetween(1, 2010).map((id) => id * 2);

/** The hash of every file of an archive. */
function contentOf(folder: string): Record<string, string> {
  const hashOf = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, hashOf(name)]));
}

function edited(folder: string, name: string, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1);
  const texts = change(lines).map((line) => `${line}\n`);
  writeFileSync(join(folder, name), texts.join(''));
}

const cutLast = (name: string, by: number) => (folder: string) => {
  const bytes = readFileSync(join(folder, name));
  truncateSync(join(folder, name), bytes.length - by);
};
const flip = (name: string) => (folder: string) => {
  const bytes = readFileSync(join(folder, name));
  const at = bytes.lastIndexOf('3');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(join(folder, name), bytes);
};

function withPart(change: (part: { part: number; ids: number[]; first: number; count: number }) => void) {
  const changed = (line: string): string => {
    const part = JSON.parse(line) as { part: number; ids: number[]; first: number; count: number };
    if (part.part === 2) change(part);
    return JSON.stringify(part);
  };
  return (folder: string) => edited(folder, 'parts.ndjson', (lines) => lines.map(changed));
}

test.each<[string, (folder: string) => void, Partial<Problem>]>([
  ['a cut file', (folder) => truncateSync(join(folder, 'source-000003.ndjson'), 100), { file: 'source-000003.ndjson' }],
  [
    'a missing file',
    (folder) => rmSync(join(folder, 'source-000001.ndjson')),
    { file: 'source-000001.ndjson', problem: 'the file is missing' },
  ],
  [
    'an id that is there twice',
    withPart((part) => (part.ids[1] = part.ids[0] ?? 0)),
    { file: 'parts.ndjson', problem: follows },
  ],
  [
    'ids of another part',
    withPart((part) => part.ids.unshift((part.first = 900))),
    { file: 'parts.ndjson', problem: follows },
  ],
  [
    'files that changed places',
    (folder) => {
      renameSync(join(folder, 'source-000001.ndjson'), join(folder, 'x'));
      renameSync(join(folder, 'source-000002.ndjson'), join(folder, 'source-000001.ndjson'));
      renameSync(join(folder, 'x'), join(folder, 'source-000002.ndjson'));
    },
    { file: 'source-000001.ndjson' },
  ],
])('%s is named, exit 10', async (_what, damage, expected) => {
  const { server, folder } = await copied();
  damage(folder);

  const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);

  expect(exitCode).toBe(10);
  expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining(expected));
  const found = (JSON.parse(stdout) as Problem[]).find(({ file }) => file === expected.file);
  expect(stderr).toContain(`Put ${found?.file} back from a copy; or pull into another folder`);
});

test('what a crash leaves says that the pull did not end: a cut last line, a file of the next part; not a temporary file', async () => {
  const { server, folder } = await archived();
  appendFileSync(join(folder, 'parts.ndjson'), '{"part":4,"first":26');
  writeFileSync(join(folder, 'rendered-000004.ndjson'), 'x');
  writeFileSync(join(folder, '.rendered-000004.ndjson.a1.tmp'), 'x');

  const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);
  expect(exitCode).toBe(10);
  expect(JSON.parse(stdout)).toEqual([
    { file: 'parts.ndjson', problem: 'the run that added its last lines did not end' },
    {
      file: 'rendered-000004.ndjson',
      problem: 'it has no line in parts.ndjson: the pull that wrote it did not end',
    },
  ]);
  expect(stderr).toContain(`Run:\n  chatelaine archive pull ${folder}`);
  expect(stderr).not.toContain('from a copy');
  server.messages.push(...topicOf('lunch', [2600]));
  expect(await server.run(`archive pull ${folder}`)).toMatchObject({ exitCode: 0 });
  expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
});

const damages: readonly [string, (folder: string) => void, Partial<Problem>][] = [
  [
    'a line in the middle was dropped',
    (folder) => edited(folder, 'parts.ndjson', (lines) => lines.filter((_, index) => index !== 1)),
    { problem: follows.replace('2', '3') },
  ],
  ['its last line was cut', cutLast('parts.ndjson', 30), { problem: lists }],
  ['its last line lost its end', cutLast('parts.ndjson', 1), { problem: lists }],
  [
    'its last line was dropped',
    (folder) => edited(folder, 'parts.ndjson', (lines) => lines.slice(0, -1)),
    { problem: lists },
  ],
  [
    'its last line and the files of that part were dropped',
    (folder) => {
      edited(folder, 'parts.ndjson', (lines) => lines.slice(0, -1));
      for (const form of ['rendered', 'source']) rmSync(join(folder, `${form}-000003.ndjson`));
    },
    { problem: lists },
  ],
  ['it was removed', (folder) => rmSync(join(folder, 'parts.ndjson')), { problem: lists }],
  ['a hash in it was changed', flip('parts.ndjson'), { problem: lists }],
  [
    'a line is no JSON any more',
    (folder) => edited(folder, 'parts.ndjson', (lines) => lines.map((line, index) => line.slice(index === 1 ? 9 : 0))),
    { problem: 'line 2 is not valid JSON' },
  ],
  [
    'a line has another shape',
    (folder) =>
      edited(folder, 'parts.ndjson', (lines) => lines.map((line, index) => (index === 0 ? '{"part":1}' : line))),
    { problem: 'line 1 is not a part of an archive' },
  ],
  ['a line has another count', withPart((part) => (part.count = 3)), { problem: follows }],
  [
    'a line has another id',
    withPart((part) => (part.ids[500] = (part.ids[500] ?? 0) + 1)),
    { file: 'rendered-000002.ndjson', problem: 'its messages are not those of parts.ndjson' },
  ],
];

test.each(sampleOf(6, damages))(
  'parts.ndjson is damaged (%s): archive verify names it, archive pull writes nothing, and a copy mends it',
  async (_what, damage, problem) => {
    const { server, folder } = await archived({ messages: topicOf('lunch', evenIds) });
    cpSync(folder, `${folder}-copy`, { recursive: true });
    damage(folder);
    const damaged = contentOf(folder);

    const verified = await server.run(`archive verify ${folder} -o json`);
    const exported = await server.run(`archive export ${folder} -o ndjson`);
    const pulled = await server.run(`archive pull ${folder}`);

    expect(verified.exitCode).toBe(10);
    expect(JSON.parse(verified.stdout)).toContainEqual({ file: 'parts.ndjson', ...problem });
    expect(verified.stderr).toContain('Put parts.ndjson back from a copy; or pull into another folder');
    expect(exported).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('parts.ndjson') as string });
    expect(pulled.exitCode).toBe(3);
    expect(pulled.stderr).toContain(`${join(folder, 'parts.ndjson')} is damaged: `);
    expect(pulled.stderr).toContain('Put parts.ndjson back from a copy; or pull into another folder');
    expect(contentOf(folder)).toEqual(damaged);
    cpSync(`${folder}-copy`, folder, { recursive: true, preserveTimestamps: true });
    expect(await server.run(`archive pull ${folder}`)).toMatchObject({ exitCode: 0 });
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  },
);

test('archive.json is damaged where the line of its hash is: nothing is trusted', async () => {
  const { server, folder } = await archived();
  edited(folder, 'archive.json', (lines) => lines.map((line) => line.replace('  "sha256": "', '  "sha256": "x')));

  const verified = await server.run(`archive verify ${folder} -o json`);
  const pulled = await server.run(`archive pull ${folder}`);

  expect([verified.exitCode, pulled.exitCode]).toEqual([10, 3]);
  expect(JSON.parse(verified.stdout)).toEqual([
    { file: 'archive.json', problem: 'its content changed: its SHA-256 is not the one at its end' },
  ]);
});

test('a limited history is a warning', async () => {
  const { server, folder } = await archived({ firstVisible: 100 });

  const { exitCode, stderr } = await server.run(`archive verify ${folder}`);

  expect(exitCode).toBe(0);
  expect(stderr).toContain('limits the history');
});

test.each([
  ['a folder without an archive', undefined, 2, 'contains no archive'],
  ['a head that is no JSON', '{', 10, 'Put archive.json back from a copy'],
  ['a head without forms', '{"archive":1,"site":"x","account":"y"}', 10, 'Put archive.json back from a copy'],
  ['a later version', '{"archive":2}', 3, 'Upgrade chatelaine'],
])('%s', async (_what, head, exitCode, message) => {
  const server = await openChatServer({ messages: [] });
  const folder = emptyHome();
  if (head !== undefined) writeFileSync(join(folder, 'archive.json'), head);

  const ran = await server.run(`archive verify ${folder}`);

  expect(ran.exitCode).toBe(exitCode);
  expect(ran.stderr).toContain(message);
});

describe('a folder of archives', () => {
  const kitchen = topicOf('lunch', idsBetween(1, 3), { stream_id: 5, channel: 'kitchen' });
  const garden = topicOf('roses', idsBetween(10, 11), { stream_id: 12, channel: 'garden' });
  const pulled = async () => {
    const channels = [
      { stream_id: 12, name: 'garden' },
      { stream_id: 5, name: 'kitchen' },
    ];
    const server = await openChatServer({ messages: [...kitchen, ...garden], channels });
    const folder = join(emptyHome(), 'all');
    await server.run(`archive pull ${folder} --all-channels --both`);
    return { server, folder, verify: () => server.run(`archive verify ${folder} -o json`) };
  };
  test('has one verdict', async () => {
    const { verify } = await pulled();

    expect(await verify()).toMatchObject({
      ...{ exitCode: 0, stdout: '[]\n', stderr: 'archives: 2, messages: 5, parts: 2; no problem\n' },
    });
  });

  test('each problem of a damaged one is a row with its folder, and a copy mends it', async () => {
    const { folder, verify } = await pulled();
    const damaged = join(folder, '12-garden');
    cpSync(damaged, `${folder}-copy`, { recursive: true });
    for (const form of ['rendered', 'source']) rmSync(join(damaged, `${form}-000001.ndjson`));

    const { exitCode, stdout, stderr } = await verify();
    cpSync(`${folder}-copy`, damaged, { recursive: true });
    const after = await verify();

    expect(exitCode).toBe(10);
    expect(JSON.parse(stdout)).toEqual([
      { folder: damaged, file: 'rendered-000001.ndjson', problem: 'the file is missing' },
      { folder: damaged, file: 'source-000001.ndjson', problem: 'the file is missing' },
    ]);
    expect(stderr).toContain('archives: 2, messages: 5, parts: 2; problems: 2');
    expect(after.exitCode).toBe(0);
  });

  test('the archives that topic delete leaves are verified together', async () => {
    const { run } = await openSandbox();
    const folder = join(emptyHome(), 'deleted');
    for (const topic of ['lunch', 'onboarding'])
      await run(`topic delete general ${topic} --confirm ${topic} --archive ${folder}`);

    const { exitCode, stdout, stderr } = await run(`archive verify ${folder} -o json`);

    expect([exitCode, stdout]).toEqual([0, '[]\n']);
    expect(stderr).toMatch(/^archives: 2, .*no problem$/m);
  });
});

describe('what the last run left is recorded, and each advice mends', () => {
  /** Runs each command that the advice names; their exit codes. */
  async function adviceOf(server: ChatServer, stderr: string, folder: string): Promise<number[]> {
    const commands = [...stderr.matchAll(/^ *Run:\n *chatelaine (.*)$/gm)].map(([, command = '']) => command);
    const ran: number[] = [];
    for (const command of commands) ran.push((await server.run(command)).exitCode);
    expect(commands.every((command) => command.includes(folder))).toBe(true);
    return ran;
  }

  test('a pull that was cut short: exit 10, export warns, and the pull that it advises ends it', async () => {
    let isAway = false;
    const server = await openChatServer({
      messages: topicOf('lunch', idsBetween(1, 2010)),
      hides: ({ anchor }) => isAway && Number(anchor) >= 2000,
    });
    const folder = join(emptyHome(), 'archive');
    isAway = true;
    const cut = await server.run(`archive pull ${folder} --channel 5`);

    const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);
    const exported = await server.run(`archive export ${folder} -o ndjson`);
    isAway = false;
    const advised = await adviceOf(server, stderr, folder);

    expect(cut.exitCode).toBe(8);
    expect({ exitCode, rows: JSON.parse(stdout) as unknown }).toEqual({
      exitCode: 10,
      rows: [{ file: 'archive.json', problem: 'the last pull did not reach its end' }],
    });
    expect(exported).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('did not reach its end') as string });
    expect(advised).toEqual([0]);
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  const heads: readonly [string, (folder: string) => void][] = [
    ['one digit of it was changed', flip('archive.json')],
    ['it is no JSON any more', cutLast('archive.json', 9)],
    ['it was removed', (folder) => rmSync(join(folder, 'archive.json'))],
  ];

  test.each(sampleOf(2, heads))(
    'archive.json: %s; the rest is looked at, and both ways out work',
    async (_what, damage) => {
      const { server, folder } = await archived();
      cpSync(folder, `${folder}-copy`, { recursive: true });
      damage(folder);
      writeFileSync(join(folder, 'source-000002.ndjson'), '');

      const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);
      const pulled = await server.run(`archive pull ${folder}`);

      expect(exitCode).toBe(10);
      const rows = JSON.parse(stdout) as Problem[];
      expect(rows.map(({ file }) => file)).toEqual(['archive.json', 'source-000002.ndjson']);
      expect(stderr).toContain('Put archive.json back from a copy; or pull into another folder');
      expect(stderr).not.toContain('Run: ');
      expect(pulled.exitCode).toBe(3);
      expect(await server.run(`archive pull ${folder}-2 --channel 5 --both`)).toMatchObject({ exitCode: 0 });
      cpSync(`${folder}-copy`, folder, { recursive: true });
      expect(await server.run(`archive pull ${folder}`)).toMatchObject({ exitCode: 0 });
      expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
    },
  );

  test('changes.ndjson: a bad line is exit 10, no pull writes, and back from a copy it is whole', async () => {
    const { server, folder } = await archived();
    server.messages.splice(0, 3);
    await server.run(`archive pull ${folder} --recheck`);
    const copy = readFileSync(join(folder, 'changes.ndjson'));
    edited(folder, 'changes.ndjson', (lines) => lines.map((line, index) => (index === 1 ? line.slice(5) : line)));

    const verified = await server.run(`archive verify ${folder} -o json`);
    const pulled = await server.run(`archive pull ${folder}`);

    expect(verified.exitCode).toBe(10);
    expect(JSON.parse(verified.stdout)).toEqual([{ file: 'changes.ndjson', problem: 'line 2 is not valid JSON' }]);
    for (const { stderr } of [verified, pulled]) expect(stderr).toContain('Put changes.ndjson back from a copy');
    expect(pulled.exitCode).toBe(3);
    writeFileSync(join(folder, 'changes.ndjson'), copy);
    expect(await server.run(`archive pull ${folder}`)).toMatchObject({ exitCode: 0 });
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  test('purge.ndjson that was changed is exit 10, and back from a copy it is whole', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 30)) });
    const root = emptyHome();
    await server.run(`topic delete 5 lunch --confirm lunch --archive ${root}`);
    const [name = ''] = readdirSync(root).filter((one) => one !== 'tmp');
    const folder = join(root, name);
    const copy = readFileSync(join(folder, 'purge.ndjson'));
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
    flip('purge.ndjson')(folder);

    const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);
    writeFileSync(join(folder, 'purge.ndjson'), copy);

    expect({ exitCode, rows: JSON.parse(stdout) as unknown }).toEqual({
      exitCode: 10,
      rows: [{ file: 'purge.ndjson', problem: lists }],
    });
    expect(stderr).toContain(`Put purge.ndjson back from a copy; or move ${folder} away`);
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  test('a stray file does not belong to the archive; moved out, nothing is wrong', async () => {
    const { server, folder } = await archived();
    mkdirSync(join(folder, 'files'));
    const strays = ['files/notes.txt', 'notes.txt', 'rendered-000009.ndjson'];
    for (const name of strays) writeFileSync(join(folder, name), 'mine\n');

    const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);
    const pulled = await server.run(`archive pull ${folder}`);
    for (const name of strays) rmSync(join(folder, name));

    expect(exitCode).toBe(10);
    expect(JSON.parse(stdout)).toEqual(strays.map((file) => ({ file, problem: 'it does not belong to the archive' })));
    expect(stderr).toContain(`Move what does not belong to the archive out of ${folder}.`);
    expect(pulled.exitCode).toBe(0);
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });
});

test('a bit that flips without a write is found by verify and by a recheck', async () => {
  const { server, folder } = await archived();
  const file = join(folder, 'rendered-000002.ndjson');
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.with(700, (bytes[700] ?? 0) ^ 1));
  seeAsItIs(folder, 'rendered-000002.ndjson');

  const ran = [`archive pull ${folder}`, `archive verify ${folder}`, `archive pull ${folder} --recheck`];
  const exitCodes: number[] = [];
  for (const line of ran) exitCodes.push((await server.run(line)).exitCode);

  expect(exitCodes).toEqual([0, 10, 3]);
});

test('what a file manager leaves is passed over', async () => {
  const { server, folder } = await copied();
  for (const name of ['Thumbs.db', 'desktop.ini', 'notes.txt~', '.DS_Store']) writeFileSync(join(folder, name), 'x');

  expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
});

test.each(['options', 'files', 'selection'])(
  'an archive.json without %s is exit 3 for a pull, and asks for no message',
  async (name) => {
    const { server, folder } = await copied();
    const { [name]: _, ...head } = headOf(folder);
    writeHead(folder, head);

    expect(await server.run(`archive pull ${folder}`)).toMatchObject({ exitCode: 3 });
    expect(server.seen.filter(({ path: place }) => place.endsWith('/messages'))).toEqual([]);
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 10 });
  },
);
