import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonIn } from '../../../src/core/json.ts';
import { removing } from '../../../src/core/shell-word.ts';
import type { Clock } from '../../../src/core/system.ts';
import { withTake, type Claims } from '../../../src/store/claims.ts';
import type { RequestHistories } from '../../../src/store/request-history.ts';
import { summedLine } from '../../../src/store/disk/records.ts';
import { openClaims, recordedOf } from '../../../src/store/lock/local-claims.ts';
import { endProcess } from '../../helpers/end-process.ts';
import { failureOf, givenBack, place, runOf, type Place } from '../place.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { needs } from '../../helpers/needs.ts';

const home = ({ folder }: Place): string => join(folder, 'home');
const day = 86_400_000;

/** Claims of a run that gives up as soon as it would have to wait. */
async function openAt(host: Place, settle = 5000): Promise<Claims> {
  const run = new AbortController();
  const note = (text: string): void => run.abort(new Error(text));
  const options = { remember: Math.max(settle, day), signal: run.signal, note };
  return givenBack(
    withTake(
      await openClaims('https://here.test 7', host, { ...options, ...(await runOf('https://here.test', host)) }),
      host.clock,
      options,
    ),
  );
}

/** A computer whose time passes only by `pass`. */
function at(time: number): Place & { pass: (span: number) => void } {
  const clock = sleptClock(time);
  return { ...place(), clock, pass: clock.pass };
}

const locks = (host: Place): string => join(home(host), '.local/state/chatelaine/locks');

const namesIn = (host: Place, end: string): string[] =>
  readdirSync(locks(host)).filter((file) => file.endsWith(`.${end}`));

const fileOf = (host: Place): string => join(locks(host), namesIn(host, 'record')[0] ?? 'none');

/** The file that says who holds users. */
const holderOf = (host: Place): string => join(locks(host), namesIn(host, 'holder')[0] ?? 'none');

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
  'the users of a dead process count as asked for at the moment at which the first of them is claimed',
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
      ['ben', 1_060_000],
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
      const found = posted(await claims.take(['ada']));
      await claims.release(['ada']);
      return found;
    };
    await claims.take(['ada']);
    await claims.ended('ada', unanswered(1_000_000));
    await claims.release(['ada']);
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
  const newer = `${JSON.stringify({ record: 2, kept: 'in another way' })}\n`;
  writeFileSync(file, newer);
  expect(await failureOf(() => claims.take(['ada']))).toMatchObject({
    kind: 'config',
    message: `${file} is of version 2 of the format; this program reads 1`,
  });
  expect(readFileSync(file, 'utf8')).toBe(newer);
  for (const end of ['.claims', '.0123456789abcdef.requests', '.requests']) {
    const old = file.replace('.record', end);
    writeFileSync(old, '{"version":1,"claims":[]}');
    expect(await failureOf(() => claims.take(['ada']))).toMatchObject({
      kind: 'config',
      message: `${old} is of an earlier version of chatelaine, which kept its requests otherwise`,
      hint: expect.stringContaining(removing(old)) as string,
    });
    unlinkSync(old);
  }
});

test(
  'a record that has grown is compacted; what is known of users and who holds them stays',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    const living = await openAt(host);
    await living.take(['zoe', 'open', 'unanswered', 'done', 'old']);
    await living.ended('open', { event: 'answered', ...answer });
    await living.ended('unanswered', unanswered(1_000_000));
    await living.ended('old', unanswered(1_000_000));
    await living.ended('done', { event: 'answered', ...answer });
    await living.release(['open', 'unanswered', 'done', 'old'], new Set(['done']));
    const long = Array.from({ length: 13_000 }, (_one, index) => `user-${index}`);
    await living.take(long);
    await living.release(long);
    const size = readFileSync(fileOf(host)).length;
    expect(size).toBeGreaterThan(500_000);

    const next = await openAt(host);
    expect([...(await next.take(['open', 'unanswered', 'done'])).entries()]).toEqual([
      ['open', { posted: 1_000_000, answer }],
      ['unanswered', { posted: 1_000_000, unanswered: 1 }],
      ['done', { posted: 1_000_000, outcome: 'created' }],
    ]);
    expect(readFileSync(fileOf(host)).length).toBeLessThan(1000);
    await expect(next.take(['zoe'])).rejects.toThrow('waiting for process');

    host.pass(2 * day);
    const later = await openAt(host);
    await next.release(['open', 'unanswered', 'done']);
    expect([...(await later.take(['open', 'unanswered', 'done'])).entries()]).toEqual([['open', { answer }]]);
    await later.release(['open', 'unanswered', 'done']);
    await later.take(long);
    await later.release(long);
    await later.take(['cy']);
    const [first = ''] = readFileSync(fileOf(host), 'latin1').split('\n');
    const { users } = JSON.parse(first) as { readonly users: readonly { readonly history: object }[] };
    // `zoe` is held, and the answer is open: nothing else is kept.
    expect(users.map(({ history }) => history)).toEqual([{}, { answer }]);
  },
);

