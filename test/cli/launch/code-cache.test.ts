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
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openCodeCache } from '../../../src/cli/launch/launch.ts';
import { needs } from '../../helpers/needs.ts';

const name = '1.0-abc.v8-11-x64';
const code = Buffer.from('what V8 compiled');
let home: string;
let folder: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'chatelaine-cache-'));
  folder = join(home, 'chatelaine');
  file = join(folder, name);
  onTestFinished(() => rmSync(home, { recursive: true }));
});

const opened = (as = name) => openCodeCache({ XDG_CACHE_HOME: home }, as);
const keep = (): void => opened().keep(() => code);
const found = (): string | undefined => opened().data?.toString();

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
    expect(opened('1.0-abd.v8-11-x64').data).toBeUndefined();
  });
});

test('a new one replaces those of other builds, and what a killed run left half-written', needs('modes'), () => {
  keep();
  writeFileSync(join(folder, '17.draft'), 'what V8', { mode: 0o600 });
  opened('1.1.v8-11-x64').keep(() => code);
  expect(readdirSync(folder)).toEqual(['1.1.v8-11-x64']);
});

describe('nothing is written', () => {
  test('into a folder that others can enter', () => {
    mkdirSync(folder, { mode: 0o755 });
    keep();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('in the home of another user', needs('root'), () => {
    chownSync(home, 65534, 65534);
    keep();
    expect(readdirSync(home)).toEqual([]);
  });

  test('where a file is in the place of the folder', () => {
    writeFileSync(folder, 'mine');
    keep();
    expect(readFileSync(folder, 'utf8')).toBe('mine');
  });

  test('where V8 has no cache to give', () => {
    opened().keep(() => {
      throw new Error('V8 has none');
    });
    expect(() => readdirSync(folder)).toThrow(/ENOENT/);
  });
});

test.each<[NodeJS.ProcessEnv, string | undefined]>([
  [{ XDG_CACHE_HOME: '/', HOME: '~' }, 'chatelaine'],
  [{ HOME: '~' }, '.cache/chatelaine'],
  [{ XDG_CACHE_HOME: '', HOME: '~' }, '.cache/chatelaine'],
  [{ XDG_CACHE_HOME: 'relative', HOME: '~' }, '.cache/chatelaine'],
  [{ HOME: '' }, undefined],
  [{}, undefined],
  [{ HOME: '~', CHATELAINE_NO_CACHE: '1' }, undefined],
])('the folder for %j is %s', needs('modes'), (env, expected) => {
  const there = Object.entries(env).map(([variable, text]) => [variable, text?.replace(/^[~/]$/, home)] as const);
  openCodeCache(Object.fromEntries<string | undefined>(there), name).keep(() => code);
  expect(readdirSync(home)).toEqual(expected === undefined ? [] : [expected.replace(/\/.*/, '')]);
});
