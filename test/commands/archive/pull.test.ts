import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realClock } from '../../../src/cli/clock.ts';
import { removing } from '../../../src/core/shell-word.ts';
import type { MessageRecord } from '../../../src/sandbox/records.ts';
import type { LogEntry } from '../../../src/sandbox/serve.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { acquireLock } from '../../../src/store/lock/lock.ts';
import { headOf, heldByAnother } from '../../helpers/archive.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { isWhole, sampleOf } from '../../helpers/extent.ts';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { emptyHome, fakeService, openSandbox, run as runMain, type RunningSandbox } from '../../helpers/run.ts';
import { needs } from '../../helpers/needs.ts';
import { systemIn } from '../../store/system.ts';

const sizes = { channel: 'firmware', topic: 'bulk', count: 1010 };
const bulk = { extraMessages: sizes, rateLimit: { perMinute: 100_000 } };
const selection = '--channel firmware --topic bulk';

/** Every file of an archive with its hash; that of archive.json without its state. */
function contentOf(folder: string): Record<string, string> {
  const { state: _state, sha256: _sha256, ...head } = headOf(folder);
  const textOf = (name: string): string =>
    name === 'archive.json' ? JSON.stringify(head) : readFileSync(join(folder, name), 'utf8');
  const hash = (name: string): string => createHash('sha256').update(textOf(name)).digest('hex');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, hash(name)]));
}

