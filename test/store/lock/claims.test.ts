import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removing } from '../../../src/core/shell-word.ts';
import type { LocalClaims } from '../../../src/store/claims.ts';
import { openClaims } from '../../../src/store/lock/local-claims.ts';
import { endProcess } from '../../helpers/end-process.ts';
import { failureOf, place, type Place } from '../place.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { needs } from '../../helpers/needs.ts';

const home = ({ folder }: Place): string => join(folder, 'home');
const day = 86_400_000;

/** Claims of a run that gives up as soon as it would have to wait. */
async function openAt(host: Place, settle = 5000): Promise<LocalClaims> {
  const run = new AbortController();
  const note = (text: string): void => run.abort(new Error(text));
  return openClaims('https://here.test 7', host, { settle, signal: run.signal, note });
}

/** A computer whose time passes only by `pass`. */
function at(time: number): Place & { pass: (span: number) => void } {
  const clock = sleptClock(time);
  return { ...place(), clock, pass: clock.pass };
}

function fileOf(host: Place): string {
  const folder = join(home(host), '.local/state/chatelaine/locks');
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.claims'));
  return join(folder, name ?? 'none');
}

const released = (...users: string[]) => users.map((remote_user) => ({ remote_user }));

test('a user that a living process claimed cannot be claimed until it is given back', async () => {
  const host = place();
  const [one, other] = [await openAt(host), await openAt(host)];
  expect([...(await one.take(['ada', 'ben', 'cy'])).posted]).toEqual([]);
  expect([...(await other.take(['dora'])).posted]).toEqual([]);
  await one.release(released('ben'));
  expect([...(await other.take(['ben'])).posted]).toEqual([]);
  await expect(other.take(['dora', 'cy'])).rejects.toThrow(
    `waiting for process ${process.pid} on here.test, which is creating licenses of the same users`,
  );
});

test(
  'a user of a dead process counts as asked for now, for whoever claims it next and after that',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    await (await openAt(host)).take(['ada', 'ben']);
    endProcess(home(host));
    host.pass(60_000);
    const next = await openAt(host);
    expect([...(await next.take(['cy'])).posted]).toEqual([]);
    expect([...(await next.take(['ada', 'cy'])).posted]).toEqual([['ada', 1_060_000]]);
    await next.release(released('ada', 'cy'));
    host.pass(1000);
    expect([...(await (await openAt(host)).take(['ada', 'ben'])).posted]).toEqual([
      ['ada', 1_060_000],
      ['ben', 1_061_000],
    ]);
  },
);

test('the time of the last POST is remembered for a day, or for --settle if that is longer', async () => {
  for (const [settle, kept] of [
    [5000, day],
    [25 * day, 25 * day],
  ] as const) {
    const host = at(1_000_000);
    const claims = await openAt(host, settle);
    const again = async (): Promise<readonly (readonly [string, number])[]> => {
      const found = [...(await claims.take(['ada', 'ben'])).posted];
      await claims.release(released('ada', 'ben'));
      return found;
    };
    await claims.take(['ada', 'ben']);
    await claims.release([{ remote_user: 'ada', posted: 1_000_000 }, { remote_user: 'ben' }]);
    host.pass(kept - 1);
    expect(await again()).toEqual([['ada', 1_000_000]]);
    host.pass(2);
    await again();
    expect(await again()).toEqual([]);
  }
});

test('a time in the future counts as now', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['ada']);
  await claims.release([{ remote_user: 'ada', posted: 9_000_000 }]);
  expect([...(await claims.take(['ada'])).posted]).toEqual([['ada', 1_000_000]]);
});

test('times of the file are given on the clock that nobody sets', async () => {
  const host = at(1_000_000);
  const set = { ...host, clock: { ...host.clock, elapsed: () => 70_000 } };
  await (await openAt(host)).release([{ remote_user: 'ada', posted: 998_000 }]);
  const posted = (await (await openAt(set)).take(['ada'])).posted.get('ada');
  expect(posted).toBe(68_000);
});

const answer = { status: 201, time: 1_000_000, key_end: 'AAA9' };

