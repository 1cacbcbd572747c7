import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isWhole, sampleOf } from '../helpers/extent.ts';
import { bundle } from './bundle.js';
import { rules } from './rules.js';
import type * as Play from './play.ts';

const { search, seeded, worlds } = (await import(await bundle('test'))) as typeof Play;

const unlimited = { mostFailing: 3, mostCpuSeconds: Infinity };

/** Histories of seeds: with the small worlds some 100; eight times as many in `test:all`, a million in a night. */
const sizes = {
  ensure: 15,
  create: 8,
  apply: 5,
  rosters: 4,
  ledger: 6,
  retire: 8,
  rename: 6,
  purge: 5,
  purges: 3,
  archive: 5,
  files: 4,
  'sign-in': 6,
} as const;
const times = isWhole ? 8 : 1;

test.each(Object.entries(sizes))(
  '%s: in no history of %i does anything happen that no rule allows',
  async (name, size) => {
    const world = worldOf(name);
    const { histories, failing } = await search(world, seeded(world, 1, times * size), unlimited);
    expect(failing).toEqual([]);
    expect(histories).toBe(times * size);
  },
);

test.each([
  ['archive', 505_639],
  ['archive', 101_544],
  ['archive', 301_505],
  ['purge', 66_001_451],
  ['purge', 71_003_725],
  ['purge', 91_003_672],
  ['purge', 95_004_354],
  ['purge', 100_002_756],
  ['purge', 108_003_618],
  ['purge', 130_012_002],
  ['ensure', 51_018_635],
  ['ensure', 120_008_637],
  ['ensure', 140_001_876],
  ['apply', 130_005_596],
  ['ledger', 93_005_888],
  ['rename', 150_007_711],
  ['rename', 180_002_259],
  ['rosters', 61_009_062],
  ['sign-in', 61_018_230],
])('%s: the history of seed %i, once wrong, stays right', async (name, seed) => {
  const world = worldOf(name);
  expect((await world.play(world.draw(seed))).wrongs).toEqual([]);
});

const createAda = 'license create --remote-user ada --size-allowance 4 -o ndjson';
const others = ['xan', 'yve', 'zed'].map((user) => ({ user, size: 4, at: 0 }));
const shape = { stale: 4000 };

test.each([
  [
    'create: what an earlier run was answered is not what this one created',
    'create',
    {
      ...{ seed: 72_121, shape },
      runs: [
        { line: createAda, options: '--deadline 3000ms' },
        { line: createAda, after: 0, pause: 1000 },
      ],
    },
  ],
  [
    'rename: a list that still shows the old name does not say that the new one is shown',
    'rename',
    {
      ...{ seed: 70_675, shape, roster: [], others: others.slice(0, 2) },
      runs: [
        { line: 'license edit OTHER-2 --remote-user ada -o ndjson' },
        { line: 'license ensure --remote-user yve --size-allowance 4 -o ndjson', pause: 50 },
        { line: 'license rename xan ada -y -o ndjson', pause: 1000 },
      ],
    },
  ],
  [
    'apply: a list that still shows the old name does not end the change that gave the new one',
    'rename',
    {
      ...{ seed: 13_112_864, shape: { stale: 4000 }, others: [{ user: 'xan', size: 4, at: 0 }] },
      roster: ['ada', 'ben', 'cyd'].map((user) => [user, 4]),
      runs: [
        { line: 'license edit OTHER-1 --remote-user cyd -o ndjson', pause: 4000 },
        { line: 'license apply /home/ada/roster.csv -o ndjson -y', pause: 4000 },
        { line: 'license ensure --remote-user ben --size-allowance 4 -o ndjson', pause: 4000 },
        { line: 'license rename xan ada -y -o ndjson' },
      ],
    },
  ],
  [
    'rename: the history tells nothing of a rename that a kill came before',
    'rename',
    {
      ...{ seed: 72_331, roster: [], others },
      ...{ names: ['xan ada', 'yve ben', 'zed cyd'].map((pair) => pair.split(' ')) },
      runs: [
        { line: 'license ensure --remote-user xan --size-allowance 4 -o ndjson' },
        {
          ...{ line: 'license rename --from /home/ada/names.csv -y -o ndjson', pause: 4000 },
          fate: { kill: { at: 104, how: 'kill', loss: 'none' } },
        },
      ],
    },
  ],
])('%s', async (_what, world, plan) => {
  expect((await worldOf(world).play(plan)).wrongs).toEqual([]);
});

