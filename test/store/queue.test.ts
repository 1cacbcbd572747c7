import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Failure } from '../../src/core/failure.ts';
import { summedLine } from '../../src/store/disk/records.ts';
import { acquireLock, lockFolder } from '../../src/store/lock/lock.ts';
import { localQueue, localUnderWay } from '../../src/store/lock/local-queue.ts';
import { hashOf, runName } from '../../src/store/lock/request-record.ts';
import {
  emptyQueue,
  openQueue,
  queueAfter,
  queueAt,
  type LeftRequests,
  type QueueState,
} from '../../src/store/queue.ts';
import { endProcess } from '../helpers/end-process.ts';
import { sleptClock } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';
import { place, type Place } from './place.ts';

/** docs/exactly-once.md, A server has a queue. */

const settle = 5000;
const origin = 'https://here.test';
const own = (posts: number, others = 0): LeftRequests => ({ by: 'me', posts, others, settle });
const begun = (posts: number, at: number): QueueState => queueAfter(emptyQueue, at, own(posts), 'left');

describe('of n requests none counts as not carried out before n times --settle', () => {
  test.each([
    [1, 15_000],
    [2, 20_000],
    [4, 30_000],
  ])('n = %i', (posts, until) => {
    expect(queueAt(begun(posts, 10_000), 10_000, settle)).toEqual({ pending: posts, until, isSlow: true });
  });

  test('after the last end of one of them', () => {
    expect(queueAt(queueAfter(begun(1, 10_000), 12_000, own(2), 'left'), 12_000, settle).until).toBe(22_000);
  });

  test('after the last moment at which one was shown', () => {
    expect(queueAt(queueAfter(begun(2, 10_000), 14_000, own(1), 'shown'), 14_000, settle).until).toBe(19_000);
  });
});

test('a lookup without an answer counts in n, and moves no moment: a rough network ends', () => {
  const state = queueAfter(begun(1, 10_000), 12_000, own(1, 1), 'more');
  expect(queueAt(state, 12_000, settle)).toMatchObject({ pending: 1, until: 20_000 });
});

test('a lookup without an answer after that moment moves none either: the wait does not begin again', () => {
  const state = queueAfter(begun(1, 10_000), 16_000, own(1, 3), 'more');
  expect(queueAt(state, 16_000, settle)).toMatchObject({ pending: 1, until: 30_000 });
});

test('reads of another run count no longer once nothing is pending', () => {
  const other = { by: 'another', posts: 0, others: 3, settle };
  const state = queueAfter(queueAfter(emptyQueue, 10_000, { ...other, posts: 1 }, 'left'), 11_000, other, 'shown');
  expect(queueAt(queueAfter(state, 12_000, own(1), 'left'), 12_000, settle).until).toBe(17_000);
});

test('then nothing is pending, and the server is slow for a minute more', () => {
  const state = begun(1, 10_000);
  expect(queueAt(state, 15_000, settle)).toMatchObject({ pending: 0, isSlow: true });
  expect(queueAt(state, 75_000, settle).isSlow).toBe(false);
});

test('requests without an answer count until the server must have carried them out, one in each --settle', async () => {
  const host = at(1_000_000);
  const run = await runOn(host);
  const left = async () => (await run.until()) - host.clock.now();
  for (let request = 0; request < 3; request += 1) run.unanswered();
  host.clock.pass(2 * settle);
  await run.pend();
  expect(await left()).toBe(2 * settle);
  host.clock.pass(settle);
  run.unanswered();
  expect(await left()).toBe(2 * settle);
  // What one more POST stands behind is counted whole: which of them were carried out is not known.
  await run.pend();
  expect(await left()).toBe(4 * settle);
  await run.decided('shown');
  expect(await left()).toBe(3 * settle);
  host.clock.pass(3 * settle);
  await run.decided('not carried out');
  await run.pend();
  expect(await left()).toBe(settle);
});

