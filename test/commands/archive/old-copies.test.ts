import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MessageRecord } from '../../../src/sandbox/records.ts';
import { emptyHome, openSandbox, type Ran } from '../../helpers/run.ts';

// The cache of the server keeps the place that messages left, and names it in each answer to a narrow on their channel
// (docs/apis.md, Old copies). The list of topics says where they are.

type Place = Partial<Pick<MessageRecord, 'subject' | 'stream_id'>>;

interface MovedLine {
  readonly id: number;
  readonly change: string;
  readonly from?: Place;
  readonly to?: Place;
}

const [firmware, general] = [2, 1];
const topics = { race: ['one', 'two', 'three', 'four'], '✔ done': ['five', 'six'], '': ['seven', 'eight'] };

/** An archive of a channel of these topics; `put` moves messages, and the cache keeps the place that they left. */
async function archived(select = '--channel firmware') {
  const { run, sandbox } = await openSandbox();
  const { state } = sandbox;
  const folder = join(emptyHome(), 'kept');
  const ids: Record<string, number[]> = {};
  for (const [topic, texts] of Object.entries(topics))
    ids[topic] = texts.map((content) => state.post({ channel: 'firmware', topic, content }));
  const put = (moved: readonly number[], to: Place, cached?: Place): void =>
    state.change(({ messages }) => {
      for (const row of messages.rows().filter(({ id }) => moved.includes(id))) {
        const { cached: _, stream_id = 0, subject, ...rest } = row;
        const old = { stream_id, subject, ...cached };
        messages.put(row.id, { ...rest, stream_id, subject, last_moved_timestamp: 1, ...to, cached: old });
      }
    });
  return {
    ...{ folder, run, state, ids, put },
    all: Object.values(ids).flat(),
    pull: () => run(`archive pull ${folder} ${select} -o json`),
    recheck: () => run(`archive pull ${folder} --recheck -o json`),
    /** What the cache has of them is as it should be again. */
    flush: () =>
      state.change(({ messages }) => {
        for (const { cached: _, ...row } of messages.rows()) messages.put(row.id, row);
      }),
  };
}

type Archived = Awaited<ReturnType<typeof archived>>;

function movesIn({ folder }: Archived): MovedLine[] {
  const path = join(folder, 'changes.ndjson');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as MovedLine).filter(({ change }) => change === 'moved');
}

const movedOf = ({ stdout }: Ran): unknown => (JSON.parse(stdout) as { readonly moved: number }).moved;

/** What people do; the messages that have another place then. */
const kinds: readonly (readonly [name: string, move: (archive: Archived) => void])[] = [
  ['a topic is renamed', ({ ids, put }) => put(ids['race'] ?? [], { subject: 'raced' })],
  ['its older half is renamed', ({ ids, put }) => put(ids['race']?.slice(0, 2) ?? [], { subject: 'raced' })],
  ['its newer half is renamed', ({ ids, put }) => put(ids['race']?.slice(2) ?? [], { subject: 'raced' })],
  ['one message is renamed', ({ ids, put }) => put(ids['race']?.slice(1, 2) ?? [], { subject: 'raced' })],
  ['it is renamed into an older topic', ({ ids, put }) => put(ids['✔ done'] ?? [], { subject: 'race' })],
  ['it is renamed into a newer topic', ({ ids, put }) => put(ids['race'] ?? [], { subject: '✔ done' })],
  [
    'two topics swap their names',
    ({ ids, put }) => {
      put(ids['race'] ?? [], { subject: '✔ done' });
      put(ids['✔ done'] ?? [], { subject: 'race' });
    },
  ],
  ['it is resolved', ({ ids, put }) => put(ids['race'] ?? [], { subject: '✔ race' })],
  ['it is unresolved', ({ ids, put }) => put(ids['✔ done'] ?? [], { subject: 'done' })],
  ['it gets the empty name', ({ ids, put }) => put(ids['race'] ?? [], { subject: '' })],
  ['it had the empty name', ({ ids, put }) => put(ids[''] ?? [], { subject: 'named' })],
  ['it goes to another channel', ({ ids, put }) => put(ids['race'] ?? [], { stream_id: general })],
  [
    'half of it goes to another channel, with another name',
    ({ ids, put }) => put(ids['race']?.slice(0, 2) ?? [], { stream_id: general, subject: 'raced' }),
  ],
];

/** The places of messages, by id. */
function placesIn({ state, all }: Archived): Map<number, Required<Place>> {
  const rows = state.messages().filter(({ id }) => all.includes(id));
  return new Map(rows.map(({ id, stream_id = 0, subject }) => [id, { stream_id, subject }]));
}

