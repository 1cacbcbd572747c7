import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { realAlarm } from '../../../src/cli/clock.ts';
import { jsonIn } from '../../../src/core/json.ts';
import { summedLine } from '../../../src/store/disk/records.ts';
import { openRunFiles } from '../../../src/store/record/run-files.ts';
import { Failure } from '../../../src/core/failure.ts';
import type { WritePlace } from '../../../src/store/record/run-record.ts';
import { LicenseWrites } from '../../../src/store/record/joined-writes.ts';
import { type AskedWrite, type LicenseUser } from '../../../src/store/record/writes.ts';
import { alarmByHand, sleptClock } from '../../helpers/clock.ts';
import { failureOf, place, type Place } from '../place.ts';

const origin = 'https://here.test';
const ada: LicenseUser = { remote_user: 'ada', app_code: 7 };
const creation: AskedWrite = { kind: 'creation', size_allowance: 4, licenses: 0, settle: 5000, unanswered: 0 };
let runs = 0;

/** The writes of another run of that machine, which is closed after the test. */
async function openRun(host: Place, { notes = [] as string[], alarm = realAlarm } = {}): Promise<LicenseWrites> {
  runs += 1;
  const token = `run${runs}`;
  const local = await openRunFiles(origin, token, { run: `R${runs}`, command: 'license apply' }, host, () => undefined);
  const { signal } = new AbortController();
  const say = (text: string): void => void notes.push(text);
  const writes = new LicenseWrites([local], { token, settle: 5000, clock: host.clock, alarm, signal, say });
  onTestFinished(() => writes.close());
  return writes;
}

const folderOf = (host: Place): string => {
  const locks = join(host.folder, 'home', '.local/state/chatelaine/locks');
  return join(locks, readdirSync(locks).find((name) => !name.includes('.')) ?? 'none');
};

const filesOf = (host: Place, end: string): string[] =>
  readdirSync(folderOf(host))
    .filter((name) => name.endsWith(end))
    .map((name) => join(folderOf(host), name));

/** Makes the owners of all files processes that have ended, as after `kill -9`. */
function killAll(host: Place): void {
  for (const file of filesOf(host, '.run')) {
    const [head = '', ...lines] = readFileSync(file, 'utf8').split('\n');
    const { sum: _sum, ...value } = jsonIn(head)?.value as { sum: string; owner: object };
    const dead = summedLine({ ...value, owner: { ...value.owner, pid: 4_194_304, start: '1' } });
    writeFileSync(file, dead + lines.join('\n'));
  }
}

/** A run that is killed after these steps. */
async function killed(host: Place, steps: (run: LicenseWrites, id: string) => Promise<void>): Promise<void> {
  const run = await openRun(host);
  const id = run.newId();
  await run.begin(id, [ada], creation);
  await steps(run, id);
  killAll(host);
}

/** A machine whose time passes only by `pass`. */
function at(time: number): Place & { pass: (span: number) => void } {
  const clock = sleptClock(time);
  return { ...place(), clock, pass: clock.pass };
}

test.each(['.run', '.lock'])('a run refuses to pass over a %s in the temporary folder', async (end) => {
  const host = at(0);
  const run = await openRun(host);
  await run.begin(run.newId(), [ada], creation);
  for (const file of filesOf(host, end === '.run' ? '.lock' : '.run')) rmSync(file);
  const temporary = join(host.folder, `chatelaine-${host.system.uid ?? 'user'}`);
  mkdirSync(temporary, { mode: 0o700, recursive: true });
  renameSync(folderOf(host), join(temporary, basename(folderOf(host))));
  const message = `${temporary} has open requests of a run that could not write ${dirname(folderOf(host))}`;
  expect(await failureOf(() => openRun(host))).toMatchObject({ kind: 'config', message });
});