/** A computer whose time passes only where somebody sleeps. */
function at(time: number): Place & { readonly clock: ReturnType<typeof sleptClock> } {
  return { ...place(), clock: sleptClock(time) };
}

/** The queue of a run on that computer. */
async function runOn(host: Place, notes: string[] = []) {
  const { elapsed, sleep } = host.clock;
  const said = { note: (text: string) => void notes.push(text), warn: (text: string) => void notes.push(text) };
  const by = runName(origin, 1);
  const underWay = await localUnderWay(origin, by, host);
  return openQueue([await localQueue(origin, host)], { by, settle, underWay, elapsed, sleep, ...said });
}

test('a server to which nothing is pending is not slow, also in the first minute of a clock', async () => {
  const host = at(1_000_000);
  const clock = { ...host.clock, elapsed: () => 0 };
  expect(await (await runOn({ ...host, clock })).look()).toMatchObject({ pending: 0, isSlow: false });
});

test.each([
  ['nobody could count them before', [], 1],
  ['two were counted before', [2], 3],
])('where what others have under way cannot be counted, a run waits as long as before: %s', async (...given) => {
  const [, counts, times] = given;
  const host = at(1_000_000);
  const { elapsed, sleep } = host.clock;
  const left = [...counts];
  const underWay = {
    during: <T>(send: () => Promise<T>) => send(),
    stay: () => undefined,
    ofOthers: async () => {
      const count = left.shift();
      if (count === undefined) throw new Failure('config', 'cannot read the folder');
      return count;
    },
  };
  const said = { note: () => undefined, warn: () => undefined };
  const queue = openQueue([await localQueue(origin, host)], { by: 'own', settle, underWay, elapsed, sleep, ...said });
  await queue.pend();
  for (const _look of [1, 2]) expect((await queue.until()) - elapsed()).toBe(times * settle);
});

test('where the file of the queue cannot be read, what others have left counts as before', async () => {
  const host = at(1_000_000);
  const [one, other] = [await runOn(host), await runOn(host)];
  await one.pend();
  await other.pend();
  expect(await other.until()).toBe(1_010_000);
  const path = join(await lockFolder(host.system), `${hashOf(origin)}.queue`);
  rmSync(path);
  mkdirSync(path);
  expect(await other.until()).toBe(1_010_000);
});

test('what one run has pending stops the others, who say every 10 s what they wait for', async () => {
  const host = at(1_000_000);
  const notes: string[] = [];
  const [one, other] = [await runOn(host), await runOn(host, notes)];
  for (let post = 0; post < 3; post += 1) await one.pend();
  expect(await other.look()).toEqual({ pending: 3, until: 1_015_000, isSlow: true });
  const begun = await other.turn(async (hasWaited) => [hasWaited, host.clock.now() >= 1_015_000]);
  expect(begun).toEqual([true, true]);
  expect(notes).toEqual(['waiting for a request without an answer, which the server may still carry out']);
});

test('the turns of two runs do not meet', async () => {
  const host = at(1_000_000);
  const steps: string[] = [];
  const turnOf = async (name: string) =>
    (await runOn(host)).turn(async () => {
      steps.push(`${name} begins`);
      await host.clock.sleep(300);
      steps.push(`${name} ends`);
    });
  await Promise.all([turnOf('a'), turnOf('b')]);
  expect(steps.map((step) => step.slice(2))).toEqual(['begins', 'ends', 'begins', 'ends']);
  expect(steps[0]?.[0]).toBe(steps[1]?.[0]);
});

