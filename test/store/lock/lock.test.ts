import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { removing } from '../../../src/core/shell-word.ts';
import { realClock } from '../../../src/cli/clock.ts';
import { acquireLock, lockFolder, withLock } from '../../../src/store/lock/lock.ts';
import { thisOwner, type Owner } from '../../../src/store/disk/owner.ts';
import { failureOf, place } from '../place.ts';
import { bundleProgram, ended, printed, start, startUnder, type Program } from '../spawning.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { isWhole, sampleOf } from '../../helpers/extent.ts';
import { needs } from '../../helpers/needs.ts';

let program: Program;
beforeAll(async () => {
  program = await bundleProgram();
});
afterAll(() => program.remove());

const locksIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('x.lock'));

test('callers inside one process take turns, and nothing is left behind', async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  const steps: string[] = [];
  await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      withLock(path, host, async () => {
        steps.push(`${name} in`);
        await realClock.sleep(3);
        steps.push(`${name} out`);
      }),
    ),
  );
  expect(steps).toHaveLength(8);
  for (let at = 0; at < 8; at += 2) expect(steps[at + 1]).toBe(steps[at]?.replace('in', 'out'));
  expect(locksIn(host.folder)).toEqual([]);
});

test('the lock opens again when the work throws', async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  await expect(withLock(path, host, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(withLock(path, host, () => Promise.resolve('yes'))).resolves.toBe('yes');
});

test('a lock that could not be removed is no lock for the process that had it', needs('posix'), async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  const release = await acquireLock(path, host);
  const { token } = JSON.parse(readFileSync(path, 'utf8')) as Owner;
  const whileUnreadable = async (paths: readonly string[], work: () => Promise<unknown>): Promise<void> => {
    for (const one of paths) renameSync(one, `${one}.away`);
    for (const one of paths) mkdirSync(one);
    expect((await failureOf(work)).message).toMatch(/^cannot read the lock .*: it is a directory$/);
    for (const one of paths) rmdirSync(one);
    for (const one of paths) renameSync(`${one}.away`, one);
  };
  await whileUnreadable([path], release);
  // Nor is the one by which it clears that away.
  const next = acquireLock(path, host);
  while (!existsSync(`${path}.${token}`)) await setImmediate();
  await whileUnreadable([path, `${path}.${token}`], () => next);
  await (
    await acquireLock(path, host, { wait: 0 })
  )();
  expect(locksIn(host.folder)).toEqual([]);
});

test('a lock is 0600 and names its owner', needs('modes'), async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  await withLock(path, host, () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
    return Promise.resolve();
  });
});

test.each([0, 500])('gives up after %i ms, naming the owner', async (wait) => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  const release = await acquireLock(path, host);
  const still = { system: host.system, clock: sleptClock() };
  const caught = await failureOf(() => acquireLock(path, still, { wait, what: 'the thing' }));
  await release();
  expect(caught).toEqual({
    kind: 'unavailable',
    message: `the thing is in use by process ${process.pid} on here.test`,
    hint: `Run the command again when it has ended; ${path} is free then.`,
  });
  expect(still.clock.now()).toBeGreaterThanOrEqual(wait);
});

test('waiting ends with the reason of the signal', async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  const release = await acquireLock(path, host);
  const controller = new AbortController();
  const waiting = acquireLock(path, host, { signal: controller.signal });
  controller.abort(new Error('Ctrl-C'));
  await expect(waiting).rejects.toThrow('Ctrl-C');
  await release();
});

test('a lock that was taken by hand and made again by another is not removed by its first owner', async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  const release = await acquireLock(path, host);
  const other = JSON.stringify({ pid: process.pid, token: 'other' });
  writeFileSync(path, other);
  await release();
  expect(readFileSync(path, 'utf8')).toBe(other);
});

test('the lock of a killed process is taken over', async () => {
  const host = place();
  const child = start(program, 'hold', host.folder);
  await printed(child, 'held');
  const path = join(host.folder, 'x.lock');
  expect((await failureOf(() => acquireLock(path, host, { wait: 0 }))).message).toContain(`process ${child.pid}`);
  const end = ended(child);
  child.kill('SIGKILL');
  expect((await end).signal).toBe('SIGKILL');
  await expect(withLock(path, host, () => Promise.resolve('ours'), { wait: 0 })).resolves.toBe('ours');
  expect(locksIn(host.folder)).toEqual([]);
});

const gone = 2 ** 22 + 1;

test.each<[string, boolean, (me: Owner) => string]>([
  ['of a process that is gone', true, (me) => JSON.stringify({ ...me, pid: gone })],
  ['of this process', false, (me) => JSON.stringify(me)],
  ['that a power failure cut', true, () => ''],
  ['whose owner is no owner', true, (me) => JSON.stringify({ ...me, here: 5 })],
  ['whose process is no number', true, (me) => JSON.stringify({ ...me, pid: String(me.pid) })],
  ['whose token is no name', true, (me) => JSON.stringify({ ...me, token: 'a/b' })],
  ['whose sign is no name', true, (me) => JSON.stringify({ ...me, sign: '../x' })],
  ['whose run has no command', true, (me) => JSON.stringify({ ...me, about: {} })],
])('the lock %s is taken over: %s', needs('posix'), async (_name, isTaken, content) => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  writeFileSync(path, content(await thisOwner(host.system)));
  const work = withLock(path, host, () => Promise.resolve('ours'), { wait: 0 });
  if (isTaken) await expect(work).resolves.toBe('ours');
  else await expect(work).rejects.toMatchObject({ kind: 'unavailable' });
});

