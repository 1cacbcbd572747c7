import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import {
  idsBetween,
  openChatServer,
  topicOf,
  type ChatServer,
  type ChatServerOptions,
  type Meanwhile,
  type ServedMessage,
} from '../../helpers/chat-server.ts';
import { isWhole } from '../../helpers/extent.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

const success = { result: 'success', msg: '' };
const part = { ...success, complete: false };
const line = 'topic delete 5 lunch --confirm lunch -o json';

/** A message as archived or served. */
type Version = Readonly<Record<string, unknown>>;

/** The versions of each message that the archives below a folder hold. */
function archived(root: string): Map<unknown, Version[]> {
  const found = new Map<unknown, Version[]>();
  const take = (message: Version): void =>
    void found.set(message['id'], [...(found.get(message['id']) ?? []), message]);
  for (const folder of existsSync(root) ? readdirSync(root) : []) {
    for (const name of readdirSync(join(root, folder))) {
      const isPart = name.startsWith('source-');
      if (!isPart && name !== 'changes.ndjson') continue;
      const records = readFileSync(join(root, folder, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((text) => JSON.parse(text) as Version);
      for (const record of records) take(isPart ? record : ((record['message'] as Version | undefined) ?? {}));
    }
  }
  return found;
}

interface Watched {
  readonly server: ChatServer;
  readonly root: string;
  /** Ids that a delete call removed although their last version was in no archive. */
  readonly unarchived: number[];
  run(words?: string): ReturnType<ChatServer['run']>;
}

/** A server that compares what each delete call removes with what is archived by then. */
async function watched(
  options: Partial<ChatServerOptions> & { readonly messages: readonly ServedMessage[] },
): Promise<Watched> {
  const root = join(emptyHome(), 'purges');
  const unarchived: number[] = [];
  const server = await openChatServer({
    ...options,
    removed(messages) {
      const kept = archived(root);
      const isKept = ({ id, last_edit_timestamp: edited, content }: ServedMessage): boolean =>
        kept.get(id)?.some((one) => one['last_edit_timestamp'] === edited && one['content'] === content) ?? false;
      unarchived.push(...messages.filter((message) => !isKept(message)).map(({ id }) => id));
    },
  });
  const run = (words = ''): ReturnType<ChatServer['run']> => server.run(`${line} --archive ${root} ${words}`);
  return { server, root, unarchived, run };
}

const isLook = (parameters: Readonly<Record<string, string>>): boolean =>
  parameters['anchor'] === 'newest' && (parameters['narrow'] ?? '').includes('topic');

/** Once, before the first look after so many calls. */
const onceAfter = (after: number, change: (messages: ServedMessage[]) => void): Meanwhile => {
  let isDone = false;
  return (messages, { parameters }, calls) => {
    if (isDone || calls !== after || !isLook(parameters)) return;
    isDone = true;
    change(messages);
    messages.sort((one, other) => one.id - other.id);
  };
};

const hidden = { stream_id: 6, display_recipient: 'board' };
const rowOf = ({ stdout }: { readonly stdout: string }): unknown => (JSON.parse(stdout) as unknown[])[0];

const partial = { result: 'partially_completed', code: 'REQUEST_TIMEOUT', msg: '' };

describe('messages that leave the account’s sight', () => {
  test('the owner moves 5 of 20 to a private channel after calls that failed: unseen, and not called deleted', async () => {
    const { server, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 20)),
      deleteReply: (call) => ({ status: 502, body: call === 2 ? partial : 'Bad gateway', deletes: 5 }),
      hiddenChannels: [6],
      meanwhile: onceAfter(3, (messages) => messages.forEach((row) => Object.assign(row, hidden))),
    });

    const first = await run();
    const calls = server.seen.filter(({ path }) => path.endsWith('/delete_topic')).length;
    const again = await run();
    const closed = await run('--missing-ok');
    const over = await run();

    expect(server.messages).toHaveLength(5);
    // A call on what the look showed empty would have said that it is complete.
    expect(calls).toBe(3);
    expect({ exit: first.exitCode, row: rowOf(first) }).toMatchObject({
      exit: 8,
      row: { messages: 20, deleted: 0, status: 'unseen' },
    });
    expect(first.error?.message).toContain('20 of 20 messages are no longer visible to this account');
    expect(again).toMatchObject({ exitCode: 8, error: { message: first.error?.message } });
    expect({ exit: closed.exitCode, row: rowOf(closed) }).toMatchObject({
      exit: 0,
      row: { deleted: 0, status: 'unseen' },
    });
    expect(over.exitCode).toBe(5);
  });

  test.each([
    ['502', { status: 502, body: 'Bad gateway' }],
    ['REQUEST_TIMEOUT', { status: 500, body: { result: 'error', code: 'REQUEST_TIMEOUT', msg: 'late' } }],
  ])('a %s is no sign of somebody else: the next answer proves', async (_what, reply) => {
    const { run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 15)),
      deleteReply: (call) => (call === 1 ? { ...reply, deletes: 7 } : undefined),
    });

    const { exitCode, stdout } = await run();

    expect({ exitCode, row: rowOf({ stdout }) }).toMatchObject({ exitCode: 0, row: { deleted: 15 } });
  });
});

