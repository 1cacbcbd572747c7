import { readdirSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { removing } from '../../../src/core/shell-word.ts';
import type { Claims } from '../../../src/store/claims.ts';
import type { RequestHistories } from '../../../src/store/request-history.ts';
import { openAnswersOf, openClaims } from '../../../src/store/lock/local-claims.ts';
import { endProcess } from '../../helpers/end-process.ts';
import { failureOf, givenBack, place, type Place } from '../place.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { needs } from '../../helpers/needs.ts';

const home = ({ folder }: Place): string => join(folder, 'home');
const day = 86_400_000;

/** Claims of a run that gives up as soon as it would have to wait. */
async function openAt(host: Place, settle = 5000): Promise<Claims> {
  const run = new AbortController();
  const note = (text: string): void => run.abort(new Error(text));
  return givenBack(await openClaims('https://here.test 7', host, { settle, signal: run.signal, note }));
}

/** A computer whose time passes only by `pass`. */
function at(time: number): Place & { pass: (span: number) => void } {
  const clock = sleptClock(time);
  return { ...place(), clock, pass: clock.pass };
}

const locks = (host: Place): string => join(home(host), '.local/state/chatelaine/locks');

/** The files of the record, the merged one first. */
function filesOf(host: Place): string[] {
  const names = readdirSync(locks(host)).filter((file) => file.endsWith('.requests'));
  return names.sort((one, other) => one.length - other.length).map((name) => join(locks(host), name));
}

const fileOf = (host: Place): string => filesOf(host)[0] ?? 'none';

/** When users were asked for. */
const posted = (histories: RequestHistories) =>
  [...histories].flatMap(([user, { posted: time }]) => (time === undefined ? [] : [[user, time]]));

const unanswered = (time: number) => ({ event: 'ended', time, unanswered: 1 }) as const;

test('a user that a living process claimed cannot be claimed until it is given back', async () => {
  const host = place();
  const [one, other] = [await openAt(host), await openAt(host)];
  expect(posted(await one.take(['ada', 'ben', 'cy']))).toEqual([]);
  expect(posted(await other.take(['dora']))).toEqual([]);
  await one.release(['ben']);
  expect(posted(await other.take(['ben']))).toEqual([]);
  await expect(other.take(['dora', 'cy'])).rejects.toThrow(
    `waiting for process ${process.pid} on here.test, which is creating licenses of one of the users`,
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
    expect(posted(await next.take(['cy']))).toEqual([]);
    expect(posted(await next.take(['ada', 'cy']))).toEqual([['ada', 1_060_000]]);
    await next.release(['ada', 'cy']);
    host.pass(1000);
    expect(posted(await (await openAt(host)).take(['ada', 'ben']))).toEqual([
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
    const again = async () => {
      const found = posted(await claims.take(['ada', 'ben']));
      await claims.release(['ada', 'ben']);
      return found;
    };
    await claims.take(['ada', 'ben']);
    await claims.ended('ada', unanswered(1_000_000));
    await claims.release(['ada', 'ben']);
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
  await claims.ended('ada', unanswered(9_000_000));
  await claims.release(['ada']);
  expect(posted(await claims.take(['ada']))).toEqual([['ada', 1_000_000]]);
});

test('times of the file are given on the clock that nobody sets', async () => {
  const host = at(1_000_000);
  const set = { ...host, clock: { ...host.clock, elapsed: () => 70_000 } };
  const claims = await openAt(host);
  await claims.take(['ada']);
  await claims.ended('ada', unanswered(998_000));
  await claims.release(['ada']);
  expect(posted(await (await openAt(set)).take(['ada']))).toEqual([['ada', 68_000]]);
});

const answer = { status: 201, time: 1_000_000, key_end: 'AAA9' };

test(
  'an answer that no list has shown is kept without a limit of time, until a list shows the license',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    const first = await openAt(host);
    await first.take(['ada', 'ben']);
    await first.ended('ada', { event: 'answered', ...answer });
    await first.release(['ben']);
    endProcess(home(host));
    host.pass(400 * day);
    const next = await openAt(host);
    const histories = await next.take(['ada', 'ben']);
    expect([histories.get('ada')?.answer, histories.get('ben')?.answer]).toEqual([answer, undefined]);
    await next.release(['ada']);
    expect((await next.take(['ada'])).get('ada')?.answer).toEqual(answer);
    await next.ended('ada', { event: 'answered', ...answer, status: 202 });
    expect((await next.takeFree(['ada'])).histories.get('ada')?.answer).toEqual({ ...answer, status: 202 });
    await next.release(['ada'], new Set(['ada']));
    expect((await next.take(['ada'])).get('ada')?.answer).toBeUndefined();
  },
);

test('a file of a newer version, and what an earlier version left, are exit 3 and stay', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['ada']);
  const file = fileOf(host);
  const newer = `${JSON.stringify({ requests: 2, kept: 'in another way' })}\n`;
  writeFileSync(file, newer);
  expect(await failureOf(() => claims.take(['ada']))).toMatchObject({
    kind: 'config',
    message: `${file} is of version 2 of the format; this program reads 1`,
  });
  expect(readFileSync(file, 'utf8')).toBe(newer);
  const old = file.replace(/\.\w+\.requests$/, '.claims');
  writeFileSync(old, '{"version":1,"claims":[]}');
  expect(await failureOf(() => claims.take(['ada']))).toMatchObject({
    kind: 'config',
    message: `${old} is of an earlier version of chatelaine, which kept its requests otherwise`,
    hint: expect.stringContaining(removing(old)) as string,
  });
});

test(
  'files of ended processes are merged once there are more than eight; what is known stays',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    const users = Array.from({ length: 9 }, (_one, index) => `user-${index}`);
    const living = await openAt(host);
    await living.take(['zoe', 'user-0']);
    await living.ended('user-0', { event: 'answered', ...answer });
    await living.release(['user-0']);
    const mine = filesOf(host);
    for (const user of users) {
      const claims = await openAt(host);
      await claims.take([user]);
      await claims.ended(user, unanswered(1_000_000));
      await claims.release([user], new Set([user]));
    }
    expect(filesOf(host)).toHaveLength(10);
    const [, ...others] = filesOf(host).filter((file) => !mine.includes(file));
    for (const file of others)
      writeFileSync(file, readFileSync(file, 'utf8').replace(`"pid":${process.pid},`, '"pid":999999999,'));
    const next = await openAt(host);
    expect(posted(await next.take(['cy', ...users])).map(([user]) => user)).toEqual(users);
    await next.release(['cy', ...users]);
    expect(filesOf(host)).toHaveLength(1 + 1 + 1 + 1);
    const last = await openAt(host);
    const histories = await last.take(['cy', ...users]);
    expect(posted(histories)).toEqual(users.map((user) => [user, 1_000_000]));
    // The merged file knows of a later hold than the file of the living process does.
    expect(histories.get('user-0')?.answer).toBeUndefined();
    await expect(last.take(['zoe'])).rejects.toThrow('waiting for process');
  },
);