test('a record is compacted once it has doubled, and grown by 256 KiB', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  const users = Array.from({ length: 10_000 }, (_one, index) => `user-${index}`);
  const holds: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    await claims.take(users);
    holds.push(readFileSync(fileOf(host), 'latin1').split('"held"').length - 1);
  }
  // First 230 KB of a hold, then a line of 1.2 MB that says who holds whom.
  expect(holds).toEqual([1, 2, 1, 2, 3, 4, 5, 6, 7, 1]);
});

test('who holds nobody leaves no file but the record', async () => {
  const host = place();
  const claims = await openAt(host);
  await claims.take(['ada', 'ben']);
  await claims.release(['ada']);
  expect(namesIn(host, 'holder')).toHaveLength(1);
  await claims.release(['ben']);
  expect(readdirSync(locks(host))).toEqual([namesIn(host, 'record')[0]]);
});

test(
  'compaction ends the holds of dead processes, and removes their files and those of nobody',
  needs('proc'),
  async () => {
    const host = at(1_000_000);
    await (await openAt(host)).take(['ada', 'ben']);
    endProcess(home(host));
    const living = await openAt(host);
    await living.take(['zoe']);
    const file = fileOf(host);
    writeFileSync(file.replace('record', 'ffff.holder'), '{}');
    expect(namesIn(host, 'holder')).toHaveLength(3);
    writeFileSync(file, '{"cut', { flag: 'a' });
    host.pass(5000);
    await living.take(['cy']);
    expect(namesIn(host, 'holder')).toHaveLength(1);
    await expect((await openAt(host)).take(['zoe'])).rejects.toThrow('waiting for process');
    host.pass(1000);
    expect(posted(await living.take(['ada']))).toEqual([['ada', 1_005_000]]);
    host.pass(2 * day);
    expect(posted(await living.take(['ben']))).toEqual([]);
  },
);

test.each(['unanswered', 'answered'] as const)(
  'a user whose POST was %s counts as asked for where that could not be recorded',
  async (how) => {
    const host = at(1_000_000);
    const claims = await openAt(host);
    await claims.take(['ada', 'ben']);
    const file = fileOf(host);
    renameSync(file, `${file}.away`);
    const end = how === 'answered' ? ({ event: 'answered', ...answer } as const) : unanswered(1_000_000);
    await expect(claims.ended('ada', end)).rejects.toMatchObject({ kind: 'config' });
    renameSync(`${file}.away`, file);
    await claims.release(['ada', 'ben'], new Set(['ben']));
    host.pass(3000);
    const { clock } = host;
    expect(posted(await (await openAt(host)).take(['ada', 'ben']))).toEqual([['ada', clock.elapsed()]]);
  },
);

test('users who are claimed while the last other one is given back stay claimed', async () => {
  const host = place();
  const [claims, other] = [await openAt(host), await openAt(host)];
  for (let round = 0; round < 20; round += 1) {
    await claims.take(['ada']);
    await Promise.all([claims.take(['ben']), claims.release(['ada'])]);
    expect((await other.takeFree(['ada', 'ben'])).held).toEqual(['ben']);
    await Promise.all([claims.release(['ben']), other.release(['ada'])]);
  }
});

test('who cannot record that it gives users back holds them no more, and they count as asked for', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['ada']);
  const file = fileOf(host);
  renameSync(file, `${file}.away`);
  await expect(claims.release(['ada'])).rejects.toMatchObject({ kind: 'config' });
  renameSync(`${file}.away`, file);
  expect(posted(await (await openAt(host)).take(['ada']))).toEqual([['ada', 1_000_000]]);
});