test('where a line cannot be written, its user stays locked, and nobody else is locked', async () => {
  const host = at(1000);
  const [run, other] = [await openRun(host), await openRun(host)];
  const lock = await run.lock([ada]);
  const [draft = ''] = readdirSync(folderOf(host)).filter((name) => name.startsWith('run'));
  mkdirSync(join(folderOf(host), draft.replace('.lock', '.run')));
  const id = run.newId();
  expect((await failureOf(() => run.begin(id, [ada], creation))).kind).toBe('config');
  await lock.release();
  rmdirSync(join(folderOf(host), draft.replace('.lock', '.run')));
  expect(await other.lockNow([ada])).toBeUndefined();
  expect((await failureOf(() => run.lockNow([{ ...ada, remote_user: 'ben' }]))).kind).toBe('config');
});

describe('a place', () => {
  const { signal } = new AbortController();
  const world = { token: 't', settle: 5000, alarm: realAlarm, signal, say: () => undefined };
  /** Keeps its lines in words; `before` takes time, or fails. */
  const placeOf = (said: string[], before: () => void): WritePlace => ({
    salt: 's',
    tryLock: () => Promise.resolve({ release: () => Promise.resolve() }),
    read: () => Promise.resolve([]),
    async append(lines) {
      before();
      said.push(...lines.map((line) => ('begin' in line ? `begin ${line.begin}` : `end ${line.end}`)));
    },
    endOfEnded: () => Promise.resolve(),
    close: () => Promise.resolve(),
  });

  test('that cannot record leaves another to record what was answered, and nothing more is begun', async () => {
    let isFull = false;
    const fail = (): void => {
      if (isFull) throw new Failure('unavailable', 'full');
    };
    const [full, healthy]: [string[], string[]] = [[], []];
    const places = [placeOf(full, fail), placeOf(healthy, () => undefined)];
    const run = new LicenseWrites(places, { ...world, clock: at(1000).clock });
    const begin = (id: string) => run.begin(id, [ada], creation);

    await begin('t-1');
    isFull = true;
    await expect(begin('t-2')).rejects.toThrow('full');
    await expect(run.end('t-1', { is: 'answered', status: 201, key_end: '0001' })).rejects.toThrow('full');
    await expect(begin('t-3')).rejects.toThrow('full');

    expect([full, healthy]).toEqual([['begin 1'], ['begin 1', 'begin 2', 'end 1']]);
  });

  test.each([
    [1000, ['begin 1']],
    [1001, ['begin 1', 'begin 1']],
  ])('that takes %d ms to record a line has it as %j', async (span, lines) => {
    const { clock, pass } = at(0);
    const said: string[] = [];
    const slow = placeOf(said, () => pass(said.length === 0 ? span : 0));
    await new LicenseWrites([slow], { ...world, clock }).begin('t-1', [ada], creation);
    expect(said).toEqual(lines);
  });
});

test('nothing is left of a run whose writes are all known', async () => {
  const host = at(1000);
  const run = await openRun(host);
  for (const is of ['refused', 'shown', 'not processed'] as const) {
    const id = run.newId();
    await run.begin(id, [ada], creation);
    await run.end(id, { is });
  }
  await run.close();
  expect(filesOf(host, '.run')).toEqual([]);
});

test('a write of a killed run without an end is pending from the moment at which it is first seen', async () => {
  const host = at(1000);
  await killed(host, async () => undefined);
  host.pass(60_000);
  const next = await openRun(host);
  const { pending } = await next.known(ada);
  expect(pending).toMatchObject([{ command: 'license apply', n: 1, ended: host.clock.elapsed() }]);
  host.pass(10_000);
  const later = await openRun(host);
  expect((await later.known(ada)).pending[0]?.ended).toBe(host.clock.elapsed() - 10_000);
});

test('where the end of a killed run cannot be written, the next look writes it', async () => {
  const host = at(1000);
  await killed(host, async () => undefined);
  const next = await openRun(host);
  const [lock = ''] = filesOf(host, '.run').map((file) => `${file}.lock`);
  mkdirSync(lock);
  expect((await failureOf(() => next.known(ada))).kind).toBe('config');
  rmdirSync(lock);

  expect((await next.known(ada)).pending).toMatchObject([{ command: 'license apply', n: 1 }]);
});

