import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { emptyHome, openSandbox, type RunningSandbox } from '../../helpers/run.ts';

/** The reads that are asked for in the topic; the fault counts them alone. */
const stale = (where = '') => readFaults(`GET /api/v1/messages=stale-place${where}`, 1);

const said = 'messages come with a place that they left, from an old copy in the cache of the server: ';

/** A sandbox whose every answer names another place for messages than where they are. */
async function staled(where = ''): Promise<RunningSandbox> {
  const running = await openSandbox({ faults: stale(where) });
  for (const content of ['one', 'two', 'three'])
    running.sandbox.state.post({ channel: 'firmware', topic: 'race', content });
  return running;
}

const selected = '--channel firmware --topic race';

describe('old copies in the cache of the server: the place that was asked for counts', () => {
  test('messages fetch', async () => {
    const { run } = await staled();

    const { exitCode, stdout, stderr } = await run(`messages fetch ${selected} -o json`);

    expect({ exitCode, count: (JSON.parse(stdout) as unknown[]).length }).toEqual({ exitCode: 0, count: 3 });
    expect(stderr).toContain(`${said}3`);
  });

  test('archive pull, and its recheck', async () => {
    const { run, sandbox } = await staled();
    const folder = join(emptyHome(), 'kept');

    const first = await run(`archive pull ${folder} ${selected} --both`);
    sandbox.state.post({ channel: 'firmware', topic: 'race', content: 'four' });
    const second = await run(`archive pull ${folder} --recheck -o json`);

    const third = await run(`archive pull ${folder} --recheck -o json`);

    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(first.stderr).toContain(`${said}3`);
    // The archive has them under the name of the old copies, also what comes with the recheck.
    expect(JSON.parse(second.stdout)).toMatchObject({ messages: 4, added: 1, moved: 4, gone: 0 });
    expect(JSON.parse(third.stdout)).toMatchObject({ messages: 4, added: 0, moved: 0, gone: 0 });
    expect((await run(`archive verify ${folder}`)).exitCode).toBe(0);
  });

  test('topic delete, by name and by id', async () => {
    for (const channel of ['firmware', 'id:2']) {
      const { run, sandbox } = await staled();
      const id = sandbox.state.channels().find(({ name }) => name === 'firmware')?.stream_id;
      const named = channel === 'firmware' ? channel : `id:${id}`;

      const { exitCode, stdout, stderr } = await run(`topic delete ${named} race --confirm race -o json`);

      expect({ exitCode, left: sandbox.state.topic('firmware', 'race').length }).toEqual({ exitCode: 0, left: 0 });
      expect(JSON.parse(stdout)).toMatchObject([{ stream_id: id, channel: 'firmware', messages: 3, deleted: 3 }]);
      expect(stderr).toContain(`${said}3`);
      expect(stderr).not.toContain('spelled');
    }
  });

  test('topic list counts each message in the topic that it is in', async () => {
    const { run, sandbox } = await openSandbox({ faults: readFaults('GET /api/v1/messages=stale-place#1+1', 1) });
    const count = sandbox.state.messages().filter(({ stream_id }) => stream_id === 2).length;
    const plain = await (await openSandbox()).run('topic list firmware -o json');

    const { exitCode, stdout, stderr } = await run('topic list firmware -o json');

    expect({ exitCode, rows: JSON.parse(stdout) as unknown }).toEqual({
      ...{ exitCode: 0, rows: JSON.parse(plain.stdout) as unknown },
    });
    expect(stderr).toContain(`${said}${count}`);
    expect(count).toBeGreaterThan(0);
  });

  test('the messages are as the server sent them', async () => {
    const { run } = await staled();
    const folder = join(emptyHome(), 'kept');

    await run(`archive pull ${folder} ${selected}`);

    const part = readdirSync(folder).find((name) => name.startsWith('rendered-')) ?? '';
    expect(readFileSync(join(folder, part), 'utf8')).toContain('"subject":"before"');
  });
});