const ensureOf = (user: string) => `license ensure --remote-user ${user} --size-allowance 4 -o ndjson`;
const ensureAda = ensureOf('ada');

test.each([
  {
    about: 'another program has issued the license, and a resize is answered with nothing',
    seed: 100_894,
    runs: [
      { line: ensureAda, pause: 20 },
      { line: ensureAda, after: 0, pause: 9000 },
    ],
    mishaps: [{ method: 'PATCH', nth: 1, reply: 'empty', commit: 0 }],
    others: [{ user: 'ada', size: 3, at: 0 }],
  },
  {
    about: 'a resize is answered with nothing, and carried out a little later',
    seed: 300_329,
    runs: [{ line: ensureAda, pause: 9000 }],
    mishaps: [{ method: 'PATCH', nth: 1, reply: 'empty', commit: 700 }],
    others: [{ user: 'ada', size: 3, at: 0 }],
  },
  {
    about: 'the power is cut after a run has ended, and lists no longer show its license',
    ...{ seed: 541, habits: { newest: 1 } },
    runs: [
      { line: ensureAda },
      { line: ensureOf('ben'), after: 0 },
      { line: ensureOf('cyd'), after: 1, fate: { kill: { at: 40, how: 'power', loss: 'all' } } },
      { line: ensureAda, after: 2 },
    ],
  },
  {
    about: 'a list shows what was answered only after the run, and later shows nothing again',
    seed: 1,
    habits: {
      gaps: [
        [0, 8000],
        [15_000, 60_000],
      ],
    },
    runs: [
      { line: ensureAda },
      { line: ensureAda, after: 0, pause: 4000 },
      { line: ensureAda, after: 1, pause: 10_000 },
    ],
  },
  {
    about: 'the disk fails while the computer is marked, and its power is cut',
    seed: 508_111,
    runs: [
      { line: ensureAda, fate: { disk: { at: 36, code: 'EIO' } } },
      { line: ensureAda, pause: 20, fate: { kill: { at: 60, how: 'power', loss: 'all' } } },
      { line: ensureAda, after: 0, pause: 1000, fate: { disk: { at: 46, code: 'EIO' } } },
      { line: ensureAda, after: 0, fate: { disk: { at: 33, code: 'EIO' } } },
    ],
    mishaps: [
      { method: 'POST', nth: 5, reply: 'dropped', commit: 2000 },
      { method: 'POST', nth: 1, reply: 'refused' },
      { method: 'GET', nth: 4, reply: 'refused' },
    ],
    shape: { stale: 0, filters: 'changed' },
  },
])('ensure: a history that was wrong once stays right: $about', async ({ about: _, ...plan }) => {
  expect((await worldOf('ensure').play(plan)).wrongs).toEqual([]);
});

test('retire: a run leaves nothing, and is no error of the program, where its output is full', async () => {
  const fate = { stdout: { nth: 1, code: 'ENOSPC' } };
  const runs = [{ line: 'license retire OTHER-1 -y -o ndjson', fate }];
  const others = [{ user: 'ada', size: 4, at: 0 }];
  expect((await worldOf('retire').play({ seed: 261, runs, others })).wrongs).toEqual([]);
});

