import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
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
import { describe, expect, onTestFinished, test } from 'vitest';
import { shellWord } from '../../../src/core/shell-word.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { isWhole, seed } from '../../helpers/extent.ts';
import { forgetState, heldByAnother } from '../../helpers/archive.ts';
import {
  idsBetween,
  openChatServer,
  topicOf,
  type ChatServer,
  type ChatServerOptions,
} from '../../helpers/chat-server.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';
import { needs } from '../../helpers/needs.ts';

const lunch = topicOf('lunch', idsBetween(1, 60));
/** Of several pages. */
const longLunch = topicOf('lunch', idsBetween(1, 1100));
const tea = topicOf('tea', [3001, 3002]);
const line = 'topic delete 5 lunch --confirm lunch';

function kitchen(options: Partial<ChatServerOptions> = {}): Promise<ChatServer> {
  return openChatServer({ messages: [...lunch, ...tea], ...options });
}

const deletions = ({ seen }: ChatServer): number => seen.filter(({ path }) => path.endsWith('/delete_topic')).length;
const left = ({ messages }: ChatServer): readonly number[] => messages.map(({ id }) => id);

function linesOf(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Record<string, unknown>);
}

function idsIn(folder: string, form: string): unknown[] {
  const files = readdirSync(folder).filter((name) => name.startsWith(form));
  return files.sort().flatMap((name) => linesOf(join(folder, name)).map(({ id }) => id));
}

/** The archives below a folder, by name. */
function archivesIn(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .sort()
    .map((name) => join(root, name));
}

const newRoot = (): string => join(emptyHome(), 'purges');

test('a state folder that cannot be written is exit 3 before anything is shown or sent', async () => {
  const server = await kitchen();
  const refused = await server.run(line, { env: { XDG_STATE_HOME: '/dev/null/state' } });

  expect(refused).toMatchObject({ exitCode: 3, stdout: '' });
  expect(server.seen).toEqual([]);
  expect(await server.run(`${line} --no-archive`, { env: { XDG_STATE_HOME: '/dev/null/state' } })).toMatchObject({
    exitCode: 0,
  });
});

