import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { emptyHome } from '../../helpers/run.ts';

async function twoArchives() {
  const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 30)) });
  const home = emptyHome();
  const folder = join(home, 'kept');
  await server.run(`archive pull ${folder}/a/2-general --channel 5`);
  await server.run(`archive pull ${folder}/10 --channel 5 --topic lunch`);
  const list = async (line: string) => {
    const { exitCode, stdout, stderr } = await server.run(`archive list ${line}`);
    return { exitCode, stderr, rows: JSON.parse(stdout) as readonly Readonly<Record<string, unknown>>[] };
  };
  return { server, folder, list };
}

test('each archive below a folder is a row, at any depth, and the server is asked for nothing', async () => {
  const { server, folder, list } = await twoArchives();
  const asked = server.seen.length;

  const { exitCode, rows } = await list(`${folder} -o json`);

  expect(exitCode).toBe(0);
  expect(
    rows.map(({ site, ...row }) => ({
      ...row,
      isLoopback: String(site).startsWith('http://127.0.0.1:'),
      last_pull: null,
    })),
  ).toEqual([
    {
      ...{ folder: join(folder, '10'), account: 'ada@chat.test', messages: 30, last_pull: null },
      ...{ selection: { channel: ['5'], topic: ['lunch'] }, isLoopback: true, complete: true },
    },
    {
      ...{ folder: join(folder, 'a/2-general'), account: 'ada@chat.test', messages: 30 },
      ...{ selection: { channel: ['5'] }, isLoopback: true, last_pull: null, complete: true },
    },
  ]);
  expect(server.seen).toHaveLength(asked);
});

test('an archive whose pull did not end, or that is damaged, is not complete', async () => {
  const { folder, list } = await twoArchives();
  appendFileSync(join(folder, '10/parts.ndjson'), 'no JSON\n');

  const { rows } = await list(`${folder} -o json --fields complete`);

  expect(rows).toEqual([{ complete: false }, { complete: true }]);
});

test('a folder without an archive is exit 2; links that lead back are not followed', async () => {
  const { server, folder } = await twoArchives();
  symlinkSync(folder, join(folder, 'a/back'));
  const empty = join(folder, 'empty');
  mkdirSync(empty);

  expect((await server.run(`archive list ${folder} -o tsv --fields folder`)).stdout.split('\n')).toHaveLength(4);
  const { exitCode, stderr } = await server.run(`archive list ${empty}`);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${empty} contains no archive`);
});