test('two workers of a killed run are both pending, each with both in n', async () => {
  const host = at(1000);
  const run = await openRun(host);
  for (const remote_user of ['ada', 'grace']) await run.begin(run.newId(), [{ remote_user, app_code: 7 }], creation);
  killAll(host);
  const next = await openRun(host);
  const [one, two] = await next.allKnown([ada, { remote_user: 'grace', app_code: 7 }]);
  expect([one?.pending[0]?.n, two?.pending[0]?.n]).toEqual([2, 2]);
});

test.each([
  ['ada', 'ADA', 1],
  ['ada', '00 ada', 1],
  ['Müller', 'müller', 1],
  ['007', '7', 1],
  ['ada', 'grace', 0],
])('what is pending for %s counts for %s: %i', async (name, other, count) => {
  const host = at(1000);
  const run = await openRun(host);
  await run.begin(run.newId(), [{ remote_user: name, app_code: 7 }], creation);
  killAll(host);
  const next = await openRun(host);
  expect((await next.known({ remote_user: other, app_code: 7 })).pending).toHaveLength(count);
});

test('what was answered is open for the very name, until somebody sees it shown, and settles for similar ones', async () => {
  const host = at(1000);
  await killed(host, (run, id) => run.end(id, { is: 'answered', status: 201, key_end: '2FCA' }));
  const next = await openRun(host);
  const { open } = await next.known(ada);
  expect(open).toMatchObject({ status: 201, key_end: '2FCA', time: 1000 });
  const similar = () => next.known({ ...ada, remote_user: 'Ada' });
  host.pass(4999);
  expect(await similar()).toMatchObject({ pending: [{ ended: 1000, n: 1, isAnswered: true }], open: undefined });
  host.pass(1);
  expect(await similar()).toEqual({ pending: [], open: undefined });
  await next.end(open?.id ?? '', { is: 'shown' });
  expect(await next.known(ada)).toEqual({ pending: [], open: undefined });
  expect(filesOf(host, '.run')).toEqual([]);
});

describe('the end of what was answered', () => {
  const answered = { is: 'answered', status: 201, key_end: '2FCA' } as const;
  const ben: LicenseUser = { ...ada, remote_user: 'ben' };

  /** Begins a write of ada under her lock, and ends it; `lines`: what is on disk. */
  async function answeredOnce() {
    const host = at(1000);
    const { alarm, ring } = alarmByHand(20);
    const run = await openRun(host, { alarm });
    const lock = await run.lockNow([ada]);
    const id = run.newId();
    await run.begin(id, [ada], creation);
    const ended = run.end(id, answered);
    const lines = (): string[] =>
      readFileSync(filesOf(host, '.run')[0] ?? '', 'utf8')
        .split('\n')
        .slice(1, -1);
    return { host, run, id, lock, ended, lines, ring };
  }

  test('comes with the line of the next write', async () => {
    const { run, ended, lines } = await answeredOnce();
    expect(lines()).toHaveLength(1);
    await run.begin(run.newId(), [ben], creation);
    await ended;
    expect(lines().map((line) => Object.keys(jsonIn(line)?.value as object)[0])).toEqual(['begin', 'end', 'begin']);
  });

  test('comes alone after 20 ms, and only then the user is unlocked', async () => {
    const { host, lock, ended, lines, ring } = await answeredOnce();
    const released = lock?.release();
    const other = await openRun(host);
    expect(await other.lockNow([ada])).toBeUndefined();
    ring();
    await Promise.all([ended, released]);
    expect(lines()).toHaveLength(2);
    expect(await other.lockNow([ada])).toBeDefined();
  });

  test('comes at once where its key is to be printed', async () => {
    const { run, id, lines } = await answeredOnce();
    await run.recorded(id);
    expect(lines()).toHaveLength(2);
  });
});