test(
  'an answer that no list has shown is kept without a limit of time, until a list shows the license',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    const first = await openAt(host);
    await first.take(['ada', 'ben']);
    await first.answered(new Map([['ada', answer]]));
    await first.release(released('ben'));
    endProcess(home(host));
    host.pass(400 * day);
    const next = await openAt(host);
    const { answers } = await next.take(['ada', 'ben']);
    expect([...answers]).toEqual([['ada', answer]]);
    await next.release(released('ada'));
    expect((await next.take(['ada'])).answers.get('ada')).toEqual(answer);
    await next.answered(new Map([['ada', { ...answer, status: 202 }]]));
    expect((await next.takeFree(['ada'])).answers.get('ada')).toEqual({ ...answer, status: 202 });
    await next.release([{ remote_user: 'ada', isShown: true }]);
    expect((await next.take(['ada'])).answers.size).toBe(0);
  },
);

test('a file without answers is read, one of a newer version is exit 3 and stays as it is', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.release([{ remote_user: 'ada', posted: 1_000_000 }]);
  const file = fileOf(host);
  const { posted } = JSON.parse(readFileSync(file, 'utf8')) as { posted: unknown };
  writeFileSync(file, JSON.stringify({ claims: [], posted }));
  expect([...(await claims.take(['ada'])).posted]).toEqual([['ada', 1_000_000]]);
  const newer = JSON.stringify({ version: 2, claims: 'kept in another way' });
  writeFileSync(file, newer);
  expect(await failureOf(() => claims.take(['ada']))).toMatchObject({
    kind: 'config',
    message: `${file} is of version 2 of the format; this program reads 1`,
  });
  expect(readFileSync(file, 'utf8')).toBe(newer);
});

test('the file does not reveal the users', async () => {
  const host = place();
  const names = Array.from({ length: 1000 }, (_, index) => `user-${index}`);
  const claims = await openAt(host);
  await claims.take(names);
  await claims.release([{ remote_user: 'user-1', posted: 1 }]);
  expect(readFileSync(fileOf(host), 'utf8')).not.toContain('user-');
});

test('a claim of another container is waited for, and the way out is said at once', needs('proc'), async () => {
  const host = place();
  await (await openAt(host)).take(['ada']);
  const file = fileOf(host);
  const text = readFileSync(file, 'utf8')
    .replace(/"space":"[^"]*"/, '"space":"pid:[1]"')
    .replace(/"sign":"[^"]*"/, '"sign":"0000000000000000"')
    .replace(/"host":"[^"]*"/, '"host":"box"');
  writeFileSync(file, text);
  await expect((await openAt(host)).take(['ada'])).rejects.toThrow(
    `waiting for process ${process.pid} on box (once it has ended: rm ${file}), which is creating licenses of the same users`,
  );
  const patient = await openClaims(
    'https://here.test 7',
    { ...host, clock: sleptClock() },
    {
      settle: 0,
      signal: new AbortController().signal,
      note: () => undefined,
    },
  );
  expect(await failureOf(() => patient.take(['ada']))).toEqual({
    kind: 'unavailable',
    message: `process ${process.pid} on box is creating licenses of the same users`,
    hint: `Whether it still runs cannot be seen from here; once it has ended, remove what it left: rm ${file}`,
  });
});

test.each([
  ['cut', (file: string) => truncateSync(file, readFileSync(file).length - 8)],
  ['emptied', (file: string) => truncateSync(file, 0)],
  ['followed by something', (file: string) => writeFileSync(file, Buffer.alloc(8), { flag: 'a' })],
  ['of another kind', (file: string) => writeFileSync(file, 'hello\n')],
  ['null', (file: string) => writeFileSync(file, 'null\n')],
  ['a claim of null', (file: string) => writeFileSync(file, '{"claims":[null],"posted":[]}\n')],
  ['an answer that is none', (file: string) => writeFileSync(file, '{"version":1,"claims":[],"answers":[["a",{}]]}\n')],
  ['a time that is none', (file: string) => writeFileSync(file, '{"claims":[],"posted":[["a",null,1]]}\n')],
])('a file that is %s is exit 3 with the way out', async (_what, damage) => {
  const host = place();
  await (await openAt(host)).take(['ada', 'ben']);
  const file = fileOf(host);
  damage(file);
  const next = await openAt(host);
  expect(await failureOf(() => next.take(['cy']))).toEqual({
    kind: 'config',
    message: `the file of claims ${file} is damaged`,
    hint: `Make sure that no chatelaine runs, and remove it: ${removing(file)}`,
  });
});