describe('topic delete archives', () => {
  test('each message in both forms, verified before the first delete call, in the state folder', async () => {
    const server = await kitchen({ messages: [...longLunch, ...tea], deletesPerCall: 400 });
    const home = emptyHome();

    const { exitCode, stderr } = await server.run(`${line} --max-messages 9999`, { home });

    expect(exitCode).toBe(0);
    const [folder = '', ...others] = archivesIn(join(home, '.local/state/chatelaine/purges'));
    expect(others).toEqual([]);
    expect(folder).toMatch(/[/\\]5-lunch-[0-9a-f]{8}$/);
    for (const form of ['rendered', 'source']) expect(idsIn(folder, form)).toEqual(idsBetween(1, 1100));
    const reading = `chatelaine archive export ${shellWord(folder)} --output text`;
    expect(stderr).toContain(`topic 'lunch' is archived and verified; to read it:\n  ${reading}\n`);
    const read = await server.run(`archive export ${folder} --output text`);
    expect({ exitCode: read.exitCode, isEmpty: read.stdout === '' }).toEqual({ exitCode: 0, isEmpty: false });
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
    const look = expect.stringMatching(/^20/) as string;
    expect(linesOf(join(folder, 'purge.ndjson'))).toEqual([
      expect.objectContaining({ purge: 1, stream_id: 5, topic_name: 'lunch', messages: 1100 }),
      { look, from: null, there: idsBetween(1, 1100), missing: [] },
      { call: 'asked' },
      { call: 'part' },
      { look, from: null, there: [], missing: idsBetween(701, 1100) },
      { call: 'asked' },
      { call: 'part' },
      { look, from: null, there: [], missing: idsBetween(301, 700) },
      { call: 'asked' },
      { call: 'whole' },
      { look, from: null, there: [], missing: idsBetween(1, 300) },
      { finished: look, deleted: 1100, unseen: 0 },
    ]);
    expect(left(server)).toEqual([3001, 3002]);
  });

  test.each([
    ['before the first call', 0],
    ['between two calls', 1],
  ])('a message that is edited after it was archived, %s, is archived again in both forms', async (_when, after) => {
    const root = newRoot();
    const server = await openChatServer({
      messages: topicOf('lunch', [1, 2, 3]),
      deletesPerCall: 1,
      meanwhile(messages, { path, parameters }, calls) {
        const isArchived = archivesIn(root).some((folder) => existsSync(join(folder, 'purge.ndjson')));
        if (!isArchived || calls < after || path.endsWith('/delete_topic')) return;
        const content = parameters['apply_markdown'] === 'false' ? '*new*' : '<p><em>new</em></p>';
        for (const message of messages.filter(({ id }) => id === 1))
          Object.assign(message, { content, last_edit_timestamp: 1_772_300_000 });
      },
    });

    const { exitCode } = await server.run(`${line} --archive ${root}`);

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [] });
    const [folder = ''] = archivesIn(root);
    expect(linesOf(join(folder, 'changes.ndjson'))).toMatchObject([
      { id: 1, change: 'edited', message: { content: '<p><em>new</em></p>' } },
      { id: 1, change: 'edited', message: { content: '*new*' } },
    ]);
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ['a reaction', { reactions: [{ emoji_name: 'tada', user_id: 8 }] }],
    ['a vote', { submessages: [{ msg_type: 'widget', content: '{"type":"vote"}', sender_id: 8 }] }],
  ])('%s that comes after a message was archived is archived again in both forms', async (_what, change) => {
    const root = newRoot();
    const server = await openChatServer({
      messages: topicOf('lunch', [1, 2, 3]),
      deletesPerCall: 1,
      meanwhile(messages, { path }, calls) {
        if (calls === 1 && !path.endsWith('/delete_topic') && messages[0]?.id === 1) Object.assign(messages[0], change);
      },
    });

    const { exitCode } = await server.run(`${line} --archive ${root}`);

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [] });
    const shown = { id: 1, change: 'edited', message: change };
    expect(linesOf(join(archivesIn(root)[0] ?? '', 'changes.ndjson'))).toMatchObject([shown, shown]);
  });

  const moments = [
    ['before the first call', 0],
    ['between two calls', 1],
    ['before the first call, while a message comes', 0],
    ['after the last call', 3],
  ] as const;

  describe.each(moments)('an archive that is taken away %s', (when, after) => {
    const ways: readonly [string, (folder: string) => void][] = [
      ['removed', (folder) => rmSync(folder, { recursive: true })],
      ['renamed', (folder) => renameSync(folder, `${folder}-away`)],
      ['a part that is removed', (folder) => rmSync(join(folder, 'source-000001.ndjson'))],
      ['a part that is emptied', (folder) => truncateSync(join(folder, 'rendered-000001.ndjson'))],
      ['a list that is cut', (folder) => truncateSync(join(folder, 'parts.ndjson'), 10)],
      ['a manifest that is removed', (folder) => rmSync(join(folder, 'archive.json'))],
      ['a record that is removed', (folder) => rmSync(join(folder, 'purge.ndjson'))],
      [
        'put back as a copy, into which nothing is written',
        (folder) => {
          renameSync(folder, `${folder}-away`);
          cpSync(`${folder}-away`, folder, { recursive: true });
        },
      ],
    ];
    const turn = moments.findIndex(([moment]) => moment === when);

    test.each(isWhole ? ways : ways.filter((_way, at) => (at + seed) % moments.length === turn))(
      '%s: exit 8, and nothing more is deleted',
      async (_how, take) => {
        const root = newRoot();
        let taken: string | undefined;
        const server = await openChatServer({
          messages: topicOf('lunch', idsBetween(1, 6)),
          deletesPerCall: 2,
          meanwhile(messages, { path }, calls) {
            const [folder = ''] = archivesIn(root);
            if (taken !== undefined || calls < after || path.endsWith('/delete_topic')) return;
            if (!existsSync(join(folder, 'purge.ndjson'))) return;
            taken = folder;
            take(folder);
            if (when.includes('comes')) messages.push(...topicOf('lunch', [7]));
          },
        });

        const { exitCode, error } = await server.run(`${line} --archive ${root} -o json`);

        expect({ exitCode, calls: deletions(server) }).toEqual({ exitCode: 8, calls: after });
        expect(error?.message).toContain(`the archive ${taken}`);
        expect(error?.message).toContain('nothing more is deleted');
      },
    );
  });

  test('a byte that flips on disk before the archive is read back: exit 8, nothing is deleted', async () => {
    const root = newRoot();
    let isFlipped = false;
    const server = await kitchen({
      messages: [...longLunch, ...tea],
      meanwhile() {
        const file = join(archivesIn(root)[0] ?? '', 'rendered-000001.ndjson');
        if (isFlipped || !existsSync(file)) return;
        const bytes = readFileSync(file);
        bytes[700] = (bytes[700] ?? 0) ^ 1;
        writeFileSync(file, bytes);
        isFlipped = true;
      },
    });

    const { exitCode, stderr } = await server.run(`${line} --archive ${root}`);

    expect({ isFlipped, exitCode, calls: deletions(server) }).toEqual({ isFlipped: true, exitCode: 8, calls: 0 });
    expect(stderr).toContain('rendered-000001.ndjson: the content changed');
    rmSync(root, { recursive: true });
    expect(await server.run(`${line} --archive ${root}`)).toMatchObject({ exitCode: 0 });
    expect(left(server)).toEqual([3001, 3002]);
  });

  test('a page of the archive that fails for good: nothing is deleted', async () => {
    const log: string[] = [];
    const { run, sandbox } = await openSandbox({
      extraMessages: { channel: 'firmware', topic: 'bulk', count: 1100 },
      faults: readFaults('GET /api/v1/messages=502#1000+4', 1),
      log: ({ method, path }) => void log.push(`${method} ${path}`),
    });

    const { exitCode, stderr } = await run('topic delete firmware bulk --confirm bulk --retries 1');

    expect(exitCode).toBe(7);
    expect(stderr).toContain('502');
    expect(log.filter((entry) => entry.startsWith('POST'))).toEqual([]);
    expect(sandbox.state.topic('firmware', 'bulk')).toHaveLength(1100);
  });

  test('a full disk: exit 7, nothing is deleted, and the same command continues', needs('mounts'), async () => {
    const root = smallDisk();
    const server = await kitchen({ messages: [...longLunch, ...tea] });

    const full = await server.run(`${line} --archive ${root}`);
    spawnSync('mount', ['-o', 'remount,size=40m', root]);
    const again = await server.run(`${line} --archive ${root}`);

    expect({ exitCode: full.exitCode, calls: full.stderr.includes('disk full') }).toEqual({ exitCode: 7, calls: true });
    expect(again.exitCode).toBe(0);
    expect(deletions(server)).toBe(1);
    expect(left(server)).toEqual([3001, 3002]);
  });

  test('without a terminal and without --confirm: exit 2, and neither archive nor state is written', async () => {
    const server = await kitchen();
    const home = emptyHome();
    const root = join(home, 'kept');

    for (const archive of ['', ` --archive ${root}`]) {
      const { exitCode, stdout } = await server.run(`topic delete 5 lunch${archive}`, { home });
      expect({ exitCode, stdout, calls: deletions(server) }).toEqual({ exitCode: 2, stdout: '', calls: 0 });
    }
    expect(readdirSync(home, { recursive: true })).toEqual(['tmp']);
  });

  test('--no-archive must be typed, and keeps nothing', async () => {
    const server = await kitchen();
    const home = emptyHome();

    expect(await server.run(`${line} --no-archive`, { home })).toMatchObject({ exitCode: 0 });
    expect(readdirSync(join(home, '.local/state/chatelaine'))).not.toContain('purges');
  });

  test('while another computer holds the archive: names it at once, and nothing is deleted', async () => {
    const server = await kitchen({ deleteReply: () => ({ status: 400, body: { result: 'error', msg: 'Later' } }) });
    const root = newRoot();
    await server.run(`${line} --archive ${root}`);
    const [folder = ''] = archivesIn(root);
    const lock = heldByAnother(folder);
    const asked = deletions(server);

    const { exitCode, error, slept } = await server.run(`${line} --archive ${root} -o json`);

    expect(exitCode).toBe(7);
    expect(error?.message).toBe(`the archive ${folder} is in use by process 816 on PC-A`);
    expect(error?.hint).toContain(lock);
    expect({ asked: deletions(server), slept }).toEqual({ asked, slept: [] });
  });

  test('an interrupted purge continues in its archive, and counts what both runs deleted', async () => {
    const refusal = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 400 };
    const server = await kitchen({
      messages: [...longLunch, ...tea],
      deleteReply: (call) => (call === 1 ? refusal : undefined),
    });
    const root = newRoot();
    const first = await server.run(`${line} --archive ${root}`);

    const { exitCode, stdout } = await server.run(`${line} --archive ${root} -o json`);

    expect(first.exitCode).toBe(6);
    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [3001, 3002] });
    expect(JSON.parse(stdout)).toMatchObject([{ messages: 700, deleted: 1100 }]);
    expect(archivesIn(root).map((folder) => idsIn(folder, 'source').length)).toEqual([1100]);
  });

  test('what goes between the survey and its archiving is unseen: exit 8', async () => {
    const root = newRoot();
    const server = await kitchen({
      meanwhile(messages) {
        const gone = archivesIn(root).length > 0 ? messages.findIndex(({ id }) => id === 3) : -1;
        if (gone >= 0) messages.splice(gone, 1);
      },
    });

    const { exitCode, error } = await server.run(`${line} --archive ${root} -o json`);

    expect(exitCode).toBe(8);
    expect(error?.message).toContain('1 of 60 messages are no longer visible to this account');
  });

  test('a message that is edited whenever it is read: no two forms are of one version, exit 7', async () => {
    const root = newRoot();
    let edits = 0;
    const server = await kitchen({
      meanwhile(messages) {
        edits += 1;
        for (const message of messages.slice(0, archivesIn(root).length)) message.last_edit_timestamp = edits;
      },
    });

    const { exitCode, error } = await server.run(`${line} --archive ${root} -o json`);

    expect({ exitCode, calls: deletions(server), edits }).toEqual({ exitCode: 7, calls: 0, edits: 16 });
    expect(error?.message).toContain('messages 1 to 60 changed each time between fetching HTML and Markdown');
  });

  test('a damaged record of an interrupted purge: exit 3, nothing more is deleted', async () => {
    const refusal = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 40 };
    const server = await kitchen({ deleteReply: (call) => (call === 1 ? refusal : undefined) });
    const root = newRoot();
    await server.run(`${line} --archive ${root}`);
    const file = join(archivesIn(root)[0] ?? '', 'purge.ndjson');
    const record = `x${readFileSync(file, 'utf8')}`;
    writeFileSync(file, record);

    const { exitCode, error } = await server.run(`${line} --archive ${root} -o json`);

    expect({ exitCode, left: left(server).length }).toEqual({ exitCode: 3, left: 22 });
    expect(error?.message).toBe(`${file} is damaged: line 1 is not valid JSON`);
    expect(readFileSync(file, 'utf8')).toBe(record);
  });

  test.each(['source-000001.ndjson', 'rendered-000001.ndjson'])(
    'an interrupted purge whose archive is damaged (%s): exit 8 before any call, and the archive is not written over',
    async (name) => {
      const refusal = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 40 };
      const server = await kitchen({ deleteReply: (call) => (call === 1 ? refusal : undefined) });
      const root = newRoot();
      await server.run(`${line} --archive ${root}`);
      const [folder = ''] = archivesIn(root);
      const file = join(folder, name);
      const damaged = readFileSync(file, 'utf8').replace('"subject":"lunch"', '"subject":"lunhc"');
      writeFileSync(file, damaged);

      const { exitCode, error } = await server.run(`${line} --archive ${root} -o json`);

      expect({ exitCode, calls: deletions(server), left: left(server).length }).toEqual({
        exitCode: 8,
        calls: 1,
        left: 22,
      });
      expect(error?.message).toContain(`${folder} is damaged: ${name}: the content changed`);
      expect(error).toMatchObject({ retryable: false, hint: expect.stringContaining('from a copy') as string });
      expect(readFileSync(file, 'utf8')).toBe(damaged);
    },
  );

  test.each([
    ['--max-messages 11', 2, [3001, 3002, 1, 2, 3, 4]],
    ['--max-messages 12', 0, []],
  ])('%s counts what earlier runs of the purge deleted', async (limit, exit, rest) => {
    const refusal = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 6 };
    const server = await openChatServer({
      messages: [...topicOf('lunch', idsBetween(1, 10)), ...tea],
      deleteReply: (call) => (call === 1 ? refusal : undefined),
    });
    const root = newRoot();
    await server.run(`${line} --archive ${root}`);

    const { exitCode } = await server.run(`topic delete 5 lunch tea --confirm 2 --archive ${root} ${limit}`);

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: exit, left: rest.sort((one, other) => one - other) });
  });

  test('a later topic of the same name has an archive of its own', async () => {
    const server = await kitchen();
    const root = newRoot();
    await server.run(`${line} --archive ${root}`);
    server.messages.push(...topicOf('Lunch', [5000, 5001]));

    expect(await server.run(`${line} --archive ${root}`)).toMatchObject({ exitCode: 0 });

    const [first = '', second = ''] = archivesIn(root);
    expect(second).toBe(`${first}-2`);
    expect(idsIn(second, 'source')).toEqual([5000, 5001]);
  });

  test.each([
    ['after the archive', 0],
    ['between two calls', 1],
  ])('an older message that is moved in %s is archived as late before it is deleted', async (_when, after) => {
    const root = newRoot();
    const server = await openChatServer({
      messages: [...topicOf('lunch', [10, 20]), ...topicOf('tea', [15, 30])],
      deletesPerCall: 1,
      meanwhile(messages, { path }, calls) {
        const moved = messages.find(({ id }) => id === 15);
        const isArchived = archivesIn(root).some((folder) => existsSync(join(folder, 'purge.ndjson')));
        if (isArchived && calls === after && !path.endsWith('/delete_topic') && moved) moved.subject = 'lunch';
      },
    });

    const { exitCode, stdout } = await server.run(`${line} --archive ${root} -o json`);

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [30] });
    expect(JSON.parse(stdout)).toMatchObject([{ deleted: 3, status: 'deleted' }]);
    const [folder = ''] = archivesIn(root);
    expect(idsIn(folder, 'source')).toEqual([10, 20, 15]);
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
    const exported = await server.run(`archive export ${folder} -o ndjson --raw-content`);
    expect(exported.stdout.match(/"id":\d+/g)).toEqual(['"id":10', '"id":15', '"id":20']);
    // The purge is over.
    expect(await server.run(`${line} --archive ${root}`)).toMatchObject({ exitCode: 5 });
  });

  test('an older message that is moved in after a run that archived and deleted nothing is archived as late by the next run', async () => {
    const no = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 0 };
    const server = await openChatServer({
      messages: [...topicOf('lunch', [10, 20]), ...topicOf('tea', [15, 30])],
      deleteReply: (call) => (call === 1 ? no : undefined),
    });
    const root = newRoot();
    await server.run(`${line} --archive ${root}`);
    rmSync(join(archivesIn(root)[0] ?? '', 'purge.ndjson'));
    forgetState(archivesIn(root)[0] ?? '');
    for (const message of server.messages.filter(({ id }) => id === 15)) message.subject = 'lunch';

    const { exitCode } = await server.run(`${line} --archive ${root}`);

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [30] });
    expect(archivesIn(root).map((folder) => idsIn(folder, 'source'))).toEqual([[10, 20, 15]]);
    expect(await server.run(`${line} --archive ${root}`)).toMatchObject({ exitCode: 5 });
  });

  test('a purge whose messages live on under another name stays open until they are deleted or the archive is moved away', async () => {
    const server = await openChatServer({
      messages: topicOf('lunch', idsBetween(1, 10)),
      deleteReply: (call) => (call === 1 ? { deletes: 6, body: { result: 'success', msg: '', complete: false } } : {}),
      meanwhile(messages, { parameters }, calls) {
        if (calls === 1 && parameters['anchor'] === 'newest')
          for (const row of messages) if (row.id <= 10) row.subject = '✔ lunch';
      },
    });
    const root = newRoot();
    const survivors = "4 of 10 messages were not deleted and are in '#kitchen > ✔ lunch'";

    const renamed = await server.run(`${line} --archive ${root}`);
    const again = await server.run(`${line} --archive ${root} --missing-ok`);
    server.messages.push(...topicOf('lunch', [20]));
    const beside = await server.run(`${line} --archive ${root}`);
    const kept = left(server);
    const rest = await server.run(['topic', 'delete', '5', '✔ lunch', '--confirm', '✔ lunch', '--archive', root]);
    const ended = await server.run(`${line} --archive ${root}`);
    const over = await server.run(`${line} --archive ${root}`);

    expect([renamed, again, beside, rest, ended, over].map(({ exitCode }) => exitCode)).toEqual([8, 8, 8, 0, 0, 5]);
    for (const { stderr } of [renamed, again]) expect(stderr).toContain(survivors);
    expect(beside.stderr).toContain(
      "4 of 11 messages were not deleted and are in '#kitchen > ✔ lunch'; 7 were deleted",
    );
    expect(kept).toEqual([1, 2, 3, 4]);
  });
});