describe('a run that is ended while the server works', () => {
  const killed = async (after: 'no answer' | 'its answer') => {
    const interrupt = new AbortController();
    const watchedServer = await watched({
      messages: topicOf('lunch', idsBetween(1, 20)),
      // The server carries the request out all the same.
      ...(after === 'no answer' ? { deleteReply: () => ({ hangs: true }) } : {}),
      meanwhile(_messages, { path, parameters }, calls) {
        const isDue = after === 'no answer' ? path.endsWith('/delete_topic') : calls === 1 && isLook(parameters);
        // Ctrl-C waits for an answer.
        if (isDue) interrupt.abort(new Failure(after === 'no answer' ? 'terminated' : 'cancelled', 'interrupted'));
      },
    });
    const { server, root } = watchedServer;
    const first = await server.run(`${line} --archive ${root}`, { interrupt: interrupt.signal });
    return { ...watchedServer, first };
  };

  test('before the answer: the next run says unseen, and --missing-ok closes the purge', async () => {
    const { server, first, run } = await killed('no answer');
    const next = await run();
    const closed = await run('--missing-ok');

    expect(server.messages).toEqual([]);
    expect(first.exitCode).toBe(143);
    expect(first.stderr).not.toContain('Ctrl-C again');
    expect(first.error?.message).toBe(
      "interrupted; 20 of 20 messages of 'lunch' were left when last seen, and the server continues the delete request that it received",
    );
    expect({ exit: next.exitCode, row: rowOf(next) }).toMatchObject({ exit: 8, row: { deleted: 0, status: 'unseen' } });
    const sentence = 'the last delete call of an earlier run had no response; 20 messages were left before it';
    expect(next.error?.message).toContain(sentence);
    expect(next.error?.message).not.toContain('0 were deleted');
    expect(closed.exitCode).toBe(0);
    expect(closed.stderr).toContain(sentence);
    // Nothing was archived again, and nothing says so.
    expect(next.stderr).not.toContain('archived and verified');
    expect(next.stderr).toContain("topic 'lunch': 0 messages; an earlier run began to delete it");
  });

  test('Ctrl-C waits for the answer of the call that is under way', async () => {
    const interrupt = new AbortController();
    const { server, root, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 20)),
      meanwhile(_messages, { path }) {
        if (path.endsWith('/delete_topic')) interrupt.abort(new Failure('cancelled', 'interrupted'));
      },
    });

    const first = await server.run(`${line} --archive ${root}`, { interrupt: interrupt.signal });
    const next = await run();

    expect({ exit: first.exitCode, row: rowOf(first) }).toMatchObject({
      exit: 130,
      row: { deleted: 20, status: 'deleted', at_least: false },
    });
    expect(first.stderr).toContain(
      'waiting for the response to the delete call under way; Ctrl-C again leaves at once',
    );
    expect(first.error?.message).toBe("interrupted; 0 of 20 messages of 'lunch' were left when last seen");
    expect({ exit: next.exitCode, row: rowOf(next) }).toMatchObject({
      exit: 0,
      row: { deleted: 20, status: 'deleted' },
    });
  });

  test('after the answer: the next run proves the deletion, and closes the purge', async () => {
    const { first, run } = await killed('its answer');
    const next = await run();

    expect(first.exitCode).toBe(130);
    expect({ exit: next.exitCode, row: rowOf(next) }).toMatchObject({
      exit: 0,
      row: { deleted: 20, status: 'deleted' },
    });
    expect((await run()).exitCode).toBe(5);
  });
});