test.each([
  'license apply /home/ada/roster.csv -o ndjson -y',
  'license rename zed Zed-2 -o ndjson -y',
  'license retire --remote-user zed -o ndjson -y',
  'license edit OTHER-1 --size-allowance 2 -o ndjson -y',
  'license create --remote-user ada --size-allowance 4 -o ndjson -y',
  ensureAda,
])('a disk that fails at any call: the exit code says what was done: %s', async (line) => {
  const plan = {
    seed: 7,
    roster: ['ada', 'user-1', 'zed'].map((user): [string, number] => [user, 4]),
    others: [{ user: 'zed', size: 3, at: 0 }],
  };
  const world = worldOf(line.includes('apply') ? 'apply' : 'ensure');
  const { calls } = await world.play({ ...plan, runs: [{ line }] });
  const wrongs = [];
  for (let at = 1; at <= (calls[0] ?? 0); at += isWhole ? 1 : 8)
    wrongs.push(...(await world.play({ ...plan, runs: [{ line, fate: { disk: { at, code: 'EIO' } } }] })).wrongs);
  // The judges know other lines than these: of them only what every run has to keep.
  expect(wrongs.filter((wrong) => wrong.includes(' is exit '))).toEqual([]);
  expect(calls[0]).toBeGreaterThan(10);
});

test('rename: a license that an old list shows under its old name is none of the names that another row gets', async () => {
  const plan = {
    seed: 117,
    runs: [
      { line: 'license rename yve cyd -y -o ndjson' },
      { line: 'license rename --from /home/ada/names.csv -y -o ndjson', pause: 1000 },
    ],
    others: ['yve', 'zed'].map((user) => ({ user, size: 4, at: 0 })),
    names: [
      ['yve', 'ben'],
      ['zed', 'cyd'],
    ],
    shape: { stale: 4000 },
  };
  expect((await worldOf('rename').play(plan)).wrongs).toEqual([]);
});

test('ledger: what one computer was answered, and another one sees listed, a third one knows', async () => {
  const applyRoster = 'license apply /home/ada/roster.csv -o ndjson -y';
  const plan = {
    seed: 1507,
    runs: [
      { line: applyRoster },
      { line: applyRoster, after: 0, pause: 9000, computer: 1 },
      { line: applyRoster, after: 1, pause: 4000, computer: 2 },
    ],
    ledger: {},
    roster: ['ada', 'user-1'].map((user): [string, number] => [user, 4]),
    habits: {
      gaps: [
        [344, 8000],
        [16_000, 75_000],
      ],
    },
  };
  expect((await worldOf('ledger').play(plan)).wrongs).toEqual([]);
});

test(`a small world, ends of the first run of ensure with replies and moments: each ${1120 / times}th`, async () => {
  const world = worldOf('ensure');
  const { histories, failing, limits } = await search(world, world.whole(false, 1120 / times), unlimited);
  expect(failing).toEqual([]);
  expect(histories).toBeGreaterThan(11 * times);
  // Counted, and not left out.
  expect([...limits.keys()].sort()).toEqual(['answered and not kept', 'carried out though it was refused']);
});

test(`a small purge of two calls: kills with every reply, moment and movement, of 1.8 million histories ${2 * times}`, async () => {
  const world = worldOf('purge');
  const { histories, failing } = await search(world, world.whole(false, 800_000 / times), unlimited);
  expect(failing).toEqual([]);
  expect(histories).toBeGreaterThan(times);
});

test(`a small archive: kills of its first run beside each thing that people do, of 30,000 histories ${3 * times}`, async () => {
  const world = worldOf('archive');
  const { histories, failing } = await search(world, world.whole(false, 10_000 / times), unlimited);
  expect(failing).toEqual([]);
  expect(histories).toBeGreaterThan(times);
});

test('what a killed pull left without a line is gone once the same pull has found nothing more', async () => {
  const line = 'archive pull /home/ada/archive --channel general --topic plans --both -o ndjson';
  const people = [{ does: 'rename', nth: 0, at: 1050 }];
  for (let at = 40; at < 80; at += isWhole ? 1 : 3) {
    const runs = [{ line, fate: { kill: { at, how: 'kill' } } }];
    expect((await worldOf('archive').play({ seed: 45, messages: 3, people, runs })).wrongs).toEqual([]);
  }
});

