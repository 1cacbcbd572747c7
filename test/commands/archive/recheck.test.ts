import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import type { MessageRecord } from '../../../src/sandbox/records.ts';
import type { LogEntry } from '../../../src/sandbox/serve.ts';
import { openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { emptyHome, openSandbox, type Ran } from '../../helpers/run.ts';

// Each sentence about messages that are gone is compared with what the sandbox really holds (docs/archive-format.md,
// Changes).

const bulk = { extraMessages: { channel: 'firmware', topic: 'bulk', count: 120 }, rateLimit: { perMinute: 100_000 } };
const newFolder = (): string => join(emptyHome(), 'archive');

interface ChangeLine {
  readonly id: number;
  readonly change: string;
  readonly why?: string;
  readonly message?: { readonly subject: string };
}

function changesIn(folder: string): ChangeLine[] {
  const path = join(folder, 'changes.ndjson');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as ChangeLine);
}

/** What the archive says last of each message that is gone. */
function goneIn(folder: string): Record<string, number[]> {
  const last = new Map(changesIn(folder).map((line) => [line.id, line]));
  const gone: Record<string, number[]> = {};
  for (const { id, change, why = '' } of last.values()) if (change === 'gone') (gone[why] ??= []).push(id);
  return gone;
}

const countsOf = ({ stdout }: Ran): unknown => {
  const { edited, moved, gone, back } = JSON.parse(stdout) as Record<string, number>;
  return { edited, moved, gone, back };
};

async function archived(options: object, selection: string) {
  const service = await openSandbox(options);
  const folder = newFolder();
  await service.run(`archive pull ${folder} ${selection}`);
  const recheck = (): Promise<Ran> => service.run(`archive pull ${folder} --recheck -o json`);
  const change = (work: (messages: readonly MessageRecord[]) => readonly MessageRecord[]): void =>
    service.sandbox.state.change(({ messages }) => {
      for (const row of work(messages.rows())) messages.put(row.id, row);
    });
  return { ...service, folder, recheck, change };
}

test.each(sampleOf(1, [489, 372, 256]))(
  'level %d: a limit that moves on hides messages, and none of them is said to be deleted; what is seen again is taken back',
  async (featureLevel) => {
    const { sandbox, folder, recheck } = await archived({ ...bulk, featureLevel }, '--channel firmware --topic bulk');
    const ids = sandbox.state.topic('firmware', 'bulk').map(({ id }) => id);
    const limit = ids[90] ?? 0;
    // One below the limit and one above it are really deleted: of the first nobody can tell.
    sandbox.state.change(({ messages }) => [ids[3], ids[110]].forEach((id = 0) => messages.remove(id)));
    sandbox.state.organize({ first_visible_message_id: limit });

    const hidden = await recheck();
    sandbox.state.organize({ first_visible_message_id: 0 });
    const shown = await recheck();
    const again = await recheck();

    expect(hidden.exitCode).toBe(0);
    expect(hidden.lines).toEqual([
      '{"warning":"90 archived messages are no longer visible: the plan of the organization hides messages of their age"}',
      'note: 1 archived message is no longer visible: deleted, or moved where this account cannot see them',
      '{"warning":"the plan of the organization limits the history: older messages exist that are not in the archive"}',
    ]);
    expect(countsOf(hidden)).toEqual({ edited: 0, moved: 0, gone: 91, back: 0 });
    expect(countsOf(shown)).toEqual({ edited: 0, moved: 0, gone: 1, back: 89 });
    expect(countsOf(again)).toEqual({ edited: 0, moved: 0, gone: 0, back: 0 });
    const held = new Set(sandbox.state.messages().map(({ id }) => id));
    expect(goneIn(folder)).toEqual({ unknown: ids.filter((id) => !held.has(id)) });
  },
);

test('what was deleted before a limit came is not said to be hidden by it', async () => {
  const { sandbox, folder, recheck } = await archived(bulk, '--channel firmware --topic bulk');
  const ids = sandbox.state.topic('firmware', 'bulk').map(({ id }) => id);
  sandbox.state.change(({ messages }) => messages.remove(ids[3] ?? 0));
  const first = await recheck();
  sandbox.state.organize({ first_visible_message_id: ids[90] ?? 0 });

  const second = await recheck();

  expect([countsOf(first), countsOf(second)]).toMatchObject([{ gone: 1 }, { gone: 89 }]);
  expect(goneIn(folder)['unknown']).toEqual([ids[3]]);
});