describe('old copies: a recheck records where messages went, once', () => {
  test.each(kinds)('%s after it was archived', async (_name, move) => {
    const archive = await archived();
    await archive.pull();
    const before = placesIn(archive);
    move(archive);
    const after = placesIn(archive);
    const moved = [...after.keys()].filter((id) => JSON.stringify(before.get(id)) !== JSON.stringify(after.get(id)));

    const [first, second] = [await archive.recheck(), await archive.recheck()];

    expect({ exit: [first.exitCode, second.exitCode], moved: [movedOf(first), movedOf(second)] }).toEqual({
      ...{ exit: [0, 0], moved: [moved.length, 0] },
    });
    const lines = movesIn(archive).sort((one, other) => one.id - other.id);
    expect(lines.map(({ id, from, to }) => [id, from, to])).toEqual(
      moved.map((id) => [id, before.get(id), after.get(id)]),
    );
    archive.flush();
    expect(movedOf(await archive.recheck())).toBe(0);
  });

  test.each(kinds.slice(0, -2))('%s before it was archived: the pull says so too', async (_name, move) => {
    const archive = await archived();
    const before = placesIn(archive);
    move(archive);
    const after = placesIn(archive);
    const moved = [...after.keys()].filter((id) => JSON.stringify(before.get(id)) !== JSON.stringify(after.get(id)));

    const [pull, first, second] = [await archive.pull(), await archive.recheck(), await archive.recheck()];

    expect(pull.stderr).toContain(`messages that name a topic which they left: ${moved.length};`);
    expect([movedOf(first), movedOf(second)]).toEqual([moved.length, 0]);
    const lines = movesIn(archive).sort((one, other) => one.id - other.id);
    expect(lines.map(({ id, from, to }) => [id, from, to])).toEqual(
      moved.map((id) => [id, before.get(id), after.get(id)]),
    );
  });
});

describe('a name that was never true records no move', () => {
  const phantom = ({ ids, put }: Archived): void => put(ids['race'] ?? [], {}, { subject: 'raced' });

  test.each(['--channel firmware', '--channel firmware --topic race'])('%s: after it was archived', async (select) => {
    const archive = await archived(select);
    await archive.pull();
    phantom(archive);

    expect(movedOf(await archive.recheck())).toBe(0);
    archive.flush();
    expect(movedOf(await archive.recheck())).toBe(0);
  });

  test('archived so, and right later', async () => {
    const archive = await archived();
    phantom(archive);
    await archive.pull();
    archive.flush();
    archive.state.change(({ messages }) => {
      for (const { last_moved_timestamp: _, ...row } of messages.rows()) messages.put(row.id, row);
    });

    expect(movedOf(await archive.recheck())).toBe(0);
  });
});

test('a topic whose archived copies named another one: the recheck says what moved', async () => {
  const archive = await archived('--channel firmware --topic raced');
  archive.put(archive.ids['race'] ?? [], { subject: 'raced' });

  const [pull, first, second] = [await archive.pull(), await archive.recheck(), await archive.recheck()];

  expect(pull.stderr).toContain('messages come with a place that they left');
  expect([movedOf(first), movedOf(second)]).toEqual([4, 0]);
  expect(movesIn(archive)[0]).toMatchObject({
    ...{ from: { stream_id: firmware, subject: 'race' }, to: { stream_id: firmware, subject: 'raced' } },
  });
});

test('a message of the asked topic whose copy names the empty topic is in the asked one', async () => {
  const archive = await archived('--channel firmware --topic race');
  await archive.pull();
  archive.put(archive.ids['race']?.slice(0, 1) ?? [], { subject: '' });
  archive.put(archive.ids['race'] ?? [], { subject: 'RACE' });

  expect(movedOf(await archive.recheck())).toBe(0);
});

test('messages that name a channel which no narrow shows are where the server finds them', async () => {
  const archive = await archived();
  await archive.pull();
  archive.put(archive.ids['race'] ?? [], { stream_id: general }, { stream_id: 77 });

  const [first, second] = [await archive.recheck(), await archive.recheck()];

  expect([movedOf(first), movedOf(second)]).toEqual([4, 0]);
  expect(movesIn(archive).map(({ to }) => to)).toEqual(Array(4).fill({ stream_id: general, subject: 'race' }));
});

test('messages that were archived under two spellings of a topic leave it together', async () => {
  const archive = await archived();
  const [one = 0, two = 0, three = 0, four = 0] = archive.ids['race'] ?? [];
  archive.put([one], { subject: 'RACE' }, { subject: 'RACE' });
  await archive.pull();
  const post = (content: string): number => archive.state.post({ channel: 'firmware', topic: 'race', content });
  const [last] = [post('nine'), post('ten')];
  await archive.pull();
  archive.put([one, two, three, four, last], { subject: 'raced' });

  const [first, second] = [await archive.recheck(), await archive.recheck()];

  expect([movedOf(first), movedOf(second)]).toEqual([5, 0]);
  expect(movesIn(archive).find(({ id }) => id === one)).toMatchObject({
    ...{ from: { stream_id: firmware, subject: 'RACE' }, to: { stream_id: firmware, subject: 'raced' } },
  });
});