describe('what a crash leaves', () => {
  /** What is on disk below `root` at that moment, as a kill would leave it. */
  const left = (root: string): string => {
    const image = join(emptyHome(), 'purges');
    cpSync(root, image, { recursive: true, filter: (name) => !name.includes('lock') });
    return image;
  };

  test.each([
    ['the first call', 1],
    ['a call before which messages arrived', 2],
  ])('before %s the archive is whole, and says so', async (_when, call) => {
    const images: string[] = [];
    const { server, root, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 20)),
      deletesPerCall: 8,
      meanwhile(messages, { path, parameters }, calls) {
        if (path.endsWith('/delete_topic') && calls === call) images.push(left(root));
        if (calls === 1 && isLook(parameters) && !messages.some(({ id }) => id === 30))
          messages.push(...topicOf('lunch', [30]));
      },
    });

    const { exitCode } = await run();
    const [folder = ''] = readdirSync(images[0] ?? '');
    const verified = await server.run(`archive verify ${join(images[0] ?? '', folder)} -o json`);

    expect(exitCode).toBe(0);
    expect({ exit: verified.exitCode, stdout: verified.stdout }).toEqual({ exit: 0, stdout: '[]\n' });
    expect(archived(images[0] ?? '').size).toBe(call === 1 ? 20 : 21);
  });

  test('after its end: the same command finds nothing', async () => {
    const { run } = await watched({ messages: topicOf('lunch', idsBetween(1, 60)) });
    await run();

    const { exitCode, error } = await run();

    expect({ exitCode, message: error?.message }).toEqual({
      exitCode: 5,
      message: "no messages in the topic 'lunch': nothing was deleted",
    });
  });

  test('a disk error after the last call: exit 8 with the row, and what is done', async () => {
    const { server, root, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 60)),
      meanwhile(messages) {
        if (messages.length > 0) return;
        const head = join(root, readdirSync(root)[0] ?? '', 'archive.json');
        rmSync(head, { recursive: true });
        // No file can be renamed over a folder that holds one.
        mkdirSync(join(head, 'sub'), { recursive: true });
      },
    });

    const { exitCode, error, stdout } = await run();

    expect(server.messages).toEqual([]);
    expect({ exitCode, row: rowOf({ stdout }) }).toMatchObject({ exitCode: 8, row: { messages: 60, deleted: 60 } });
    expect(error?.message).toContain("0 of 60 messages of 'lunch' were left when last seen");
  });
});