test('the lock of another computer tells how to remove it', async () => {
  const host = place();
  const path = join(host.folder, "Ada's x.lock");
  const me = await thisOwner(host.system);
  writeFileSync(path, JSON.stringify({ ...me, boot: 'other', host: 'far', pid: 7 }));
  expect(await failureOf(() => acquireLock(path, host, { wait: 0 }))).toEqual({
    kind: 'unavailable',
    message: `${path} is in use by process 7 on far`,
    hint: `Whether it still runs cannot be seen from here; once it has ended, remove what it left: ${removing(path)}`,
  });
});

test('while another computer takes over a dead lock, its own file is the one to remove', needs('posix'), async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  const me = await thisOwner(host.system);
  writeFileSync(path, JSON.stringify({ ...me, pid: gone, token: 'one' }));
  writeFileSync(`${path}.one`, JSON.stringify({ ...me, pid: 7, token: 'two', boot: 'other', host: 'far' }));
  expect(await failureOf(() => acquireLock(path, host, { wait: 0 }))).toMatchObject({
    message: `${path} is in use by process 7 on far`,
    hint: `Whether it still runs cannot be seen from here; once it has ended, remove what it left: ${removing(`${path}.one`)}`,
  });
});

/** Systems without /proc see what is left in a mount namespace where an empty file system covers it. */
const withoutProc = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
/** The words are node, its file, the verb and the folder. */
const elsewhere = [
  ...withoutProc.slice(0, -2),
  'mount -t tmpfs none /proc && mount -t tmpfs none "$4/own" && exec "$@"',
  'sh',
];
const container = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

const unseen = /^Failure: \S+x\.lock is in use by process \d+ on here\.test$/;

test.each(
  sampleOf(2, [
    ['both without /proc', withoutProc, withoutProc, unseen, 'taken'],
    ['two computers without /proc', withoutProc, elsewhere, unseen, unseen],
    ['one of two without /proc', withoutProc, [], unseen, unseen],
    ['the other of two without /proc', [], withoutProc, unseen, unseen],
    ['a container and its host', container, [], unseen, 'taken'],
    ['a host and its container', [], container, unseen, 'taken'],
    ['two containers', container, container, unseen, 'taken'],
    ['two processes of one computer', [], [], unseen, 'taken'],
  ] as const),
)('a killed holder, %s', needs('mounts'), async (_what, holder, taker, alive, dead) => {
  const host = place();
  mkdirSync(join(host.folder, 'own'));
  const look = async (): Promise<string> => (await ended(startUnder(taker, program, 'try', host.folder))).stdout;
  const child = startUnder(holder, program, 'hold', host.folder);
  await printed(child, 'held');
  expect(await look()).toMatch(alive);
  const end = ended(child);
  child.kill('SIGKILL');
  await end;
  expect(await look()).toMatch(dead);
});

test('what killed processes left is removed after a day, and no socket of one that runs', needs('proc'), async () => {
  const host = place();
  const live = join(host.folder, 'home/.local/state/chatelaine/live');
  mkdirSync(live, { recursive: true });
  const running = createServer();
  onTestFinished(() => void running.close());
  await new Promise<void>((resolve) => running.listen(join(live, 'old-running'), resolve));
  for (const name of ['old', 'young']) await refuseCalls(join(live, name));
  const before = Date.now() / 1000 - 90_000;
  for (const name of ['old', 'old-running']) utimesSync(join(live, name), before, before);

  const release = await acquireLock(join(host.folder, 'x.lock'), host);
  await release();
  expect(
    readdirSync(live)
      .filter((name) => !/^[0-9a-f]{16}$/.test(name))
      .sort(),
  ).toEqual(['old-running', 'young']);
});

