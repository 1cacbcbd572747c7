import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { realAlarm } from '../../../src/cli/clock.ts';
import { Failure } from '../../../src/core/failure.ts';
import { RunState } from '../../../src/jobs/license/give-ports.ts';
import { Places } from '../../../src/jobs/license/places.ts';
import type { WriteSight } from '../../../src/jobs/license/pending-writes.ts';
import { LicenseWrites } from '../../../src/store/record/joined-writes.ts';
import { sleptClock } from '../../helpers/clock.ts';

/** The reads of a run with two retries. */
function reads(isByList = false, files: ConstructorParameters<typeof LicenseWrites>[0] = []) {
  const clock = sleptClock();
  const lines: string[] = [];
  const said = { say: (line: string): void => void lines.push(line), warn: () => undefined };
  const { signal } = new AbortController();
  const world = {
    ...clock,
    ...said,
    random: () => 0.5,
    concurrency: 4,
    settle: 5000,
    retries: 2,
    isByList: () => isByList,
  };
  const store = new LicenseWrites(files, { clock, alarm: realAlarm, signal, say: said.say, token: 'x', settle: 5000 });
  const places = new Places(store, world);
  const noAnswer = new Failure('unavailable', 'no answer');
  const ends = async (work: () => Promise<string>): Promise<boolean> =>
    places.read(work).then(
      () => false,
      (cause: unknown) => cause instanceof Failure && places.isEndedBy(cause),
    );
  return {
    ...{ places, clock, store, lines },
    silence: () => {
      store.unanswered();
    },
    answered: () => ends(() => Promise.resolve('shown')),
    refused: () => ends(() => Promise.reject(new Failure('rejected', 'refused'))),
    silent: () => ends(() => Promise.reject(noAnswer)),
    limited: () =>
      ends(() => Promise.reject(new Failure('unavailable', '429', { http: { method: 'GET', url: '/', status: 429 } }))),
  };
}

// docs/exactly-once.md, A place for each write.
test('more than --retries requests in a row without a response end the run', async () => {
  const { silent } = reads();
  expect([await silent(), await silent(), await silent()]).toEqual([false, false, true]);
});

test.each(['answered', 'refused', 'limited'] as const)('one that is %s begins the count again', async (what) => {
  const all = reads();
  expect([await all.silent(), await all.silent(), await all[what]()]).toEqual([false, false, false]);
  expect([await all.silent(), await all.silent(), await all.silent()]).toEqual([false, false, true]);
});

// docs/exactly-once.md, A place for each write.
test('after a request without a response one request is under way at a time until ten are answered', async () => {
  const { places, silence } = reads();
  let [underWay, most] = [0, 0];
  const look = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await nextTurn();
    underWay -= 1;
  };
  const four = () => Promise.all([places.look(look), places.look(look), places.read(look), places.read(look)]);
  await four();
  const before = most;
  silence();
  most = 0;
  await four();
  for (let answers = 4; answers < 10; answers += 1) await places.look(look);
  const narrow = most;
  await Promise.all([places.look(look), places.look(look)]);
  expect([before, narrow, most]).toEqual([4, 1, 2]);
});

// docs/exactly-once.md, A place for each write.
test('requests of a lookup that had no response count, also once the lookup has one', async () => {
  const { places, clock, store } = reads();
  let lookups = 0;
  const look = (): Promise<WriteSight> => {
    const sentAt = clock.elapsed();
    // A server that takes the newest request first still has these, and the write behind them.
    for (let lost = 0; lookups === 0 && lost < 3; lost += 1) store.unanswered();
    lookups += 1;
    store.answered();
    return Promise.resolve({ is: 'not shown', sentAt });
  };
  const ended = clock.elapsed();
  places.pending.run.last = ended;
  const lost = { id: 'x-1', sent: ended - 2000, ended, n: 1, settle: 5000 };
  expect(await places.settle(lost, look)).toBe('not processed');
  expect(clock.elapsed() - ended).toBeGreaterThanOrEqual(3 * 5000);
});