test('a pending write of a run that has ended counts until its own n times its settle is over', async () => {
  const host = at(1000);
  const run = await openRun(host);
  const id = run.newId();
  await run.begin(id, [ada], { ...creation, settle: 20_000 });
  await run.end(id, { is: 'no answer', n: 2 });
  killAll(host);
  const next = await openRun(host);
  expect(await next.load()).toMatchObject({ n: 1, settle: 20_000 });
  host.pass(39_999);
  expect(await next.load()).toMatchObject({ n: 1 });
  host.pass(1);
  expect(await next.load()).toMatchObject({ n: 0, settle: 5000 });
});

test('n counts what all living runs have under way, and the silences of this one', async () => {
  const host = at(1000);
  const [one, two] = [await openRun(host), await openRun(host)];
  await one.begin(one.newId(), [ada], creation);
  const id = two.newId();
  await two.begin(id, [{ ...ada, remote_user: 'bob' }], creation);
  two.unanswered();
  expect(await two.load()).toMatchObject({ n: 3 });
  two.answered();
  expect(await two.load()).toMatchObject({ n: 2 });
  await two.end(id, { is: 'no answer', n: 0 });
  expect(await two.load()).toMatchObject({ n: 1 });
});

test('a lock of a user excludes other spellings, and a stopped holder is waited for two minutes', async () => {
  const host = at(1000);
  const notes: string[] = [];
  const [one, two] = [await openRun(host), await openRun(host, { notes })];
  const lock = await one.lock([ada]);
  expect(await two.lockNow([{ ...ada, remote_user: 'ADA' }])).toBeUndefined();
  expect(await two.lockNow([{ ...ada, app_code: 8 }])).toBeDefined();
  const failure = await failureOf(() => two.lock([ada]));
  expect(failure.kind).toBe('unavailable');
  expect(failure.message).toMatch(/^the license of 'ada' is in use by license apply, process \d+ on .*, since 00:00Z/);
  expect(notes).toHaveLength(11);
  expect(host.clock.elapsed()).toBeGreaterThanOrEqual(120_000);
  await lock.release();
  expect(await two.lockNow([ada])).toBeDefined();
});

test('a holder that does nothing is waited for two minutes, and no longer', async () => {
  const host = at(1000);
  const lock = await (await openRun(host)).lock([ada]);
  let looks = 0;
  const sleep = (): Promise<void> => {
    looks += 1;
    host.pass([1000, 119_000, 1][looks - 1] ?? Infinity);
    return Promise.resolve();
  };
  const other = await openRun({ ...host, clock: { ...host.clock, sleep } });

  expect(await failureOf(() => other.lock([ada]))).toMatchObject({ kind: 'unavailable' });
  expect(looks).toBe(3);
  await lock.release();
});

test('two runs that want two names each, in any order, never hold one of them each', async () => {
  const host = at(1000);
  const [one, two] = [await openRun(host), await openRun(host)];
  const bob = { ...ada, remote_user: 'bob' };
  const lock = await one.lockNow([ada, bob]);
  expect(await two.lockNow([bob, ada])).toBeUndefined();
  await lock?.release();
  expect(await two.lockNow([bob, ada])).toBeDefined();
});

test('an open first creation is known for a day', async () => {
  const host = at(1000);
  const run = await openRun(host);
  const id = run.newId();
  await run.begin(id, [ada], { ...creation, isFirst: true });
  await run.end(id, { is: 'answered', status: 201 });
  killAll(host);
  const next = await openRun(host);
  const [first] = await next.openFirsts();
  expect([first?.isOf(ada), first?.isOf({ ...ada, remote_user: 'bob' })]).toEqual([true, false]);
  host.pass(86_400_000);
  expect(await next.openFirsts()).toEqual([]);
});

test('a line that is not what was written is exit 3, and one that is cut counts for nothing', async () => {
  const host = at(1000);
  await killed(host, (run, id) => run.end(id, { is: 'answered', status: 201 }));
  const [file = ''] = filesOf(host, '.run');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, `${text}{"begin":2,"ti`);
  expect((await (await openRun(host)).known(ada)).open).toBeDefined();
  writeFileSync(file, text.replace('"status":201', '"status":202'));
  const damaged = await openRun(host);
  expect(await failureOf(() => damaged.known(ada))).toMatchObject({ kind: 'config' });
});
