import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plain } from '../../src/output/plain.ts';
import { posixWord, windowsWord } from '../../src/core/shell-word.ts';
import { needs } from '../helpers/needs.ts';
import { anyText } from '../helpers/texts.ts';

test.each([
  ['license/4f1c9a', 'license/4f1c9a'],
  ['', "''"],
  ['two words', "'two words'"],
  ["O'Brien", String.raw`'O'\''Brien'`],
  ['$(id) `id` \\', "'$(id) `id` \\'"],
  ["a\nb'\\", String.raw`$'a\x0ab\'\\'`],
  ['\u202e', String.raw`$'\xe2\x80\xae'`],
  ['=ls', "'=ls'"],
  ['a=ls', 'a=ls'],
  ['\u2800', String.raw`$'\xe2\xa0\x80'`],
  ['\u3164', String.raw`$'\xe3\x85\xa4'`],
])('as a word of a POSIX shell: %j', (text, word) => {
  expect(posixWord(text)).toBe(word);
});

test('a terminal shows each word as it is', () => {
  const texts = fc.sample(anyText({ maxLength: 30 }), 1200);
  expect(texts.map(posixWord).filter((word) => plain(word) !== word)).toEqual([]);
});

test('bash reads each word as the text it was', needs('shell'), () => {
  const text = anyText({ maxLength: 30 }).filter((found) => !found.includes('\0'));
  const texts = fc.sample(text, 1200);
  const words = texts.map(posixWord).join(' ');
  expect(words).not.toContain('\n');
  const read = execFileSync('bash', ['-s'], { input: `printf '%s\\0' ${words}` }).toString();
  expect(read.split('\0')).toEqual([...texts, '']);
});

test.each([
  [String.raw`C:\dir\file-1.csv`, String.raw`C:\dir\file-1.csv`],
  ['', '""'],
  [String.raw`C:\Müller Büro\x`, String.raw`"C:\Müller Büro\x"`],
  ['C:\\two words\\', String.raw`"C:\two words\\"`],
  ["O'Brien & (co) ^", `"O'Brien & (co) ^"`],
  ['100% $x `a` "b"', '"100% `$x ``a`` `"b`""'],
  ['a\nb\u202e', '"a$([char]10)b$([char]8238)"'],
])('on Windows %j', (text, word) => {
  expect(windowsWord(text)).toBe(word);
});