describe('nothing is deleted unarchived but in the windows that are named', () => {
  const many = topicOf('lunch', idsBetween(1, 8000));
  const edit = (ids: readonly number[]) => (messages: ServedMessage[]) => {
    for (const row of messages.filter(({ id }) => ids.includes(id))) row.last_edit_timestamp = 1_772_900_000;
  };

  const meanwhile: readonly [string, number, (messages: ServedMessage[]) => void, number][] = [
    ['posted between two calls', 1, (messages) => messages.push(...topicOf('lunch', [9000, 9001])), 2],
    ['edited after the first look, below the newest that later looks read', 1, edit(idsBetween(1, 50)), 0],
    ['edited in the newest', 2, edit(idsBetween(4000, 4200)), 0],
  ];

  // The world purge of test/simulation has them with looks of a few messages.
  test.each(isWhole ? meanwhile : [])('%s: archived before its call', async (_what, after, change, arrived) => {
    const { server, unarchived, run } = await watched({
      ...{ messages: many.slice(0, 6000), deletesPerCall: 900, meanwhile: onceAfter(after, change) },
    });

    const { exitCode, stdout, stderr } = await run();

    expect({ exitCode, unarchived, left: server.messages }).toEqual({ exitCode: 0, unarchived: [], left: [] });
    expect(rowOf({ stdout })).toMatchObject({ deleted: 6000 + arrived, arrived, deeper: 0 });
    expect(stderr.includes('during a delete call may have been deleted without being archived')).toBe(arrived > 0);
  });

  test.each([
    ['before the first call', 0],
    ['between two calls', 2],
  ])('a second edit in the same second, %s: archived before its call', async (_when, after) => {
    const editTo = (content: string) => (messages: ServedMessage[]) => {
      for (const row of messages.filter(({ id }) => id === 3))
        Object.assign(row, { content, last_edit_timestamp: 1_772_900_000 });
    };
    const [messages, isArchived] = [topicOf('lunch', idsBetween(1, 20)), { value: false }];
    editTo('first')(messages);
    const { server, root, unarchived, run } = await watched({
      ...{ messages, deletesPerCall: 5 },
      meanwhile(now, { parameters }, calls) {
        isArchived.value ||= archived(root).has(3);
        if (isArchived.value && calls >= after && isLook(parameters)) editTo('second')(now);
      },
    });

    const { exitCode } = await run();

    expect({ exitCode, unarchived, left: server.messages }).toEqual({ exitCode: 0, unarchived: [], left: [] });
  });

  test('an edit whose message goes, by a call that had failed, while it is archived: its source is kept', async () => {
    const { server, root, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 20)),
      deleteReply: (call) => (call === 1 ? { status: 502, body: 'Bad gateway', deletes: 0 } : {}),
      meanwhile(messages, { parameters }, calls) {
        if (calls !== 1) return;
        if (isLook(parameters)) for (const row of messages.filter(({ id }) => id === 3)) row.content = 'edited';
        if (parameters['anchor'] === '3') messages.splice(0);
      },
    });

    const { exitCode } = await run();

    expect({ exitCode, left: server.messages }).toEqual({ exitCode: 0, left: [] });
    expect(archived(root).get(3)).toContainEqual(expect.objectContaining({ content: 'edited' }));
    const [folder = ''] = readdirSync(root);
    expect(await server.run(`archive verify ${join(root, folder)}`)).toMatchObject({ exitCode: 0 });
  });

  test('a call that goes deeper than its look: the result says by how many messages', async () => {
    const { server, unarchived, run } = await watched({
      messages: many,
      deleteReply: (call) =>
        call === 1 ? { deletes: 10, body: part } : call === 2 ? { deletes: 7000, body: part } : {},
      meanwhile: onceAfter(1, edit([100, 1500, 2500, 7000])),
    });

    const { exitCode, stdout, error } = await run();

    expect({ exitCode, error, left: server.messages }).toEqual({ exitCode: 0, error: undefined, left: [] });
    // The look before the second call read 5,000 of the 7,990 that were left, down to 2,991.
    expect(rowOf({ stdout })).toMatchObject({ deeper: 2000 });
    expect(unarchived).toEqual([1500, 2500]);
  });

  test.each([146, 147])('level %i: every look is whole where a call deletes all or nothing', async (level) => {
    const late = { status: 400, body: { result: 'error', msg: 'late' }, deletes: 50 };
    const { server, unarchived, run } = await watched({
      ...{ level, messages: many, meanwhile: onceAfter(1, edit([1, 4000, 7900])) },
      deleteReply: (call) => (call === 1 ? late : { body: success }),
    });

    const { exitCode, stdout } = await run();

    const expected = { exitCode: 0, left: [], row: { deleted: 8000, deeper: level < 147 ? 0 : 2950 } };
    expect({ exitCode, left: server.messages, row: rowOf({ stdout }) }).toMatchObject(expected);
    expect(unarchived).toEqual(level < 147 ? [] : [1]);
  });

  test('posted while a call is under way: deleted unarchived, and the result says that this may be', async () => {
    let next = 9000;
    const { unarchived, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 40)),
      deletesPerCall: 10,
      meanwhile(messages, { path, parameters }, calls) {
        if (calls > 3 || !(path.endsWith('/delete_topic') || (calls > 0 && isLook(parameters)))) return;
        messages.push(...topicOf('lunch', [(next += 1)]));
      },
    });

    const { exitCode, stdout, stderr } = await run();

    // A look shows what came before it; the posts during the calls are the window that is named.
    expect({ exitCode, unarchived: unarchived.length, row: rowOf({ stdout }) }).toMatchObject({
      ...{ exitCode: 0, unarchived: 3 },
      row: { messages: 40, deleted: 43, arrived: 3 },
    });
    expect(stderr).toContain(
      '3 messages arrived during the deletion; what was written, moved, edited or attached during a delete call may have been',
    );
  });

  test('an archive that cannot be written ends the purge before the next call', async () => {
    const { server, root, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 40)),
      deletesPerCall: 10,
      meanwhile: onceAfter(1, (messages) => {
        rmSync(root, { recursive: true });
        messages.push(...topicOf('lunch', [9000]));
      }),
    });

    expect((await run()).exitCode).toBe(8);
    expect(server.messages.map(({ id }) => id)).toEqual([...idsBetween(1, 30), 9000]);
  });
});