test('a list whose end a power cut tore is whole after the next run, and stays so', async () => {
  const line = 'archive pull /home/ada/archive --channel general --raw-content -o ndjson';
  const { wrongs } = await worldOf('archive').play({
    ...{ seed: 1_004_108, messages: 25, level: 256 },
    runs: [{ line }, { line: `${line} --recheck`, after: 0, fate: { kill: { at: 55, how: 'power', loss: 'drawn' } } }],
    people: [
      { does: 'edit', nth: 53, at: 2913 },
      { does: 'remove', nth: 38, at: 22, on: { call: 'read', nth: 3 } },
    ],
  });
  expect(wrongs).toEqual([]);
});

test('what a recheck says of messages stays with them, though a killed run wrote their line and the power is cut', async () => {
  const line = 'archive pull /home/ada/archive --channel general --topic plans --both -o ndjson';
  for (let at = 72; at < 80; at += 1) {
    const runs = [
      { line, fate: { kill: { at: 53, how: 'zombie', loss: 'drawn' } } },
      { line, pause: 4000, fate: { kill: { at, how: 'zombie', loss: 'all' } } },
      { line: `${line} --recheck`, after: 1, fate: { kill: { at: 84, how: 'power', loss: 'drawn' } } },
    ];
    const people = [{ does: 'rename', nth: 8, at: 44, on: { call: 'read', nth: 1 } }];
    const sizes = { page: 19, look: 19, batch: 19, newest: 19 };
    const plan = { seed: 42_001_232, messages: 33, level: 372, sizes, runs, people };
    expect((await worldOf('archive').play(plan)).wrongs).toEqual([]);
  }
});

test('a disk that fails once a license was found that an error had hidden is no exit 3', async () => {
  const line = 'license apply /home/ada/roster.csv -o ndjson -y --retire-missing --max-retire 3';
  const { wrongs } = await worldOf('apply').play({
    ...{ seed: 10_002_647, roster: [['ada', 4]], others: [{ user: 'xan', size: 3, at: 0 }] },
    runs: [{ line, fate: { disk: { at: 190, code: 'EROFS' } } }],
    mishaps: [{ method: 'POST', nth: 1, reply: '500', commit: 0 }],
  });
  expect(wrongs).toEqual([]);
});

test('a disk that fails while an archive is opened is an error of the disk', async () => {
  const line = 'archive pull /home/ada/archive --channel general --topic plans -o ndjson';
  for (let at = 36; at < 46; at += 1) {
    const runs = [{ line }, { line, after: 0, fate: { disk: { at, code: 'ENOSPC' } } }];
    expect((await worldOf('archive').play({ seed: 43_001_311, messages: 9, runs })).wrongs).toEqual([]);
  }
});

test('a success without messages answers a delete call: what somebody hides right after it counts as deleted', async () => {
  const { wrongs, limits } = await worldOf('purge').play({
    ...{ seed: 44_000_203, messages: 17, level: 256, batches: 1, sizes: { page: 7, look: 7, batch: 7, newest: 7 } },
    runs: [{ line: 'topic delete id:1 plans --confirm plans --archive /home/ada/archive -o ndjson' }],
    mishaps: [{ call: 'delete', nth: 1, reply: 'empty' }],
    people: [{ does: 'hide-all', nth: 55, at: 3, on: { call: 'delete', nth: 1 } }],
  });
  expect([wrongs, limits]).toEqual([[], ['left the sight of the account during an answered call']]);
});

test('no row tells of an edit after the last look, though a call that had failed for long deletes its message', async () => {
  const plan = worldOf('purge').draw(71_003_725) as { readonly people: readonly { readonly does: string }[] };
  const people = plan.people.map((one) => (one.does === 'edit' ? { does: 'edit', nth: 10, at: 3060 } : one));
  expect((await worldOf('purge').play({ ...plan, people })).wrongs).toEqual([]);
});

