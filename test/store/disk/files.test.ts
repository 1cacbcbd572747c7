import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { storageFailure, writePrivate } from '../../../src/store/disk/files.ts';
import { readPrivate, makePrivateFolder } from '../../../src/store/disk/private.ts';
import { failureOf, place } from '../place.ts';
import { needs } from '../../helpers/needs.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;
const before = process.umask(0o022);
afterEach(() => void process.umask(before));

describe.each([0o000, 0o022, 0o077])('under umask %i', needs('modes'), (umask) => {
  test('folders are 0700 and files 0600', async () => {
    const { folder, system } = place();
    process.umask(umask);
    await makePrivateFolder(join(folder, 'a/b'), system);
    await writePrivate(join(folder, 'a/b/file'), 'text');
    expect([modeOf(join(folder, 'a')), modeOf(join(folder, 'a/b'))]).toEqual([0o700, 0o700]);
    expect(modeOf(join(folder, 'a/b/file'))).toBe(0o600);
    expect(readdirSync(join(folder, 'a/b'))).toEqual(['file']);
  });
});

test('a folder of chatelaine that others can enter is closed to them', needs('modes'), async () => {
  const { folder, system } = place();
  mkdirSync(join(folder, 'chatelaine'));
  chmodSync(join(folder, 'chatelaine'), 0o755);
  await makePrivateFolder(join(folder, 'chatelaine'), system);
  expect(modeOf(join(folder, 'chatelaine'))).toBe(0o700);
});

test('a folder that the user named keeps its mode', needs('modes'), async () => {
  const { folder, system } = place();
  mkdirSync(join(folder, 'shared'));
  chmodSync(join(folder, 'shared'), 0o755);
  await makePrivateFolder(join(folder, 'shared'), system);
  expect(modeOf(join(folder, 'shared'))).toBe(0o755);
});

test('where a parent takes no folders it ends with an error', needs('proc'), async () => {
  const { system } = place();
  await expect(makePrivateFolder('/proc/1/nohome/chatelaine', system)).rejects.toMatchObject({ kind: 'config' });
});

test('writing replaces the text and the mode', needs('modes'), async () => {
  const { folder } = place();
  const path = join(folder, 'file');
  writeFileSync(path, 'old and longer');
  chmodSync(path, 0o644);
  await writePrivate(path, 'new');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(modeOf(path)).toBe(0o600);
});

test('a folder that is missing is reported', async () => {
  const { folder } = place();
  const path = join(folder, 'none/file');
  expect(await failureOf(() => writePrivate(path, 'x'))).toEqual({
    kind: 'config',
    message: `cannot write ${path}: no such file or directory`,
    hint: undefined,
  });
});

test('a failed writing leaves the old text and no draft', needs('posix'), async () => {
  const { folder } = place();
  mkdirSync(join(folder, 'taken'));
  expect((await failureOf(() => writePrivate(join(folder, 'taken'), 'x'))).kind).toBe('config');
  expect(readdirSync(folder)).toEqual(['taken']);
});

test('a full disk passes by itself', () => {
  const cause = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
  expect(storageFailure('cannot write /x', cause)).toMatchObject({
    kind: 'unavailable',
    message: 'disk full: cannot write /x',
    details: { hint: 'Free some space, then run the same command again.' },
  });
});

test('what is no error of the file system is thrown on', () => {
  const bug = new TypeError('a bug');
  expect(() => storageFailure('cannot write /x', bug)).toThrow(bug);
});

test('a file that is not there reads as undefined', async () => {
  const { folder, system } = place();
  writeFileSync(join(folder, 'file'), '');
  expect(await readPrivate(join(folder, 'none'), system)).toBeUndefined();
  expect(await readPrivate(join(folder, 'file/none'), system)).toBeUndefined();
});

test.each([0o600, 0o400, 0o700])('a file of mode %i is read', async (mode) => {
  const { folder, system } = place();
  const path = join(folder, 'file');
  writeFileSync(path, 'text');
  chmodSync(path, mode);
  expect(await readPrivate(path, system)).toBe('text');
});

test.each([
  [0o640, 'read'],
  [0o604, 'read'],
  [0o644, 'read'],
  [0o602, 'written'],
])('a file of mode %i can be %s by others and is refused', needs('modes'), async (mode, danger) => {
  const { folder, system } = place();
  const path = join(folder, 'file');
  writeFileSync(path, 'canary');
  chmodSync(path, mode);
  expect(await failureOf(() => readPrivate(path, system))).toEqual({
    kind: 'config',
    message: `${path} can be ${danger} by other users (mode ${mode.toString(8)})`,
    hint: `Run: chmod 600 ${path}`,
  });
});

test("the command of a hint is one that a shell runs, whatever the file's name", needs('shell'), async () => {
  const { folder, system } = place();
  const path = join(folder, "Ada's $HOME key");
  writeFileSync(path, 'canary', { mode: 0o644 });
  const { hint = '' } = await failureOf(() => readPrivate(path, system));
  execFileSync('bash', ['-c', hint.replace('Run: ', '')]);
  expect(await readPrivate(path, system)).toBe('canary');
});

test('modes mean nothing on Windows', async () => {
  const { folder, system } = place();
  const path = join(folder, 'file');
  writeFileSync(path, 'text');
  chmodSync(path, 0o644);
  expect(await readPrivate(path, { ...system, platform: 'win32' })).toBe('text');
});

test('a file of another user is refused', needs('root'), async () => {
  const { folder, system } = place();
  const path = join(folder, 'file');
  writeFileSync(path, 'text', { mode: 0o600 });
  chownSync(path, 4321, 4321);
  expect((await failureOf(() => readPrivate(path, system))).message).toBe(`${path} belongs to another user (id 4321)`);
});
