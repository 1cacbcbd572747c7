import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandLine } from '../../src/core/shell-word.ts';
import { commandsApart, fit, hintCommand, indented, plain, plainJson, plainLines } from '../../src/output/plain.ts';
import { needs } from '../helpers/needs.ts';

/** What must never reach a terminal, written down apart from the code under test. */
const forbidden = (code: number): boolean =>
  code < 0x20 ||
  (code >= 0x7f && code <= 0x9f) ||
  [0x61c, 0x200e, 0x200f, 0x2028, 0x2029].includes(code) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069) ||
  (code >= 0xd800 && code <= 0xdfff) ||
  (code >= 0xe0000 && code <= 0xe007f);

const left = (text: string): number[] =>
  Array.from(text, (character) => character.codePointAt(0) ?? 0).filter(forbidden);

/** Any text of UTF-16 units, with the dangerous ones much more often than chance brings them. */
const texts = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
      fc.constantFrom(...'\x1b[31m|\x9b2J|\u202e|\u2066|\u200f|\x07|\r\n|\n|\t|\ud800|\udc00|\u{e0041}'.split('|')),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''));

describe('plain', () => {
  test.each([
    ['words, \\ and "quotes"', 'words, \\ and "quotes"'],
    ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\x9b2J\x7f\x00', '\\x9b2J\\x7f\\x00'],
    ['a\tb\nc\rd', 'a\\tb\\nc\\rd'],
    ['\u202eexe.\u2066txt\u061c\u200e', '\\u202eexe.\\u2066txt\\u061c\\u200e'],
    ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['\ud83d and \ude00', '\\ud83d and \\ude00'],
    ['\u{e0041}', '\\u{e0041}'],
    ['zero\u200bwidth\u2060\ufeff\u00ad', 'zero\\u200bwidth\\u2060\\ufeff\\xad'],
    ['blank\u115fto\u3164see', 'blank\\u115fto\\u3164see'],
    ['a\u034fb\u1160c\uffa0d\u2800e', 'a\\u034fb\\u1160c\\uffa0d\\u2800e'],
    ['\u17b4a\u206ab\ufff0c\u{1d173}d\u{1d159}e\u{e0fff}', '\\u17b4a\\u206ab\\ufff0c\\u{1d173}d\\u{1d159}e\\u{e0fff}'],
    ['a\ufe0f\ufe00 \ufe01b\u{e0100}', 'a\\ufe0f\\ufe00 \\ufe01b\\u{e0100}'],
    ['ad\u200ca ad\u200da \u200d', 'ad\\u200ca ad\\u200da \\u200d'],
    ['7\ufe0f ᠨ\u180b\u180e\u180f', '7\\ufe0f ᠨ\\u180b\\u180e\\u180f'],
    ['❤\u200d x', '❤\\u200d x'],
    ['❤\ufe0f 葛\u{e0100} 7\ufe0f\u20e3', '❤\ufe0f 葛\u{e0100} 7\ufe0f\u20e3'],
    ['👩\u200d⚕\ufe0f 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈', '👩\u200d⚕\ufe0f 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈'],
    ['\ufff9a\ufffb\ufffe\uffff', '\\ufff9a\\ufffb\\ufffe\\uffff'],
    ['👩‍👩‍👧 é 漢字 می‌خواهم 🇩🇪', '👩‍👩‍👧 é 漢字 می\\u200cخواهم 🇩🇪'],
  ])('%j', (text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  test('escapes every dangerous character', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(left(plain(text))).toEqual([]);
      }),
      { seed: 1 },
    );
  });

  test('is not undone by being applied again', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(plain(plain(text))).toBe(plain(text));
      }),
      { seed: 1 },
    );
  });
});

describe('plainLines', () => {
  test('keeps line ends and nothing else', () => {
    expect(plainLines('one\r\ntwo\n\x1b[2Jthree\rfour\t')).toBe('one\ntwo\n\\x1b[2Jthree\\rfour\\t');
    fc.assert(
      fc.property(texts, (text) => {
        expect(left(plainLines(text)).filter((code) => code !== 0x0a)).toEqual([]);
      }),
      { seed: 1 },
    );
  });
});

describe('plainJson', () => {
  test('writes the same value without dangerous characters', () => {
    expect(plainJson('{\n  "a": "\x9b\u202e\u{e0041}"\n}')).toBe('{\n  "a": "\\u009b\\u202e\\udb40\\udc41"\n}');
    fc.assert(
      fc.property(texts, texts, (key, value) => {
        const text = plainJson(JSON.stringify({ [key]: value }, null, 2));
        expect(JSON.parse(text)).toEqual({ [key]: value });
        expect(left(text).filter((code) => code !== 0x0a)).toEqual([]);
      }),
      { seed: 1 },
    );
  });
});

describe('a command in a hint', () => {
  const apart = (text: string): string => commandsApart(text, hintCommand);
  const line = commandLine('topic delete', ['#general', "it's lunch", 'two\nlines'], {
    archive: '/srv/kept topics/of the spring',
    confirm: "it's lunch",
    max_messages: 250,
  });

  test('is on a line of its own, without the full stop of its sentence', () => {
    expect(apart('Nobody has it. Store one: chatelaine auth login.')).toBe(
      'Nobody has it. Store one:\n  chatelaine auth login',
    );
    expect(apart('Run: chatelaine archive pull .')).toBe('Run:\n  chatelaine archive pull .');
    expect(apart('Look, then: chmod 700 /a/b')).toBe('Look, then:\n  chmod 700 /a/b');
    expect(apart('chatelaine auth list shows them')).toBe('chatelaine auth list shows them');
  });

  test('words of a line that is too long by one go on below it, those of one that fits do not', () => {
    expect(fit('aaaa bbbb', 9)).toBe('aaaa bbbb');
    expect(fit('  aaa bb ccc', 10)).toBe('  aaa bb\n    ccc');
    expect(fit('  chatelaine aa bbbb', 19)).toBe('  chatelaine aa \\\n    bbbb');
    expect(fit('  mv /a/b /a/c.broken', 19)).toBe('  mv /a/b \\\n    /a/c.broken');
    expect(indented('a\nb')).toBe('a\n  b');
  });

  test.each([60, 80, 120])(
    'goes on behind a backslash at %i columns, and bash reads the same words',
    needs('shell'),
    (columns) => {
      const shown = fit(apart(`Run: ${line}`), columns);
      const command = shown.slice(shown.indexOf('\n') + 1);
      const said = (text: string): string =>
        execFileSync('bash', ['-c', text.replace(/^ *chatelaine/, String.raw`printf '%s\0'`)], { encoding: 'utf8' });

      expect(said(command)).toBe(said(line));
      expect(command.split('\n').every((part, index, all) => index === all.length - 1 || part.endsWith(' \\'))).toBe(
        true,
      );
      expect(Math.max(...command.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(columns);
    },
  );
});