describe('several topics', () => {
  const two = [...topicOf('lunch', [1, 2, 3]), ...topicOf('tea', [11, 12])];
  const both = 'topic delete 5 lunch tea --confirm 2 --no-archive -o json';

  test('--max-messages counts what came into an earlier topic meanwhile', async () => {
    const server = await openChatServer({
      messages: two,
      deletesPerCall: 2,
      meanwhile: onceAfter(1, (messages) => messages.push(...topicOf('lunch', [4, 5]), ...topicOf('tea', [13]))),
    });

    const { exitCode, error } = await server.run(`${both} --max-messages 7`);

    expect({ exitCode, left: server.messages.map(({ id }) => id) }).toEqual({ exitCode: 8, left: [11, 12, 13] });
    expect(error?.message).toContain(
      "3 messages of 'tea' would be deleted, more than the 2 that --max-messages allows",
    );
  });

  test('a 401 in one ends the run before the next', async () => {
    const refused = { status: 401, body: { result: 'error', code: 'UNAUTHORIZED', msg: 'No' }, deletes: 0 };
    const server = await openChatServer({ messages: two, deleteReply: (call) => (call === 1 ? refused : undefined) });

    const { exitCode, stdout } = await server.run(both);

    expect({ exitCode, left: server.messages.length }).toEqual({ exitCode: 4, left: 5 });
    expect(JSON.parse(stdout)).toMatchObject([
      { topic_name: 'lunch', deleted: 0, status: 'incomplete' },
      { topic_name: 'tea', deleted: 0, status: 'incomplete' },
    ]);
  });
});

test('an edit of a message that an interrupted run archived is archived by the next run, and not once more before it goes', async () => {
  const refused = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 0 };
  const { server, root, unarchived, run } = await watched({
    messages: topicOf('lunch', idsBetween(1, 20)),
    deleteReply: (call) => (call <= 2 ? refused : undefined),
  });
  await run();
  for (const row of server.messages)
    if (row.id === 7) Object.assign(row, { content: 'edited', last_edit_timestamp: 9 });

  await run();
  const edited = archived(root).get(7);
  const { exitCode } = await run();

  expect({ exitCode, unarchived, left: server.messages }).toEqual({ exitCode: 0, unarchived: [], left: [] });
  expect(edited).toContainEqual(expect.objectContaining({ content: 'edited' }));
  expect(archived(root).get(7)).toEqual(edited);
});