function linesOf(folder: string, name: string): Record<string, unknown>[] {
  return readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The messages of one form, in the order of the parts. */
function messagesOf(folder: string, form: 'rendered' | 'source'): Record<string, unknown>[] {
  const files = readdirSync(folder).filter((name) => name.startsWith(form));
  return files.sort().flatMap((name) => linesOf(folder, name));
}

const newFolder = (): string => join(emptyHome(), 'archive');

describe('archive pull', () => {
  test('keeps the text of each message byte for byte, a line each', async () => {
    const text = '{"id":7,"subject":"\\u0041\\/é","float":1.0,"large":123456789012345678901,"b":1,"a":2}';
    const body = `{"result":"success","msg":"","messages":[ ${text} , {\n"id": 9}],"found_newest":true}`;
    const service = fakeService();
    const settings = { result: 'success', msg: '', zulip_feature_level: 372 };
    service.expect('GET /api/v1/users/me').reply(404, '');
    service.expect('GET /api/v1/server_settings').reply(200, settings);
    const query = { num_before: '0', num_after: '1000', anchor: 'oldest', allow_empty_topic_name: 'true' };
    service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(200, body);
    const folder = newFolder();

    const { exitCode } = await runMain(service, `archive pull ${folder}`);

    expect(exitCode).toBe(0);
    expect(readFileSync(join(folder, 'rendered-000001.ndjson'), 'utf8')).toBe(`${text}\n{"id":9}\n`);
    expect(linesOf(folder, 'parts.ndjson')[0]).toMatchObject({ ids: [7, 9], count: 2 });
  });

  test(
    'keeps both forms of every message in private files, and a second pull asks twice and changes nothing',
    needs('modes'),
    async () => {
      const log: LogEntry[] = [];
      const { run } = await openSandbox({ ...bulk, log: (entry) => void log.push(entry) });
      const folder = newFolder();

      const first = await run(`archive pull ${folder} ${selection} --both -o json`);
      const before = contentOf(folder);
      const asked = log.length;
      const second = await run(`archive pull ${folder} -o json`);

      expect(JSON.parse(first.stdout)).toEqual({ folder, messages: 1010, added: 1010, files: 0, files_kept: 0 });
      const ids = messagesOf(folder, 'rendered').map(({ id }) => id as number);
      expect(messagesOf(folder, 'source').map(({ id }) => id)).toEqual(ids);
      expect(ids).toEqual(idsBetween(ids[0] ?? 0, (ids[0] ?? 0) + 1009));
      expect(messagesOf(folder, 'source')[0]?.['content_type']).toBe('text/x-markdown');
      expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual(
        readdirSync(folder).map(() => 0o600),
      );
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(JSON.parse(second.stdout)).toEqual({ folder, messages: 1010, added: 0, files: 0, files_kept: 0 });
      // Who pulls, and what is new.
      expect(log.length - asked).toBe(2);
      expect(contentOf(folder)).toEqual(before);
    },
  );

  test('a later pull brings what is new, at the end', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 1010)) });
    const folder = newFolder();
    await server.run(`archive pull ${folder} --channel 5`);
    server.messages.push(...topicOf('lunch', [1600, 1700]));

    const { stdout } = await server.run(`archive pull ${folder} -o json`);

    expect(JSON.parse(stdout)).toMatchObject({ messages: 1012, added: 2 });
    expect(messagesOf(folder, 'rendered').map(({ id }) => id)).toEqual([...idsBetween(1, 1010), 1600, 1700]);
    expect(linesOf(folder, 'parts.ndjson').map(({ part, first, last, count }) => [part, first, last, count])).toEqual([
      [1, 1, 1000, 1000],
      [2, 1001, 1010, 10],
      [3, 1600, 1600, 1],
      [4, 1700, 1700, 1],
    ]);
  });

  test('after a server that went away, the same command continues and the messages are those of an undisturbed pull', async () => {
    const { run } = await openSandbox({ ...bulk, faults: readFaults('GET /api/v1/messages=502#2+1', 1) });
    const calm = await openSandbox(bulk);
    const [folder, other] = [newFolder(), newFolder()];
    await calm.run(`archive pull ${other} ${selection}`);

    const cut = await run(`archive pull ${folder} ${selection} --retries 0 -o json`);
    const away = await run(`archive pull ${folder} ${selection} --retries 0 -o json`);
    const again = await run(`archive pull ${folder} ${selection} --retries 0 -o json`);

    expect(away).toMatchObject({ exitCode: 7, stdout: '' });
    expect(cut.exitCode).toBe(8);
    expect(cut.error?.message).toContain('1000 messages were archived');
    expect(again.exitCode).toBe(0);
    expect(messagesOf(folder, 'rendered')).toEqual(messagesOf(other, 'rendered'));
    expect(messagesOf(folder, 'rendered')).toHaveLength(1010);
  });

  test.each([
    // Message n was sent n - 1 minutes after 2026-02-25T06:13:20Z.
    ['--since 2026-02-25T06:14:00Z --until 2026-02-25T06:17:00Z', [2, 3, 4]],
    ['--until 2026-02-25T06:15:00Z', [1, 2]],
  ])('a range of messages fetch: %s', async (range, ids) => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 10)) });
    const folder = newFolder();

    const { exitCode } = await server.run(`archive pull ${folder} --channel 5 ${range}`);
    await server.run(`archive pull ${folder}`);

    expect(exitCode).toBe(0);
    expect(messagesOf(folder, 'rendered').map(({ id }) => id)).toEqual(ids);
  });

  describe('what is moved into the selection below its last id, or becomes visible out of order', () => {
    const ids = [...idsBetween(1, 300), ...idsBetween(1801, 2300)];
    /** Of another topic, and moved in after the first pull; some of them are within the last 1,000 ids. */
    const moved = ids.filter((id) => id % 10 === 0 && id < 2300);
    const open = async (options = '') => {
      const messages = ids.flatMap((id) => topicOf(moved.includes(id) ? 'tea' : 'lunch', [id]));
      const server = await openChatServer({ messages });
      const folder = newFolder();
      await server.run(`archive pull ${folder} --channel 5 --topic lunch ${options}`);
      for (const message of server.messages) message.subject = 'lunch';
      return { ...server, folder };
    };
    const exported = async ({ run, folder }: Awaited<ReturnType<typeof open>>, options = '') =>
      (await run(`archive export ${folder} -o ndjson ${options}`)).stdout
        .split('\n')
        .slice(0, -1)
        .map((text) => (JSON.parse(text) as { id: number }).id);

    test('a pull brings those of the last 1,000 ids, in the request that it sends for what is new', async () => {
      const server = await open();
      server.messages.push(...topicOf('lunch', [2400]));
      const asked = server.seen.length;

      const { stdout } = await server.run(`archive pull ${server.folder} -o json`);

      const late = moved.filter((id) => id > 1300);
      expect(JSON.parse(stdout)).toMatchObject({ added: late.length + 1 });
      const pages = server.seen.slice(asked).filter(({ path }) => path.endsWith('/messages'));
      expect(pages.map(({ parameters }) => parameters['anchor'])).toEqual(['1301']);
      const known = ids.filter((id) => !moved.includes(id) || id > 1300);
      expect(await exported(server)).toEqual([...known, 2400]);
    });

    test.each(['', ...sampleOf(1, ['--both', '--since 2026-01-01', '--until 2027-01-01'])])(
      '--recheck brings all that the archive lacks, into parts that are marked as late (%s)',
      async (options) => {
        const server = await open(options);

        const { exitCode, stdout } = await server.run(`archive pull ${server.folder} --recheck -o json`);
        const again = await server.run(`archive pull ${server.folder} --recheck -o json`);

        expect(exitCode).toBe(0);
        const messages = ids.length;
        expect(JSON.parse(stdout)).toMatchObject({ added: moved.length, messages, moved: 0, gone: 0 });
        expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, messages, moved: 0, gone: 0 });
        expect(await exported(server)).toEqual(ids);
        expect(await server.run(`archive verify ${server.folder}`)).toMatchObject({ exitCode: 0 });
        const parts = linesOf(server.folder, 'parts.ndjson');
        expect(parts.filter(({ late }) => late === true).flatMap((part) => part['ids'])).toEqual(moved);
        expect(await exported(server, '--since 2026-01-01 --topic lunch')).toEqual(ids);
        const text = await server.run(`archive export ${server.folder} -o text`);
        expect(text.exitCode).toBe(0);
      },
    );

    test('a site of pages has them in the order of their ids, each page in itself', async () => {
      const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 2010), { every: 1 }) });
      const folder = newFolder();
      for (const message of server.messages) if (message.id % 7 === 0) message.subject = 'tea';
      await server.run(`archive pull ${folder} --channel 5 --topic lunch`);
      for (const message of server.messages) message.subject = 'lunch';
      await server.run(`archive pull ${folder} --recheck`);

      const { exitCode } = await server.run(`archive export ${folder} -o html --to ${folder}-site`);

      expect(exitCode).toBe(0);
      const pages = ['messages-0001.html', 'messages-0002.html'].map((name) =>
        readFileSync(join(`${folder}-site`, name), 'utf8'),
      );
      const shown = pages.map((page) => [...page.matchAll(/id="m(\d+)"/g)].map(([, id]) => Number(id)));
      expect(shown.flat()).toEqual(idsBetween(1, 2010));
    });

    test.each([
      [
        'an id twice',
        (part: Record<string, unknown>) => ({ ...part, ids: [1], first: 1, last: 1, count: 1 }),
        'the line of part 2 does not follow the lines before it',
      ],
      [
        'no mark',
        ({ late: _, ...part }: Record<string, unknown>) => part,
        'the line of part 2 does not follow the lines before it',
      ],
    ])('verify finds a late part with %s', async (_what, change, problem) => {
      const server = await open();
      await server.run(`archive pull ${server.folder} --recheck`);
      const path = join(server.folder, 'parts.ndjson');
      const lines = linesOf(server.folder, 'parts.ndjson').map((part) => (part['part'] === 2 ? change(part) : part));
      writeFileSync(path, lines.map((part) => `${JSON.stringify(part)}\n`).join(''));

      const { exitCode, stdout } = await server.run(`archive verify ${server.folder}`);

      expect(exitCode).toBe(10);
      expect(stdout).toContain(problem);
    });
  });

  test('what the plan hid, and shows again, is brought by --recheck, and the archive is whole then', async () => {
    const shown = { firstVisible: 40 };
    const options = {
      messages: topicOf('lunch', idsBetween(1, 60)),
      get firstVisible() {
        return shown.firstVisible;
      },
    };
    const server = await openChatServer(options);
    const folder = newFolder();
    await server.run(`archive pull ${folder} --channel 5`);
    shown.firstVisible = 0;

    const { stdout, stderr } = await server.run(`archive pull ${folder} --recheck -o json`);

    expect(JSON.parse(stdout)).toMatchObject({ added: 39, messages: 60 });
    expect(stderr).not.toContain('limits the history');
    expect(await server.run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  test('the form that an archive lacks is exit 2, and nothing is written', async () => {
    const { run } = await openSandbox(bulk);
    const folder = newFolder();
    await run(`archive pull ${folder} ${selection}`);

    const { exitCode, error } = await run(`archive pull ${folder} --both -o json`);

    expect({ exitCode, message: error?.message }).toEqual({
      exitCode: 2,
      message: `the archive ${folder} does not hold the source form`,
    });
    expect(await run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ['is damaged', (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace('{"id":20,', '{"id":20;'))],
    ['is missing', (path: string) => rmSync(path)],
  ])(
    'a part that %s is named, and nothing is requested: exit 3; a copy of the file mends it',
    async (_what, damage) => {
      const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 50)) });
      const folder = newFolder();
      await server.run(`archive pull ${folder} --channel 5`);
      const path = join(folder, 'rendered-000001.ndjson');
      const copy = readFileSync(path);
      damage(path);
      const asked = server.seen.length;

      for (const option of ['', '--recheck']) {
        const { exitCode, error } = await server.run(`archive pull ${folder} ${option} -o json`);
        expect([exitCode, error?.message]).toEqual([3, expect.stringContaining(`${path} is damaged: `)]);
        expect(error?.hint).toContain('Put rendered-000001.ndjson back from a copy; or pull into another folder');
      }
      expect(server.seen.slice(asked).filter(({ path: place }) => place.endsWith('/messages'))).toEqual([]);
      writeFileSync(path, copy);
      expect(await server.run(`archive pull ${folder}`)).toMatchObject({ exitCode: 0 });
    },
  );

  test('of a limited history everything visible is kept, and the manifest says that it is limited', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 1500)), firstVisible: 301 });
    const folder = newFolder();

    const { exitCode, stderr } = await server.run(`archive pull ${folder} --channel 5`);

    expect(exitCode).toBe(0);
    expect(stderr).toContain('limits the history');
    expect(messagesOf(folder, 'rendered').map(({ id }) => id)).toEqual(idsBetween(301, 1500));
    expect(JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8'))).toMatchObject({ history_limited: true });
  });

  test.each(['says', 'silent'] as const)(
    'a server that ignores the narrow (%s) is refused: exit 7, no message kept',
    async (ignoresNarrow) => {
      const messages = [...topicOf('lunch', [1, 2]), ...topicOf('tea', [3], { stream_id: 6, channel: 'hall' })];
      const server = await openChatServer({ messages, ignoresNarrow });
      const folder = newFolder();

      expect(await server.run(`archive pull ${folder} --channel 5`)).toMatchObject({ exitCode: 7, stdout: '' });
      expect(existsSync(folder)).toBe(false);
    },
  );

  test('another account is exit 3, another selection and a folder of other files exit 2', async () => {
    const { run, sandbox } = await openSandbox();
    const [folder, other] = [newFolder(), emptyHome()];
    await run(`archive pull ${folder} --channel general`);
    const before = contentOf(folder);
    const account = sandbox.chat.accounts[1];
    const env = { CHATELAINE_CHAT_EMAIL: account?.email, CHATELAINE_CHAT_API_KEY: account?.api_key };

    expect(await run(`archive pull ${folder}`, { env })).toMatchObject({ exitCode: 3 });
    expect(await run(`archive pull ${folder} --channel firmware`)).toMatchObject({ exitCode: 2 });
    expect(await run(`archive pull ${other} --channel general`)).toMatchObject({ exitCode: 2 });
    for (const option of ['--num-before 5', '--num-after 5', '--use-first-unread-anchor'])
      expect(await run(`archive pull ${folder} ${option} -o json`)).toMatchObject({
        exitCode: 2,
        error: { message: `unknown option ${option.replace(/ .*/, '')}` },
      });
    expect(contentOf(folder)).toEqual(before);
  });

  test('two pulls of one folder at once: the second waits, says so once, and goes on', async () => {
    const { run } = await openSandbox(bulk);
    const folder = newFolder();

    const both = await Promise.all(
      [1, 2].map(() => run(`archive pull ${folder} ${selection} -o json`, { clock: realClock })),
    );

    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const waiting = `waiting for process ${process.pid} on here.test, which pulls into ${folder}`;
    expect(both.flatMap(({ lines }) => lines.filter((line) => line.startsWith('waiting')))).toEqual([waiting]);
    expect(messagesOf(folder, 'rendered')).toHaveLength(1010);
  });

  test('after ten minutes of waiting it is exit 7, naming the other', async () => {
    const { run } = await openSandbox(bulk);
    const folder = newFolder();
    mkdirSync(folder);
    const host = { system: systemIn(folder), clock: realClock };
    const release = await acquireLock(join(folder, 'lock'), host);

    // Seconds between two looks at the lock, in place of milliseconds.
    const clock = { ...sleptClock(), random: () => 200 };
    const { exitCode, error } = await run(`archive pull ${folder} ${selection} -o json`, { clock });

    await release();
    expect([exitCode, error?.message]).toEqual([
      7,
      `the archive ${folder} is in use by process ${process.pid} on here.test`,
    ]);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(600_000);
  });

  test('while another computer holds the folder: names it and how to go on, at once', async () => {
    const { run } = await openSandbox(bulk);
    const folder = newFolder();
    await run(`archive pull ${folder} ${selection}`);
    const lock = heldByAnother(folder);

    const { exitCode, error, slept } = await run(`archive pull ${folder} -o json`);

    expect(exitCode).toBe(7);
    expect(error?.message).toBe(`the archive ${folder} is in use by process 816 on PC-A`);
    expect(error?.hint).toBe(
      `Whether it still runs cannot be seen from here; once it has ended, remove what it left: ${removing(lock)}`,
    );
    expect(slept).toEqual([]);
  });
});