test('an account that lost a private channel: no-access, a warning, and back when it may read again', async () => {
  const { sandbox, folder, recheck } = await archived({}, '--channel leads');
  const ids = sandbox.state.messages().flatMap(({ id, stream_id }) => (stream_id === 5 ? [id] : []));
  const setMembers = (members: readonly number[]): void =>
    sandbox.state.change(({ channels }) => {
      const channel = channels.get(5);
      if (channel) channels.put(5, { ...channel, subscribers: members.map((user_id) => ({ user_id, since: 0 })) });
    });
  setMembers([9]);

  const lost = await recheck();
  setMembers([8, 9]);
  const regained = await recheck();

  expect(lost.exitCode).toBe(0);
  expect(lost.stderr).toContain("nothing of the channel 'leads' is visible to this account");
  expect(lost.stderr).toContain('no longer visible, nor is anything else of their channels');
  expect(countsOf(lost)).toMatchObject({ gone: ids.length });
  expect(
    changesIn(folder)
      .filter(({ why }) => why === 'no-access')
      .map(({ id }) => id),
  ).toEqual(ids);
  expect(countsOf(regained)).toEqual({ edited: 0, moved: 0, gone: 0, back: ids.length });
  expect(goneIn(folder)).toEqual({});
});

test('messages that move to a private channel while a recheck reads, and new ones that arrive: unknown, never deleted', async () => {
  let isMoving = false;
  const log: (entry: LogEntry) => void = ({ path }) => {
    if (!isMoving || path !== '/api/v1/messages') return;
    isMoving = false;
    moveAway();
  };
  const service = await archived({ ...bulk, log }, '--channel firmware --topic bulk');
  const ids = service.sandbox.state.topic('firmware', 'bulk').map(({ id }) => id);
  const moved = ids.slice(10, 110);
  const moveAway = (): void => {
    service.change((rows) => rows.filter(({ id }) => moved.includes(id)).map((row) => ({ ...row, stream_id: 4 })));
    service.sandbox.state.post({ channel: 'firmware', topic: 'bulk', content: 'meanwhile' });
  };
  isMoving = true;

  const first = await service.recheck();
  const second = await service.recheck();
  service.change((rows) => rows.filter(({ id }) => moved.includes(id)).map((row) => ({ ...row, stream_id: 2 })));
  const last = await service.recheck();

  expect([first, second, last].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  expect(first.stderr + second.stderr).toContain(
    'no longer visible: deleted, or moved where this account cannot see them',
  );
  expect(service.sandbox.state.messages().filter(({ id }) => moved.includes(id))).toHaveLength(moved.length);
  expect(
    changesIn(service.folder)
      .filter(({ change }) => change === 'gone')
      .map(({ id, why }) => [id, why])
      .sort(([one], [other]) => Number(one) - Number(other)),
  ).toEqual(moved.map((id) => [id, 'unknown']));
  expect(countsOf(last)).toMatchObject({ gone: 0, back: moved.length });
  expect(goneIn(service.folder)).toEqual({});
});

test('--sender: what moved out of sight, what was deleted, and what moved within sight', async () => {
  const { sandbox, folder, recheck, change } = await archived({}, '--sender 9 --channel general');
  const [first, second, third] = sandbox.state
    .messages()
    .filter(({ sender_id, stream_id }) => sender_id === 9 && stream_id === 1);
  change(() => [
    ...(first ? [{ ...first, stream_id: 4 }] : []),
    ...(second ? [{ ...second, subject: 'moved within sight' }] : []),
  ]);
  sandbox.state.change(({ messages }) => messages.remove(third?.id ?? 0));

  const seen = await recheck();

  expect(countsOf(seen)).toEqual({ edited: 0, moved: 1, gone: 2, back: 0 });
  expect(goneIn(folder)).toEqual({ unknown: [first?.id, third?.id] });
  expect(seen.stderr).toContain(
    '2 archived messages are no longer visible: deleted, or moved where this account cannot see them',
  );
});

test('a message that was edited while it was out of sight: back, and edited', async () => {
  const { sandbox, folder, recheck, change } = await archived(bulk, '--channel firmware --topic bulk');
  const [row] = sandbox.state.topic('firmware', 'bulk');
  if (!row) throw new Error('no message');
  change(() => [{ ...row, stream_id: 4 }]);
  await recheck();
  change(() => [{ ...row, rendered: '<p>other</p>', last_edit_timestamp: row.timestamp + 60 }]);

  const { stdout } = await recheck();

  expect(JSON.parse(stdout)).toMatchObject({ edited: 1, moved: 0, back: 1 });
  expect(changesIn(folder).map(({ change: kind }) => kind)).toEqual(['gone', 'back', 'edited']);
});

test.each([
  ['a channel without access', '--channel clinic-pilot', 5, "nothing of the channel 'clinic-pilot' is visible"],
  ['the same with a topic', '--channel clinic-pilot --topic x', 5, "nothing of the channel 'clinic-pilot' is visible"],
  ['a mistyped channel', '--channel genral', 6, 'genral'],
])(
  'the first pull of %s leaves nothing behind, and the folder takes another one',
  async (_what, selection, exit, message) => {
    const service = await openSandbox();
    const folder = newFolder();

    const refused = await service.run(`archive pull ${folder} ${selection}`);
    const isLeft = existsSync(folder);
    const right = await service.run(`archive pull ${folder} --channel general`);

    expect({ exitCode: refused.exitCode, isLeft }).toEqual({ exitCode: exit, isLeft: false });
    expect(refused.stderr).toContain(message);
    expect(right.exitCode).toBe(0);
  },
);

test('a topic that is not there leaves no folder, an empty selection of a channel is an archive', async () => {
  const service = await openSandbox();
  const [folder, empty] = [newFolder(), emptyHome()];

  const nothingYet = await service.run(`archive pull ${folder} --channel general --search 'not yet' -o json`);
  const noTopic = await service.run(`archive pull ${join(empty, 'new')} --channel general --topic 'no such' -o json`);
  const refused = await service.run(`archive pull ${join(empty, 'tmp')} --channel clinic-pilot`);
  service.sandbox.state.post({ channel: 'general', topic: 'x', content: 'not yet' });
  const later = await service.run(`archive pull ${folder} -o json`);

  expect({ ...nothingYet, stdout: '' }).toMatchObject({ exitCode: 0, stderr: '' });
  expect(refused.exitCode).toBe(5);
  expect(noTopic).toMatchObject({ exitCode: 5, stdout: '' });
  expect(noTopic.error?.message).toBe("no topic 'no such' in the channel 'general': nothing was written");
  expect(existsSync(join(empty, 'new'))).toBe(false);
  expect(readdirSync(join(empty, 'tmp'))).toEqual([]);
  expect(JSON.parse(later.stdout)).toMatchObject({ messages: 1, added: 1 });
});

test.each([
  ['', { edited: 1 }],
  ['--raw-content', { edited: 1 }],
])('a preview that the server adds later is no edit, and the time of an edit is one (%s)', async (form, counts) => {
  const { sandbox, recheck, change } = await archived({}, `--channel firmware ${form}`);
  const [first, second] = sandbox.state.messages().filter(({ stream_id }) => stream_id === 2);
  if (!first || !second) throw new Error('no messages');
  change(() => [
    { ...first, rendered: `${first.rendered}<div class="message_embed"></div>` },
    { ...second, content: 'edited', rendered: '<p>edited</p>', last_edit_timestamp: second.timestamp + 60 },
  ]);

  expect(countsOf(await recheck())).toMatchObject(counts);
  expect(countsOf(await recheck())).toMatchObject({ edited: 0 });
});

test('a topic that was renamed: the pull says that its last message left, the recheck where all are, with counts', async () => {
  const server = await openChatServer({ messages: topicOf('lunch', [1, 2, 3]) });
  const folder = newFolder();
  await server.run(`archive pull ${folder} --channel 5 --topic lunch`);
  for (const message of server.messages) message.subject = '✔ lunch';

  const pulled = await server.run(`archive pull ${folder} -o json`);
  const rechecked = await server.run(`archive pull ${folder} --recheck -o json`);

  expect(pulled).toMatchObject({ exitCode: 0 });
  expect(pulled.stderr).toContain(
    'the last archived message, 3, is no longer in the topic: archive pull --recheck records where',
  );
  expect(JSON.parse(rechecked.stdout)).toMatchObject({ moved: 3 });
  expect(rechecked.stderr).toContain('moved to #kitchen > ✔ lunch (3)');
});

test('an export chooses by the place that a recheck recorded, and says which', async () => {
  const server = await openChatServer({ messages: [...topicOf('lunch', [1, 2, 3]), ...topicOf('tea', [4])] });
  const folder = newFolder();
  await server.run(`archive pull ${folder} --channel 5`);
  for (const message of server.messages.slice(0, 2)) message.subject = 'brunch';
  await server.run(`archive pull ${folder} --recheck`);
  const exported = async (topic: string) => {
    const { stdout, stderr } = await server.run(`archive export ${folder} -o ndjson --topic ${topic}`);
    return { ids: [...stdout.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id)), stderr };
  };

  expect(await exported('brunch')).toEqual({
    ids: [1, 2],
    stderr: expect.stringContaining('shown where they were: #kitchen > brunch (2)') as string,
  });
  expect(await exported('lunch')).toEqual({ ids: [3], stderr: '' });
});

test('a part that the disk breaks while a recheck reads the server: exit 3, and nothing is recorded as changed', async () => {
  const folder = newFolder();
  let isBroken = false;
  const part = join(folder, 'rendered-000001.ndjson');
  const server = await openChatServer({
    messages: topicOf('lunch', [1, 2, 3]),
    meanwhile(_messages, { path }) {
      if (isBroken && path.endsWith('/messages')) writeFileSync(part, 'x');
    },
  });
  await server.run(`archive pull ${folder} --channel 5`);
  isBroken = true;

  const { exitCode, error } = await server.run(`archive pull ${folder} --recheck -o json`);

  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 3,
    message: expect.stringContaining(`${part} is damaged: `) as string,
  });
  expect(existsSync(join(folder, 'changes.ndjson'))).toBe(false);
});