// docs/exactly-once.md, A place for each write.
test.each([
  ['again and again, with pauses that double', false, 1, [100, 300, 700, 1500, 2750, 4000, 5000]],
  ['twice in the list of all', true, 3, [5000, 15_000]],
])('a write without an answer is looked for %s', async (_how, isByList, n, expected) => {
  const { places, clock } = reads(isByList);
  const times: number[] = [];
  const look = (): Promise<WriteSight> => {
    times.push(clock.elapsed());
    return Promise.resolve({ is: 'not shown', sentAt: clock.elapsed() });
  };
  places.pending.run.last = 0;
  expect(await places.settle({ id: 'x-1', sent: -2000, ended: 0, n, settle: 5000 }, look)).toBe('not processed');
  expect(times).toEqual(expected);
  expect(Math.max(...clock.slept)).toBe(250);
});

// docs/exactly-once.md, A place for each write.
test('a write without an answer keeps its place until it is settled, or left to later runs', async () => {
  const { places } = reads();
  let begun = 0;
  const write = (): Promise<unknown> =>
    places.send([], { kind: 'creation', app_code: 1, settle: 5000 } as never, () => {
      begun += 1;
      return Promise.resolve({ value: undefined, end: 'no answer' });
    });
  await Promise.all([write(), write(), write(), write()]);
  const fifth = write();
  await nextTurn();
  const kept = begun;
  places.leave();
  await fifth;
  expect([kept, begun]).toEqual([4, 5]);
});

test('a record that cannot take a line ends the run, though the server answers', async () => {
  const lost = new Failure('unavailable', 'the ledger is lost');
  const { places } = reads(false, [{ salt: '', append: () => Promise.reject(lost) } as never]);
  const sent = places.send([], { kind: 'creation', settle: 5000, unanswered: 0 }, (before) => before() as never);
  await expect(sent).rejects.toBe(lost);
  expect(places.isEndedBy(lost)).toBe(true);
});

test('a refused key ends a run as that, also beside a full disk', () => {
  const state = new RunState(new AbortController().signal);
  state.stop(new Failure('config', 'disk full'));
  state.stop(new Failure('unavailable', 'no answer'));
  expect(state.stopped?.kind).toBe('config');
  state.stop(new Failure('auth', 'refused'));
  state.stop(new Failure('config', 'disk full'));
  expect(state.stopped?.kind).toBe('auth');
});

test.each([
  [['x-1'], 'a request'],
  [['x-1', 'x-2'], '2 requests'],
])('a run that waits for %j says so', async (ids, count) => {
  const { places, clock, lines } = reads();
  const look = (): Promise<WriteSight> => Promise.resolve({ is: 'not shown', sentAt: clock.elapsed() });
  places.pending.run.last = 0;
  await Promise.all(ids.map((id) => places.settle({ id, sent: -2000, ended: 0, n: 1, settle: 11_000 }, look)));
  expect(lines).toEqual([`waiting for ${count} without a response, which the server may still process`]);
});

test('a run goes on for a minute beside a write that ran out of time, and then waits until it is settled', async () => {
  const { places, clock } = reads();
  const look = (): Promise<WriteSight> => Promise.resolve({ is: 'not shown', sentAt: clock.elapsed() });
  places.pending.run.last = 0;
  const settled = places.settle({ id: 'x-1', sent: -2000, ended: 0, n: 1, settle: 90_000 }, look);
  const times: number[] = [];
  for (const until of [59_999, 60_000]) {
    clock.pass(until - clock.elapsed());
    await places.pending.ready();
    times.push(clock.elapsed());
  }
  expect([await settled, times[0]]).toEqual(['not processed', 59_999]);
  expect(times[1]).toBeGreaterThanOrEqual(90_000);
});

test('what a lookup throws ends the lookups of all, and a later write is looked for again', async () => {
  const { places } = reads();
  const bug = new Error('bug');
  const lost = { id: 'x-1', sent: -2000, ended: 0, n: 1, settle: 5000 };
  const looks = [() => Promise.reject(bug), () => Promise.resolve({ is: 'shown' } as const)];
  const ends = await Promise.allSettled(looks.map((look) => places.pending.settle(lost, look)));
  expect(ends).toEqual([1, 2].map(() => ({ status: 'rejected', reason: bug })));
  expect(await places.pending.settle(lost, () => Promise.resolve({ is: 'shown' }))).toBe('shown');
});