describe('topic delete of many topics', () => {
  const names = ['calibration 1', 'Calibration 2', 'lunch'];
  const topics = names.flatMap((name, index) => topicOf(name, idsBetween(index * 10 + 1, index * 10 + 3)));
  const rowsOf = (stdout: string): [string, string][] =>
    (JSON.parse(stdout) as { topic_name: string; status: string }[]).map(({ topic_name, status }) => [
      topic_name,
      status,
    ]);

  test('--match with --older-than, confirmed by their number', async () => {
    const server = await openChatServer({
      messages: [...topics, ...topicOf('calibration 3', [90], { begins: 1_772_360_000 })],
    });
    const match = "topic delete 5 --match 'calibration*' --older-than 1d -o json";

    const refused = await server.run(`${match} --confirm 'calibration 1'`);
    const { exitCode, stdout } = await server.run(`${match} --confirm 2`);

    expect(refused.exitCode).toBe(2);
    expect(exitCode).toBe(0);
    expect(rowsOf(stdout)).toEqual([
      ['calibration 1', 'deleted'],
      ['Calibration 2', 'deleted'],
    ]);
    expect(left(server)).toEqual([21, 22, 23, 90]);
  });

  test('--match: what the latest run deleted counts whole, and no earlier one', async () => {
    const refusal = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'No' }, deletes: 0 };
    const server = await openChatServer({
      messages: [...topics, ...topicOf('early', [99])],
      deleteReply: (call) => (call === 4 ? refusal : undefined),
    });
    const home = emptyHome();
    const run = (count: number) => server.run(`topic delete 5 --match '*' --confirm ${count} -o json`, { home });

    expect(await server.run('topic delete 5 early --confirm early', { home })).toMatchObject({ exitCode: 0 });
    const codes = [(await run(3)).exitCode, (await run(2)).exitCode, (await run(3)).exitCode];

    expect(codes).toEqual([8, 2, 0]);
  });

  test('--match: the number also counts what an interrupted run deleted', async () => {
    const refusal = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'No' }, deletes: 0 };
    const server = await openChatServer({
      messages: topics,
      deleteReply: (call) => (call === 2 ? refusal : undefined),
    });
    const home = emptyHome();
    const line = "topic delete 5 --match 'calibration*' -o json --confirm";

    const first = await server.run(`${line} 2`, { home });
    const wrong = await server.run(`${line} 3`, { home });
    const otherHome = await server.run(`${line} 2`);
    const again = await server.run(`${line} 2`, { home });

    expect([first, wrong, otherHome, again].map(({ exitCode }) => exitCode)).toEqual([8, 2, 2, 0]);
    expect(JSON.parse(again.stdout)).toMatchObject([
      { topic_name: 'calibration 1', deleted: 0, status: 'missing' },
      { topic_name: 'Calibration 2', deleted: 3, status: 'deleted' },
    ]);
    expect(await server.run(`${line} 2`, { home })).toMatchObject({ exitCode: 5 });
  });

  test('--match: the same command continues what did not end, also without the number', async () => {
    const server = await openChatServer({ messages: topics, deleteReply: () => ({ status: 502, body: 'late' }) });
    const home = emptyHome();
    const codes: number[] = [];
    for (const words of ['--confirm 1', '--confirm 1', '', '--missing-ok', ''])
      codes.push((await server.run(`topic delete 5 --match 'l*' ${words}`, { home })).exitCode);

    expect(codes).toEqual([8, 8, 8, 0, 5]);
  });

  test('--from FILE; one topic asks for the number too', async () => {
    const server = await openChatServer({ messages: topics });
    const file = join(emptyHome(), 'topics.txt');
    writeFileSync(file, 'calibration 1\r\n\nlunch\n');

    const { exitCode, stdout } = await server.run(`topic delete 5 --from ${file} --confirm 2 -o json`);

    expect({ exitCode, left: left(server) }).toEqual({ exitCode: 0, left: [11, 12, 13] });
    expect(rowsOf(stdout)).toHaveLength(2);
    expect(await server.run('topic delete 5 --from - --confirm 1', { stdin: 'calibration 2\n' })).toMatchObject({
      exitCode: 0,
    });
    expect(left(server)).toEqual([]);
  });

  test('one refused topic does not stop the others: exit 8', async () => {
    const refusal = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'No' }, deletes: 0 };
    const server = await openChatServer({
      messages: topics,
      deleteReply: (call) => (call === 1 ? refusal : undefined),
    });

    const { exitCode, stdout, error } = await server.run([
      'topic',
      'delete',
      '5',
      ...names,
      '--confirm',
      '3',
      '-o',
      'json',
    ]);

    expect(exitCode).toBe(8);
    expect(rowsOf(stdout)).toEqual([
      ['calibration 1', 'incomplete'],
      ['Calibration 2', 'deleted'],
      ['lunch', 'deleted'],
    ]);
    expect(error?.message).toContain('1 of 3 failed');
    expect(left(server)).toEqual([1, 2, 3]);
  });

  test('several topics are continued with the same number by the same command', async () => {
    let isDown = true;
    const server = await openChatServer({
      messages: topics,
      deleteReply: (call) =>
        call > 1 && isDown ? { status: 401, body: { result: 'error', code: 'UNAUTHORIZED' }, deletes: 0 } : {},
    });
    const words = "topic delete 5 'calibration 1' 'Calibration 2' --confirm 2 -o json";
    const home = emptyHome();

    const first = await server.run(words, { home });
    isDown = false;
    const other = await server.run(words);
    const second = await server.run(words, { home });
    const third = await server.run(words, { home });

    expect({ exitCode: first.exitCode, stdout: rowsOf(first.stdout) }).toEqual({
      exitCode: 4,
      stdout: [
        ['calibration 1', 'deleted'],
        ['Calibration 2', 'incomplete'],
      ],
    });
    // Without the archive of the first run: one topic is gone, nobody knows why.
    expect(other.exitCode).toBe(5);
    expect(second.exitCode).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject([
      { topic_name: 'calibration 1', messages: 0, deleted: 0, status: 'missing' },
      { topic_name: 'Calibration 2', messages: 3, deleted: 3, status: 'deleted' },
    ]);
    expect(left(server)).toEqual([21, 22, 23]);
    expect(third.exitCode).toBe(5);
  });

  test('a dry run shows each topic, and archives and deletes nothing', async () => {
    const server = await openChatServer({ messages: topics });
    const root = newRoot();

    const { exitCode, stdout } = await server.run(`topic delete 5 --match 'cal*' --archive ${root} --dry-run -o json`);

    expect(exitCode).toBe(0);
    expect((JSON.parse(stdout) as { topic_name: string }[]).map((row) => row.topic_name)).toEqual([
      'calibration 1',
      'Calibration 2',
    ]);
    expect(existsSync(root)).toBe(false);
    expect(deletions(server)).toBe(0);
  });
});

/** A disk of 120 KB, which holds less than the messages of the test. */
function smallDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-disk-'));
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=120k', 'tmpfs', folder]);
  onTestFinished(() => {
    spawnSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}
