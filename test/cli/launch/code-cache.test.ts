import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { cacheFolder, openCodeCache } from '../../../src/cli/launch/code-cache.ts';
import { needs } from '../../helpers/needs.ts';

const key = { build: '1.0-abc', engine: 'v8-11-x64' };
const code = Buffer.from('what V8 compiled');
let home: string;
let folder: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'chatelaine-cache-'));
  folder = join(home, 'chatelaine');
  file = join(folder, '1.0-abc.v8-11-x64');
  onTestFinished(() => rmSync(home, { recursive: true }));
});

const keep = (): void => openCodeCache(folder, key).keep(() => code);
const found = (): string | undefined => openCodeCache(folder, key).data?.toString();

test('what one run keeps, the next one finds, in files that nobody else can read', needs('modes'), () => {
  expect(found()).toBeUndefined();
  keep();
  expect(found()).toBe('what V8 compiled');
  expect([folder, file].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['700', '600']);
  expect(readdirSync(folder)).toEqual(['1.0-abc.v8-11-x64']);
});

describe('is not used where it', needs('modes'), () => {
  test.each<[string, () => void]>([
    ['is damaged', () => writeFileSync(file, readFileSync(file, 'latin1').replace('V8', 'V9'), 'latin1')],
    ['is cut', () => truncateSync(file, 9)],
    ['is empty', () => truncateSync(file, 0)],
    ['can be read by the group', () => chmodSync(file, 0o640)],
    ['can be written by others', () => chmodSync(file, 0o602)],
    ['is in a folder that others can enter', () => chmodSync(folder, 0o711)],
    [
      'is a link',
      () => {
        renameSync(file, join(home, 'elsewhere'));
        symlinkSync(join(home, 'elsewhere'), file);
      },
    ],
    [
      'is in a linked folder',
      () => {
        renameSync(folder, join(home, 'other'));
        symlinkSync(join(home, 'other'), folder);
      },
    ],
    [
      'is a pipe',
      () => {
        rmSync(file);
        execFileSync('mkfifo', ['-m', '600', file]);
      },
    ],
    [
      'is a folder',
      () => {
        rmSync(file);
        mkdirSync(file, { mode: 0o700 });
      },
    ],
  ])('%s', (_words, spoil) => {
    keep();
    expect(found()).toBe('what V8 compiled');
    spoil();
    expect(found()).toBeUndefined();
  });

  test('belongs to somebody else', needs('root'), () => {
    keep();
    chownSync(file, 65534, 65534);
    expect(found()).toBeUndefined();
    chownSync(file, 0, 0);
    chownSync(folder, 65534, 65534);
    expect(found()).toBeUndefined();
  });

  test('is of another build or engine', () => {
    keep();
    expect(openCodeCache(folder, { ...key, build: '1.0-abd' }).data).toBeUndefined();
    expect(openCodeCache(folder, { ...key, engine: 'v8-12-x64' }).data).toBeUndefined();
  });
});

test('the newest three builds of an engine keep their caches, and other engines theirs', needs('modes'), () => {
  openCodeCache(folder, { ...key, engine: 'v8-12-x64' }).keep(() => code);
  for (const [seconds, build] of ['1.0', '1.3', '1.1', '1.2'].entries()) {
    openCodeCache(folder, { ...key, build }).keep(() => code);
    utimesSync(join(folder, `${build}.v8-11-x64`), 1000 + seconds, 1000 + seconds);
  }
  expect(readdirSync(folder).sort()).toEqual([
    '1.0-abc.v8-12-x64',
    ...['1.1', '1.2', '1.3'].map((build) => `${build}.v8-11-x64`),
  ]);
});

test('what a killed run left half-written is removed as a cache of its age is', needs('modes'), () => {
  keep();
  writeFileSync(join(folder, '17.draft.v8-11-x64'), 'what V8', { mode: 0o600 });
  utimesSync(join(folder, '17.draft.v8-11-x64'), 1000, 1000);
  for (const build of ['1.1', '1.2']) openCodeCache(folder, { ...key, build }).keep(() => code);
  expect(readdirSync(folder).sort()).toEqual(['1.0-abc', '1.1', '1.2'].map((build) => `${build}.v8-11-x64`));
});

describe('nothing is written', () => {
  test('into a folder that others can enter', () => {
    mkdirSync(folder, { mode: 0o755 });
    keep();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('in the home of another user', needs('root'), () => {
    chownSync(home, 65534, 65534);
    openCodeCache(join(home, '.cache', 'chatelaine'), key).keep(() => code);
    expect(readdirSync(home)).toEqual([]);
  });

  test('where a file is in the place of the folder', () => {
    writeFileSync(folder, 'mine');
    keep();
    expect(readFileSync(folder, 'utf8')).toBe('mine');
  });

  test('where V8 has no cache to give', () => {
    openCodeCache(folder, key).keep(() => {
      throw new Error('V8 has none');
    });
    expect(() => readdirSync(folder)).toThrow(/ENOENT/);
  });
});

test.each([
  [{ XDG_CACHE_HOME: '/var/c', HOME: '/home/ada' }, '/var/c/chatelaine'],
  [{ HOME: '/home/ada' }, '/home/ada/.cache/chatelaine'],
  [{ XDG_CACHE_HOME: '', HOME: '/home/ada' }, '/home/ada/.cache/chatelaine'],
  [{ XDG_CACHE_HOME: 'relative', HOME: '/home/ada' }, '/home/ada/.cache/chatelaine'],
  [{ HOME: '' }, undefined],
  [{}, undefined],
  [{ HOME: '/home/ada', CHATELAINE_NO_CACHE: '1' }, undefined],
])('the folder for %j is %s', needs('modes'), (env, expected) => {
  expect(cacheFolder(env)).toBe(expected);
});