test('a recheck records a move whose messages come with the place that they had before', async () => {
  const { run, sandbox } = await openSandbox({
    faults: readFaults('GET /api/v1/messages=stale-place/1@firmware > race', 1),
  });
  for (const content of ['one', 'two']) sandbox.state.post({ channel: 'firmware', topic: 'race', content });
  const folder = join(emptyHome(), 'kept');
  await run(`archive pull ${folder} ${selected}`);
  const general = sandbox.state.channels().find(({ name }) => name === 'general')?.stream_id;
  const messages = sandbox.state.topic('firmware', 'race');
  sandbox.state.change((state) => {
    for (const row of messages) state.messages.put(row.id, { ...row, stream_id: general ?? 0, subject: 'elsewhere' });
  });

  const first = await run(`archive pull ${folder} --recheck -o json`);
  const second = await run(`archive pull ${folder} --recheck -o json`);

  expect(JSON.parse(first.stdout)).toMatchObject({ moved: 2, gone: 0, edited: 0 });
  expect(JSON.parse(second.stdout)).toMatchObject({ moved: 0, gone: 0, edited: 0, back: 0 });
});

test('a recheck of a channel asks for the rest of a topic of which some messages were moved', async () => {
  const { run, sandbox } = await openSandbox();
  const ids = ['one', 'two'].map((content) => sandbox.state.post({ channel: 'firmware', topic: 'race', content }));
  const folder = join(emptyHome(), 'kept');
  await run(`archive pull ${folder} --channel firmware`);
  sandbox.state.change((state) => {
    for (const row of state.messages.rows().filter(({ id }) => ids.includes(id))) {
      const isOld = row.id === ids[0];
      state.messages.put(row.id, {
        ...{ ...row, subject: 'renamed', last_moved_timestamp: row.timestamp },
        ...(isOld ? { cached: { stream_id: row.stream_id ?? 0, subject: 'race' } } : {}),
      });
    }
  });

  const { stdout } = await run(`archive pull ${folder} --recheck -o json`);

  expect(JSON.parse(stdout)).toMatchObject({ moved: 2, gone: 0 });
});

describe('topic list: old copies that name another topic of the same channel', () => {
  /** Of a topic of three messages two were moved, and come as they were before. */
  const listed = async (featureLevel = 372) => {
    const { run, sandbox } = await openSandbox({ featureLevel });
    const ids = ['one', 'two', 'three'].map((content) =>
      sandbox.state.post({ channel: 'firmware', topic: 'race', content }),
    );
    const move = (id = 0): void =>
      sandbox.state.change((state) => {
        const row = state.messages.get(id);
        const cached = { stream_id: row?.stream_id ?? 0, subject: 'race' };
        if (row) state.messages.put(id, { ...row, subject: 'raced', cached });
      });
    move(ids[0]);
    move(ids[1]);
    const list = async () => {
      const { stdout, stderr } = await run('topic list firmware -o json');
      const rows = JSON.parse(stdout) as { readonly topic_name: string; readonly messages: number }[];
      const found = rows.filter(({ topic_name }) => topic_name.startsWith('rac'));
      return { counts: found.map(({ topic_name, messages }) => [topic_name, messages]), stderr };
    };
    return { rest: ids[2], list, move, sandbox };
  };

  test('a part of a topic was moved', async () => {
    const { list } = await listed();

    expect((await list()).counts).toEqual([
      ['race', 1],
      ['raced', 2],
    ]);
  });

  test.each(['', 'a newer message of the topic is no old copy'])('the whole topic was renamed; %s', async (newer) => {
    const { rest, list, move, sandbox } = await listed();
    move(rest);
    if (newer !== '') sandbox.state.post({ channel: 'firmware', topic: 'raced', content: 'four' });

    const { counts, stderr } = await list();

    expect(counts).toEqual([['raced', newer === '' ? 3 : 4]]);
    expect(stderr).not.toContain('in no topic of this list');
  });

  test('a server that does not find messages by their ids: said, and no topic that is not there', async () => {
    const { rest, list, move } = await listed(299);
    move(rest);

    const { counts, stderr } = await list();

    expect(counts).toEqual([]);
    expect(stderr).toContain('in no topic of this list: 3');
  });
});