test('what could not be written is said, and the next line does not join a cut one', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['ada', 'ben']);
  const file = fileOf(host);
  renameSync(file, `${file}.away`);
  await expect(claims.ended('ada', unanswered(1_000_000))).rejects.toMatchObject({ kind: 'config' });
  renameSync(`${file}.away`, file);
  writeFileSync(file, '{"event":"ended","ti', { flag: 'a' });
  await claims.ended('ada', { event: 'answered', ...answer });
  await claims.release(['ada', 'ben']);
  expect([...(await (await openAt(host)).take(['ada', 'ben'])).entries()]).toEqual([
    ['ada', { posted: 1_000_020, answer }],
    ['ben', { posted: 1_000_020 }],
  ]);
});

const hurts: readonly (readonly [string, (text: string) => string])[] = [
  ['is cut by one byte', (text) => text.slice(0, -1)],
  ['is cut by half', (text) => text.slice(0, text.length >> 1)],
  ['has a flipped bit, and stays JSON', (text) => text.replace('"users":["', '"users":["!')],
  ['has a flipped bit in its sum', (text) => text.replace('"sum":"', '"sun":"')],
  ['is followed by zeros', (text) => `${text}\0\0\0\0`],
];

test.each(hurts)(
  'a last line that %s may have been about anybody: all count as asked for at the moment at which that is seen',
  async (_what, hurt) => {
    const host = at(1_000_000);
    await (await openAt(host)).take(['ada']);
    await (await openAt(host)).take(['ben']);
    const file = fileOf(host);
    const lines = readFileSync(file, 'latin1').split(/(?<=\n)/);
    endProcess(home(host));
    writeFileSync(file, lines.with(-1, hurt(lines.at(-1) ?? '')).join(''), 'latin1');
    host.pass(100_000);
    const [first, second, third] = [await openAt(host), await openAt(host), await openAt(host)];
    expect(posted(await first.take(['ben', 'cy']))).toEqual([
      ['ben', 1_100_000],
      ['cy', 1_100_000],
    ]);
    host.pass(4000);
    expect(posted(await second.take(['dora']))).toEqual([['dora', 1_100_000]]);
    host.pass(2000);
    expect(posted(await third.take(['eve']))).toEqual([]);
  },
);

test('a line before the last that is not what was written is exit 3', async () => {
  const host = place();
  await (await openAt(host)).take(['ada']);
  await (await openAt(host)).take(['ben']);
  const file = fileOf(host);
  const lines = readFileSync(file, 'latin1').split(/(?<=\n)/);
  writeFileSync(file, lines.with(-2, lines.at(-2)?.replace('"users":["', '"users":["!') ?? '').join(''), 'latin1');
  const failure = await failureOf(async () => (await openAt(host)).take(['cy']));
  expect(failure).toMatchObject({
    kind: 'config',
    message: expect.stringMatching(/line \d is not what was written$/) as string,
  });
});

test('lines of an earlier release have no sum, and are right up to the first that has one', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['ada']);
  await claims.ended('ada', { event: 'answered', ...answer });
  const file = fileOf(host);
  const text = readFileSync(file, 'latin1');
  const bare = text.replaceAll(/,"sum":"\w{8}"/g, '');
  writeFileSync(file, bare);
  await claims.release(['ada']);
  expect((await (await openAt(host)).take(['ada'])).get('ada')).toEqual({ posted: 1_000_000, answer });
  writeFileSync(
    file,
    text +
      bare
        .split(/(?<=\n)/)
        .slice(-1)
        .join('') +
      text
        .split(/(?<=\n)/)
        .slice(-1)
        .join(''),
  );
  expect(await failureOf(async () => (await openAt(host)).take(['cy']))).toMatchObject({ kind: 'config' });
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
  const file = holderOf(host);
  const text = readFileSync(file, 'utf8')
    .replace(/"space":"[^"]*"/, '"space":"pid:[1]"')
    .replace(/"sign":"[^"]*"/, '"sign":"0000000000000000"')
    .replace(/"host":"[^"]*"/, '"host":"box"');
  writeFileSync(file, text);
  await expect((await openAt(host)).take(['ada'])).rejects.toThrow(
    `waiting for process ${process.pid} on box (once it has ended: rm ${file}), which is creating licenses of one of the users`,
  );
  const clock = sleptClock();
  const options = { remember: day, signal: new AbortController().signal, note: () => undefined };
  // It looks at the claims a hundredth as often as it would.
  const slow: Clock = { ...clock, sleep: (span, signal) => clock.sleep(100 * span, signal) };
  const patient = withTake(
    await openClaims(
      'https://here.test 7',
      { ...host, clock: slow },
      { ...options, ...(await runOf('https://here.test', host)) },
    ),
    slow,
    options,
  );
  expect(await failureOf(() => patient.take(['ada']))).toEqual({
    kind: 'unavailable',
    message: `waited too long for process ${process.pid} on box (once it has ended: rm ${file}), which is creating licenses of one of the users`,
    hint: 'Run the command again when it has ended; chatelaine ledger status shows who holds what in a ledger.',
  });
});

