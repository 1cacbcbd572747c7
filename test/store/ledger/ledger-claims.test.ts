import { createHash, hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { realClock } from '../../../src/cli/clock.ts';
import { sharedClaims } from '../../../src/store/ledger/ledger-claims.ts';
import { toldHistory } from '../../../src/store/ledger/ledger-history.ts';
import { openSession } from '../../../src/store/ledger/ledger-session.ts';
import { movedClock } from '../../helpers/clock.ts';

const creations = { claim: () => Promise.resolve() };

/** A user recorded ahead of its POST, and then the clocks of the machine. */
test.each([
  ['a second later', 1000, 1000, 1],
  ['six seconds later', 6000, 6000, 2],
  ['six seconds later, the clock set back', -3_600_000, 6000, 2],
  ['a second later, the clock set back', -3_600_000, 1000, 2],
  ['after an hour of sleep', 3_600_000, 10, 2],
])('a record made for a later POST, used %s', async (_when, now, elapsed, statements) => {
  let [wall, span] = [0, 0];
  const names: string[] = [];
  const session = {
    call: (name: string) => {
      names.push(name);
      return Promise.resolve(null);
    },
    whoIs: (_target: string, user: string) => Buffer.from(user),
    lost: () => undefined,
    askedUntil: undefined,
  };
  const clock = { ...realClock, now: () => 1e12 + wall, elapsed: () => 1e6 + span };
  const signal = new AbortController().signal;
  const claims = sharedClaims(
    session,
    { target: 'licenses 7', clock, told: toldHistory(clock), creations },
    { settle: 5000, remember: 0, signal, note: () => undefined, requestLimit: 30_000 },
  );

  await claims.posting('ada', () => ['ben']);
  [wall, span] = [now, elapsed];
  await claims.posting('ben');

  expect(names).toEqual(Array(statements).fill('sending'));
});

/** Claims whose statements wait until they are ended, with a clock that counts its sleeps. */
function awaited() {
  const statements: { readonly name: string; readonly users: readonly string[]; readonly end: () => void }[] = [];
  const session = {
    call: (name: string, values: readonly unknown[]) =>
      new Promise<unknown>((resolve) => {
        const users = values[name === 'sending' ? 1 : 0] as readonly Buffer[];
        statements.push({ name, users: users.map(String), end: () => resolve(null) });
      }),
    whoIs: (_target: string, user: string) => Buffer.from(user),
    lost: () => undefined,
    askedUntil: undefined,
  };
  const clock = movedClock();
  const signal = new AbortController().signal;
  const options = { settle: 5000, remember: 0, signal, note: () => undefined, requestLimit: 30_000 };
  const claims = sharedClaims(session, { target: 'licenses 7', clock, told: toldHistory(clock), creations }, options);
  const sent = (count: number) => expect.poll(() => statements.length).toBe(count);
  return { claims, clock, statements, sent };
}

test('a POST waits for the statement that records it already, and for no other', async () => {
  const { claims, statements, sent } = awaited();
  const waiting = new Set(['ben', 'cy']);
  const ada = claims.posting('ada', () => [...waiting]);
  await sent(1);
  const others = [...waiting].map((user) => claims.posting(user));
  waiting.clear();
  statements[0]?.end();
  await Promise.all([ada, ...others]);
  expect(statements.map(({ users }) => users)).toEqual([['ada', 'ben', 'cy']]);
});

test('a user who was given back is recorded again', async () => {
  const { claims, statements, sent } = awaited();
  const ada = claims.posting('ada', () => ['ben']);
  await sent(1);
  const given = claims.release(['ben']);
  await sent(2);
  for (const { end } of statements) end();
  await Promise.all([ada, given]);
  const ben = claims.posting('ben');
  await sent(3);
  statements[2]?.end();
  await ben;
  expect(statements[2]).toMatchObject({ name: 'sending', users: ['ben'] });
});

test('the first answer is recorded at once, those of the next 100 ms by one statement', async () => {
  const { claims, clock, statements, sent } = awaited();
  const answered = (user: string) => claims.ended(user, { event: 'answered', status: 201, time: 1 });
  const first = answered('ada');
  await sent(1);
  statements[0]?.end();
  await first;
  const others = [answered('ben'), answered('cy')];
  await expect.poll(clock.sleeping).toBe(1);
  others.push(answered('dee'));
  clock.advance(100);
  await sent(2);
  statements[1]?.end();
  await Promise.all(others);
  expect(statements.map(({ users }) => users)).toEqual([['ada'], ['ben', 'cy', 'dee']]);
});

test('a user who is given back while a statement is awaited is not in the next one: that statement would fail', async () => {
  const { claims, statements, sent } = awaited();
  const waiting = new Set(['ben']);
  const posting = (user: string): Promise<void> => {
    waiting.delete(user);
    return claims.posting(user, () => [...waiting]);
  };
  const ada = posting('ada');
  await sent(1);
  const cy = posting('cy');
  statements[0]?.end();
  await Promise.all([ada, sent(2)]);
  const dee = posting('dee');
  await posting('ben');
  const release = claims.release(['ben']);
  statements[1]?.end();
  await Promise.all([cy, sent(4)]);
  for (const { end } of statements) end();
  await Promise.all([dee, release]);

  const [, , released, last] = statements;
  expect(released?.name).toBe('release');
  expect([released?.users, last?.users]).toEqual([['ben'], ['dee']]);
});

test('a log of the statements shows neither names nor hashes of them that can be tested without the salt', async () => {
  const sent: unknown[] = [];
  const database = {
    query: (_text: string, values: readonly unknown[]) => {
      sent.push(...values.flat());
      const answer = sent.length < 5 ? { session: 1, salt: 'c0ffee' } : { now: 1, past: [], held: [], holder: null };
      return Promise.resolve([{ answer }]);
    },
    lost: () => undefined,
    askedUntil: undefined,
    close: () => Promise.resolve(),
  };
  const signal = new AbortController().signal;
  const options = { settle: 5000, remember: 0, signal, note: () => undefined };
  const opening = { ...options, host: 'here', pid: 1, clock: realClock, requestLimit: 30_000 };
  const session = await openSession(() => Promise.resolve(database), opening);
  const claims = sharedClaims(
    session,
    { target: 'licenses 7', clock: realClock, told: toldHistory(realClock), creations },
    { ...options, requestLimit: 30_000 },
  );
  await claims.takeFree(['ada']);
  await claims.posting('ada');
  await claims.ended('ada', { event: 'answered', status: 201, time: 1 });
  await claims.release(['ada']);
  const unsalted = hash('sha256', 'licenses 7\0ada', 'buffer');
  const salted = createHash('sha256').update(Buffer.from('c0ffee', 'hex')).update(unsalted).digest();
  expect(sent.filter((value) => salted.equals(Buffer.isBuffer(value) ? value : Buffer.alloc(0)))).toHaveLength(5);
  const shown = sent.map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value))).join(' ');
  expect(shown).not.toMatch(/ada|c0ffee/);
  expect(shown).not.toContain(unsalted.toString('hex'));
});