test('a file is missing whose second address, got by a second attempt, has none either', async () => {
  const { wrongs } = await worldOf('files').play({
    ...{ seed: 800_194, messages: 17, sizes: {}, people: [] },
    runs: [{ line: 'archive pull /home/ada/archive --channel general -o ndjson --files' }],
    files: {
      count: 1,
      mishaps: [
        { call: 'content', nth: 1, reply: '404' },
        { call: 'address', nth: 2, reply: '502' },
      ],
      deeds: [{ does: 'vanish', file: 3, on: { call: 'content', nth: 2 } }],
    },
  });
  expect(wrongs).toEqual([]);
});

const purgeLine = 'topic delete id:1 plans --confirm plans --archive /home/ada/archive -o ndjson';

test.each([
  {
    about: 'what went in the call of a killed run is not deleted, although a later call is answered',
    messages: 3,
    runs: [
      { line: purgeLine, fate: { kill: { at: 0, since: 'POST', how: 'kill' } } },
      { line: purgeLine, after: 0, pause: 1000 },
    ],
    people: [{ does: 'hide', nth: 2, at: 900 }],
  },
  {
    about: 'a run that gives up asks for what is gone by its ids',
    messages: 5,
    mishaps: [1, 2, 3].map((nth) => ({ call: 'delete', nth, reply: 'whole' })),
    people: [{ does: 'move', nth: 4, at: 0, on: { call: 'delete', nth: 1 } }],
  },
  {
    about: 'what went in an answered call counts as deleted, though it comes back after the last look',
    ...{ seed: 2_001_574, messages: 45, batches: 1 },
    people: [
      { does: 'newer', nth: 46, to: { stream_id: 2 }, at: 54, on: { call: 'read', nth: 11 } },
      { does: 'back', nth: 31, at: 38, on: { call: 'look', nth: 3 } },
      { does: 'hide-all', nth: 52, at: 19, on: { call: 'look', nth: 1 } },
    ],
    sizes: { page: 25, look: 25, batch: 1, newest: 1, window: 5 },
  },
  {
    about: 'what was not looked for everywhere is not deleted, neither in the row nor in the history',
    messages: 9,
    mishaps: [{ call: 'read', nth: 11, reply: '500' }],
  },
  {
    about: 'a message that came is counted of a held topic too, as the history does',
    ...{ seed: 70_000_015, messages: 9, keep: [{ nths: [3] }], batches: 1 },
    runs: [{ line: `${purgeLine} --hold /home/ada/hold.ndjson` }],
    people: [
      { does: 'move', nth: 3, at: 0 },
      { does: 'back', nth: 3, at: 25, on: { call: 'read', nth: 5 } },
    ],
    sizes: { page: 4, look: 4, batch: 4, newest: 4, window: 5 },
  },
  {
    about: 'what somebody removes after a look that no call followed is not deleted by a later run',
    ...{ seed: 63_100_209, messages: 3, level: 200 },
    runs: [
      { line: purgeLine, fate: { disk: { at: 187, code: 'ENOSPC' } } },
      { line: purgeLine, pause: 1000 },
    ],
    people: [{ does: 'remove', nth: 20, at: 1150 }],
  },
  {
    about: 'the history tells of a purge that failed what was found of it in private channels',
    ...{ seed: 63_100_046, messages: 3, level: 150, elsewhere: 4 },
    mishaps: [
      { call: 'delete', nth: 1, reply: 'whole' },
      { call: 'look', nth: 3, reply: 'empty' },
    ],
    people: [
      { does: 'hide-all', nth: 39, at: 7, on: { call: 'delete', nth: 1 } },
      { does: 'vault', nth: 15, at: 484 },
    ],
  },
  {
    about: 'a run that makes its archive where another one was taken away goes on',
    ...{ messages: 30, batches: 1, sizes: { batch: 1 } },
    runs: [{ line: purgeLine }, { line: purgeLine, pause: 260 }],
    take: { at: 0, on: { call: 'look', nth: 1 } },
  },
  {
    about: 'a message that a last look found elsewhere is not deleted, although the next request of that look failed',
    ...{ seed: 21_531, messages: 13, level: 489, people: [{ at: 736, does: 'move', nth: 10 }] },
    mishaps: [
      { call: 'delete', nth: 1, reply: 'made', commit: 700 },
      { call: 'read', nth: 8, reply: '500' },
    ],
  },
  {
    about: 'beside one that a sample found elsewhere none counts as deleted, not even one that is out of sight by now',
    ...{ seed: 500_257, messages: 9, level: 256, batches: 1000, elsewhere: 3 },
    mishaps: [{ call: 'delete', nth: 1, reply: 'whole' }],
    people: [
      { does: 'rename', nth: 5, at: 25, on: { call: 'delete', nth: 1 } },
      { does: 'vault', nth: 0, at: 1974 },
    ],
    sizes: { page: 4, look: 4, batch: 1, newest: 4, window: 5 },
  },
  {
    about: 'a look is deep enough where nothing but a message that somebody moved is gone since the last one',
    ...{ seed: 20_000_025, messages: 48, level: 489, batches: 1000 },
    mishaps: [
      { call: 'delete', nth: 1, reply: '500', commit: 0, batches: 1 },
      { call: 'delete', nth: 2, reply: '500' },
    ],
    people: [
      { does: 'edit', nth: 0, at: 34, on: { call: 'delete', nth: 2 } },
      { does: 'move', nth: 28, at: 59, on: { call: 'delete', nth: 2 } },
    ],
    sizes: { page: 10, look: 10, batch: 10, newest: 10 },
  },
])('purge: $about', async ({ about: _, ...plan }) => {
  const { wrongs } = await worldOf('purge').play({ seed: 1, level: 489, runs: [{ line: purgeLine }], ...plan });
  expect(wrongs).toEqual([]);
});