/** Puts a socket there to which nobody listens. */
async function refuseCalls(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.x`, resolve));
  renameSync(`${path}.x`, path);
  await new Promise((resolve) => server.close(resolve));
}

test.each([
  ['runs, whoever has its id', 'lives', unseen],
  ['is gone', 'dies', 'taken'],
  ['runs, though calls are refused', 'is full', unseen],
])('without /proc, an owner is called by its sign: it %s', needs('mounts'), async (_what, fate, expected) => {
  const host = place();
  mkdirSync(join(host.folder, 'own'));
  const child = startUnder(withoutProc, program, 'hold', host.folder);
  await printed(child, 'held');
  const end = ended(child);
  if (fate === 'dies') {
    child.kill('SIGKILL');
    await end;
  }
  const path = join(host.folder, 'x.lock');
  const owner: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const { pid, sign = '' } = owner as Owner;
  const socket = join(host.folder, 'home/.local/state/chatelaine/live', sign);
  if (fate === 'is full') await refuseCalls(socket);
  const other = { ...(owner as Owner), pid: fate === 'lives' ? gone : pid };
  writeFileSync(path, JSON.stringify(other));
  const { stdout } = await ended(startUnder(withoutProc, program, 'try', host.folder));
  expect(stdout).toMatch(expected);
});

test('a takeover that was itself killed half-way is taken over', needs('posix'), async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  const dead = { ...(await thisOwner(host.system)), pid: gone };
  writeFileSync(path, JSON.stringify({ ...dead, token: 'one' }));
  writeFileSync(`${path}.one`, JSON.stringify({ ...dead, token: 'two' }));
  writeFileSync(`${path}.one.two`, JSON.stringify({ ...dead, token: 'three' }));
  await expect(withLock(path, host, () => Promise.resolve('ours'), { wait: 0 })).resolves.toBe('ours');
  expect(locksIn(host.folder)).toEqual([]);
});

test('while another one takes over, the dead lock stays', async () => {
  const host = place();
  const path = join(host.folder, 'x.lock');
  writeFileSync(path, JSON.stringify({ ...(await thisOwner(host.system)), pid: gone, token: 'one' }));
  const release = await acquireLock(`${path}.one`, host);
  await expect(acquireLock(path, host, { wait: 0 })).rejects.toMatchObject({ kind: 'unavailable' });
  expect(existsSync(path)).toBe(true);
  await release();
});

test('many processes lose no step', async () => {
  const host = place();
  const processes = isWhole ? 8 : 3;
  writeFileSync(join(host.folder, 'count'), '0');
  const run = () => ended(start(program, 'count', host.folder, '10'));
  const ends = await Promise.all(Array.from({ length: processes }, run));
  expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual(Array(processes).fill([0, '']));
  expect(readFileSync(join(host.folder, 'count'), 'utf8')).toBe(String(10 * processes));
});

test('processes that are killed inside the lock, one after the other, never meet there', needs('signals'), async () => {
  const host = place();
  const processes = isWhole ? 24 : 3;
  const ends = await Promise.all(Array.from({ length: processes }, () => ended(start(program, 'die', host.folder))));
  expect(ends.map(({ signal, stderr }) => [signal, stderr])).toEqual(Array(processes).fill(['SIGKILL', '']));
  expect(readFileSync(join(host.folder, 'deaths'), 'utf8')).toHaveLength(processes);
  expect(existsSync(join(host.folder, 'violated'))).toBe(false);
});

test('locks are in the state folder, which is private', needs('modes'), async () => {
  const { system } = place();
  const folder = await lockFolder(system);
  expect(folder).toBe(join(system.home, '.local/state/chatelaine/locks'));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('without a usable home they are in a private temporary folder', needs('modes'), async () => {
  const { folder, system } = place();
  writeFileSync(system.home, 'a file where the home should be');
  const path = await lockFolder(system);
  expect(path).toBe(join(folder, `chatelaine-${system.uid ?? 'user'}`));
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('a folder of locks that cannot be written gives way to the temporary one', needs('root'), async () => {
  const { folder, system } = place();
  const uid = system.uid === 0 ? 65_534 : system.uid;
  if (system.uid === 0) chownSync(folder, 65_534, 65_534);

  const { code, stdout, stderr } = await ended(start(program, 'unwritable-locks', folder));

  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: join(folder, `chatelaine-${uid ?? 'user'}`),
    stderr: '',
  });
  expect(statSync(join(folder, 'home/.local/state/chatelaine/locks')).mode & 0o777).toBe(0o500);
});

test('a temporary folder in which none can be made names the variable to set', needs('modes'), async () => {
  const { folder, system } = place();
  writeFileSync(system.home, '');
  const shared = join(folder, 'gone');
  expect(await failureOf(() => lockFolder({ ...system, temporary: shared }))).toEqual({
    kind: 'config',
    message: `cannot make the folder ${join(shared, `chatelaine-${system.uid ?? 'user'}`)}: no such file or directory`,
    hint: 'Set XDG_STATE_HOME to a folder that can be written.',
  });
});

test.each([
  ['a link', (path: string, folder: string) => symlinkSync(folder, path)],
  [
    'open to others',
    (path: string) => {
      mkdirSync(path);
      chmodSync(path, 0o755);
    },
  ],
])('a temporary folder that is %s is refused', needs('modes'), async (_name, make) => {
  const { folder, system } = place();
  writeFileSync(system.home, '');
  const path = join(folder, `chatelaine-${system.uid ?? 'user'}`);
  make(path, folder);
  expect(await failureOf(() => lockFolder(system))).toEqual({
    kind: 'config',
    message: `${path} is not a private folder of this user`,
    hint: 'Remove it, or set XDG_STATE_HOME to a folder that can be written.',
  });
});