test('many users are claimed and given back by statements of at most 5,000', async () => {
  const statements: { readonly name: string; readonly users: readonly string[] }[] = [];
  const session = {
    call: async (name: string, values: readonly unknown[]) => {
      const users = (values[name === 'take' ? 1 : 0] as readonly Buffer[]).map(String);
      statements.push({ name, users });
      const held = users
        .filter((user) => /^user-(7|5000)$/.test(user))
        .map((user) => Buffer.from(user).toString('base64'));
      const past = users
        .filter((user) => /^user-(8|5001)$/.test(user))
        .map((user) => [Buffer.from(user).toString('base64'), 1, null]);
      return { now: statements.length, past, held, holder: null };
    },
    whoIs: (_target: string, user: string) => Buffer.from(user),
    lost: () => undefined,
    askedUntil: undefined,
  };
  const clock = movedClock();
  const { signal } = new AbortController();
  const options = { settle: 5000, remember: 0, signal, note: () => undefined, requestLimit: 30_000 };
  const claims = sharedClaims(session, { target: 'licenses 7', clock, told: toldHistory(clock), creations }, options);
  const users = Array.from({ length: 5002 }, (_, index) => `user-${index}`);

  const taken = await claims.takeFree(users);
  await claims.release(users);

  expect([taken.held, [...taken.histories.keys()]]).toEqual([
    ['user-7', 'user-5000'],
    ['user-8', 'user-5001'],
  ]);
  expect(statements.map(({ name }) => name)).toEqual(['take', 'take', 'release', 'release']);
  for (const { users: some } of statements) expect(some.length).toBeLessThanOrEqual(5000);
  expect(statements.flatMap((one) => (one.name === 'take' ? one.users : []))).toEqual(users);
  expect(statements.flatMap((one) => (one.name === 'release' ? one.users : []))).toEqual(users);
});