describe('what is said', () => {
  test('an account that may not delete is refused before anything is archived', async () => {
    const { server, root, run } = await watched({ messages: topicOf('lunch', [1]), isAdmin: false });

    const { exitCode, error, stdout } = await run();

    expect({ exitCode, stdout, archives: existsSync(root), left: server.messages.length }).toEqual({
      ...{ exitCode: 4, stdout: '', archives: false, left: 1 },
    });
    expect(error?.message).toContain('ada@chat.test is not an administrator of the organization');
  });

  test('a call that ignored a part of the request, and deleted: the topic is looked at before it is said what is left', async () => {
    const body = { ...success, complete: true, ignored_parameters_unsupported: ['topic_name'] };
    const { server, run } = await watched({
      messages: topicOf('lunch', idsBetween(1, 20)),
      deleteReply: () => ({ body }),
    });

    const { exitCode, error, stdout } = await run();

    expect({ exitCode, left: server.messages.length, row: rowOf({ stdout }) }).toMatchObject({
      ...{ exitCode: 6, left: 0 },
      row: { deleted: 0, status: 'unseen' },
    });
    expect(error?.message).toBe("the server ignored: topic_name; 0 of 20 messages of 'lunch' were left when last seen");
  });

  test('a topic of an archived channel is refused before anything is archived', async () => {
    const { server, root, run } = await watched({
      messages: topicOf('lunch', [1]),
      channels: [{ stream_id: 6, name: 'attic' }],
      archivedChannels: [{ stream_id: 5, name: 'kitchen', is_archived: true }],
    });

    const { exitCode, error } = await run();

    expect({ exitCode, archives: existsSync(root), left: server.messages.length }).toEqual({
      ...{ exitCode: 6, archives: false, left: 1 },
    });
    expect(error?.message).toBe("the channel 'kitchen' is archived: nothing was archived or deleted");
    const stdin = '{"stream_id":5,"topic_name":"lunch"}\n';
    expect(await server.run('topic delete --from - --confirm 1', { stdin })).toMatchObject({ exitCode: 6 });
  });

  test('a channel that the server does not list, and not as archived, is deleted in', async () => {
    const { server, run } = await watched({
      messages: topicOf('lunch', [1]),
      channels: [{ stream_id: 6, name: 'attic' }],
      archivedChannels: [],
    });

    expect([(await run()).exitCode, server.messages]).toEqual([0, []]);
  });

  test.each([
    ['the one with a doubled backslash', ['a\\\\b'], 0, []],
    ['the one that topic list prints so', ['a\\b'], 0, []],
    ['both', ['a\\b', 'a\\\\b'], 2, ['a\\b', 'a\\\\b']],
  ])('a name of a list that has two readings means the one that is there: %s', async (_which, there, exit, stay) => {
    const server = await openChatServer({
      messages: there.flatMap((name, at) => topicOf(name, [at + 1])),
      channels: [{ stream_id: 5, name: 'kitchen' }],
    });
    const line = ['topic', 'delete', '5', '-', '--confirm', there[0] ?? '', '--no-archive'];

    const { exitCode, stderr } = await server.run(line, { stdin: 'a\\\\b\n' });

    expect(stderr.includes('both\nhint: Give the names as arguments.')).toBe(exit === 2);
    expect([exitCode, server.messages.map(({ subject }) => subject)]).toEqual([exit, stay]);
  });

  test('topics that match and are too young', async () => {
    const messages = ['tea 1', 'tea 2', 'lunch'].flatMap((name, at) =>
      topicOf(name, [at + 1], { begins: 1_772_360_000 }),
    );
    const server = await openChatServer({ messages });

    const { exitCode, error } = await server.run("topic delete 5 --match 'tea*' --older-than 30d --confirm 2 -o json");

    expect({ exitCode, message: error?.message }).toEqual({
      exitCode: 5,
      message: "2 topics match 'tea*', none is that old: nothing was deleted",
    });
  });

  test('a channel whose name is digits is named by name:', async () => {
    const server = await openChatServer({
      messages: topicOf('lunch', [1], { stream_id: 9, channel: '2024' }),
      channels: [{ stream_id: 9, name: '2024' }],
    });

    const { exitCode, error } = await server.run('topic delete 2024 lunch --confirm lunch -o json');

    expect({ exitCode, hint: error?.hint }).toEqual({
      exitCode: 5,
      hint: 'Write name:2024 for the channel of that name.',
    });
  });

  test.each(['topic list kitchen', 'topic delete kitchen lunch --confirm lunch'])(
    'an emptied channel, by name, where the server lists no channels: %s',
    async (words) => {
      const server = await openChatServer({ messages: topicOf('lunch', [1]) });
      await server.run(`${line} --no-archive`);

      const said = await server.run(`${words} -o json`);

      expect(said).toMatchObject({
        exitCode: 5,
        error: { hint: expect.stringContaining('If it is empty, give its id.') as string },
      });
    },
  );
});

