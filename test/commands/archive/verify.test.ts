import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf, type ChatServer } from '../../helpers/chat-server.ts';
import { emptyHome } from '../../helpers/run.ts';

/** An archive of 2,500 messages in both forms, in three parts. */
async function archived(options = {}): Promise<{ server: ChatServer; folder: string }> {
  const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 2500)), ...options });
  const folder = join(emptyHome(), 'archive');
  await server.run(`archive pull ${folder} --channel 5 --both`);
  return { server, folder };
}

interface Problem {
  readonly part: number;
  readonly file: string;
  readonly problem: string;
  readonly ids: string | null;
}

test('a whole archive: no row, exit 0, and no request', async () => {
  const { server, folder } = await archived();
  const asked = server.seen.length;

  const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);

  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 0,
    stdout: '[]\n',
    stderr: '2500 messages, parts: 3; no problem\n',
  });
  expect(server.seen).toHaveLength(asked);
});

const path = (folder: string, name: string): string => join(folder, name);

function edited(folder: string, name: string, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(path(folder, name), 'utf8').split('\n').slice(0, -1);
  writeFileSync(
    path(folder, name),
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

function withPart(change: (part: { part: number; ids: number[]; first: number; count: number }) => void) {
  return (lines: string[]): string[] =>
    lines.map((line) => {
      const part = JSON.parse(line) as { part: number; ids: number[]; first: number; count: number };
      if (part.part === 2) change(part);
      return JSON.stringify(part);
    });
}

test.each<[string, (folder: string) => void, Partial<Problem>]>([
  [
    'one flipped bit',
    (folder) => {
      const bytes = readFileSync(path(folder, 'rendered-000002.ndjson'));
      bytes[700] = (bytes[700] ?? 0) ^ 1;
      writeFileSync(path(folder, 'rendered-000002.ndjson'), bytes);
    },
    { part: 2, file: 'rendered-000002.ndjson', ids: '1001-2000' },
  ],
  ['a cut file', (folder) => truncateSync(path(folder, 'source-000003.ndjson'), 100), { part: 3, ids: '2001-2500' }],
  [
    'a missing file',
    (folder) => rmSync(path(folder, 'source-000001.ndjson')),
    { part: 1, problem: 'the file is missing' },
  ],
  [
    'a part without a line',
    (folder) => edited(folder, 'parts.ndjson', (lines) => lines.filter((_, index) => index !== 1)),
    { part: 3, problem: 'part 2 is missing: messages between 1000 and 2001' },
  ],
  [
    'a list that lost its end',
    (folder) => edited(folder, 'parts.ndjson', (lines) => lines.slice(0, 1)),
    { part: 3, problem: 'parts.ndjson lost its line' },
  ],
  [
    'an id that is there twice',
    (folder) =>
      edited(
        folder,
        'parts.ndjson',
        withPart((part) => (part.ids[1] = part.ids[0] ?? 0)),
      ),
    { part: 2, problem: 'its ids do not ascend, or one is there twice' },
  ],
  [
    'ids of another part',
    (folder) =>
      edited(
        folder,
        'parts.ndjson',
        withPart((part) => part.ids.unshift((part.first = 900))),
      ),
    { part: 2, problem: 'its ids do not follow those of part 1' },
  ],
  [
    'another count',
    (folder) =>
      edited(
        folder,
        'parts.ndjson',
        withPart((part) => (part.count = 3)),
      ),
    { part: 2, problem: 'first, last and count are not those of its ids' },
  ],
  [
    'files that changed places',
    (folder) => {
      renameSync(path(folder, 'source-000001.ndjson'), path(folder, 'x'));
      renameSync(path(folder, 'source-000002.ndjson'), path(folder, 'source-000001.ndjson'));
      renameSync(path(folder, 'x'), path(folder, 'source-000002.ndjson'));
    },
    { part: 1, file: 'source-000001.ndjson' },
  ],
])('%s is named, exit 10', async (_what, damage, expected) => {
  const { server, folder } = await archived();
  damage(folder);

  const { exitCode, stdout, stderr } = await server.run(`archive verify ${folder} -o json`);

  expect(exitCode).toBe(10);
  expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining(expected));
  expect(stderr).toContain(
    expected.file === undefined && expected.ids === undefined && expected.problem !== 'the file is missing'
      ? 'Put parts.ndjson back from a copy'
      : `Run: chatelaine archive pull '${folder}'`,
  );
});

test('what a crash leaves is no problem: a cut last line, a file of the next part, a temporary file', async () => {
  const { server, folder } = await archived();
  appendFileSync(path(folder, 'parts.ndjson'), '{"part":4,"first":26');
  writeFileSync(path(folder, 'rendered-000004.ndjson'), 'x');
  writeFileSync(path(folder, '.rendered-000004.ndjson.a1.tmp'), 'x');

  expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  server.messages.push(...topicOf('lunch', [2600]));
  expect(await server.run(`archive pull ${folder}`)).toMatchObject({ exitCode: 0 });
  expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
});

test.each([
  ['its end', (lines: string[]) => lines.slice(0, 1), 'rendered-000003.ndjson, source-000003.ndjson'],
  [
    'a line',
    (lines: string[]) => lines.filter((_, index) => index !== 1),
    'rendered-000002.ndjson, source-000002.ndjson',
  ],
])('a list that lost %s is not written over: exit 3', async (_what, change, files) => {
  const { server, folder } = await archived();
  edited(folder, 'parts.ndjson', change);

  const { exitCode, stderr } = await server.run(`archive pull ${folder}`);

  expect(exitCode).toBe(3);
  expect(stderr).toContain(`lost the lines of ${files}`);
});

test('a limited history is a warning', async () => {
  const { server, folder } = await archived({ firstVisible: 100 });

  const { exitCode, stderr } = await server.run(`archive verify ${folder}`);

  expect(exitCode).toBe(0);
  expect(stderr).toContain('cut by the plan of the organization');
});

test.each([
  ['a folder without an archive', undefined, 2, 'holds no archive'],
  ['a head that is no JSON', '{', 3, 'is damaged'],
  ['a head without forms', '{"archive":1,"site":"x","account":"y"}', 3, 'is damaged'],
  ['a later version', '{"archive":2}', 3, 'Update chatelaine'],
])('%s', async (_what, head, exitCode, message) => {
  const server = await openChatServer({ messages: [] });
  const folder = emptyHome();
  if (head !== undefined) writeFileSync(path(folder, 'archive.json'), head);

  const ran = await server.run(`archive verify ${folder}`);

  expect(ran.exitCode).toBe(exitCode);
  expect(ran.stderr).toContain(message);
});
