import { expect, test, vi } from 'vitest';
import { realClock } from '../../../src/cli/clock.ts';
import { sharedClaims } from '../../../src/store/ledger/ledger-claims.ts';

/** A user recorded ahead of its POST, and then the clocks of the machine. */
test.each([
  ['a second later', 1000, 1000, 1],
  ['six seconds later', 6000, 6000, 2],
  ['six seconds later, the clock set back', -3_600_000, 6000, 2],
  ['a second later, the clock set back', -3_600_000, 1000, 2],
  ['after an hour of sleep', 3_600_000, 10, 2],
])('a record made for a later POST, used %s', async (_when, now, elapsed, statements) => {
  let [wall, span] = [0, 0];
  const texts: string[] = [];
  const database = {
    query: (text: string) => {
      texts.push(text);
      return Promise.resolve([{ answer: null }]);
    },
    lost: () => undefined,
    close: () => Promise.resolve(),
  };
  const clock = { ...realClock, now: () => 1e12 + wall, elapsed: () => 1e6 + span };
  const session = { connection: { database, session: 1 }, target: 'licenses 7', host: 'here', pid: 1, clock };
  const signal = new AbortController().signal;
  const claims = sharedClaims(session, { settle: 5000, signal, note: () => undefined, requestLimit: 30_000 });

  await claims.posting('ada', () => ['ben']);
  [wall, span] = [now, elapsed];
  await claims.posting('ben');

  expect(texts.filter((text) => text.includes('sending'))).toHaveLength(statements);
});

test('a user who is given back while a statement is awaited is not in the next one: that statement would fail', async () => {
  const statements: { readonly text: string; readonly users: unknown; readonly end: () => void }[] = [];
  const database = {
    query: (text: string, values: readonly unknown[]) =>
      new Promise<Record<string, unknown>[]>((resolve) => {
        statements.push({ text, users: values.at(text.includes('release') ? 2 : -1), end: () => resolve([{}]) });
      }),
    lost: () => undefined,
    close: () => Promise.resolve(),
  };
  const session = {
    connection: { database, session: 1 },
    target: 'licenses 7',
    host: 'here',
    pid: 1,
    clock: realClock,
  };
  const signal = new AbortController().signal;
  const claims = sharedClaims(session, { settle: 5000, signal, note: () => undefined, requestLimit: 30_000 });
  const waiting = new Set(['ben']);
  const posting = (user: string): Promise<void> => {
    waiting.delete(user);
    return claims.posting(user, () => [...waiting]);
  };
  const sent = (count: number) => vi.waitFor(() => expect(statements).toHaveLength(count));

  const ada = posting('ada');
  await sent(1);
  const cy = posting('cy');
  statements[0]?.end();
  await Promise.all([ada, sent(2)]);
  const dee = posting('dee');
  await posting('ben');
  const release = claims.release([{ remote_user: 'ben', posted: 1 }]);
  statements[1]?.end();
  await Promise.all([cy, sent(4)]);
  for (const { end } of statements) end();
  await Promise.all([dee, release]);

  const [, , released, last] = statements;
  expect(released?.text).toContain('release');
  const ben = (released?.users as readonly Buffer[])[0];
  expect(last?.users).toHaveLength(1);
  expect(last?.users).not.toContainEqual(ben);
});