/** A run of that width that dies while it sends so many POSTs; `boot`: before that computer was started again. */
async function deadRun(host: Place, sending: number, boot: 'this' | 'an earlier' = 'this') {
  const folder = await lockFolder(host.system);
  const [base, by] = [hashOf('another application'), runName(origin, 4)];
  const holder = join(folder, `${base}.${by}.holder`);
  await acquireLock(holder, host);
  const underWay = await localUnderWay(origin, by, host);
  for (let post = 0; post < sending; post += 1) void underWay.during(() => new Promise<void>(() => undefined));
  const file = join(folder, `${hashOf(origin)}.${by}.sending`);
  await vi.waitFor(() => expect(sending > 0 ? statSync(file).size : 0).toBe(sending));
  endProcess(join(host.folder, 'home'));
  if (boot === 'an earlier')
    writeFileSync(holder, readFileSync(holder, 'utf8').replace(/"boot":"[^"]*"/, '"boot":"x"'));
  return { folder, files: [basename(holder), basename(file)] };
}

test(
  'what a dead run had under way is counted once, from the moment at which it is first seen',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    const { folder, files } = await deadRun(host, 4);
    const [one, other] = [await runOn(host), await runOn(host)];
    await one.pend();
    expect(await other.look()).toMatchObject({ pending: 5, until: 1_025_000 });
    expect(readdirSync(folder).filter((name) => files.includes(name))).toEqual([]);
    host.clock.pass(10_000);
    await one.decided('shown');
    await other.pend();
    expect(await one.look()).toMatchObject({ pending: 5, until: 1_035_000 });
  },
);

test.each([
  ['two POSTs', 2, 'this', 3],
  ['none', 0, 'this', 1],
  ['none, by what a power cut left: as many as it sends at a time', 0, 'an earlier', 5],
] as const)(
  'a dead run has under way what it was sending: %s',
  needs('proc'),
  async (_what, sending, boot, pending) => {
    const host = at(1_000_000);
    await deadRun(host, sending, boot);
    const one = await runOn(host);
    await one.pend();
    expect(await one.look()).toMatchObject({ pending, until: 1_000_000 + pending * settle });
  },
);

test('of a run that was stopped while it sends, each POST that it has under way counts', async () => {
  const host = at(1_000_000);
  const folder = await lockFolder(host.system);
  const by = runName(origin, 4);
  const end = await acquireLock(join(folder, `${hashOf('another application')}.${by}.holder`), host);
  const stopped = await localUnderWay(origin, by, host);
  const sent = join(folder, `${hashOf(origin)}.${by}.sending`);
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const sending = [1, 2].map(() => stopped.during(() => answered));
  await vi.waitFor(() => expect(statSync(sent).size).toBe(2));
  const one = await runOn(host);
  await one.pend();
  expect(await one.look()).toMatchObject({ pending: 1, until: 1_015_000 });
  answer();
  await Promise.all(sending);
  expect(await one.look()).toMatchObject({ pending: 1, until: 1_005_000 });
  await end();
});

test('what a run could not remove when it ended the next one removes that has a POST without an answer', async () => {
  const host = at(1_000_000);
  const file = join(await lockFolder(host.system), `${hashOf(origin)}.${runName(origin, 4)}.sending`);
  writeFileSync(file, '..');
  await (await runOn(host)).pend();
  expect(existsSync(file)).toBe(false);
});

const future = summedLine({ ...begun(3, 1000), since: 9_000_000, decided: 9_000_000 });

test.each([
  ['a file that is damaged counts as one pending request', 'x', 1],
  ['a file that was cut', future.slice(0, -2), 1],
  ['a file of another content than was written', summedLine(begun(3, 1000)).replace('"posts":3', '"posts":0'), 1],
  ['a moment in the future counts as now', future, 3],
])('%s, from when it is first seen', async (_what, text, pending) => {
  const host = at(1_000_000);
  writeFileSync(join(await lockFolder(host.system), `${hashOf(origin)}.queue`), text);
  const until = 1_000_000 + pending * settle;
  expect(await (await runOn(host)).look()).toEqual({ pending, until, isSlow: true });
  host.clock.pass(1000);
  expect(await (await runOn(host)).look()).toEqual({ pending, until, isSlow: true });
});