test('a power cut in the first run on a computer takes neither the claims nor the mark of the computer', async () => {
  const world = worldOf('ensure');
  const line = 'license ensure --remote-user ada --size-allowance 4 -o ndjson';
  const mishaps = [{ method: 'POST', nth: 1, reply: 'dropped', commit: 4000 }];
  for (let at = 40; at < 70; at += isWhole ? 3 : 6) {
    const runs = [
      { line, fate: { kill: { at, how: 'power' } } },
      { line, after: 0 },
    ];
    expect((await world.play({ seed: 1, mishaps, runs })).wrongs).toEqual([]);
  }
});

/** Eight requests in the queue of a slow server. */
const eightAtOnce = {
  seed: 5,
  roster: Array.from({ length: 8 }, (_, index) => [`user-${index}`, 4]),
  queue: { workers: 1, order: 'fifo', cost: [2500, 3000], limit: 500 },
};
const applyEight = 'license apply /home/ada/roster.csv -o ndjson -y --concurrency 8';
const ensureZed = 'license ensure --remote-user zed --size-allowance 4 -o ndjson';

test('after a power cut all requests count that the run had under way', async () => {
  const fate = { kill: { at: 20, how: 'power', since: 'POST' } };
  const runs = [
    { line: ensureZed },
    // No server is slow any more, and the folder has been synced.
    { line: applyEight, after: 0, pause: 90_000, fate },
    { line: applyEight, after: 1 },
  ];
  expect((await worldOf('apply').play({ ...eightAtOnce, runs })).wrongs).toEqual([]);
});

