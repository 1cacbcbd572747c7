import { expect, test } from 'vitest';
import { realClock } from '../../src/cli/clock.ts';
import { Failure } from '../../src/core/failure.ts';
import { withTake, type Claims, type FreeClaims } from '../../src/store/claims.ts';
import type { RequestHistories, RequestHistory } from '../../src/store/request-history.ts';
import { jointClaims } from '../../src/store/joint-claims.ts';
import { openClaims } from '../../src/store/lock/local-claims.ts';
import { givenBack, place, runOf, type Place } from './place.ts';

/** Claims of a process that gives up as soon as it would have to wait. */
async function openAt(host: Place): Promise<Claims> {
  const run = new AbortController();
  const note = (text: string): void => run.abort(new Error(text));
  const options = { remember: 86_400_000, signal: run.signal, note };
  return givenBack(
    withTake(
      await openClaims('https://here.test 7', host, { ...options, ...(await runOf('https://here.test', host)) }),
      host.clock,
      options,
    ),
  );
}

const hour = 3_600_000;
/** What the ledger keeps. */
const answers = new Map([['zoe', { status: 202, time: 5 }]]);

/** A ledger whose clock is an hour ahead; it can be gone. */
function ledger(posted: ReadonlyMap<string, number> = new Map(), held: readonly string[] = [], gone?: Failure) {
  const calls: string[] = [];
  const shared: FreeClaims = {
    isShared: true,
    async takeFree(users) {
      if (gone) throw gone;
      calls.push(`take ${users.join(' ')}`);
      const others = users.filter((user) => held.includes(user));
      const histories = new Map<string, RequestHistory>([...answers].map(([user, answer]) => [user, { answer }]));
      for (const [user, time] of posted) histories.set(user, { posted: time });
      return { now: elapsed() + hour, histories, held: others, holder: 'process 1' };
    },
    busy: async () => ({ now: elapsed() + hour, count: held.length, holder: 'process 1' }),
    ended: async (user, { event }) => void calls.push(`${event} ${user}`),
    posting: async (user) => void calls.push(`posting ${user}`),
    release: async (users) => (gone ? Promise.reject(gone) : void calls.push(`release ${users.length}`)),
    lost: () => gone,
  };
  return { shared, calls };
}

/** It stands still: between the readings of two clocks that go a busy machine can stop. */
const clock = { ...realClock, now: () => Date.UTC(2026, 10, 26), elapsed: () => 2 * hour };
const { elapsed } = clock;
const waiting = {
  remember: 0,
  signal: new AbortController().signal,
  note: (text: string) => {
    throw new Error(text);
  },
};

const joined = (local: Claims, shared: FreeClaims): Claims => withTake(jointClaims(local, shared), clock, waiting);

/** The users of whom a POST is known. */
const postedFor = (histories: RequestHistories) =>
  [...histories].flatMap(([user, { posted }]) => (posted === undefined ? [] : [user]));

/** A run of this machine asks for a license, and gets no answer. */
async function askFor(host: Place, user: string, time: number): Promise<void> {
  const claims = await openAt(host);
  await claims.take([user]);
  await claims.ended(user, { event: 'ended', time, unanswered: 1 });
  await claims.release([user]);
}

test("a run with the ledger and one without it keep out of each other's way on one machine", async () => {
  const host = place();
  const { shared, calls } = ledger();
  const [without, joint] = [await openAt(host), joined(await openAt(host), shared)];
  await without.take(['ada']);
  expect(await joint.takeFree(['ada', 'ben'])).toMatchObject({
    held: ['ada'],
    holder: `process ${process.pid} on here.test`,
  });
  expect(calls).toEqual(['take ben']);
  await expect(joint.take(['ada'])).rejects.toThrow('waiting for process');
  await expect((await openAt(host)).take(['ben'])).rejects.toThrow('waiting for process');
  await joint.ended('ben', { event: 'ended', time: Date.now(), unanswered: 1 });
  await joint.release(['ben']);
  expect(postedFor(await (await openAt(host)).take(['ben']))).toEqual(['ben']);
});

test('the later record of a POST counts, on the clock of the ledger where that is asked for', async () => {
  const host = { ...place(), clock };
  await askFor(host, 'ada', clock.now() - 60_000);
  const joint = joined(await openAt(host), ledger(new Map([['ben', 5]])).shared);
  const age = elapsed() - ((await joint.take(['ada'])).get('ada')?.posted ?? NaN);
  expect(age).toBe(60_000);
  const { histories } = await joint.takeFree(['ada', 'ben']);
  const shared = elapsed() + hour - (histories.get('ada')?.posted ?? NaN);
  expect(shared).toBe(60_000);
  expect(histories.get('ben')?.posted).toBe(5);
});

test('an answer is kept by both, and is open where one of them keeps it', async () => {
  const host = place();
  const { shared, calls } = ledger();
  const joint = joined(await openAt(host), shared);
  await joint.take(['ada']);
  await joint.ended('ada', { event: 'answered', status: 201, time: 1 });
  await joint.release(['ada']);
  expect(calls).toContain('answered ada');
  const { histories } = await joint.takeFree(['ada', 'zoe']);
  expect(histories.get('ada')?.answer).toEqual({ status: 201, time: 1 });
  expect(histories.get('zoe')?.answer).toEqual({ status: 202, time: 5 });
});

test('what the ledger does not give is free on this machine again', async () => {
  const host = place();
  const joint = joined(await openAt(host), ledger(new Map(), ['ada']).shared);
  await joint.takeFree(['ada']);
  expect(postedFor(await (await openAt(host)).take(['ada']))).toEqual([]);
  const gone = joined(await openAt(host), ledger(new Map(), [], new Failure('unavailable', 'gone')).shared);
  await expect(gone.take(['ben'])).rejects.toThrow('gone');
  await expect(gone.takeFree(['cy'])).rejects.toThrow('gone');
  expect(postedFor(await (await openAt(host)).take(['ben', 'cy']))).toEqual([]);
  await expect(gone.release(['dora'])).rejects.toThrow('gone');
});

test('users are busy while anybody may send for them, here or elsewhere, and no longer once an answer is recorded', async () => {
  const host = place();
  const [without, joint] = [await openAt(host), joined(await openAt(host), ledger().shared)];
  await without.take(['ada', 'ben']);
  expect(await joint.busy(['ada', 'ben', 'cy'])).toMatchObject({
    count: 2,
    holder: `process ${process.pid} on here.test`,
  });
  await without.ended('ada', { event: 'answered', status: 201, time: 1 });
  expect((await joint.busy(['ada', 'ben'])).count).toBe(1);
  await without.release(['ben']);
  expect((await joint.busy(['ada', 'ben'])).count).toBe(0);
  const elsewhere = joined(await openAt(host), ledger(new Map(), ['dora']).shared);
  expect(await elsewhere.busy(['dora'])).toMatchObject({ count: 1, holder: 'process 1' });
});