test('a process that sends nothing leaves no file', async () => {
  const host = place();
  const claims = await openAt(host);
  await claims.take(['ada', 'ben']);
  await claims.release(['ada']);
  expect(filesOf(host)).toHaveLength(1);
  await claims.release(['ben']);
  expect(filesOf(host)).toEqual([]);
  await claims.take(['ada']);
  await claims.ended('ada', unanswered(1));
  await claims.release(['ada']);
  expect(filesOf(host)).toHaveLength(1);
});

test('a hold stays on disk where the last user is given back while it is written', async () => {
  const host = place();
  const claims = await openAt(host);
  for (let round = 0; round < 20; round += 1) {
    await claims.take(['ada']);
    const [file = ''] = filesOf(host);
    const taking = claims.take(['ben']);
    while (readFileSync(file, 'utf8').split('"held"').length < 3) await setImmediate();
    await Promise.all([taking, claims.release(['ada'])]);
    expect(filesOf(host)).toEqual([file]);
    await claims.release(['ben']);
  }
});

// A folder of Windows that holds an open file cannot be removed.
test('the file of users who are never given back is not lost before the process ends', needs('posix'), async () => {
  const host = place();
  const options = { settle: 0, signal: new AbortController().signal, note: () => undefined };
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warned);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 5; turn += 1) {
    const claims = await openClaims(`https://here.test ${turn}`, host, options);
    await claims.take(['ada']);
    await claims.ended('ada', unanswered(1));
  }
  for (let turn = 0; turn < 2; turn += 1) {
    collect();
    await setImmediate();
  }
  process.off('warning', warned);
  expect(warnings.map(String).filter((text) => text.includes('garbage collection'))).toEqual([]);
});