test.each(sampleOf(2, [4, 10, 16, 22]))(
  'what a run has under way that is stopped at call %i counts for others',
  async (at) => {
    const fate = { stop: { at, since: 'POST', span: 60_000 } };
    const runs = [
      { line: applyEight, fate },
      { line: `${ensureZed} --timeout 2s`, pause: 1000 },
    ];
    expect((await worldOf('apply').play({ ...eightAtOnce, runs })).wrongs).toEqual([]);
  },
);

test('a sign-out whose output is closed forgets every profile all the same', async () => {
  const logout = { line: 'auth logout --all -y -o ndjson', after: 0, fate: { stdout: { nth: 1, code: 'EPIPE' } } };
  expect((await worldOf('sign-in').play({ seed: 1, runs: [signIn('a', 1), logout] })).wrongs).toEqual([]);
});

const signIn = (name: string, key: number, fate = {}) => ({
  line: `auth login licensing --base-url https://licensing.test --app-code 4711 --name ${name} --api-key-file /home/ada/key-${key} --no-check -y -o ndjson`,
  fate,
});

test('a power cut after a login said that it stored a profile takes neither profile nor key', async () => {
  const runs = [signIn('a', 1), { ...signIn('b', 2, { kill: { at: 1, how: 'power' } }), after: 0 }];
  expect((await worldOf('sign-in').play({ seed: 1, runs })).wrongs).toEqual([]);
});

test('a login that is killed leaves no draft with its key beyond the next one, and no file that is cut', async () => {
  for (let at = 68; at < 96; at += 3)
    for (const fate of [{ kill: { at, how: 'kill' } }, { disk: { at, code: 'ENOSPC' } }]) {
      const runs = [signIn('a', 1, fate), { line: 'auth logout --all -y -o ndjson', after: 0 }];
      expect((await worldOf('sign-in').play({ seed: at, runs })).wrongs).toEqual([]);
    }
});

test('archive: lines that are not synced are not sealed, and a power cut that takes them damages nothing', async () => {
  const pull = 'archive pull /home/ada/archive --channel general --both -o ndjson';
  const plan = {
    seed: 140_021_710,
    runs: [
      { line: pull, fate: { disk: { at: 105, of: 'sync', path: 'parts.ndjson', code: 'EIO' } } },
      { line: `${pull} --recheck`, after: 0, fate: { kill: { at: 26, how: 'power', loss: 'all' } } },
    ],
    ...{ messages: 9, level: 372, people: [], sizes: { page: 4, look: 4, batch: 1, newest: 4 } },
  };
  expect((await worldOf('archive').play(plan)).wrongs).toEqual([]);
});

test('the same seed tells the same story', async () => {
  const world = worldOf('apply');
  const tell = async (): Promise<string[]> => {
    const story: string[] = [];
    await world.play(world.draw(7), (line) => story.push(line));
    return story;
  };
  const first = await tell();
  expect(first.length).toBeGreaterThan(100);
  expect(await tell()).toEqual(first);
});

test('a rule that is taken out is found', async () => {
  const rule = rules.find(({ name }) => name === 'one run has a user');
  if (!rule) throw new Error('there is no such rule');
  const without = (await import(await bundle('test-without', [rule]))) as typeof Play;
  const world = without.worlds[rule.world];
  if (!world) throw new Error(`no world is called ${rule.world}`);
  // Its first history does wrong today; others follow, so that a change of the program costs no more than time.
  const plans = without.seeded(world, 40, 2000);
  const { failing } = await without.search(world, plans, { mostFailing: 1, mostCpuSeconds: 60 });
  expect(failing.flatMap(({ wrongs }) => wrongs)).toContainEqual(
    expect.stringMatching(/^\w+ has ([23]) licenses, \1 of them ours$/),
  );
});

test('there is one place of each rule', () => {
  const others = rules.filter(({ file, from }) => readFileSync(`src/${file}`, 'utf8').split(from).length !== 2);
  expect(others).toEqual([]);
});

function worldOf(name: string) {
  const world = worlds[name];
  if (!world) throw new Error(`no world is called ${name}`);
  return world;
}