const append = (file: string, line: object): void => writeFileSync(file, summedLine(line), { flag: 'a' });

const damages: [string, (file: string) => void][] = [
  ['cut in its head', (file) => truncateSync(file, 8)],
  ['emptied', (file) => truncateSync(file, 0)],
  ['of another kind', (file) => writeFileSync(file, 'hello\n')],
  ['null', (file) => writeFileSync(file, 'null\n')],
  ['a line of null', (file) => writeFileSync(file, 'null\n{}\n', { flag: 'a' })],
  ['an answer that is none', (file) => append(file, { event: 'answered', users: ['a'] })],
  ['a time that is none', (file) => append(file, { event: 'ended', users: ['a'], time: null })],
  ['a hold of nobody', (file) => append(file, { event: 'held', users: ['a'], time: 1, hold: {} })],
  [
    'a hold of a path',
    (file) => append(file, { event: 'held', hold: { by: '../a', remember: 1 }, users: ['a'], time: 1 }),
  ],
  ['no history', (file) => writeFileSync(file, '{"record":1,"users":[{"user":"a","until":null,"history":{}}]}\n')],
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

test('what compaction keeps is one line, written at once: a record that is cut in it is exit 3', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['a']);
  await claims.ended('a', { event: 'answered', ...answer });
  const file = fileOf(host);
  writeFileSync(file, '{"event"', { flag: 'a' });
  await claims.release(['a']);
  const [first = '', ...lines] = readFileSync(file, 'latin1').split('\n');
  expect(JSON.parse(first)).toMatchObject({ record: 1, users: [{ history: { posted: 1_000_000, answer } }] });
  expect(lines.map((line) => /"event":"(\w+)"/.exec(line)?.[1])).toEqual(['freed', undefined]);
  for (const length of [0, 1, first.length]) {
    writeFileSync(file, first.slice(0, length));
    expect(await failureOf(() => recordedOf('https://here.test 7', ['a'], host))).toMatchObject({ kind: 'config' });
  }
  writeFileSync(file, `${first}\n`);
  expect((await recordedOf('https://here.test 7', ['a'], host)).get('a')?.history.answer).toEqual(answer);
});

test('what a crash cut off the end of the record is left out', needs('proc'), async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['ada']);
  await claims.ended('ada', { event: 'answered', ...answer });
  await claims.release(['ada']);
  const file = fileOf(host);
  const lines = readFileSync(file, 'latin1').split('\n');
  const rest = (count: number): string => `${lines.slice(0, count).join('\n')}\n`;
  endProcess(home(host));
  host.pass(1000);
  for (const [whole, history] of [
    // Without `freed` its holder is gone, and without `answered` nothing else is known.
    [rest(3), { posted: 1_001_000, answer }],
    [rest(2), { posted: 1_001_000 }],
  ] as const)
    for (const torn of [lines[3]?.slice(0, 9) ?? '', '\0\0\0\0', '{"ev\n']) {
      writeFileSync(file, whole + torn);
      const next = await openAt(host);
      expect((await next.take(['ada'])).get('ada')).toEqual(history);
      expect(readFileSync(file, 'latin1').split('\n').slice(0, -1).map(jsonIn)).not.toContain(undefined);
      await next.release(['ada']);
    }
});

test('where the end of a request could not be recorded, the run sends no other, although the disk takes lines again', async () => {
  const host = at(1_000_000);
  const claims = await openAt(host);
  await claims.take(['ada', 'ben']);
  const file = fileOf(host);
  const record = readFileSync(file);
  unlinkSync(file);
  mkdirSync(file);
  const failure = await failureOf(() => claims.ended('ada', unanswered(1_000_000)));
  rmdirSync(file);
  writeFileSync(file, record, { mode: 0o600 });

  expect([failure.kind, claims.lost()?.message]).toEqual(['config', failure.message]);
  await expect(claims.posting('ben')).rejects.toBe(claims.lost());
});