test('the file does not reveal the users', async () => {
  const host = place();
  const names = Array.from({ length: 1000 }, (_, index) => `user-${index}`);
  const claims = await openAt(host);
  await claims.take(names);
  await claims.ended('user-1', unanswered(1));
  await claims.release(['user-1']);
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
    `waiting for process ${process.pid} on box (once it has ended: rm ${file}), which is creating licenses of one of the users`,
  );
  const clock = sleptClock();
  const patient = await openClaims(
    'https://here.test 7',
    // It looks at the claims a hundredth as often as it would.
    { ...host, clock: { ...clock, sleep: (span, signal) => clock.sleep(100 * span, signal) } },
    {
      settle: 0,
      signal: new AbortController().signal,
      note: () => undefined,
    },
  );
  expect(await failureOf(() => patient.take(['ada']))).toEqual({
    kind: 'unavailable',
    message: `waited too long for process ${process.pid} on box (once it has ended: rm ${file}), which is creating licenses of one of the users`,
    hint: 'Run the command again when it has ended; chatelaine ledger status shows who holds what in a ledger.',
  });
});

const damages: [string, (file: string) => void][] = [
  ['cut', (file) => truncateSync(file, readFileSync(file).length - 8)],
  ['emptied', (file) => truncateSync(file, 0)],
  ['of another kind', (file) => writeFileSync(file, 'hello\n')],
  ['null', (file) => writeFileSync(file, 'null\n')],
  ['a line of null', (file) => writeFileSync(file, 'null\n{}\n', { flag: 'a' })],
  ['an answer that is none', (file) => writeFileSync(file, '{"event":"answered","users":["a"]}\n', { flag: 'a' })],
  [
    'a time that is none',
    (file) => writeFileSync(file, '{"event":"ended","users":["a"],"time":null}\n', { flag: 'a' }),
  ],
  [
    'a hold without users',
    (file) => writeFileSync(file, '{"event":"held","hold":9,"users":["a"],"known":[["a",null,{}]]}\n', { flag: 'a' }),
  ],
];

test.each(damages)('a file that is %s is exit 3 with the way out', async (_what, damage) => {
  const host = place();
  await (await openAt(host)).take(['ada', 'ben']);
  const file = fileOf(host);
  damage(file);
  expect(await failureOf(async () => (await openAt(host)).take(['cy']))).toMatchObject({
    kind: 'config',
    message: expect.stringContaining(`the record of requests ${file} is damaged: `) as string,
    hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(file)}`,
  });
});

test(
  'a merged file is written whole: one that is cut, or followed by something, is exit 3',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    for (const user of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) {
      const claims = await openAt(host);
      await claims.take([user]);
      await claims.ended(user, unanswered(1_000_000));
      await claims.release([user]);
    }
    endProcess(home(host));
    await (await openAt(host)).take(['a']);
    const [merged = ''] = filesOf(host);
    const whole = readFileSync(merged);
    for (const bytes of [
      whole.subarray(0, -8),
      whole.subarray(0, whole.indexOf(10) + 1),
      Buffer.concat([whole, Buffer.from('{"event"')]),
      Buffer.alloc(0),
    ]) {
      writeFileSync(merged, bytes);
      expect(await failureOf(() => openAnswersOf('https://here.test 7', ['a'], host))).toMatchObject({
        kind: 'config',
      });
    }
    writeFileSync(merged, whole);
    expect((await openAnswersOf('https://here.test 7', ['a'], host)).size).toBe(0);
  },
);

test(
  'what a crash cut off the end of the file of a process is left out: its users count as asked for now',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    const claims = await openAt(host);
    await claims.take(['ada']);
    await claims.ended('ada', { event: 'answered', ...answer });
    await claims.release(['ada']);
    const file = fileOf(host);
    const bytes = readFileSync(file);
    for (const [kept, history] of [
      [bytes.length - 8, { posted: 1_002_000, answer }],
      [bytes.length - 60, { posted: 1_002_000 }],
    ] as const) {
      writeFileSync(file, Buffer.concat([bytes.subarray(0, kept), Buffer.alloc(8)]));
      endProcess(home(host));
      host.pass(1000);
      const next = await openAt(host);
      if (kept === bytes.length - 8) {
        host.pass(1000);
        expect((await next.take(['ada'])).get('ada')).toMatchObject(history);
        unlinkSync(filesOf(host).find((one) => one !== file) ?? '');
      } else expect((await next.take(['ada'])).get('ada')).toEqual({ posted: 1_003_000 });
    }
  },
);