test.each(['--is starred', '--ids 1,2', '--limit 3'])('%s is exit 2, and names --narrow', async (option) => {
  const server = await openChatServer({ messages: [] });

  const { exitCode, stderr } = await server.run(`archive pull ${newFolder()} ${option}`);

  expect({ exitCode, requests: server.seen.length }).toEqual({ exitCode: 2, requests: 0 });
  expect(stderr).toContain('--until, or --narrow ');
});

describe('archive pull --recheck', () => {
  test('asks for no message again that the pull before it has read, of whatever channel', async () => {
    const other = topicOf('bread', idsBetween(21, 40), { stream_id: 6, channel: 'bakery' });
    const server = await openChatServer({ messages: [...topicOf('lunch', idsBetween(1, 20)), ...other] });
    const folder = newFolder();
    await server.run(`archive pull ${folder}`);
    const asked = server.seen.length;

    const { stdout } = await server.run(`archive pull ${folder} --recheck -o json`);

    expect(JSON.parse(stdout)).toMatchObject({ messages: 40, edited: 0, moved: 0, gone: 0, back: 0 });
    const byIds = server.seen.slice(asked).filter(({ parameters }) => parameters['message_ids'] !== undefined);
    expect(byIds).toHaveLength(0);
  });

  test.each([
    [489, 1010],
    [256, isWhole ? 1100 : 300],
  ])('level %d: records exactly what was edited, moved and deleted, once', async (featureLevel, count) => {
    const extraMessages = { ...bulk.extraMessages, count };
    const service = await openSandbox({ ...bulk, extraMessages, featureLevel });
    const folder = newFolder();
    await service.run(`archive pull ${folder} ${selection} --both`);
    const ids = messagesOf(folder, 'source').map(({ id }) => id as number);
    const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = ids.filter(
      (_, index) => index % Math.floor(count / 6) === 5,
    );
    for (const id of [first, second, third])
      changed(service, id, { content: `edited ${id}`, rendered: `<p>edited ${id}</p>`, last_edit_timestamp: 1 });
    for (const id of [fourth, fifth]) changed(service, id);
    changed(service, sixth, { subject: 'elsewhere', last_moved_timestamp: 1 });
    const before = contentOf(folder);

    const { stdout, stderr } = await service.run(`archive pull ${folder} --recheck -o json`);
    const again = await service.run(`archive pull ${folder} --recheck -o json`);

    expect(stderr).toBe(
      'note: 2 archived messages are no longer visible: deleted, or moved where this account cannot see them\nnote: moved to #firmware > elsewhere (1)\n',
    );
    expect(JSON.parse(stdout)).toMatchObject({ messages: count, edited: 3, moved: 1, gone: 2, back: 0 });
    expect(JSON.parse(again.stdout)).toMatchObject({ edited: 0, moved: 0, gone: 0, back: 0 });
    expect(linesOf(folder, 'changes.ndjson').map(({ id, change }) => [id, change])).toEqual([
      [first, 'edited'],
      [second, 'edited'],
      [third, 'edited'],
      [sixth, 'moved'],
      [fourth, 'gone'],
      [fifth, 'gone'],
    ]);
    expect(contentOf(folder)).toMatchObject(before);
  });
});