test('a page that is too large is requested with fewer messages', async () => {
  const [ids, content] = [Array.from({ length: 40 }, (_, at) => at + 1), 'long '.repeat(200)];
  const messages = topicOf('lunch', ids).map((one) => ({ ...one, content }));
  const { server, root, unarchived } = await watched({ messages });

  const { exitCode } = await server.run(`${line} --archive ${root}`, { bodyLimit: 20_000 });

  expect({ exitCode, left: server.messages.length, unarchived }).toEqual({ exitCode: 0, left: 0, unarchived: [] });
});

describe('attached files', () => {
  const words = 'topic delete general safe --confirm safe -o json';
  const withFile = async () => {
    const service = await openSandbox();
    const content = 'Scans in [the folder](/user_uploads/2/ward-3.pdf), and [again](/user_uploads/2/ward-3.pdf).';
    service.sandbox.state.post({ channel: 'general', topic: 'safe', content });
    return service;
  };

  test('are counted before, and said not to be archived', async () => {
    const { run } = await withFile();

    const { exitCode, stderr } = await run(words);

    expect(exitCode).toBe(0);
    expect(stderr).toContain('; 1 attached file, not archived without --files');
  });

  test('--files archives them before the first call', async () => {
    const { run } = await withFile();
    const root = join(emptyHome(), 'kept');

    const { exitCode, stderr } = await run(`${words} --files --archive ${root}`);

    const folder = join(root, readdirSync(root)[0] ?? '');
    expect({ exitCode, verified: (await run(`archive verify ${folder}`)).exitCode }).toEqual({
      exitCode: 0,
      verified: 0,
    });
    expect(JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8'))).toMatchObject({ files: true });
    expect(stderr).toContain('; 1 attached file, archived too');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.pdf'));
    expect(files).toHaveLength(1);
  });

  test.each([
    ['403 of the server', { status: 403, body: '<p>You are not authorized.</p>' }, 8],
    ['an error in a 200', { status: 200, body: { result: 'error', msg: 'Not now' } }, 8],
    ['403 as JSON', { status: 403, body: { result: 'error', msg: 'Not yours' } }, 8],
    ['404 of the server', { status: 404, body: '<p>This file does not exist or has been deleted.</p>\n' }, 0],
    ['404 as JSON', { status: 404, body: { result: 'error', msg: 'File not found' } }, 0],
  ])('--files deletes only without a file that the server says to be gone: %s', async (_what, file, code) => {
    const messages = topicOf('lunch', [1]).map((one) => ({ ...one, content: '[x](/user_uploads/2/of/others.pdf)' }));
    const { server, run } = await watched({ messages, file });

    const { exitCode, stderr, error } = await run('--files');

    expect({ exitCode, left: server.messages.length }).toEqual({ exitCode: code, left: code === 0 ? 0 : 1 });
    expect(error?.retryable).toBe(code === 0 ? undefined : false);
    expect(stderr).toMatch(code === 0 ? /no longer has: 1 .*others\.pdf/ : /cannot be archived: 1; .*others\.pdf: /s);
  });

  test('one that the server no longer has is a fact: said, recorded, and the topic is deleted', async () => {
    const { run, sandbox } = await openSandbox({ faults: readFaults('POST */delete_topic=error-in-200#1', 1) });
    const id = sandbox.state.post({
      channel: 'general',
      topic: 'safe',
      content: '[plan](/user_uploads/2/q1/plan.pdf)',
    });
    const root = join(emptyHome(), 'kept');
    await run(`${words} --archive ${root}`);
    // A file is there if a message links to it.
    sandbox.state.change(({ messages }) => {
      const row = messages.get(id);
      if (row) messages.put(id, { ...row, rendered: '<p>plan</p>' });
    });

    const { exitCode, stderr } = await run(`${words} --files --archive ${root}`);

    expect({ exitCode, left: sandbox.state.topic('general', 'safe').length }).toEqual({ exitCode: 0, left: 0 });
    expect(stderr.match(/attached files that the server no longer has: 1 \(2\/q1\/plan\.pdf\)/g)).toHaveLength(1);
    const files = join(root, readdirSync(root)[0] ?? '', 'files.ndjson');
    expect(readFileSync(files, 'utf8')).toContain('(404)');
  });

  test('--files without an archive is exit 2', async () => {
    const { run } = await withFile();

    expect(await run(`${words} --files --no-archive`)).toMatchObject({ exitCode: 2 });
  });
});