/** A message as its sender's edit or move leaves it; without a change it is deleted. */
function changed({ sandbox }: RunningSandbox, id: number, change?: Partial<MessageRecord>): void {
  sandbox.state.change(({ messages }) => {
    const message = messages.get(id);
    if (message && change) messages.put(id, { ...message, ...change });
    else messages.remove(id);
  });
}

describe('archive pull of answers that no server should give', () => {
  const page = (messages: string): string =>
    `{"result":"success","msg":"","messages":[${messages}],"found_newest":true,"found_oldest":true}`;

  async function pulled(messages: string) {
    const service = fakeService();
    const settings = { result: 'success', msg: '', zulip_feature_level: 372 };
    service.expect('GET /api/v1/users/me').reply(404, '');
    service.expect('GET /api/v1/server_settings').reply(200, settings);
    const query = { num_before: '0', num_after: '1000', anchor: 'oldest', allow_empty_topic_name: 'true' };
    service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(200, page(messages));
    const folder = newFolder();
    return { folder, ...(await runMain(service, `archive pull ${folder}`)) };
  }

  test('a page that repeats ids is taken once', async () => {
    const { folder, exitCode } = await pulled('{"id":7,"n":1},{"id":9},{"id":7,"n":2},{"id":9}');

    expect(exitCode).toBe(0);
    expect(readFileSync(join(folder, 'rendered-000001.ndjson'), 'utf8')).toBe('{"id":7,"n":1}\n{"id":9}\n');
    expect(await runMain(fakeService(), `archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  test.each(['{"id":101.5}', '{"id":1e300}', '{"id":"7"}'])(
    'the id of %s is refused: exit 7, nothing is left',
    async (message) => {
      const { folder, exitCode } = await pulled(message);

      expect(exitCode).toBe(7);
      expect(existsSync(folder)).toBe(false);
    },
  );
});

test("a channel in the folder's place is refused, and a pull of everything that was received says so", async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const refused = await run(['archive', 'pull', '#general', '-o', 'json']);
  const all = await run(['archive', 'pull', join(home, 'general')]);
  const again = await run(['archive', 'pull', join(home, 'general')]);
  const said = 'note: archives every message that you received, direct ones too; --channel archives one channel';

  expect([refused.exitCode, refused.error?.hint]).toEqual([
    2,
    'The folder comes first; name the channel with --channel.',
  ]);
  expect([all.lines.includes(said), again.lines.includes(said)]).toEqual([true, false]);
});

test('a later pull that fails after its first page: exit 8, verify says so, and the same command ends it', async () => {
  const folder = newFolder();
  let isCut = false;
  const server = await openChatServer({
    messages: topicOf('lunch', idsBetween(1, 10)),
    // The second page is empty, and does not say that it is the last.
    hides: ({ anchor, num_after }) => isCut && num_after === '1000' && Number(anchor) > 1000,
  });
  await server.run(`archive pull ${folder} --channel 5`);
  server.messages.push(...topicOf('lunch', idsBetween(11, 2010)));
  isCut = true;

  const cut = await server.run(`archive pull ${folder} -o json`);
  const found = await server.run(`archive verify ${folder} -o json`);
  isCut = false;
  const again = await server.run(`archive pull ${folder} -o json`);
  const whole = await server.run(`archive verify ${folder} -o json`);

  expect([cut.exitCode, found.exitCode, again.exitCode, whole.exitCode]).toEqual([8, 10, 0, 0]);
  expect(found.stdout).toContain('the last pull did not reach its end');
  expect(JSON.parse(again.stdout)).toMatchObject({ messages: 2010 });
});
